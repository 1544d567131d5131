"""OpenZFS as a real module of the kernel, in a machine whose making takes many minutes longer for it."""

from __future__ import annotations

import pytest

from tests.long.vm import pool_checks
from tests.long.vm.disks import MEASURED
from tests.long.vm.machine import Machine, awaited
from tests.long.vm.runs import RUN_S, link, on_disk

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("zfs")]

LIMIT = "awk '$1 == \"c_max\" { print $3 }' /proc/spl/kstat/zfs/arcstats"
SEEN_LIMITS = "/run/arc-limits"
WATCHER = f"while sleep 0.1; do {LIMIT} >> {SEEN_LIMITS}; done"
TUNED = "zfs:compression=zstd,recordsize=16k,atime=off"


def pools(machine: Machine) -> list[str]:
    return machine.run("zpool", "list", "-H", "-o", "name").stdout.decode().split()


def test_a_pool_is_measured_and_nothing_is_left_of_it(zfs_machine: Machine) -> None:
    run = on_disk(zfs_machine, MEASURED, f"ext4; zfs; {TUNED}", "--rounds", "2..2")
    run.assert_whole(2, "zfs", TUNED)
    assert "zfs-through-openzfs" in {doubt["code"] for doubt in run.report["doubts"]}
    assert pools(zfs_machine) == []
    assert zfs_machine.run("wipefs", "--no-act", link(MEASURED)).stdout == b""


def arc_limits_seen(machine: Machine) -> list[int]:
    """Most bytes that the ARC was allowed, since somebody watches."""
    return sorted({int(line) for line in machine.run("cat", SEEN_LIMITS).stdout.split()})


def test_the_arc_keeps_to_the_memory_limit_while_something_is_measured_and_no_longer(zfs_machine: Machine) -> None:
    zfs_machine.ok("modprobe", "zfs")
    watching = zfs_machine.start("sh", "-c", WATCHER)
    awaited(lambda: arc_limits_seen(zfs_machine), bool)
    (usual,) = arc_limits_seen(zfs_machine)
    on_disk(zfs_machine, MEASURED, "ext4; zfs", "--rounds", "1..1", "--memory-limit", "128M")
    watching.kill()
    assert arc_limits_seen(zfs_machine) == [128 << 20, usual]
    assert int(zfs_machine.sh(LIMIT)) == usual


def test_pools_are_as_asked_and_nothing_else_of_them_is_mounted(zfs_machine: Machine) -> None:
    zfs_machine.ok(*pool_checks.APART, "python3", "-m", pool_checks.__name__, timeout_s=RUN_S)
    zfs_machine.run("rm", "--recursive", str(pool_checks.ROOM))
