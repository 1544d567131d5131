"""Workloads through the privileged helper, as a person runs them: what they need of the environment gets there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fswizard.bench.session import Session
from fswizard.model.events import RunEnded, SampleTaken, StepFailed
from fswizard.model.metrics import DURATION, OPERATION_RATE, SUSTAINED_RATE
from fswizard.model.recipe import (
    BackupJob,
    Engine,
    FileServerJob,
    Job,
    Metric,
    OverflowJob,
    Recipe,
    RsyncJob,
    SqliteJob,
    TreeJob,
    TreeShape,
    Workload,
)
from tests.loop.runs import short_plan, watch

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

MIB = 1 << 20
OWN = TreeShape((10, 2_000, 90_000), (20, 60), (1, 9), 0.4)
JOBS: tuple[tuple[Engine, Job, Metric], ...] = (
    ("tree", TreeJob("git-status", "small-files", 100, MIB), DURATION),
    ("tree", TreeJob("install", "own", 80, 2 * MIB, OWN), DURATION),
    ("backup", BackupJob("first", 40, 2 * MIB), DURATION),
    ("backup", BackupJob("second", 40, 2 * MIB), DURATION),
    ("rsync", RsyncJob("onto", "mixed", 40, 2 * MIB), DURATION),
    ("rsync", RsyncJob("from", "mixed", 40, 2 * MIB), DURATION),
    ("sqlite", SqliteJob("delete", 20), OPERATION_RATE),
    ("overflow", OverflowJob(16 * MIB, 2.5), SUSTAINED_RATE),
    ("fileserver", FileServerJob(2, 40, 20_000, 1_000, 0.3, fill_percent=70), OPERATION_RATE),
)


@pytest.mark.borg
@pytest.mark.git
@pytest.mark.rsync
@pytest.mark.sqlite3
async def test_every_kind_of_work_is_carried_out_by_the_person_without_rights(tmp_path: Path) -> None:
    workloads = tuple(
        Workload(f"{engine}-{number}", engine, engine, job, metric, seconds=1.0)
        for number, (engine, job, metric) in enumerate(JOBS)
    )
    recipe = Recipe("all", "All", "For tests.", workloads, 512 * MIB, 5.0, ("ext4",))
    plan = short_plan(tmp_path, "ext4", recipe)
    events = await watch(Session(replace(plan, minimum_rounds=1, maximum_rounds=1), tmp_path / "result.jsonl"))
    failures = [event.failure.text for event in events if isinstance(event, StepFailed)]
    assert failures == []
    assert any(isinstance(event, RunEnded) for event in events)
    samples = [event.sample for event in events if isinstance(event, SampleTaken)]
    primary = {sample.workload: sample.value for sample in samples if sample.primary}
    assert set(primary) == {workload.name for workload in workloads}
    assert all(value > 0 for value in primary.values())
