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


_LINE = re.compile(r"\d+ \d+ ([^ ]+) ([^ ]+) ([^ ]+) .*? - ([^ ]+) ([^ ]*)", re.DOTALL)
"""Device, root, mount point; after optional fields and a dash: type, source. Blanks in them are escaped."""


def parse(lines: Iterable[str]) -> tuple[Mount, ...]:
    """Parse mountinfo; mounts are in the order of mounting, and invalid lines are skipped."""
    found = filter(None, map(_LINE.match, lines))
    return tuple(Mount(*map(unescape, line.groups())) for line in found)


def unescape(field: str) -> str:
    r"""Decode a field of a kernel table, which has octal escapes such as `\040` for a blank."""
    return re.sub(r"\\([0-3][0-7]{2})", lambda match: chr(int(match[1], 8)), field)


def current(tree: Tree = HERE) -> tuple[Mount, ...]:
    """Mounts of this namespace."""
    return parse(tree.lines("/proc/self/mountinfo"))


def mount_of(path: str, table: Iterable[Mount]) -> Mount | None:
    """Mount of `path`, an absolute path without links; the latest one if mounts cover each other."""
    covering = [mount for mount in table if f"{path}/".startswith(mount.path.rstrip("/") + "/")]
    return max(reversed(covering), key=lambda mount: len(mount.path), default=None)
