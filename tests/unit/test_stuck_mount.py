"""A candidate that cannot be unmounted: it is to blame, and where another's turn comes, the run ends in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from fswizard.errors import RunFailed
from fswizard.model.events import DoubtRaised, Event
from fswizard.progress.emitter import Emitter
from fswizard.progress.eta import Eta
from fswizard.system import clock
from fswizard.system.process import Finished
from fswizard.targets.channel import HelperFailed
from fswizard.targets.device import WIPE_LIMIT_S, _leave_wiped
from fswizard.targets.helper import Attached, Begun, Helper
from fswizard.targets.image import BUSY_ATTEMPTS, BUSY_PAUSE_S, PreparedImage
from fswizard.targets.prepared import CandidateFailed
from tests.builders import make_plan
from tests.fakes.clock import SimulatedClock

PLAN = make_plan(("zfs", "xfs"))
ATTACHED = Attached(1, True, "pool", "/run/fswizard/1", ("loop0",), ("/dev/loop0",))


class StuckHelper:
    """Carries out everything but umount, as with a driver that has locked up."""

    waits_for_disk = None

    def __init__(self, reason: bytes = b"cannot export: I/O error", attempts: int = 1_000_000) -> None:
        self.stuck = True
        self._reason = reason
        self._attempts = attempts
        """How many times it is stuck."""

    async def wipe(self, handle: int) -> Finished:
        return done("wipefs")

    async def mkfs(self, handle: int, filesystem: str, arguments: Sequence[str], *, begun: Begun) -> Finished:
        begun(("mkfs",))
        return done("mkfs")

    async def mount(self, attached: Attached, mount_type: str, options: Sequence[str]) -> Finished:
        return done("mount")

    async def umount(self, handle: int) -> Finished:
        self._attempts -= 1
        self.stuck = self.stuck and self._attempts >= 0
        return Finished(("umount",), int(self.stuck), b"", self._reason if self.stuck else b"", 0.1)

    async def sync(self, handle: int) -> Finished:
        return done("sync", b"4096\n")

    async def health(self, handle: int, counted: Sequence[str]) -> dict[str, int]:
        return {}


def done(program: str, stdout: bytes = b"") -> Finished:
    return Finished((program,), 0, stdout, b"", 0.1)


def prepared(helper: StuckHelper, tmp_path: Path) -> PreparedImage:
    told: list[Event] = []
    scratch = str(tmp_path / "scratch")
    return PreparedImage(PLAN, Emitter(told.append, Eta(PLAN)), cast(Helper, cast(Any, helper)), ATTACHED, scratch)


async def test_another_candidates_turn_ends_the_run_and_names_the_one_that_is_stuck(tmp_path: Path) -> None:
    helper = StuckHelper()
    there = prepared(helper, tmp_path)
    with pytest.raises(CandidateFailed, match="zfs could not be unmounted"):
        async with there.open(PLAN.candidates[0]):
            pass
    with pytest.raises(RunFailed, match="zfs could not be unmounted: its driver does not let go of it") as caught:
        async with there.open(PLAN.candidates[1]):
            pass
    assert "--resume" in caught.value.hint
    assert "cannot export" in caught.value.details


async def test_another_try_of_the_same_candidate_is_its_own_failure(tmp_path: Path) -> None:
    there = prepared(StuckHelper(), tmp_path)
    for words in ("zfs could not be unmounted.", "its driver does not let go of it."):
        with pytest.raises(CandidateFailed, match=words) as caught:
            async with there.open(PLAN.candidates[0]):
                pass
        assert caught.value.kind == "umount"


async def test_one_that_lets_go_later_stands_in_nobodys_way(tmp_path: Path) -> None:
    helper = StuckHelper()
    there = prepared(helper, tmp_path)
    with pytest.raises(CandidateFailed):
        async with there.open(PLAN.candidates[0]):
            pass
    helper.stuck = False
    async with there.open(PLAN.candidates[1]) as context:
        assert await context.used_bytes() == 4096


async def test_one_that_is_busy_is_tried_again_for_a_while(tmp_path: Path) -> None:
    for attempts in (0, BUSY_ATTEMPTS):
        there = prepared(StuckHelper(b"umount: target is busy", attempts), tmp_path)
        with clock.use(SimulatedClock()):
            began_s = clock.monotonic()
            async with there.open(PLAN.candidates[0]):
                pass
            assert clock.monotonic() - began_s == pytest.approx(attempts * BUSY_PAUSE_S)


async def test_one_that_stays_busy_is_used_by_another_program_and_no_candidate_is_to_blame(tmp_path: Path) -> None:
    there = prepared(StuckHelper(b"umount: target is busy"), tmp_path)
    with clock.use(SimulatedClock()), pytest.raises(RunFailed, match="zfs cannot be unmounted: another program"):
        async with there.open(PLAN.candidates[0]):
            pass


async def test_a_device_that_cannot_be_wiped_at_the_end_is_tried_for_a_while_and_then_told(tmp_path: Path) -> None:
    class Unwipeable(StuckHelper):
        tries = 0

        async def wipe(self, handle: int) -> Finished:
            self.tries += 1
            raise HelperFailed("The device is in use.")

    helper, told = Unwipeable(), list[Event]()
    with clock.use(SimulatedClock()):
        began_s = clock.monotonic()
        await _leave_wiped(cast(Helper, cast(Any, helper)), ATTACHED, Emitter(told.append, Eta(PLAN)))
        assert clock.monotonic() - began_s == pytest.approx(WIPE_LIMIT_S, abs=0.2)
    assert helper.tries == pytest.approx(WIPE_LIMIT_S / 0.1, abs=2)
    (event,) = told
    assert isinstance(event, DoubtRaised) and event.doubt.code == "not-wiped"
    assert "loop0 could not be wiped" in event.doubt.text
