"""A block device in the helper's hands, from attach to detach, and what may be done to it when.

It is bare when it is attached or claimed, holds a filesystem once the helper made one, and is bare again when it was
wiped. In between it may be mounted as often as needed. What it held before it came here is never mounted.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fswizard.privileged import (
    commands,
    disk_errors,
    grammar,
    identity,
    jobs,
    mounts,
    pools,
    programs,
    system_calls,
)
from fswizard.privileged.disk_errors import DiskErrors
from fswizard.privileged.groups import Group, Held, unregister_btrfs, uuid_of
from fswizard.privileged.identity import User
from fswizard.privileged.loop_device import LoopDevice
from fswizard.privileged.mounts import Mount
from fswizard.privileged.pools import Pool
from fswizard.privileged.protocol import Refusal
from fswizard.privileged.scratch_image import EDGE_BYTES

State = Literal["bare", "stacked", "made", "mounted"]

ALLOWED: Mapping[str, frozenset[State]] = {
    "join": frozenset({"bare"}),
    "bare": frozenset({"bare"}),
    "array": frozenset({"bare"}),
    "encrypt": frozenset({"bare"}),
    "build": frozenset({"bare"}),
    "mkfs": frozenset({"bare", "stacked"}),
    "mount": frozenset({"made"}),
    "sync": frozenset({"mounted"}),
    "health": frozenset({"bare", "stacked", "made", "mounted"}),
    "umount": frozenset({"mounted"}),
    "inspect": frozenset({"bare", "stacked", "made", "mounted"}),
    "wipe": frozenset({"bare", "stacked", "made"}),
    "copy": frozenset({"bare"}),
    "detach": frozenset({"bare", "made"}),
}
"""By verb, in which states it is carried out."""

WORDS: Mapping[State, str] = {
    "bare": "holds no filesystem that was made in this run",
    "stacked": "is an array or volume without a filesystem",
    "made": "holds a filesystem that is not mounted",
    "mounted": "is mounted",
}

NTFS_3G = "mount.ntfs-3g"
NOWHERE = "/proc/self/cwd"
"""For what a program may keep or look for, where its working directory is one in which nothing can be."""
END_LIMIT_S = 20.0
CLEANER_LIMIT_S = 10.0


@dataclass(slots=True)
class Volume:
    handle: int
    device: Held | Group
    errors: DiskErrors
    pool: Pool
    """What ZFS would make of the device."""
    is_pool: bool = False
    """Whether it did."""
    made: str = ""
    """The filesystem that the helper made on the device and has not wiped since."""
    content: object = field(default_factory=object)
    """Stands for what was made: copies, which have the same UUID, have the same one."""
    mount: Mount | None = None
    root: int = -1
    """Descriptor of the mount's root, held from mount to umount, so that no write error goes unseen."""
    busy: str = ""
    """The verb that is being carried out."""
    joined: bool = False
    """It is part of a group, which takes its orders."""

    @property
    def directory(self) -> str:
        """Where it is mounted, seen by the helper and its programs alone."""
        return f"{commands.MOUNT_ROOT}/{self.handle}"

    @property
    def device_names(self) -> commands.DeviceNames:
        """What commands call it, and what is made of it."""
        name, devices = self.pool.name, tuple(part.path for part in self.parts)
        return commands.DeviceNames(devices, self.device.path, name, uuid_of(name), self.directory)

    @property
    def sources(self) -> tuple[str, ...]:
        """What its mount may name as the thing that is mounted."""
        if self.is_pool:
            return (self.pool.name,)
        return self.device.sources if isinstance(self.device, Group) else (self.device.path,)

    @property
    def parts(self) -> tuple[Held, ...]:
        """The devices that it is."""
        return self.device.members if isinstance(self.device, Group) else (self.device,)

    @property
    def locks(self) -> tuple[int, ...]:
        """Descriptors by which the disks are locked."""
        return tuple(part.lock for part in self.parts)

    @property
    def state(self) -> State:
        if self.mount is not None:
            return "mounted"
        if self.made:
            return "made"
        return "stacked" if isinstance(self.device, Group) and self.device.array else "bare"

    def require(self, verb: str) -> None:
        """Refusal where `verb` is not carried out in this state."""
        if self.busy:
            raise Refusal("busy", f"{self.busy} is still in progress")
        if self.joined:
            raise Refusal("refused", f"{self.device.name} is part of a group")
        if self.state not in ALLOWED[verb]:
            raise Refusal("refused", f"{verb}: {self.device.name} {WORDS[self.state]}")

    def hold(self, mounted: Mount | None) -> None:
        """Remember what the volume is mounted as."""
        self.mount = mounted
        if mounted is not None:
            self.root = mounts.open_root(mounted)

    def close_root(self) -> None:
        """Nothing of the helper keeps the filesystem mounted from here on."""
        if self.root >= 0:
            os.close(self.root)
        self.root = -1

    def unmake(self) -> None:
        """It holds no filesystem from here on."""
        self.made = ""
        if isinstance(self.device, Group):
            self.device.spread = self.device.missing = False

    @property
    def array(self) -> Group | None:
        """The group, while there is an array or volume of its devices that may be stopped."""
        with contextlib.suppress(Refusal):
            if isinstance(self.device, Group) and self.device.array:
                return self.device
        return None

    def end(self) -> None:
        """Undo what is there, for the end of the helper: nothing of its namespace uses it any more, or nothing can."""
        self.close_root()
        if self.mount is not None and mounts.unmount(self.mount.path):
            system_calls.detach_mount(self.mount.path)
        if self.is_pool:
            with contextlib.suppress(OSError):
                pools.destroy_if_imported(self.pool)
        if array := self.array:
            array.disassemble()
        pools.remove_nodes(self.pool)
        if isinstance(self.device, LoopDevice):
            self.device.detach()

    def close(self) -> None:
        pools.remove_nodes(self.pool)
        self.device.detach()
        self.errors.close()


def errors_of(device: Held | Group) -> DiskErrors:
    """Watches it, and what images lie on, from now on."""
    parts = device.members if isinstance(device, Group) else (device,)
    images = [part.image for part in parts if isinstance(part, LoopDevice)]
    return DiskErrors(
        lambda: device.log_names, [name for image in images for name in disk_errors.disks_of(image.descriptor)]
    )


def wipe(volume: Volume) -> jobs.Work:
    """Take away every signature, and what programs find at either end; of a group, from all its devices."""
    parts = volume.parts
    orders = [commands.wipe(part.path) for part in parts]
    stop = array.stopping if (array := volume.array) else ()
    programs.find(orders[0][0])

    def body() -> int:
        if volume.is_pool:
            pools.destroy_if_imported(volume.pool)
            pools.remove_nodes(volume.pool)
        if isinstance(volume.device, Group) and (code := volume.device.disassemble()):
            return code
        return next((code for part, order in zip(parts, orders) if (code := _wipe(part, order))), 0)

    return jobs.Work((*stop, *orders), body)


def _wipe(device: Held, order: commands.Command) -> int:
    code = programs.call(order)
    if code == 0:
        size = os.lseek(device.descriptor, 0, os.SEEK_END)
        for offset in (0, size - EDGE_BYTES):
            os.pwrite(device.descriptor, bytes(EDGE_BYTES), offset)
        os.fsync(device.descriptor)
        system_calls.drop_buffers(device.descriptor)
    return code


def copy(volume: Volume, source: Volume) -> jobs.Work:
    """Write a scratch image, on which a filesystem was made, over a blank one of the same size."""
    for each in (volume, source):
        if len(each.parts) > 1 or not isinstance(each.parts[0], LoopDevice) or each.is_pool:
            raise Refusal("refused", f"{each.device.name} is not a scratch image with a filesystem of its own")
    if len({os.lseek(each.device.descriptor, 0, os.SEEK_END) for each in (volume, source)}) > 1:
        raise Refusal("refused", f"{source.device.name} and {volume.device.name} differ in size")
    command = commands.copy(source.device.path, volume.device.path)
    argv = programs.located(command)

    def body() -> int:
        code = subprocess.call(argv, env=programs.ROOT_ENVIRONMENT)
        system_calls.drop_buffers(volume.device.descriptor)
        return code

    return jobs.Work((command,), body)


def inspect(volume: Volume, *, reading: bool) -> jobs.Work:
    """Whether the disks below still answer: with `reading`, whether every block of the images can be read."""
    parts = volume.parts

    def body() -> int:
        for part in parts:
            part.require_same(unused=False)
            if reading and isinstance(part, LoopDevice):
                part.image.read()
        return 0

    return jobs.Work((("inspect",),), body)


def bare(volume: Volume, command: commands.Command, size_bytes: int, empty_directory: int) -> jobs.Work:
    """Measure the device without a filesystem; the first, if there are several, which `command` names.

    As root without capabilities: it owns the device and needs no more.
    """
    device = volume.parts[0]
    if size_bytes > os.lseek(device.descriptor, 0, os.SEEK_END):
        raise Refusal("refused", f"{device.name} ends before that")
    argv = programs.located(command)

    def body() -> int:
        system_calls.drop_buffers(device.descriptor)
        os.fchdir(empty_directory)
        system_calls.become(identity.ROOT, identity.ROOT, (identity.ROOT,))
        os.execve(argv[0], command, {**programs.ROOT_ENVIRONMENT, "TMPDIR": NOWHERE})

    return jobs.Work((command,), body)


def make(volume: Volume, orders: commands.Commands, empty_directory: int) -> jobs.Work:
    """Make an array or a filesystem with the first command; a second one takes the last device away again.

    In the empty directory, as mdadm takes some words for files.
    """
    command, *away = orders
    argv = programs.located(command)
    for each in away:
        programs.find(each[0])

    def body() -> int:
        os.fchdir(empty_directory)
        if command[0] not in grammar.LOCKING_PROGRAMS:
            os.execve(argv[0], command, programs.ROOT_ENVIRONMENT)
        for lock in volume.locks:  # it locks the disk itself, and would wait for our lock
            fcntl.flock(lock, fcntl.LOCK_UN)
        code = subprocess.call(argv, env=programs.ROOT_ENVIRONMENT)
        for lock in volume.locks:
            fcntl.flock(lock, fcntl.LOCK_EX)
        if code == 0 and away:
            code = _wipe(volume.parts[-1], *away)
            unregister_btrfs(volume.parts[-1:])
        return code

    return jobs.Work(orders, body)


def mount(volume: Volume, mount_type: str, options: Sequence[str], user: User) -> jobs.Work:
    """Mount it below /run/fswizard, and make its top the user's."""
    directory, known = volume.directory, mounts.current().keys()
    further = volume.device.mount_options if isinstance(volume.device, Group) else ()
    orders = commands.mount(volume.device_names, mount_type, options, user.uid, user.gid, further=further)
    mounting, *after = orders[-1:] if volume.is_pool else orders

    def body() -> int:
        if mount_type in grammar.FUSE:
            code = programs.call(mounting)
            if code == 0:
                mounts.restrict(directory)
            return code
        if volume.is_pool and (code := pools.import_pool(volume.pool)):
            return code
        code = programs.call(mounting)
        mounted = new_mount(volume, known)
        if mounted and mount_type not in grammar.OWNERLESS and "ro" not in options:
            root = mounts.open_root(mounted)
            os.fchown(root, user.uid, user.gid)
            os.fchmod(root, 0o700)
        if code and volume.is_pool:
            pools.export_pool(volume.pool)
        if mounted and mount_type == commands.NILFS2:
            code = next((code for command in after if (code := programs.call(command, subprocess.DEVNULL))), 0)
        return code

    return jobs.Work(orders, body)


def new_mount(volume: Volume, known: Collection[int]) -> Mount | None:
    """The mount of the volume that is not among the `known` IDs; None where there is none."""
    new = (one for one in mounts.current().values() if one.id not in known)
    return next((one for one in new if one.source in volume.sources), None)


def umount(volume: Volume, mounted: Mount) -> jobs.Work:
    """Never lazily: a filesystem that is in use stays mounted, and its users are named."""
    export = (commands.export_pool(volume.pool.name),) if volume.is_pool else ()

    def body() -> int:
        if mounted.kind == commands.NILFS2:
            programs.end(commands.CLEANER, CLEANER_LIMIT_S)
        code = mounts.unmount(mounted.path) or (pools.export_pool(volume.pool) if volume.is_pool else 0)
        if code:
            print(*mounts.users(mounted), sep="\n", file=sys.stderr)
        elif mounted.kind == "fuseblk":
            programs.gone(NTFS_3G, END_LIMIT_S)  # it closes the device a moment after the umount
        return code

    return jobs.Work((commands.umount(volume.directory), *export), body)


def sync(volume: Volume) -> jobs.Work:
    """Write everything back, then print the bytes that are in use on the filesystem, its own structures included."""

    def body() -> int:
        system_calls.syncfs(volume.root)
        room = os.fstatvfs(volume.root)
        print((room.f_blocks - room.f_bfree) * room.f_frsize)
        return 0

    return jobs.Work((("sync", "--file-system", volume.directory),), body)
