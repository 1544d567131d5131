"""How fast our own workloads are in memory, measured for real, without a disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from fswizard.engines.fileserver import FileServerJob
from fswizard.engines.tree import TreeJob
from fswizard.model.events import Event, SampleTaken
from fswizard.model.metrics import DURATION, OPERATION_RATE
from fswizard.model.recipe import Workload
from fswizard.progress.emitter import Emitter
from fswizard.progress.eta import Eta
from fswizard.session import harness_ceiling
from fswizard.targets.journal import Journal, leftovers
from tests.builders import make_plan, make_workload

SERVER = make_workload("server", OPERATION_RATE, engine="fileserver", job=FileServerJob(2, 20_000, 8192, 1024, 60.0))
INSTALL = make_workload("install", DURATION, engine="tree", job=TreeJob("install", "small-files", 9000, 40 << 20))
COPY = make_workload("copy", DURATION, engine="tree", job=TreeJob("copy", "small-files", 9000, 40 << 20))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands for the memory: not every machine lets tests have some."""
    monkeypatch.setattr(harness_ceiling, "MEMORY", tmp_path)
    monkeypatch.setattr(harness_ceiling, "filesystem_type", lambda _: "tmpfs")
    monkeypatch.setattr(harness_ceiling, "SECONDS", 0.2)
    return tmp_path


async def measured(*workloads: Workload) -> list[SampleTaken]:
    plan = make_plan(workloads=workloads)
    told, journal = list[Event](), Journal(None)
    await harness_ceiling.measure_limits(plan, Emitter(told.append, Eta(plan)), journal)
    journal.close()
    return [event for event in told if isinstance(event, SampleTaken)]


async def test_what_this_program_does_itself_is_measured_in_memory_and_nothing_is_left(place: Path) -> None:
    samples = [event.sample for event in await measured(SERVER, INSTALL, COPY)]
    assert [(s.workload, s.metric, s.round, s.candidate) for s in samples] == [
        ("server", "rate_in_memory", 0, ""), ("install", "rate_in_memory", 0, ""),
    ]  # fmt: skip
    assert all(sample.value > 1 for sample in samples)
    assert list(place.iterdir()) == [] and leftovers() == ()


async def test_where_the_memory_does_not_suffice_nothing_is_said(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness_ceiling, "LARGEST_BYTES", 1000)
    assert await measured(SERVER, INSTALL) == []
    monkeypatch.setattr(harness_ceiling, "filesystem_type", lambda _: "ext4")
    assert harness_ceiling.expected_s(make_plan(workloads=[SERVER]).recipe) == 0
