from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from fswizard import results
from fswizard.advice import conclude
from fswizard.disks import journal
from fswizard.engines.fio import FioJob
from fswizard.model.estimates import as_before
from fswizard.model.events import (
    RunEnded,
    SampleTaken,
    StepFailed,
    StepSkipped,
    StepStarted,
)
from fswizard.model.metrics import DIRECT_CACHED
from tests.loop.machine_state import names_in
from tests.loop.runs import COPIES, RANDOM_WRITE, TINY, at, short_session, watch
from tests.loop.tiny_run import clean

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

CANDIDATES = ("ext4", "ext2")
TOO_MUCH_BYTES = 57 << 20


async def test_every_candidate_is_measured_in_every_round_and_the_file_holds_what_was_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fswizard.session.trial.LEAST_BARE_S", 0.01)
    session = short_session(tmp_path, "; ".join(CANDIDATES), rounds=2)
    events = await watch(session)
    result = results.load(session.path)
    assert result.outcome == "finished" and result.failures == ()
    assert result.samples == tuple(event.sample for event in events if isinstance(event, SampleTaken))
    primary = [sample for sample in result.samples if sample.primary and sample.candidate]
    counts = Counter((sample.candidate, sample.workload) for sample in primary)
    assert counts == {(candidate, work): 2 for candidate in CANDIDATES for work in ("random-write", "copy-tree")}
    assert all(sample.value > 0 and math.isfinite(sample.value) for sample in primary)
    assert {series.workload for series in result.throughput_series} >= {"random-write"}
    figures = {(sample.candidate, sample.workload, sample.metric): sample.value for sample in result.samples}
    for candidate in CANDIDATES:
        assert figures[candidate, "", "mkfs_time"] > 0
        assert figures[candidate, "", "unplug_time"] > 0
        written = figures[candidate, "random-write", "bytes_written"]
        assert figures[candidate, "random-write", "device_written"] >= written > 0
    assert figures["", "random-write", "iops"] > 0
    assert figures["", "", "bare_written"] > 0
    steps = [event.step for event in events if isinstance(event, StepStarted)]
    bare = [number for number, step in enumerate(steps) if step.stage == "raw"]
    assert [(steps[number].round, steps[number - 1].stage) for number in bare] == [(1, "check"), (2, "check")]
    shares = [summary.of_bare_device for summary in conclude(result).summaries if summary.of_bare_device]
    assert [share.rounds for share in shares] == [2, 2]
    asked = [(sample.round, sample.candidate) for sample in result.samples if sample.metric == DIRECT_CACHED.name]
    assert sorted(asked) == [(1, candidate) for candidate in sorted(CANDIDATES)]
    plan = as_before(result.plan, result)
    taken_s = plan.preparation_s + len(result.trials) * plan.seconds_per_trial
    assert taken_s == pytest.approx(result.elapsed_s, rel=0.01), "what the next plan takes it to last"


async def test_a_candidate_that_runs_full_is_a_result_and_the_others_go_on(tmp_path: Path) -> None:
    """What fits into an ext2 does not fit into an ext4, which also has a journal."""
    too_much = replace(RANDOM_WRITE, name="big", job=FioJob("write", 1 << 20, TOO_MUCH_BYTES))
    session = short_session(tmp_path, "ext4; ext2", replace(TINY, workloads=(too_much,)))
    events = await watch(session)
    (failed,) = (event for event in events if isinstance(event, StepFailed))
    assert (failed.failure.candidate, failed.failure.workload, failed.failure.kind) == ("ext4", "big", "ENOSPC")
    retries = [event for event in events if isinstance(event, StepSkipped)]
    assert len(retries) == 1, "it is tried once more on a fresh filesystem"
    result = results.load(session.path)
    assert [s.candidate for s in result.samples if s.primary and s.round] == ["ext2"]


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
    monkeypatch.setattr("fswizard.session.trial.LEAST_BARE_S", 0.01)
    session = short_session(tmp_path, "ext4; ext2")
    *_, ended = await watch(session, at(stage, session.stop))
    assert isinstance(ended, RunEnded)
    assert ended.outcome == "stopped"
    assert names_in(tmp_path) == ["result.jsonl"]


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
