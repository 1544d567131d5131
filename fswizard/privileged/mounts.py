"""What is mounted (mountinfo in proc(5)), and where the helper mounts."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from fswizard.privileged import commands, system_calls
from fswizard.privileged.block_device import HERE


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


def prepare(directory: str) -> None:
    """Have an empty directory below `MOUNT_ROOT`, where a program that was killed may have left something mounted.

    The helper's namespace alone has the tmpfs there, and root alone can write to it.
    """
    mounted = [mount.path for mount in current().values()]
    if commands.MOUNT_ROOT not in mounted:
        os.makedirs(commands.MOUNT_ROOT, 0o755, exist_ok=True)
        system_calls.mount("fswizard", commands.MOUNT_ROOT, "tmpfs", 0, "mode=0755")
    for _ in range(mounted.count(directory)):
        system_calls.detach_mount(directory)
    os.makedirs(directory, 0o700, exist_ok=True)


def restrict(directory: str) -> None:
    """Have what a FUSE program mounted there give neither programs nor device nodes any rights."""
    flags = system_calls.MS_REMOUNT | system_calls.MS_BIND | system_calls.MS_NOSUID | system_calls.MS_NODEV
    system_calls.mount("none", directory, "none", flags)


def open_root(mount: Mount) -> int:
    """Descriptor of the mount's root; OSError where its path leads elsewhere by now."""
    descriptor = os.open(mount.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    if id_of(descriptor) != mount.id:
        os.close(descriptor)
        raise OSError(f"{mount.path} was moved while it was looked at")
    return descriptor


def unmount(path: str) -> int:
    """0, or the error number; the reason goes to standard error. Never lazily."""
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


def id_of(descriptor: int) -> int:
    """ID of the mount that an open file lies on."""
    with open(f"/proc/self/fdinfo/{descriptor}") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("mnt_id:"))
