"""OpenZFS as a real module of the kernel, in a machine whose making takes many minutes longer for it."""

from __future__ import annotations

import pytest

from tests.vm import pool_checks, table
from tests.vm.disks import MEASURED
from tests.vm.machine import Machine
from tests.vm.runs import RUN_S, link, on_disk

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("zfs")]

TUNED = "zfs:compression=zstd,recordsize=16k,atime=off"


def pools(machine: Machine) -> list[str]:
    return machine.run("zpool", "list", "-H", "-o", "name").stdout.decode().split()


def test_a_pool_is_measured_and_nothing_is_left_of_it(zfs_machine: Machine) -> None:
    run = on_disk(zfs_machine, MEASURED, f"ext4; zfs; {TUNED}", "--rounds", "2..2")
    run.assert_whole(2, "zfs", TUNED)
    assert "zfs-through-openzfs" in {doubt["code"] for doubt in run.report["doubts"]}
    assert pools(zfs_machine) == []
    assert zfs_machine.run("wipefs", "--no-act", link(MEASURED)).stdout == b""
    table.note("zfs", "whole run", f"2 rounds, {run.ratio('zfs'):.2f} times ext4")
    table.note("zfs", "mount options", TUNED.partition(":")[2])


def test_the_helper_has_pools_as_asked_and_mounts_nothing_else_of_them(zfs_machine: Machine) -> None:
    zfs_machine.ok("python3", "-m", pool_checks.__name__, timeout_s=RUN_S)
    zfs_machine.run("rm", "--recursive", str(pool_checks.ROOM))
