"""Whole runs with filesystems that the kernel of a container rarely has, on a disk that udev watches."""

from __future__ import annotations

import pytest

from tests.long.vm.disks import MEASURED
from tests.long.vm.machine import Machine
from tests.long.vm.runs import link, mounts_seen, on_disk, watched_mounts
from tests.recipe_texts import writing

pytestmark = [pytest.mark.vm, pytest.mark.slow]

MANY = ("ext4", "xfs", "btrfs", "f2fs", "nilfs2", "nilfs2:nogc")
TUNED = {
    "ext4": ("ext4:noatime,commit=60,packed_meta_blocks", "noatime", "commit=60"),
    "xfs": ("xfs:noatime,logbsize=256k", "noatime", "logbsize=256k"),
    "btrfs": ("btrfs:noatime,compress=zstd:1", "noatime", "compress=zstd:1"),
    "f2fs": ("f2fs:noatime,gc_merge,active_logs=2", "noatime", "gc_merge", "active_logs=2"),
    "nilfs2": ("nilfs2:noatime,order=strict", "noatime", "order=strict"),
    "jfs": ("jfs:noatime", "noatime"),
    "exfat": ("exfat:noatime", "noatime"),
    "vfat": ("fat32:noatime,flush", "noatime", "flush"),
    "fuseblk": ("ntfs-3g:noatime", "noatime"),
}
"""By the kernel's name for a filesystem: a candidate, and what the kernel shows of its mount options."""


def test_whole_runs_at_the_speed_of_the_disk_which_is_left_wiped(machine: Machine) -> None:
    run = on_disk(machine, MEASURED, "; ".join(MANY), "--rounds", "2..2")
    run.assert_whole(2, *MANY)
    assert max(run.rates("ext4")) < 1.2 * MEASURED.requests_per_s
    assert run.report["result"]["plan"]["drive"]["model"] == "TESTDISK"
    assert run.report["result"]["plan"]["target"]["kind"] == "device"
    machine.ok("udevadm", "settle", "--timeout=600")
    known = machine.run("udevadm", "info", "--query=property", link(MEASURED)).stdout.decode()
    assert f"ID_SERIAL_SHORT={MEASURED.serial}" in known
    assert "ID_FS_TYPE" not in known, "udev has seen that nothing is left"
    assert machine.run("wipefs", "--no-act", link(MEASURED)).stdout == b""
    programs = machine.run("sh", "-c", "cat /proc/[0-9]*/comm").stdout
    assert b"nilfs_cleanerd" not in programs, "the cleaner went with its filesystem"


def test_mount_options_reach_the_kernel(machine: Machine) -> None:
    candidates = "; ".join(candidate for candidate, *_ in TUNED.values())
    with watched_mounts(machine, MEASURED):
        on_disk(machine, MEASURED, candidates, "--rounds", "1..1", recipe=writing("512M", "16M", 1))
    for name, (candidate, *options) in TUNED.items():
        shown = mounts_seen(machine, name)
        assert any(set(options) <= found for found in shown), (candidate, shown)
