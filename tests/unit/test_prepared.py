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
from fswizard.errors import Refused, RunFailed
from fswizard.model.events import DoubtRaised, Event
from fswizard.model.filesystem import Candidate
from fswizard.progress.emitter import Emitter
from fswizard.system import clock
from fswizard.system.process import Finished
from tests.builders import make_plan
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
