"""Devices that the helper holds, as one: arrays of md, what btrfs and ZFS spread over them by themselves, and volumes.

An array of md is made with mdadm and stopped when the run is over. It has a name and a UUID that nobody else's has. It
is known by its members in sysfs, and stopped only where all of them are the helper's, or, of a killed run, where name
and UUID are the run's. mdadm reads no configuration and assembles nothing.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import operator
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fswizard.privileged import block_device, commands, mapped, names, programs
from fswizard.privileged.exclusive_claim import ClaimedDevice
from fswizard.privileged.loop_device import LoopDevice
from fswizard.privileged.protocol import Refusal

Held = LoopDevice | ClaimedDevice
BTRFS_FORGET_DEV = 0x50009405
"""linux/btrfs.h; its argument is a descriptor, which is not used, and the path."""
PATH_BYTES = 4088
BLOCKS = Path("/sys/block")
ANSWER_LIMIT_S = 10
BUSY_LIMIT_S = 10.0
"""A device that has just failed, or an array that udev looks at, is let go a moment later."""
HELD = (b"busy", b"exclusive access")
"""What mdadm says until then."""


@dataclass(slots=True)
class Group:
    """Until it is detached its members take no orders of their own.

    All of them are locked as udev respects it, which else would assemble the array of members again whenever one of
    them was written to.
    """

    members: tuple[Held, ...]
    volume: str = ""
    """Name of the volume that may be made of one alone."""
    spread: bool = False
    """A btrfs is on all of them, and not on the first alone."""
    missing: bool = False
    """The last one was taken away."""

    @property
    def array(self) -> str:
        """Kernel name of the array or volume that there is of them now; empty where there is none."""
        return find_array([member.name for member in self.members]) or mapped.find(self.volume)

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(member.path for member in self.members)

    @property
    def remaining(self) -> tuple[Held, ...]:
        """The members that were not taken away."""
        return self.members[:-1] if self.missing else self.members

    @property
    def name(self) -> str:
        return self.array or self.members[0].name

    @property
    def path(self) -> str:
        """Of what a filesystem is made on: the array or volume, or the first member."""
        if mapped.find(self.volume):
            return commands.volume_path(self.volume)
        return f"/dev/{self.name}" if self.array else self.members[0].path

    @property
    def sources(self) -> tuple[str, ...]:
        """What a mount may name as the thing that is mounted."""
        return tuple(member.path for member in self.remaining) if self.spread else (self.path,)

    @property
    def mount_options(self) -> tuple[str, ...]:
        """Where a btrfs finds its further devices: no other one is looked at."""
        return commands.btrfs_options(self.paths, missing=self.missing) if self.spread else ()

    @property
    def descriptor(self) -> int:
        return self.members[0].descriptor

    @property
    def direct_io(self) -> bool:
        return all(member.direct_io for member in self.members)

    @property
    def log_names(self) -> tuple[str, ...]:
        names = (name for member in self.members for name in member.log_names)
        return tuple(dict.fromkeys((*names, *filter(None, [self.array]))))

    def require_same(self, *, unused: bool) -> None:
        """As of each member; while they are an array or volume, that alone uses them."""
        array = self.array
        for member in self.members:
            member.require_same(unused=unused and not array)

    @property
    def stopping(self) -> commands.Commands:
        """Commands that `disassemble` takes, apart from btrfs."""
        if mapped.find(self.volume):
            return (commands.close_volume(self.volume),)
        return commands.stop_array(self.path, self.paths) if self.array else ()

    def disassemble(self) -> int:
        """Undo what was made of the members; the exit code."""
        unregister_btrfs(self.members)
        if mapped.find(self.volume):
            return mapped.close(self.volume)
        array = self.array
        return stop_array(array, self.paths) if array else 0

    def detach(self) -> None:
        """Let the members go, which take orders of their own again."""


def join(devices: Sequence[Held | Group]) -> Group:
    """Refusal where they are none, twice the same, on the same disk, or joined already.

    One alone can have a volume made of it.
    """
    members = [device for device in devices if not isinstance(device, Group)]
    if len(members) < len(devices):
        raise Refusal("refused", "a group can't be part of another one")
    own = [member.name for member in members]
    disks = [member.device.disk if isinstance(member, ClaimedDevice) else member.name for member in members]
    if not members or len(set(own)) < len(own):
        raise Refusal("refused", "an array needs different devices")
    if len(set(disks)) < len(disks):
        raise Refusal("refused", "two of the devices are on one disk")
    return Group(tuple(members))


def unregister_btrfs(members: Sequence[Held]) -> None:
    """Have the kernel forget what it has seen on them: it would look for the devices of a btrfs that is gone."""
    with contextlib.suppress(OSError), open("/dev/btrfs-control", "rb", buffering=0) as control:
        for member in members:
            with contextlib.suppress(OSError):
                path = os.fsencode(member.path)
                fcntl.ioctl(control, BTRFS_FORGET_DEV, bytearray(8) + path + bytes(PATH_BYTES - len(path)))


def uuid_of(name: str) -> str:
    """The UUID that the array of that name is given, as mdadm writes it."""
    digits = hashlib.sha256(name.encode()).hexdigest()[:32]
    return ":".join(digits[start : start + 8] for start in range(0, 32, 8))


def find_array(names: Sequence[str], blocks: Path = BLOCKS) -> str:
    """Kernel name of the array that the devices `names` are members of; empty where they are of none.

    Refusal where it has a member that is none of them.
    """
    for block in sorted(blocks.glob("md*")):
        members = _members(block)
        if not members.isdisjoint(names):
            if members.issubset(names):
                return block.name
            raise Refusal("refused", f"{block.name} has members that are not this run's")
    return ""


def stop_array(array: str, members: Sequence[str]) -> int:
    """Stop an array that is proven to be a run's, and have its members, by their paths, forget it; the exit code.

    They are locked meanwhile as udev respects it, which else would assemble it again at once.
    """
    with contextlib.ExitStack() as undo:
        for path in members:
            _lock(path, undo)
        stopping, *forgetting = commands.stop_array(f"/dev/{array}", members)
        code = programs.run_until_free(stopping, HELD, BUSY_LIMIT_S)
        if code == 0:
            for path, command in zip(members, forgetting):
                programs.poll(partial(_is_held, path), operator.not_, BUSY_LIMIT_S)
                programs.run(command)  # one that is missing has none
        return code


def _is_held(path: str) -> bool:
    """The kernel lets the members of a stopped array go a moment later."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        return error.errno == errno.EBUSY
    return False


def reclaim_array(name: str, blocks: Path = BLOCKS) -> None:
    """Stop the array of a killed run; Refusal where it may be another's."""
    names.require(name)
    for block in sorted(blocks.glob("md*")):
        members = _members(block)
        details = _details(block.name) if members else {}
        if details.get("MD_NAME", "").rpartition(":")[2] != name:
            continue
        if details.get("MD_UUID") != uuid_of(name):
            raise Refusal("refused", f"{block.name} was not made by a run")
        if stop_array(block.name, [block_device.path_of(member) for member in sorted(members)]):
            raise Refusal("failed", f"{block.name} cannot be stopped")


def _members(block: Path) -> set[str]:
    return {slave.name for slave in (block / "slaves").glob("*")}


def _lock(path: str, undo: contextlib.ExitStack) -> None:
    """Lock the whole disk, unless it is locked already, above all by the helper itself."""
    directory = Path("/sys/class/block", path.removeprefix("/dev/").replace("/", "!")).resolve()
    disk = directory.parent.name if (directory / "partition").exists() else directory.name
    with contextlib.suppress(OSError):
        lock = os.open(block_device.path_of(disk), os.O_RDONLY | os.O_CLOEXEC)
        undo.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _details(array: str) -> dict[str, str]:
    command = ("mdadm", "--detail", commands.WITHOUT_CONFIGURATION, "--export", f"/dev/{array}")
    try:
        done = programs.run(command, ANSWER_LIMIT_S)
    except subprocess.TimeoutExpired:
        return {}
    lines = done.stdout.decode("utf-8", "backslashreplace").splitlines() if done.returncode == 0 else []
    return dict(line.split("=", 1) for line in lines if "=" in line)
