"""Mounted filesystems (mountinfo in proc(5))."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fswizard.system.block_device import HERE, Tree


@dataclass(frozen=True, slots=True)
class Mount:
    """A line of mountinfo, with unsanitised texts."""

    device: str
    """Number `major:minor` of the device; a virtual one for btrfs and other filesystems on several devices."""
    root: str
    """Mounted directory of the filesystem; not `/` for bind mounts and subvolumes."""
    path: str
    kind: str
    """Filesystem type, such as `ext4` or `fuseblk`."""
    source: str


def parse(lines: Iterable[str]) -> tuple[Mount, ...]:
    """Parse mountinfo; mounts are in the order of mounting, and invalid lines are skipped."""
    rows = []
    for line in lines:
        before, dash, after = line.partition(" - ")
        left, right = before.split(" "), after.split(" ")
        if dash and left[0].isdecimal() and len(left) >= 6 and len(right) >= 2:
            texts = map(unescape, (left[3], left[4], right[0], right[1]))
            rows.append(Mount(left[2], *texts))
    return tuple(rows)


def unescape(field: str) -> str:
    r"""Decode a field of a kernel table, which has octal escapes such as `\040` for a blank."""
    return re.sub(r"\\([0-3][0-7]{2})", lambda match: chr(int(match[1], 8)), field)


def current(tree: Tree = HERE) -> tuple[Mount, ...]:
    """Mounts of this namespace."""
    return parse(tree.lines("/proc/self/mountinfo"))
