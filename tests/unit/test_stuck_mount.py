"""A candidate that cannot be unmounted: it is to blame, and where another's turn comes, the run ends in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from fswizard.bench.helper import Attached, Helper
from fswizard.bench.image import ImageVenue, Layout
from fswizard.bench.narrator import Narrator
from fswizard.bench.pace import Pace
from fswizard.bench.venue import CandidateFailed
from fswizard.errors import RunFailed
from fswizard.model.events import Event
from fswizard.system.process import Finished
from tests.builders import make_plan

PLAN = make_plan(("zfs", "xfs"))
ATTACHED = Attached(1, True, "pool", ("loop0",), ("/dev/loop0",))


class StuckHelper:
    """Carries out everything but umount, as with a FUSE program that has locked up."""

    def __init__(self) -> None:
        self.stuck = True

    async def wipe(self, handle: int) -> Finished:
        return done("wipefs")

    async def mkfs(self, handle: int, filesystem: str, arguments: Sequence[str]) -> Finished:
        return done("mkfs")

    async def mount(self, handle: int, mount_type: str, options: Sequence[str], directory: str) -> Finished:
        return done("mount")

    async def umount(self, handle: int) -> Finished:
        return Finished(("umount",), int(self.stuck), b"", b"cannot export: I/O error" if self.stuck else b"", 0.1)

    async def sync(self, handle: int) -> Finished:
        return done("sync", b"4096\n")

    async def health(self, handle: int, counted: Sequence[str]) -> dict[str, int]:
        return {}


def done(program: str, stdout: bytes = b"") -> Finished:
    return Finished((program,), 0, stdout, b"", 0.1)


def venue(helper: StuckHelper, tmp_path: Path) -> ImageVenue:
    told: list[Event] = []
    layout = Layout((), str(tmp_path / "mount"), str(tmp_path / "scratch"))
    return ImageVenue(PLAN, Narrator(told.append, Pace(PLAN)), cast(Helper, cast(Any, helper)), ATTACHED, layout)


async def test_another_candidates_turn_ends_the_run_and_names_the_one_that_is_stuck(tmp_path: Path) -> None:
    helper = StuckHelper()
    there = venue(helper, tmp_path)
    with pytest.raises(CandidateFailed, match="zfs could not be unmounted"):
        async with there.open(PLAN.candidates[0]):
            pass
    with pytest.raises(RunFailed, match="zfs could not be unmounted: its driver does not let go of it") as caught:
        async with there.open(PLAN.candidates[1]):
            pass
    assert "--resume" in caught.value.hint
    assert "cannot export" in caught.value.details


async def test_another_try_of_the_same_candidate_is_its_own_failure(tmp_path: Path) -> None:
    there = venue(StuckHelper(), tmp_path)
    for words in ("zfs could not be unmounted.", "its driver does not let go of it."):
        with pytest.raises(CandidateFailed, match=words) as caught:
            async with there.open(PLAN.candidates[0]):
                pass
        assert caught.value.kind == "umount"


async def test_one_that_lets_go_later_stands_in_nobodys_way(tmp_path: Path) -> None:
    helper = StuckHelper()
    there = venue(helper, tmp_path)
    with pytest.raises(CandidateFailed):
        async with there.open(PLAN.candidates[0]):
            pass
    helper.stuck = False
    async with there.open(PLAN.candidates[1]) as site:
        assert await site.used_bytes() == 4096
