"""Whole runs with filesystems and arrays that the kernel of a container rarely has, on disks that udev watches."""

from __future__ import annotations

from pathlib import Path

import pytest

from fswizard.advice import conclude
from tests.long.vm.disks import MEASURED
from tests.long.vm.machine import Machine, booted
from tests.long.vm.runs import ERASE, LINKS, TARGET, link, measured, on_disk, on_target
from tests.recipe_texts import writing

pytestmark = [pytest.mark.vm, pytest.mark.slow]

TUNED = {
    "f2fs": ("f2fs:noatime,gc_merge,active_logs=2", "noatime", "gc_merge", "active_logs=2"),
    "nilfs2": ("nilfs2:noatime,order=strict", "noatime", "order=strict"),
    "jfs": ("jfs:noatime", "noatime"),
    "exfat": ("exfat:noatime", "noatime"),
    "vfat": ("fat32:noatime,flush", "noatime", "flush"),
}
"""By the kernel's name for a filesystem: a candidate, and what the kernel shows of its mount options."""
WHOLE = ("md:raid6+xfs", "md:raid10,chunk=64K+ext4", "zfs:raidz", "zfs:mirror")
NTFS = "ntfs:noatime,prealloc,sparse,discard,cluster=64k"
COMPRESSED = "ntfs:compression"
"""The kernel's driver refuses direct writes to compressed files ("direct i/o + compressed not supported")."""
CLEANED, UNCLEANED = "nilfs2:pp=0", "nilfs2:nogc"
"""The cleaner leaves nothing alone, so that a short run sees it; and no cleaner at all."""
REWRITING = writing("256M", "96M", 12, rw="write")
"""A third of a small volume is written over and over again."""
SEEN = "/run/mounts-seen"
WATCHER = f'while sleep 1; do grep --no-filename --fixed-strings " $1 " /proc/[0-9]*/mountinfo >> {SEEN}; done'
"""In whatever namespace the disk is mounted."""


def mounts_seen(machine: Machine, kernel_name: str) -> list[set[str]]:
    """Mount options, as the kernel showed them, of each filesystem of that name that was seen."""
    lines = [line.split() for line in machine.run("cat", SEEN).stdout.decode().splitlines()]
    found = [words for words in lines if words[words.index("-") + 1] == kernel_name]
    return [set(f"{words[5]},{words[-1]}".split(",")) for words in found]


@pytest.mark.xdist_group("machine")
def test_whole_runs_with_mount_options_leave_a_wiped_disk(machine: Machine) -> None:
    candidates = [candidate for candidate, *_ in TUNED.values()]
    machine.ok("udevadm", "wait", "--timeout=60", link(MEASURED))
    device = machine.ok("readlink", "--canonicalize", link(MEASURED)).strip()
    watching = machine.start("sh", "-c", WATCHER, "sh", device)
    result = on_disk(machine, MEASURED, "; ".join(candidates))
    watching.kill()
    assert measured(result) == set(candidates)
    for name, (candidate, *options) in TUNED.items():
        shown = mounts_seen(machine, name)
        assert any(set(options) <= found for found in shown), (candidate, shown)
    machine.ok("udevadm", "settle", "--timeout=600")
    known = machine.ok("udevadm", "info", "--query=property", link(MEASURED))
    assert f"ID_SERIAL_SHORT={MEASURED.serial}" in known
    assert "ID_FS_TYPE" not in known, "udev has seen that nothing is left"
    assert machine.run("wipefs", "--no-act", link(MEASURED)).stdout == b""
    programs = machine.run("sh", "-c", "cat /proc/[0-9]*/comm").stdout
    assert b"nilfs_cleanerd" not in programs, "the cleaner went with its filesystem"


@pytest.mark.xdist_group("machine")
def test_a_small_volume_fills_up_where_nobody_cleans(machine: Machine) -> None:
    machine.run("mkdir", "--parents", "/srv/nilfs2")
    result = on_target(machine, "image:256M@/srv/nilfs2", f"ext4; {CLEANED}; {UNCLEANED}", recipe=REWRITING)
    assert "ext4" in measured(result)
    failed = {failure.candidate: failure.kind for failure in result.failures}
    assert failed.pop(UNCLEANED) == "ENOSPC", "a full disk is a result"
    assert failed in ({}, {CLEANED: "ENOSPC"}), "it keeps up, slows down, or gives up for want of room"
    assert UNCLEANED not in conclude(result).answer.choice


@pytest.mark.xdist_group("zfs")
def test_layouts_are_measured_and_taken_apart_again(zfs_machine: Machine) -> None:
    result = on_target(zfs_machine, TARGET, "; ".join(WHOLE), *ERASE)
    assert measured(result) == set(WHOLE)
    assert b"active" not in zfs_machine.run("cat", "/proc/mdstat").stdout
    for member in LINKS:
        assert zfs_machine.run("wipefs", "--no-act", member).stdout == b"", member
    assert zfs_machine.run("zpool", "list", "-H").stdout == b""


@pytest.mark.xdist_group("zfs")
def test_ntfs_is_measured_through_the_kernels_own_driver_with_each_option(tmp_path: Path) -> None:
    with booted(tmp_path, [MEASURED], kind="newer") as machine:
        result = on_disk(machine, MEASURED, f"ntfs; {NTFS}; {COMPRESSED}")
    assert measured(result) == {"ntfs", NTFS}
    assert {failure.candidate for failure in result.failures} == {COMPRESSED}, "it refuses the workload"
