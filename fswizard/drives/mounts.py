"""What is mounted where, as the kernel tells this process. Paths are its own: make them `safe` before showing."""

from __future__ import annotations

from collections.abc import Iterable

from fswizard.drives.machine import HERE, Machine
from fswizard.privileged.mounts import Mount, parse


def mounts(machine: Machine = HERE) -> tuple[Mount, ...]:
    return parse(machine.lines("/proc/self/mountinfo"))


def mount_of(path: str, table: Iterable[Mount]) -> Mount | None:
    """The mount that `path`, absolute and free of links, lies on; the latest where several cover each other."""
    best: Mount | None = None
    for mount in table:
        inside = path == mount.path or path.startswith(mount.path.rstrip("/") + "/")
        if inside and (best is None or len(mount.path) >= len(best.path)):
            best = mount
    return best
