"""Disks of a run that was started as root: by the programs of util-linux and of the filesystems themselves.

The run has a mount namespace of its own, so nobody else sees what it mounts, and nothing stays mounted when it is gone.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeAlias

from fswizard.disks import as_root, claim, disk_errors, scratch_file, stack
from fswizard.disks.arc import Arc
from fswizard.disks.as_root import root
from fswizard.disks.claim import ClaimedDevice
from fswizard.disks.disk import Begun, Disk, DiskFailed, fio_command, succeeded, users
from fswizard.disks.disk_errors import DiskErrors
from fswizard.disks.loop import LoopDevice, attach, unlocked
from fswizard.disks.memory_limit import Limited, limited
from fswizard.disks.scratch_file import EDGE_BYTES, FUSE
from fswizard.engines import BareSample
from fswizard.errors import FswizardError, Missing, Refused, RunFailed
from fswizard.filesystems import commands
from fswizard.filesystems import mounting as grammar
from fswizard.filesystems.commands import Command, DeviceNames
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import DMSETUP, Array
from fswizard.model.plan import Member
from fswizard.model.text import safe
from fswizard.progress.emitter import Emitter
from fswizard.system import clock, mounts, system_calls, timeouts
from fswizard.system.block_device import HERE, path_of
from fswizard.system.process import Finished, Process
from fswizard.system.system_calls import closing

Part: TypeAlias = "LoopDevice | ClaimedDevice"
END_LIMIT_S = 10.0
TRIES_S = 0.2
KEY_BYTES = 64
OPENZFS = "mount.zfs"
"""Comes with OpenZFS alone; the abandoned zfs-fuse brings a zpool, too."""


class RootDisk(Disk):
    """A device, or several as one, and what was made of them for the candidate that is on them now."""

    as_root = True

    def __init__(self, parts: Sequence[Part], directory: str, limit: Limited | None, arc: Arc) -> None:
        self.parts = tuple(parts)
        self.directory = directory
        self._limit, self._arc = limit, arc
        self.pool = f"fswizard-{os.urandom(8).hex()}"
        """Name of the array, volume, pool or btrfs that is made."""
        self.names = tuple(part.name for part in parts)
        self.direct_io = all(part.direct_io for part in parts)
        self._candidate: Candidate | None = None
        """The one that is made of the devices, whether or not that succeeds."""
        self._pool_errors: dict[str, int] = {}
        """Of mounts before: a pool forgets them at every export."""
        self._hangs = False
        hosts: list[str] = []
        for part in parts:
            if isinstance(part, LoopDevice):
                hosts += part.file.disks
        with root():
            super().__init__(as_root.finish, DiskErrors(lambda: (*self.names, *filter(None, [self._array])), hosts))

    @property
    def _array(self) -> str:
        """Kernel name of the array or volume that there is of the devices; empty where there is none."""
        return stack.find_array(self.names) or stack.find_volume(self.pool)

    @property
    def _is_pool(self) -> bool:
        return self._candidate is not None and self._candidate.filesystem.pool

    @property
    def _mounted(self) -> bool:
        """As the kernel says, also of a filesystem that answers nothing any more."""
        return any(mount.path == self.directory for mount in mounts.current().values())

    async def _unused(self) -> None:
        """RunFailed where anything else uses a device, in whatever namespace, or where it hangs."""
        if self._hangs:
            raise timeouts.no_answer("umount")
        for part in self.parts:
            await _require_same(part, unused=True)

    async def wipe(self) -> Sequence[Finished]:
        """Refused while it is mounted."""
        if self._mounted:
            raise Refused(_("{device} is mounted.", device=self.parts[0].path))
        await self._take_apart()
        await self._unused()
        wiped = []
        for part in self.parts:
            wiped.append(succeeded(await as_root.finish(commands.wipe(part.path))))
            try:
                size_bytes = os.lseek(part.descriptor, 0, os.SEEK_END)
                for offset in (0, size_bytes - EDGE_BYTES):
                    os.pwrite(part.descriptor, bytes(EDGE_BYTES), offset)
                _drop_buffers(part)
            except OSError as error:
                text = _("{device} could not be wiped: {reason}.", device=part.path, reason=error.strerror)
                raise DiskFailed(text, _("The disk may be failing."), str(error)) from error
        return wiped

    async def _take_apart(self) -> None:
        """Undo what was made of the devices; RunFailed where that cannot be."""
        if _spread(self._candidate):
            await _forget_btrfs(self.parts)
        if self._is_pool:
            await stack.destroy_pool(self.pool)
        self._candidate = None
        await stack.close_volume(self.pool)
        if array := stack.find_array(self.names):
            await stack.stop_array(array, self.names)

    def _device_names(self) -> DeviceNames:
        paths = tuple(part.path for part in self.parts)
        device = path_of(stack.find_array(self.names) or self.names[0])
        if stack.find_volume(self.pool):
            device = commands.volume_path(self.pool)
        return DeviceNames(paths, device, self.pool, stack.uuid_of(self.pool), self.directory)

    async def make(self, candidate: Candidate, begun: Begun) -> Sequence[Finished]:
        await self._unused()
        self._candidate, self._pool_errors = candidate, {}
        if self._is_pool:
            as_root.find(OPENZFS)
            self._make_nodes()
        key = os.urandom(KEY_BYTES)
        made: list[Finished] = []
        for step in (commands.make_below, commands.make):
            for argv in step(candidate, self._device_names()):
                begun(argv)
                made.append(await self._run(argv, key))
                if made[-1].exit_code:
                    return made
        spread = _spread(candidate)
        if spread and spread.degraded:
            await _forget_btrfs(self.parts[-1:])
        return made

    async def _run(self, argv: Command, key: bytes) -> Finished:
        """One command of those that make a candidate.

        The `key` of a volume is known to its programs and the kernel alone, and is stored nowhere.
        """
        if argv[0] == "cryptsetup":
            as_root.find(DMSETUP)  # it closes the volume
            return await as_root.finish(argv, given=key)
        if argv[:2] == ("zpool", "export"):
            return await stack.until_free(argv)
        with contextlib.ExitStack() as undo:
            if argv[0] in grammar.LOCKING_PROGRAMS:
                for part in self.parts:
                    undo.enter_context(unlocked(part.lock))
            return await as_root.finish(argv)

    def _make_nodes(self) -> None:
        """A directory with the pool's devices and nothing else, so that import looks at no other one."""
        nodes = commands.pool_nodes(self.pool, len(self.parts))
        with root():
            os.makedirs(commands.pool_directory(self.pool), 0o700, exist_ok=True)
            for node, part in zip(nodes, self.parts):
                if not os.path.exists(node):
                    os.mknod(node, stat.S_IFBLK | 0o600, os.fstat(part.descriptor).st_rdev)

    async def copy_to(self, other: Disk) -> Finished:
        assert isinstance(other, RootDisk)
        await self._unused()
        await other._unused()
        copied = succeeded(await as_root.finish(commands.copy(self.parts[0].path, other.parts[0].path)))
        _drop_buffers(other.parts[0])
        return copied

    async def mount(self, candidate: Candidate) -> Finished:
        self._candidate = candidate
        kind, options = candidate.filesystem.mount_type, candidate.scratch_mount_options
        uid, gid = os.geteuid(), os.getegid()
        with root():
            os.makedirs(self.directory, 0o700, exist_ok=True)
        if self._is_pool:
            self._make_nodes()
        for argv in commands.mount(candidate, self._device_names(), uid, gid):
            finished = await as_root.finish(argv)
            if finished.exit_code:
                break
        if finished.exit_code == 0:
            if kind not in grammar.OWNERLESS and "ro" not in options:
                with root():
                    os.chown(self.directory, uid, gid)
                    os.chmod(self.directory, 0o700)
        elif self._mounted:  # what comes after the mount failed
            await self.umount()
        elif self._is_pool:
            await stack.until_free(commands.export_pool(self.pool))
        return finished

    async def umount(self) -> Finished:
        argv = commands.umount(self.directory)
        if not self._mounted:  # one that was killed had done it
            return Finished(argv, 0)
        if self._candidate and self._candidate.filesystem.mount_type == commands.NILFS2:
            await as_root.end(commands.CLEANER)
        try:
            finished = await as_root.finish(argv)
        except RunFailed:
            self._hangs = True  # in the kernel it goes on, and keeps the device in use
            raise
        if self._mounted:
            with root():
                return replace(finished, stderr=finished.stderr + users(self.directory).encode())
        if self._is_pool:  # it forgets all that is cached, and its errors
            with contextlib.suppress(FswizardError):
                self._pool_errors = await self._count_of_pool()
            exported = await stack.until_free(commands.export_pool(self.pool))
            if exported.exit_code:
                return exported
        if not self._array:
            await self._unused()  # a program of FUSE closes the device a moment after it was unmounted
        return finished

    async def _count(self, kind: str) -> dict[str, int]:
        if kind == disk_errors.ZPOOL:
            return await self._count_of_pool()
        return disk_errors.KINDS[kind](self._array or self.names[0], HERE)

    async def _count_of_pool(self) -> dict[str, int]:
        """Errors since the pool was made."""
        status = succeeded(await as_root.finish(("zpool", "status", "-p", self.pool)), RunFailed)
        now = stack.parse_pool_errors(status.stdout.decode("utf-8", "replace"))
        return {name: self._pool_errors.get(name, 0) + errors for name, errors in now.items()}

    async def require_same(self) -> None:
        for part in self.parts:
            await _require_same(part, unused=False)

    async def read(self) -> Finished:
        for part in self.parts:
            assert isinstance(part, LoopDevice)
            finished = await part.file.read()
            if finished.exit_code:
                break
        return finished

    async def sample(self, sample: BareSample) -> Process:
        """As root, who owns the device, without root's capabilities."""
        await self._unused()
        _drop_buffers(self.parts[0])
        argv = fio_command(self.parts[0].path, sample)
        return await as_root.start(argv, prefix=("setpriv", *as_root.WITHOUT_RIGHTS))

    async def start(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], memory_bytes: int = 0
    ) -> Process:  # fmt: skip
        if not memory_bytes or self._limit is None:
            return await as_root.start_workload(argv, cwd=cwd, env=env)
        process = await as_root.start_workload(argv, cwd=cwd, env=env, prefix=self._limit.prefix)
        if not self._is_pool:
            return self._limit.watched(process)
        with root():
            self._arc.hold(memory_bytes)
        return self._limit.watched(process, self._release_arc)

    def _release_arc(self) -> None:
        with root():
            self._arc.end()

    async def detach(self) -> None:
        """Undo what is there, as far as that goes: what is left goes with the namespaces, or `clean` removes it."""
        if not self.parts:
            return
        deadline = clock.monotonic() + END_LIMIT_S
        while self._mounted and not self._hangs and clock.monotonic() < deadline:
            with contextlib.suppress(FswizardError):
                await self.umount()
            await clock.pause(TRIES_S)
        with contextlib.suppress(FswizardError):
            await self._take_apart()
        self._errors.close()
        for part in self.parts:
            part.detach()
        self.parts = ()


class RootDisks:
    """Disks that root makes or claims."""

    def __init__(self, limit: Limited | None, arc: Arc) -> None:
        self._limit, self._arc = limit, arc
        self.limits_memory = limit is not None
        self._disks: list[RootDisk] = []

    def _hold(self, *parts: Part) -> RootDisk:
        disk = RootDisk(parts, f"{commands.MOUNT_ROOT}/{os.urandom(4).hex()}", self._limit, self._arc)
        self._disks.append(disk)
        return disk

    async def image(self, directory: str, size_bytes: int, emitter: Emitter) -> RootDisk:
        """A new scratch image in a directory of the user's, of which every byte is written: that is emitted.

        Raises RunFailed or Refused where it cannot be made there.
        """
        with closing(os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as descriptor:
            if system_calls.filesystem_type(descriptor) == FUSE:  # it could change what lies below a mount of root's
                raise Refused(
                    _("A program serves the filesystem of {directory} (FUSE).", directory=safe(directory)),
                    _("Choose a directory on a disk of this machine with --target image:SIZE@DIRECTORY."),
                )
        file = scratch_file.new(directory, size_bytes)
        try:
            await file.fill(emitter)
            return self._hold(attach(file))
        except BaseException:
            file.close()
            raise

    def claim(self, member: Member, shown: str) -> RootDisk:
        """Check a device that the user gave up, and hold it; Refused with the reason.

        `shown` is the type of the filesystem that the user was shown, empty for none.
        """
        with root():
            claimed = claim.claim(member.number, member.diskseq, member.size_bytes, member.identifier, shown)
        return self._hold(claimed)

    def joined(self) -> RootDisk:
        """All that are held as one, which alone takes orders from then on."""
        held = [disk for disk in self._disks if disk.parts]
        if len(held) == 1:
            return held[0]
        for disk in held:
            disk._errors.close()
        self._disks.clear()
        return self._hold(*(part for disk in held for part in disk.parts))

    async def end(self) -> None:
        for disk in reversed(self._disks):
            await disk.detach()


@asynccontextmanager
async def open_root(memory_bytes: int) -> AsyncIterator[RootDisks]:
    """Disks for a run that was started as root; leaving takes away whatever was made.

    They are mounted where root alone can write; where the run has a namespace, nobody else sees it.
    """
    if os.getuid() != as_root.ROOT:
        raise RunFailed(_("This run was not started as root."), _("This is a bug in fswizard."))
    as_root.waits_for_disk.clear()
    arc = Arc()
    try:
        with root():
            os.makedirs(commands.MOUNT_ROOT, 0o755, exist_ok=True)
        mount = ("mount", "-t", "tmpfs", "-o", "mode=0755", "fswizard", commands.MOUNT_ROOT)
        succeeded(await timeouts.to_the_end(as_root.finish(mount)))
        with limited(memory_bytes) as limit:
            disks = RootDisks(limit, arc)
            try:
                yield disks
            finally:
                await timeouts.to_the_end(disks.end())
    finally:
        with root():
            arc.end()
        with contextlib.suppress(FswizardError):
            await as_root.finish(commands.umount(commands.MOUNT_ROOT))


async def _require_same(part: Part, *, unused: bool) -> None:
    """RunFailed where a device is another one by now, or, with `unused`, where anything else uses it.

    What a program that has ended held, or an array that was stopped, the kernel lets go a moment later.
    """
    deadline = clock.monotonic() + (stack.BUSY_LIMIT_S if unused else 0.0)
    while True:
        try:
            with root():
                return part.require_same(unused=unused)
        except RunFailed:
            if clock.monotonic() >= deadline:
                raise
        except Refused as refused:
            if clock.monotonic() >= deadline:
                raise DiskFailed(refused.message, refused.hint, refused.message) from refused
        await clock.pause(stack.PAUSE_S)


def _drop_buffers(part: Part) -> None:
    """Nothing of the device is in memory from here on."""
    with root():
        os.fsync(part.descriptor)
        system_calls.drop_buffers(part.descriptor)


def _spread(candidate: Candidate | None) -> Array | None:
    """How btrfs itself spreads a candidate over the devices; None where it does not."""
    array = candidate.array if candidate else None
    return array if array and array.layout.maker == "btrfs" else None


async def _forget_btrfs(parts: Sequence[Part]) -> None:
    """Have the kernel forget what it has seen on them: it would look for the devices of a btrfs that is gone."""
    for part in parts:
        with contextlib.suppress(Missing):
            await as_root.finish(("btrfs", "device", "scan", "--forget", part.path))
