from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from fswizard import results
from fswizard.advice import conclude
from fswizard.disks import journal
from fswizard.engines.fio import FioJob
from fswizard.model.estimates import as_before
from fswizard.model.events import (
    CommandFinished,
    Event,
    RatioUpdated,
    RunEnded,
    RunStarted,
    SampleTaken,
    SeriesRecorded,
    StepFailed,
    StepProgressed,
    StepSkipped,
    StepStarted,
)
from fswizard.model.run_state import RunState
from fswizard.session.planning import Choices, TargetChoice, make_plan
from tests.loop.machine_state import names_in
from tests.loop.runs import COPIES, RANDOM_WRITE, TINY, WRITES, at, begins, pause, session_in, short_session, watch
from tests.loop.tiny_run import clean

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

CANDIDATES = ("ext4", "ext2", "ext4:noatime")
TOO_MUCH_BYTES = 57 << 20


def of_kind(events: list[Event], kind: type) -> list[Event]:
    return [event for event in events if isinstance(event, kind)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Event], Path]:
    """What a run of three rounds told, and its result file."""
    directory = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(directory / "state"))
        # As slow a trial as gives the bare device a sample in round 1: later rounds go by how fast the machine is.
        session = short_session(directory, "; ".join(CANDIDATES), rounds=3, seconds_per_trial=2.0)
        return asyncio.run(watch(session)), session.path


@pytest.mark.xdist_group("session")
class TestAWholeRun:
    def test_measures_every_candidate_in_every_round(self, whole: tuple[list[Event], Path]) -> None:
        events, _ = whole
        assert isinstance(events[0], RunStarted)
        assert isinstance(events[-1], RunEnded)
        assert events[-1].outcome == "finished", events[-1].text
        primary = [e.sample for e in events if isinstance(e, SampleTaken) and e.sample.primary and e.sample.candidate]
        counts = Counter((sample.candidate, sample.workload) for sample in primary)
        assert counts == {(c, w): 3 for c in CANDIDATES for w in ("random-write", "copy-tree")}
        assert all(sample.value > 0 and math.isfinite(sample.value) for sample in primary)
        assert len(of_kind(events, RatioUpdated)) == 3
        assert of_kind(events, StepFailed) == []
        programs = {event.argv[0].rsplit("/", 1)[-1] for event in events if isinstance(event, CommandFinished)}
        assert {"dd", "mkfs.ext4", "mkfs.ext2", "fio", "cp"} <= programs
        made = [e.step for e in events if isinstance(e, StepStarted) and e.step.stage == "format"]
        orders = {tuple(step.candidate for step in made if step.round == number) for number in (1, 2, 3)}
        assert len(orders) > 1

    def test_leaves_a_file_that_holds_what_was_told(self, whole: tuple[list[Event], Path]) -> None:
        events, path = whole
        loaded = results.load(path)
        assert loaded.samples == tuple(e.sample for e in events if isinstance(e, SampleTaken))
        assert loaded.throughput_series == tuple(e.series for e in events if isinstance(e, SeriesRecorded))
        assert isinstance(events[0], RunStarted)
        assert loaded.plan.candidates == events[0].plan.candidates
        assert loaded.outcome == "finished"
        findings = conclude(loaded)
        for ratio in (*findings.analysis.overall, *findings.analysis.by_workload):
            if ratio.low is not None and ratio.high is not None:
                assert ratio.low <= ratio.ratio <= ratio.high

    def test_has_figures_that_fit_together(self, whole: tuple[list[Event], Path]) -> None:
        samples = {
            (e.sample.candidate, e.sample.workload, e.sample.metric): e.sample.value
            for e in whole[0]
            if isinstance(e, SampleTaken)
        }
        for candidate in CANDIDATES:
            assert samples[candidate, "", "mkfs_time"] > 0
            assert samples[candidate, "", "unplug_time"] > 0
            written = samples[candidate, "random-write", "bytes_written"]
            assert samples[candidate, "random-write", "device_written"] >= written > 0
            copied = samples[candidate, "copy-tree", "bytes_written"]
            assert samples[candidate, "copy-tree", "device_written"] >= 0.9 * copied > 0
        assert samples["", "random-write", "iops"] > 0
        assert samples["", "", "bare_written"] > 0

    def test_tells_the_next_plan_how_long_and_how_much(self, whole: tuple[list[Event], Path]) -> None:
        result = results.load(whole[1])
        plan = as_before(result.plan, result)
        taken_s = plan.preparation_s + len(result.trials) * plan.seconds_per_trial
        assert taken_s == pytest.approx(result.elapsed_s, rel=0.01)
        written = [sample.value for sample in result.trials_written]
        assert plan.writes_bytes_per_trial == pytest.approx(sum(written) / len(written), abs=1)


async def test_progress_is_told_and_grows(tmp_path: Path) -> None:
    """The run takes two seconds: fio tells how far it is four times in each."""
    recipe = replace(TINY, workloads=(replace(RANDOM_WRITE, job=FioJob("randwrite", 4096, 4 << 20, seconds=0.9)),))
    session = short_session(tmp_path, "ext4", recipe)
    events = await watch(session)
    state, of_run, of_steps = RunState.of(session.plan), list[float](), defaultdict[tuple[int, bool], list[float]](list)
    for event in events:
        state = state.after(event)
        if isinstance(event, StepProgressed):
            of_run.append(state.run_fraction)
            if event.fraction is not None:
                of_steps[event.step, event.preparing].append(event.fraction)
    assert len(of_run) >= 5
    # On a busy machine the time that was expected may be over before the first round.
    assert of_run == sorted(of_run) and 0.0 < of_run[0] <= of_run[-1] <= 1.0
    longest = max(of_steps.values(), key=len)
    assert longest == sorted(longest) and 0.0 <= longest[0] < longest[-1] <= 1.0
    assert any(event.rate for event in events if isinstance(event, StepProgressed))
    recorded = {(series.candidate, series.workload) for series in results.load(session.path).throughput_series}
    assert recorded >= {("ext4", "random-write")}


async def test_a_candidate_that_runs_full_is_a_result_and_the_others_go_on(tmp_path: Path) -> None:
    """What fits into an ext2 does not into an ext4, which has a journal beside it."""
    too_much = replace(RANDOM_WRITE, name="big", job=FioJob("write", 1 << 20, TOO_MUCH_BYTES))
    session = short_session(tmp_path, "ext4; ext2", replace(TINY, workloads=(too_much,)))
    events = await watch(session)
    (failed,) = (event for event in events if isinstance(event, StepFailed))
    assert (failed.failure.candidate, failed.failure.workload, failed.failure.kind) == ("ext4", "big", "ENOSPC")
    assert len(of_kind(events, StepSkipped)) == 1, "it is tried once more on a fresh filesystem"
    result = results.load(session.path)
    assert [s.candidate for s in result.samples if s.primary and s.round] == ["ext2"]
    verdicts = {ratio.candidate: ratio.verdict for ratio in conclude(result).analysis.overall}
    assert "failed" in verdicts.values()


async def test_leaving_the_loop_undoes_everything(tmp_path: Path) -> None:
    session = short_session(tmp_path, "ext4; ext2")
    async with aclosing(session.events()) as events:
        async for event in events:
            if begins(event, "workload"):
                break
    assert names_in(tmp_path) == ["result.jsonl"]
    assert results.load(session.path).outcome == "cancelled"


@pytest.mark.parametrize(
    "stage",
    [
        *("fill", "workload"),
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("prepare", "raw", "format", "mount", "check")),
    ],
)
async def test_stopping_at_any_stage_ends_with_what_was_measured(
    tmp_path: Path, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fswizard.session.session.BARE_SHARE", 2.0)
    session = short_session(tmp_path, "ext4; ext2")
    *_, ended = await watch(session, at(stage, session.stop))
    assert isinstance(ended, RunEnded)
    assert ended.outcome == "stopped"
    assert names_in(tmp_path) == ["result.jsonl"]


async def test_the_bare_device_is_measured_in_each_round_after_a_candidate_and_then_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fswizard.session.session.BARE_SHARE", 2.0)
    session = short_session(tmp_path, "ext4; ext2", WRITES, rounds=3)
    events = await watch(session)
    steps = [event.step for event in events if isinstance(event, StepStarted)]
    bare = [step for step in steps if step.stage == "raw"]
    assert [(step.round, step.candidate) for step in bare] == [(1, ""), (2, ""), (3, "")]
    assert all(steps[steps.index(step) - 1].stage == "check" for step in bare)
    summaries = [s for s in conclude(results.load(session.path)).summaries if s.primary]
    assert len(summaries) == 2
    for summary in summaries:
        share = summary.of_bare_device
        assert share is not None and share.rounds == 3


async def test_a_run_in_directories_has_no_bare_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fswizard.session.session.BARE_SHARE", 2.0)
    plan = make_plan(Choices(WRITES, target=TargetChoice("directory", str(tmp_path)), seed=1))
    events = await watch(session_in(tmp_path, replace(plan, minimum_rounds=1, maximum_rounds=1)))
    assert not [event for event in events if isinstance(event, StepStarted) and event.step.stage == "raw"]


async def test_a_skipped_candidate_is_out_and_the_run_goes_on(tmp_path: Path) -> None:
    session = short_session(tmp_path, "; ".join(CANDIDATES), COPIES, 2)
    events = await watch(session, at("workload", session.skip, candidate="ext2"))
    started = [event.step for event in events if isinstance(event, StepStarted) and event.step.stage == "workload"]
    tried = [(step.round, step.candidate) for step in started]
    assert (1, "ext2") in tried
    assert {candidate for number, candidate in tried if number == 2} == {"ext4", "ext4:noatime"}


async def test_a_paused_run_waits_and_goes_on(tmp_path: Path) -> None:
    session = short_session(tmp_path, "ext4")
    told: list[object] = []

    def waits() -> None:
        told.append("waits")
        assert session.paused
        asyncio.get_running_loop().call_soon(resume)

    def resume() -> None:
        told.append("resumed")
        session.resume()

    pause(session, waits)
    await watch(session, at("format", lambda: told.append("trial")))
    assert told == ["waits", "resumed", "trial"]


async def test_what_could_not_be_removed_at_the_end_is_told_and_removed_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Costs a run."""
    with monkeypatch.context() as patch:
        patch.setattr(journal, "EMPTY", ("true",))  # as where the disk has no time for `find`
        session = short_session(tmp_path, "ext4", COPIES)
        events = await watch(session)
    (left,) = (doubt.text for doubt in session.result.doubts if doubt.code == "not-removed")
    assert f"{tmp_path}/fswizard-" in left and left.endswith("`fswizard clean` removes what is left.")
    assert isinstance(events[-1], RunEnded) and events[-1].outcome == "finished"
    assert clean() == 1
    assert names_in(tmp_path) == ["result.jsonl"]
