"""Several devices that the helper holds, as one: what candidates are made of that are spread over them."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from fswizard.privileged import arrays, commands, programs
from fswizard.privileged.exclusive_claim import ClaimedDevice
from fswizard.privileged.loop_device import LoopDevice
from fswizard.privileged.protocol import Refusal

Held = LoopDevice | ClaimedDevice
BTRFS_FORGET_DEV = 0x50009405
"""linux/btrfs.h; its argument is a descriptor, which is not used, and the path."""
PATH_BYTES = 4088
BTRFS_LEVELS = ("raid1", "raid10")
LOCK_LIMIT_S = 5.0
"""udev holds a shared lock on a device for a moment, while it looks at what was attached or written."""
ZFS_LEVELS = ("mirror", "raidz", "raidz2")


@dataclass(slots=True)
class Group:
    """Until it is detached its members take no orders of their own.

    While it is there they are locked as udev respects it, which else would assemble the array of members anew
    whenever one of them was written to.
    """

    members: tuple[Held, ...]
    spread: bool = False
    """A btrfs is on all of them, and not on the first alone."""
    missing: bool = False
    """The last one was taken away."""

    @property
    def array(self) -> str:
        """Kernel name of the array that there is of them now; empty where there is none."""
        return arrays.find_by_members([member.name for member in self.members])

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
        """Of what a filesystem is made on: the array, or the first member."""
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
    def locks(self) -> tuple[int, ...]:
        return tuple(lock_of(member) for member in self.members)

    @property
    def direct_io(self) -> bool:
        return all(member.direct_io for member in self.members)

    @property
    def log_names(self) -> tuple[str, ...]:
        names = (name for member in self.members for name in member.log_names)
        return tuple(dict.fromkeys((*names, *filter(None, [self.array]))))

    def require_same(self, *, unused: bool) -> None:
        """As of each member; while they are an array, that alone uses them."""
        array = self.array
        for member in self.members:
            member.require_same(unused=unused and not array)

    def disassemble(self) -> int:
        """Undo what was made of the members; the exit code."""
        unregister_btrfs(self.members)
        array = self.array
        return arrays.stop(array, self.paths) if array else 0

    def detach(self) -> None:
        """Let the members go, which take orders of their own again."""
        for member in self.members:
            if isinstance(member, LoopDevice):
                fcntl.flock(member.descriptor, fcntl.LOCK_UN)


def join(devices: Sequence[Held | Group]) -> Group:
    """Refusal where they are fewer than two, twice the same, on the same disk, joined already, or kept locked."""
    members = [device for device in devices if not isinstance(device, Group)]
    if len(members) < len(devices):
        raise Refusal("refused", "a group is no part of another one")
    names = [member.name for member in members]
    disks = [member.device.disk if isinstance(member, ClaimedDevice) else member.name for member in members]
    if len(members) < 2 or len(set(names)) < len(names):
        raise Refusal("refused", "an array takes two devices or more, each of them once")
    if len(set(disks)) < len(disks):
        raise Refusal("refused", "two of the devices are on one disk")
    if any(isinstance(member, ClaimedDevice) and member.zoned for member in members):
        raise Refusal("refused", "one of the devices has zones that must be written in order")
    group = Group(tuple(members))
    for member in members:
        if isinstance(member, LoopDevice) and not programs.poll(partial(_locked, member), bool, LOCK_LIMIT_S):
            group.detach()
            raise Refusal("busy", f"{member.name} is locked by another program that works on it")
    return group


def _locked(member: LoopDevice) -> bool:
    try:
        fcntl.flock(member.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lock_of(member: Held) -> int:
    """The descriptor by which the disk is locked."""
    return member.lock if isinstance(member, ClaimedDevice) else member.descriptor


def unregister_btrfs(members: Sequence[Held]) -> None:
    """Have the kernel forget what it once found on them: it would look for the devices of a btrfs that is gone."""
    with contextlib.suppress(OSError), open("/dev/btrfs-control", "rb", buffering=0) as control:
        for member in members:
            with contextlib.suppress(OSError):
                path = os.fsencode(member.path)
                fcntl.ioctl(control, BTRFS_FORGET_DEV, bytearray(8) + path + bytes(PATH_BYTES - len(path)))


def btrfs_arguments(level: str, label: str) -> tuple[str, ...]:
    """What mkfs.btrfs gets besides; the label is the run's mark. Refusal where the level is not on the list."""
    if level not in BTRFS_LEVELS:
        raise Refusal("refused", f"btrfs is not made as {level!r:.40} over several devices")
    return ("-L", label, "-d", level, "-m", level)


def zpool_arguments(level: str, nodes: Sequence[str]) -> tuple[str, ...]:
    """The last words of zpool create; Refusal where level and number of devices do not go together."""
    if level not in ZFS_LEVELS or (level == "mirror" and len(nodes) % 2):
        raise Refusal("refused", f"no pool is made of {len(nodes)} devices as {level!r:.40}")
    if level != "mirror":
        return (level, *nodes)
    return tuple(word for pair in zip(nodes[::2], nodes[1::2]) for word in (level, *pair))
