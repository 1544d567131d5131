"""NILFS2 writes everything to the end of a log, and its cleaner makes room behind it: what if there is none."""

from __future__ import annotations

import pytest

from tests.long.vm.disks import ARCHIVE
from tests.long.vm.machine import Machine
from tests.long.vm.runs import on_disk, on_target
from tests.recipe_texts import writing

pytestmark = [pytest.mark.vm, pytest.mark.slow]

CLEANED, UNCLEANED = "nilfs2:pp=0", "nilfs2:nogc"
"""The cleaner leaves nothing alone, so that a short run sees it; and no cleaner at all."""
REWRITING, LARGE = writing("256M", "96M", 20, rw="write"), writing("256M", "96M", 10, rw="write")
"""A third of a small volume is written over and over again."""


def test_a_small_volume_fills_up_where_nobody_cleans(machine: Machine) -> None:
    machine.run("mkdir", "--parents", "/srv/nilfs2")
    target = "image:256M@/srv/nilfs2"
    run = on_target(machine, target, f"ext4; {CLEANED}; {UNCLEANED}", "--rounds", "1..1", recipe=REWRITING)
    assert run.rounds("ext4") == {1}
    assert run.failures(UNCLEANED) == {"ENOSPC"}, "a full disk is a result"
    assert run.failures(CLEANED) <= {"ENOSPC"}, "it keeps up, slows down, or gives up for want of room"
    assert UNCLEANED not in run.report["answer"]["choice"]


def test_a_whole_large_disk_has_room_enough_with_and_without_a_cleaner(machine: Machine) -> None:
    run = on_disk(machine, ARCHIVE, f"btrfs; {CLEANED}; {UNCLEANED}", "--rounds", "1..1", recipe=LARGE)
    assert run.report["result"]["plan"]["target"]["size_bytes"] == ARCHIVE.size_bytes
    run.assert_whole(1, CLEANED, UNCLEANED)
    for name in (CLEANED, UNCLEANED):
        assert run.failures(name) == set()
