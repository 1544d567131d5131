from __future__ import annotations

import asyncio
import math
from collections import Counter
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from fswizard import results
from fswizard.bench.session import Session
from fswizard.findings import conclude
from fswizard.model.events import (
    CommandFinished,
    CourseTaken,
    Event,
    RatioUpdated,
    RunEnded,
    RunStarted,
    SampleTaken,
    StepFailed,
    StepProgressed,
    StepSkipped,
    StepStarted,
)
from fswizard.model.recipe import FioJob
from tests.loop.runs import COPY_TREE, RANDOM_WRITE, SHORT, short_plan, watch

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio, pytest.mark.xfs]


def of_kind(events: list[Event], kind: type) -> list[Event]:
    return [event for event in events if isinstance(event, kind)]


async def test_a_whole_run_measures_every_candidate_in_every_round(tmp_path: Path) -> None:
    plan = short_plan(tmp_path, "ext4; xfs; ext4:noatime", minimum_rounds=3, maximum_rounds=3)
    session = Session(plan, tmp_path / "result.jsonl", patience_s=0)
    events = await watch(session)

    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunEnded)
    assert events[-1].outcome == "finished", events[-1].text
    primary = [e.sample for e in events if isinstance(e, SampleTaken) and e.sample.primary and e.sample.round]
    counts = Counter((sample.candidate, sample.workload) for sample in primary)
    assert counts == {(c, w): 3 for c in ("ext4", "xfs", "ext4:noatime") for w in ("random-write", "copy-tree")}
    assert all(sample.value > 0 and math.isfinite(sample.value) for sample in primary)
    assert len(of_kind(events, RatioUpdated)) == 3
    assert of_kind(events, StepFailed) == []


async def test_the_result_file_holds_what_was_told(tmp_path: Path) -> None:
    plan = short_plan(tmp_path, minimum_rounds=3, maximum_rounds=3)
    session = Session(plan, tmp_path / "result.jsonl", patience_s=0)
    events = await watch(session)
    loaded = results.load(tmp_path / "result.jsonl")
    assert loaded.samples == tuple(e.sample for e in events if isinstance(e, SampleTaken))
    assert loaded.courses == tuple(e.course for e in events if isinstance(e, CourseTaken))
    assert {c.candidate for c in loaded.courses if c.workload == "random-write"} >= {"ext4", "xfs"}
    assert loaded.plan.candidates == plan.candidates
    assert loaded.outcome == "finished"
    findings = conclude(loaded)
    for ratio in (*findings.judgement.overall, *findings.judgement.by_workload):
        assert ratio.low is not None and ratio.high is not None
        assert ratio.low <= ratio.ratio <= ratio.high


async def test_the_figures_of_a_trial_fit_together(tmp_path: Path) -> None:
    plan = short_plan(tmp_path, minimum_rounds=1, maximum_rounds=1)
    events = await watch(Session(plan, tmp_path / "result.jsonl", patience_s=0))
    samples = {
        (e.sample.candidate, e.sample.workload, e.sample.metric): e.sample.value
        for e in events
        if isinstance(e, SampleTaken)
    }
    for candidate in ("ext4", "xfs"):
        assert 0 < samples[candidate, "", "mkfs_time"] < 30
        written = samples[candidate, "random-write", "bytes_written"]
        assert samples[candidate, "random-write", "device_written"] >= written > 0
        copied = samples[candidate, "copy-tree", "bytes_written"]
        assert samples[candidate, "copy-tree", "device_written"] >= 0.9 * copied > 0
    assert samples["", "random-write", "iops"] > 0


async def test_progress_is_told_and_grows(tmp_path: Path) -> None:
    recipe = replace(SHORT, workloads=(replace(RANDOM_WRITE, job=replace(RANDOM_WRITE.job, seconds=2.0)),))
    plan = short_plan(tmp_path, "ext4", recipe, minimum_rounds=1, maximum_rounds=1)
    events = await watch(Session(plan, tmp_path / "result.jsonl", patience_s=0))
    shares = [event.run_fraction for event in of_kind(events, StepProgressed) if isinstance(event, StepProgressed)]
    assert len(shares) >= 5
    assert shares == sorted(shares)
    assert any(event.rate for event in events if isinstance(event, StepProgressed))


async def test_a_candidate_that_runs_full_is_a_result_and_the_others_go_on(tmp_path: Path) -> None:
    too_much = replace(RANDOM_WRITE, name="big", job=FioJob("write", 1 << 20, 500 << 20))
    recipe = replace(SHORT, workloads=(too_much,), image_bytes=512 << 20)
    plan = short_plan(tmp_path, "ext4; btrfs", recipe, minimum_rounds=1, maximum_rounds=1)
    events = await watch(Session(plan, tmp_path / "result.jsonl", patience_s=0))
    failures = {event.failure.candidate: event.failure for event in events if isinstance(event, StepFailed)}
    assert failures, "an image of 512 MiB cannot hold a file of 500 MiB and metadata"
    assert {failure.kind for failure in failures.values()} == {"ENOSPC"}
    assert {failure.workload for failure in failures.values()} == {"big"}
    retries = [event for event in events if isinstance(event, StepSkipped)]
    assert len(retries) == len(failures), "each failure is tried once more on a fresh filesystem"
    verdicts = {
        ratio.candidate: ratio.verdict for ratio in conclude(results.load(tmp_path / "result.jsonl")).judgement.overall
    }
    assert all(verdicts[candidate] == "failed" for candidate in failures)


async def test_leaving_the_loop_undoes_everything(tmp_path: Path) -> None:
    plan = short_plan(tmp_path)
    session = Session(plan, tmp_path / "result.jsonl", patience_s=0)
    async with aclosing(session.events()) as events:
        async for event in events:
            if isinstance(event, StepStarted) and event.step.stage == "workload":
                break
    assert [path.name for path in tmp_path.iterdir()] == ["result.jsonl"]
    assert results.load(tmp_path / "result.jsonl").outcome == "cancelled"


@pytest.mark.parametrize("stage", ["prepare", "fill", "raw", "format", "mount", "workload", "check"])
async def test_stopping_at_any_stage_ends_with_what_was_measured(tmp_path: Path, stage: str) -> None:
    session = Session(short_plan(tmp_path), tmp_path / "result.jsonl", patience_s=0)
    told = []
    async with aclosing(session.events()) as events:
        async for event in events:
            told.append(event)
            if isinstance(event, StepStarted) and event.step.stage == stage:
                session.stop()
    assert isinstance(told[-1], RunEnded)
    assert told[-1].outcome == "stopped"
    assert [path.name for path in tmp_path.iterdir()] == ["result.jsonl"]


async def test_a_skipped_candidate_is_out_and_the_run_goes_on(tmp_path: Path) -> None:
    plan = short_plan(tmp_path, "ext4; xfs; ext4:noatime", minimum_rounds=2, maximum_rounds=2)
    session = Session(plan, tmp_path / "result.jsonl", patience_s=0)
    tried = []
    async with aclosing(session.events()) as events:
        async for event in events:
            if isinstance(event, StepStarted) and event.step.stage == "workload":
                tried.append((event.step.round, event.step.candidate))
                if event.step.candidate == "xfs":
                    session.skip()
    assert (1, "xfs") in tried
    assert {candidate for number, candidate in tried if number == 2} == {"ext4", "ext4:noatime"}


async def test_a_paused_run_waits_and_goes_on(tmp_path: Path) -> None:
    plan = short_plan(tmp_path, minimum_rounds=1, maximum_rounds=1)
    session = Session(plan, tmp_path / "result.jsonl", patience_s=0)
    session.pause()
    asyncio.get_running_loop().call_later(4.0, session.resume)
    first_trial_s = None
    async with aclosing(session.events()) as events:
        async for event in events:
            if isinstance(event, StepStarted) and event.step.round and first_trial_s is None:
                first_trial_s = event.at_s
    assert first_trial_s is not None and first_trial_s >= 4.0


async def test_programs_output_reaches_the_log(tmp_path: Path) -> None:
    plan = short_plan(tmp_path, "xfs", minimum_rounds=1, maximum_rounds=1)
    events = await watch(Session(plan, tmp_path / "result.jsonl", patience_s=0))
    programs = {event.argv[0].rsplit("/", 1)[-1] for event in events if isinstance(event, CommandFinished)}
    assert {"dd", "mkfs.xfs", "fio", "cp"} <= programs


async def test_random_order_differs_between_rounds(tmp_path: Path) -> None:
    plan = short_plan(
        tmp_path, "ext4; xfs; ext4:noatime", replace(SHORT, workloads=(COPY_TREE,)), minimum_rounds=4, maximum_rounds=4
    )
    events = await watch(Session(plan, tmp_path / "result.jsonl", patience_s=0))
    orders: dict[int, list[str]] = {}
    for event in events:
        if isinstance(event, StepStarted) and event.step.stage == "format":
            orders.setdefault(event.step.round, []).append(event.step.candidate)
    assert len({tuple(order) for order in orders.values()}) > 1
