"""What is mounted where, as the kernel tells this process."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fswizard.drives.machine import HERE, Machine


@dataclass(frozen=True, slots=True)
class Mount:
    """A line of /proc/self/mountinfo. Paths are as the kernel has them: make them `safe` before showing."""

    device: str
    """`major:minor`; btrfs and other filesystems on several devices have a number of their own here."""
    root: str
    """Directory of the filesystem that is mounted: not `/` for bind mounts and subvolumes."""
    mount_point: str
    filesystem: str
    source: str


def parse_mountinfo(lines: Iterable[str]) -> tuple[Mount, ...]:
    """Mounts in the order in which they were made; lines that are none are passed over (proc(5))."""
    mounts = []
    for line in lines:
        before, dash, after = line.partition(" - ")
        left, right = before.split(" "), after.split(" ")
        if dash and len(left) >= 6 and len(right) >= 2:
            mounts.append(Mount(left[2], unescape(left[3]), unescape(left[4]), right[0], unescape(right[1])))
    return tuple(mounts)


def unescape(field: str) -> str:
    r"""A field of a kernel table, in which blank, tab, line end and backslash are written as `\040` and so on."""
    return re.sub(r"\\([0-3][0-7]{2})", lambda match: chr(int(match[1], 8)), field)


def mounts(machine: Machine = HERE) -> tuple[Mount, ...]:
    return parse_mountinfo(machine.lines("/proc/self/mountinfo"))


def mount_of(path: str, table: Iterable[Mount]) -> Mount | None:
    """The mount that `path`, absolute and free of links, lies on; the latest where several cover each other."""
    best: Mount | None = None
    for mount in table:
        inside = path == mount.mount_point or path.startswith(mount.mount_point.rstrip("/") + "/")
        if inside and (best is None or len(mount.mount_point) >= len(best.mount_point)):
            best = mount
    return best
