"""What is mounted in the helper's namespace, as the kernel tells (proc(5), mountinfo)."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from fswizard.privileged import system_calls


@dataclass(frozen=True, slots=True)
class Mount:
    id: int
    path: str
    source: str
    kind: str
    """Type of the filesystem, such as `ext4` or `fuseblk`."""


def mounts() -> dict[int, Mount]:
    """By mount ID, which no other mount has while it exists."""
    with open("/proc/self/mountinfo", "rb") as file:
        rows = [line.split(b" ") for line in file.read().splitlines()]
    parts = ((row, row.index(b"-")) for row in rows)
    found = (
        Mount(int(row[0]), _decoded(row[4]), _decoded(row[dash + 2]), _decoded(row[dash + 1])) for row, dash in parts
    )
    return {mount.id: mount for mount in found}


def open_root(mount: Mount) -> int:
    """Descriptor of the mount's root; OSError where its path leads elsewhere by now."""
    descriptor = os.open(mount.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    if _mount_id(descriptor) != mount.id:
        os.close(descriptor)
        raise OSError(f"{mount.path} was moved while it was looked at")
    return descriptor


def unmount(path: str) -> int:
    """0, or the number of the error, which is told on standard error. Never lazily."""
    try:
        system_calls.unmount(path)
    except OSError as error:
        print(f"umount: {path}: {error.strerror}", file=sys.stderr)
        return error.errno or 1
    return 0


def users(mount: Mount) -> list[str]:
    """In words, which processes of this PID namespace have something of `mount` open."""
    namespace = os.stat("/proc/self/ns/pid").st_ino
    return [text for pid in os.listdir("/proc") if pid.isdigit() for text in _uses(pid, namespace, mount)]


def _uses(pid: str, namespace: int, mount: Mount) -> list[str]:
    """A process may end while it is looked at: then it uses nothing."""
    try:
        if not _is_inside(pid, namespace):
            return []
        name = Path(f"/proc/{pid}/comm").read_text(errors="backslashreplace").strip()
        links = [f"/proc/{pid}/{link}" for link in ("cwd", "root", "exe")]
        links += [f"/proc/{pid}/fd/{number}" for number in os.listdir(f"/proc/{pid}/fd")]
        targets = [os.readlink(link) for link in links if os.path.lexists(link)]
    except OSError:
        return []
    below = mount.path.rstrip("/") + "/"
    return [f"{name} (process {pid}): {target}" for target in targets if (target + "/").startswith(below)]


def _is_inside(pid: str, namespace: int) -> bool:
    """Of this PID namespace, or of one below it: those have more than one number."""
    if os.stat(f"/proc/{pid}/ns/pid").st_ino == namespace:
        return True
    with open(f"/proc/{pid}/status") as file:
        numbers = next(line for line in file if line.startswith("NSpid:")).split()[1:]
    return len(numbers) > 2


def _mount_id(descriptor: int) -> int:
    with open(f"/proc/self/fdinfo/{descriptor}") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("mnt_id:"))


def _decoded(field: bytes) -> str:
    """Blanks and the like stand as `\\040` in the table."""
    return os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda match: bytes([int(match[1], 8)]), field))
