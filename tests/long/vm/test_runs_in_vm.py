"""A whole run with filesystems that the kernel of a container rarely has, on a disk that udev watches."""

from __future__ import annotations

import pytest

from tests.long.vm.disks import MEASURED
from tests.long.vm.machine import Machine
from tests.long.vm.runs import link, measured, on_disk

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("machine")]

TUNED = {
    "f2fs": ("f2fs:noatime,gc_merge,active_logs=2", "noatime", "gc_merge", "active_logs=2"),
    "nilfs2": ("nilfs2:noatime,order=strict", "noatime", "order=strict"),
    "jfs": ("jfs:noatime", "noatime"),
    "exfat": ("exfat:noatime", "noatime"),
    "vfat": ("fat32:noatime,flush", "noatime", "flush"),
}
"""By the kernel's name for a filesystem: a candidate, and what the kernel shows of its mount options."""
SEEN = "/run/mounts-seen"
WATCHER = f'while sleep 1; do grep --no-filename --fixed-strings " $1 " /proc/[0-9]*/mountinfo >> {SEEN}; done'
"""In whatever namespace the disk is mounted."""


def mounts_seen(machine: Machine, kernel_name: str) -> list[set[str]]:
    """Mount options, as the kernel showed them, of each filesystem of that name that was seen."""
    lines = [line.split() for line in machine.run("cat", SEEN).stdout.decode().splitlines()]
    found = [words for words in lines if words[words.index("-") + 1] == kernel_name]
    return [set(f"{words[5]},{words[-1]}".split(",")) for words in found]


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
