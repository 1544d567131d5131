"""What is prepared for a run: a candidate that cannot be unmounted, and whether the disk is to blame before one is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fswizard.disks.disk import Begun, CandidateFailed, DiskFailed
from fswizard.disks.image import (
    BUSY_ATTEMPTS,
    BUSY_PAUSE_S,
    WIPE_LIMIT_S,
    PreparedImage,
    _leave_wiped,
)
from fswizard.disks.journal import Journal, leftovers
from fswizard.engines.fileserver import FileServerJob
from fswizard.engines.tree import TreeJob
from fswizard.errors import Refused, RunFailed
from fswizard.model.events import DoubtRaised, Event, SampleTaken
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import DURATION, OPERATION_RATE
from fswizard.model.recipe import Workload
from fswizard.progress.emitter import Emitter
from fswizard.session import harness_ceiling
from fswizard.system import clock
from fswizard.system.process import Finished
from tests.builders import make_plan, make_workload
from tests.fakes.clock import SimulatedClock

PLAN = make_plan(("zfs", "xfs"))
BUSY = b"umount: target is busy"


@dataclass
class StuckDisk:
    """Carries out everything but umount, as with a driver that has locked up; it is sound unless a test says so."""

    reason: bytes = b"cannot export: I/O error"
    attempts: int = 1_000_000
    """How many times it is stuck."""
    stuck: bool = True
    reported: tuple[str, ...] = ()
    wiping: Exception | None = None
    names = ("loop0",)
    directory = "/"
    as_root = True
    image = None

    async def wipe(self) -> Sequence[Finished]:
        if self.wiping:
            raise self.wiping
        return (done("wipefs"),)

    async def make(self, candidate: Candidate, begun: Begun) -> Sequence[Finished]:
        begun(("mkfs",))
        return [done("mkfs")]

    async def mount(self, candidate: Candidate) -> Finished:
        return done("mount")

    async def umount(self) -> Finished:
        self.attempts -= 1
        self.stuck = self.stuck and self.attempts >= 0
        return Finished(("umount",), int(self.stuck), b"", self.reason if self.stuck else b"", 0.1)

    async def sync(self) -> Finished:
        return done("sync")

    async def errors(self) -> dict[str, int]:
        return {}

    async def require_same(self) -> None:
        pass

    async def disk_errors(self) -> tuple[str, ...]:
        return self.reported


def done(program: str, stdout: bytes = b"") -> Finished:
    return Finished((program,), 0, stdout, b"", 0.1)


def prepared(disk: StuckDisk, scratch: Path) -> PreparedImage:
    disks = SimpleNamespace(limits_memory=True)
    return PreparedImage(PLAN, Emitter(lambda _: None), cast(Any, disks), cast(Any, disk), str(scratch))


async def used(there: PreparedImage, candidate: int = 0) -> int | None:
    """What is used of a candidate that is opened, and closed again."""
    async with there.open(PLAN.candidates[candidate]) as context:
        return await context.used_bytes()


async def test_one_that_is_stuck_ends_the_run_at_the_next_turn_unless_it_lets_go(tmp_path: Path) -> None:
    disk = StuckDisk()
    there = prepared(disk, tmp_path)
    with pytest.raises(CandidateFailed, match="zfs could not be unmounted") as failed:
        await used(there)
    assert failed.value.kind == "umount"
    with pytest.raises(RunFailed, match="zfs could not be unmounted: its driver does not release it") as caught:
        await used(there, 1)
    assert "cannot export" in caught.value.details
    disk.stuck = False
    assert await used(there, 1)


async def test_one_that_is_busy_is_tried_again_for_a_while(tmp_path: Path, time: SimulatedClock) -> None:
    began_s = clock.monotonic()
    await used(prepared(StuckDisk(BUSY, BUSY_ATTEMPTS), tmp_path))
    assert clock.monotonic() - began_s == pytest.approx(BUSY_ATTEMPTS * BUSY_PAUSE_S)


@pytest.mark.usefixtures("time")
async def test_a_device_that_cannot_be_wiped_or_stays_busy_is_tried_for_a_while_and_then_told(tmp_path: Path) -> None:
    disk, told, began_s = StuckDisk(wiping=DiskFailed("The device is in use.")), list[Event](), clock.monotonic()
    await _leave_wiped(cast(Any, disk), Emitter(told.append))
    assert clock.monotonic() - began_s == pytest.approx(WIPE_LIMIT_S, abs=0.2)
    assert [event.doubt.code for event in told if isinstance(event, DoubtRaised)] == ["not-wiped"]
    with pytest.raises(RunFailed, match="zfs cannot be unmounted: another program"):
        await used(prepared(StuckDisk(BUSY), tmp_path))


async def blamed(there: PreparedImage) -> str:
    """What a run says that is ended after a candidate met an I/O error; empty where the candidate is blamed."""
    try:
        await there.check_device(reading=True)
    except RunFailed as error:
        return f"{error.message} {error.details}"
    return ""


@pytest.mark.parametrize(
    ("wiping", "said"),
    [
        (DiskFailed("wipefs failed.", "", "as wipefs says"), "The disk reported errors. as wipefs says"),
        (Refused("It is mounted."), ""),
        (None, ""),
    ],
)
async def test_a_device_that_cannot_be_written_is_blamed(tmp_path: Path, wiping: Exception | None, said: str) -> None:
    assert await blamed(prepared(StuckDisk(wiping=wiping), tmp_path)) == said


# How fast our own workloads are in memory


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
    await harness_ceiling.measure_limits(plan, Emitter(told.append), journal)
    journal.close()
    return [event for event in told if isinstance(event, SampleTaken)]


async def test_what_this_program_does_itself_is_measured_in_memory_where_that_suffices(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = [event.sample for event in await measured(SERVER, INSTALL, COPY)]
    assert [(s.workload, s.metric, s.round, s.candidate) for s in samples] == [
        ("server", "rate_in_memory", 0, ""), ("install", "rate_in_memory", 0, ""),
    ]  # fmt: skip
    assert all(sample.value > 1 for sample in samples)
    assert list(place.iterdir()) == [] and leftovers() == ()
    monkeypatch.setattr(harness_ceiling, "LARGEST_BYTES", 1000)
    assert await measured(SERVER, INSTALL) == []
    monkeypatch.setattr(harness_ceiling, "filesystem_type", lambda _: "ext4")
    assert harness_ceiling.expected_s(make_plan(workloads=[SERVER]).recipe) == 0
