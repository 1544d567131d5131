"""OpenZFS as a real module of the kernel, in a machine that takes many minutes longer to build."""

from __future__ import annotations

import pytest

from fswizard.advice import conclude
from tests.long.vm import pool_checks
from tests.long.vm.disks import MEASURED
from tests.long.vm.machine import Machine, awaited
from tests.long.vm.runs import RUN_S, link, measured, on_disk

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("zfs")]

LIMIT = "awk '$1 == \"c_max\" { print $3 }' /proc/spl/kstat/zfs/arcstats"
SEEN_LIMITS = "/run/arc-limits"
WATCHER = f"while sleep 0.1; do {LIMIT} >> {SEEN_LIMITS}; done"
TUNED = "zfs:compression=zstd,recordsize=16k,atime=off"


def arc_limits_seen(machine: Machine) -> list[int]:
    """Most bytes that the ARC was allowed, since somebody watches."""
    return sorted({int(line) for line in machine.run("cat", SEEN_LIMITS).stdout.split()})


def test_a_pool_is_measured_within_the_memory_limit_and_nothing_is_left_of_it(zfs_machine: Machine) -> None:
    zfs_machine.ok("modprobe", "zfs")
    watching = zfs_machine.start("sh", "-c", WATCHER)
    (usual,) = awaited(lambda: arc_limits_seen(zfs_machine), bool)
    result = on_disk(zfs_machine, MEASURED, TUNED, "--memory-limit", "128M")
    watching.kill()
    assert measured(result) == {TUNED}
    assert "zfs-through-openzfs" in {doubt.code for doubt in conclude(result).doubts}
    assert arc_limits_seen(zfs_machine) == [128 << 20, usual]
    assert int(zfs_machine.sh(LIMIT)) == usual
    assert zfs_machine.run("zpool", "list", "-H").stdout == b""
    assert zfs_machine.run("wipefs", "--no-act", link(MEASURED)).stdout == b""


def test_pools_are_as_asked_and_nothing_else_of_them_is_mounted(zfs_machine: Machine) -> None:
    zfs_machine.ok(*pool_checks.APART, "python3", "-m", pool_checks.__name__, timeout_s=RUN_S)
    zfs_machine.run("rm", "--recursive", str(pool_checks.ROOM))
