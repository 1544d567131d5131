"""What is mounted (mountinfo in proc(5))."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from fswizard.system.block_device import HERE


@dataclass(frozen=True, slots=True)
class Mount:
    """A line of mountinfo. Texts are as the kernel has them."""

    id: int = field(compare=False)
    """No other mount has it while it exists; the same mount has another one in each namespace."""
    device: str
    """`major:minor`; btrfs and other filesystems on several devices have a number of their own here."""
    root: str
    """Directory of the filesystem that is mounted: not `/` for bind mounts and subvolumes."""
    path: str
    kind: str
    """Type of the filesystem, such as `ext4` or `fuseblk`."""
    source: str


def parse(lines: Iterable[str]) -> tuple[Mount, ...]:
    """Mounts in the order in which they were made; lines that are none are passed over."""
    rows = []
    for line in lines:
        before, dash, after = line.partition(" - ")
        left, right = before.split(" "), after.split(" ")
        if dash and left[0].isdecimal() and len(left) >= 6 and len(right) >= 2:
            texts = map(unescape, (left[3], left[4], right[0], right[1]))
            rows.append(Mount(int(left[0]), left[2], *texts))
    return tuple(rows)


def unescape(field: str) -> str:
    r"""A field of a kernel table, in which blank, tab, line end and backslash are written as `\040` and so on."""
    return re.sub(r"\\([0-3][0-7]{2})", lambda match: chr(int(match[1], 8)), field)


def current() -> dict[int, Mount]:
    """Of this namespace, by ID."""
    return {mount.id: mount for mount in parse(HERE.lines("/proc/self/mountinfo"))}
