"""NILFS2 writes everything to the end of a log, and its cleaner makes room behind it: what if there is none."""

from __future__ import annotations

import pytest

from fswizard.advice import conclude
from tests.long.vm.machine import Machine
from tests.long.vm.runs import measured, on_target
from tests.recipe_texts import writing

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("machine")]

CLEANED, UNCLEANED = "nilfs2:pp=0", "nilfs2:nogc"
"""The cleaner leaves nothing alone, so that a short run sees it; and no cleaner at all."""
REWRITING = writing("256M", "96M", 12, rw="write")
"""A third of a small volume is written over and over again."""


def test_a_small_volume_fills_up_where_nobody_cleans(machine: Machine) -> None:
    machine.run("mkdir", "--parents", "/srv/nilfs2")
    result = on_target(machine, "image:256M@/srv/nilfs2", f"ext4; {CLEANED}; {UNCLEANED}", recipe=REWRITING)
    assert "ext4" in measured(result)
    failed = {failure.candidate: failure.kind for failure in result.failures}
    assert failed.pop(UNCLEANED) == "ENOSPC", "a full disk is a result"
    assert failed in ({}, {CLEANED: "ENOSPC"}), "it keeps up, slows down, or gives up for want of room"
    assert UNCLEANED not in conclude(result).answer.choice
