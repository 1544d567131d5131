"""Disks of a run that was started as root, operated by util-linux and the programs of the filesystems.

The run has its own mount namespace, so its mounts are invisible to others and vanish with it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeAlias

from fswizard.disks import as_root, claim, disk_errors, scratch_file, stack
from fswizard.disks.arc import Arc
from fswizard.disks.as_root import root
from fswizard.disks.claim import ClaimedDevice
from fswizard.disks.disk import Begun, Disk, DiskFailed, succeeded, users
from fswizard.disks.disk_errors import DiskErrors
from fswizard.disks.loop import LoopDevice, attach, unlocked
from fswizard.disks.memory_limit import Limited, limited
from fswizard.disks.scratch_file import EDGE_BYTES, FUSE
from fswizard.errors import FswizardError, Missing, Refused, RunFailed
from fswizard.filesystems import commands
from fswizard.filesystems import mounting as grammar
from fswizard.filesystems.commands import Command, DeviceNames
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import DMSETUP
from fswizard.model.plan import Member
from fswizard.model.text import safe
from fswizard.progress.emitter import Emitter
from fswizard.system import clock, mounts, system_calls, timeouts
from fswizard.system.block_device import path_of
from fswizard.system.process import Finished, Process
from fswizard.system.system_calls import closing

Part: TypeAlias = "LoopDevice | ClaimedDevice"
END_LIMIT_S = 10.0
TRIES_S = 0.2
KEY_BYTES = 64
OPENZFS = "mount.zfs"
"""Program that identifies OpenZFS, as the abandoned zfs-fuse also has a zpool."""


class RootDisk(Disk):
    """An image or device, or several devices, with the array, volume or pool made of them for the candidate."""

    as_root = True

    def __init__(self, parts: Sequence[Part], directory: str, limit: Limited | None, arc: Arc) -> None:
        self.parts = tuple(parts)
        self.directory = directory
        self._limit, self._arc = limit, arc
        self.pool = f"fswizard-{os.urandom(8).hex()}"
        """Random name for the array, volume, pool or btrfs."""
        self.names = tuple(part.name for part in parts)
        self.direct_io = all(part.direct_io for part in parts)
        self._candidate: Candidate | None = None
        """The candidate that was last made or mounted, even if that failed."""
        self._pool_errors: dict[str, int] = {}
        """Error counts from earlier mounts, as a pool resets its counters when it is exported."""
        self._hangs = False
        hosts: list[str] = []
        for part in parts:
            if isinstance(part, LoopDevice):
                hosts += part.file.disks
        with root():
            super().__init__(as_root.finish, DiskErrors(lambda: (*self.names, *filter(None, [self._array])), hosts))

    @property
    def _array(self) -> str:
        """Kernel name of the array or volume on the devices; empty if there is none."""
        return stack.find_array(self.names) or stack.find_volume(self.pool)

    @property
    def _is_pool(self) -> bool:
        return self._candidate is not None and self._candidate.filesystem.pool

    @property
    def _mounted(self) -> bool:
        """Whether it is mounted according to the kernel, which also knows hanging filesystems."""
        return any(mount.path == self.directory for mount in mounts.current())

    async def _require_unused(self) -> None:
        """Raise RunFailed if a device hangs or if anything else uses it, in any namespace."""
        if self._hangs:
            raise timeouts.no_answer("umount")
        for part in self.parts:
            await _require_same(part, unused=True)

    async def wipe(self) -> Sequence[Finished]:
        """Erase all signatures and both ends. Raises Refused while it is mounted."""
        if self._mounted:
            raise Refused(_("{device} is mounted.", device=self.parts[0].path))
        await self._dismantle()
        await self._require_unused()
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

    async def _dismantle(self) -> None:
        """Destroy the pool, array or volume made of the devices. Raises RunFailed on failure."""
        array = self._candidate.array if self._candidate else None
        if array and array.layout.maker == "btrfs":
            await _forget_btrfs(self.parts)
        if self._is_pool:
            await stack.destroy_pool(self.pool)
        self._candidate = None
        await stack.close_volume(self.pool)
        if name := stack.find_array(self.names):
            await stack.stop_array(name, self.names)

    def _device_names(self) -> DeviceNames:
        paths = tuple(part.path for part in self.parts)
        device = path_of(stack.find_array(self.names) or self.names[0])
        if stack.find_volume(self.pool):
            device = commands.volume_path(self.pool)
        return DeviceNames(paths, device, self.pool, stack.uuid_of(self.pool), self.directory)

    async def make(self, candidate: Candidate, begun: Begun) -> Sequence[Finished]:
        await self._require_unused()
        self._candidate, self._pool_errors = candidate, {}
        if self._is_pool:
            as_root.find(OPENZFS)
            self._make_nodes()
        key = os.urandom(KEY_BYTES)
        made: list[Finished] = []
        for step in (commands.make_below, commands.make) if candidate.array else (commands.make,):
            for argv in step(candidate, self._device_names()):
                begun(argv)
                made.append(await self._run(argv, key))
                if made[-1].exit_code:
                    return made
        return made

    async def _run(self, argv: Command, key: bytes) -> Finished:
        """Run one of the commands that make a candidate.

        The `key` of a volume goes to its programs and the kernel only, and is not stored.
        """
        if argv[0] == "cryptsetup":
            as_root.find(DMSETUP)  # required later to close the volume
            return await as_root.finish(argv, stdin=key)
        if argv[:2] == ("zpool", "export"):
            return await stack.until_free(argv)
        with contextlib.ExitStack() as undo:
            if argv[0] in grammar.LOCKING_PROGRAMS:
                for part in self.parts:
                    undo.enter_context(unlocked(part.lock))
            return await as_root.finish(argv)

    def _make_nodes(self) -> None:
        """Make a directory with device nodes of the pool only, so that an import probes no other device."""
        nodes = commands.pool_nodes(self.pool, len(self.parts))
        with root():
            os.makedirs(commands.pool_directory(self.pool), 0o700, exist_ok=True)
            for node, part in zip(nodes, self.parts):
                if not os.path.exists(node):
                    os.mknod(node, stat.S_IFBLK | 0o600, os.fstat(part.descriptor).st_rdev)

    async def copy_to(self, other: Disk) -> Finished:
        assert isinstance(other, RootDisk)
        await self._require_unused()
        await other._require_unused()
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
        elif self._mounted:  # a command after the mount failed
            await self.umount()
        elif self._is_pool:
            await stack.until_free(commands.export_pool(self.pool))
        return finished

    async def umount(self) -> Finished:
        argv = commands.umount(self.directory)
        if not self._mounted:  # a killed umount had completed
            return Finished(argv, 0)
        if self._candidate and self._candidate.filesystem.mount_type == commands.NILFS2:
            await as_root.end(commands.CLEANER)
        try:
            finished = await as_root.finish(argv)
        except RunFailed:
            self._hangs = True  # it continues in the kernel and keeps the device busy
            raise
        if self._mounted:
            with root():
                return replace(finished, stderr=finished.stderr + users(self.directory).encode())
        if self._is_pool:  # the export drops its cache and its error counters
            with contextlib.suppress(FswizardError):
                self._pool_errors = await self._count_of_pool()
            exported = await stack.until_free(commands.export_pool(self.pool))
            if exported.exit_code:
                return exported
        if not self._array:
            await self._require_unused()  # a FUSE driver closes the device shortly after the unmount
        return finished

    async def _count(self) -> dict[str, int]:
        if self._is_pool:
            return await self._count_of_pool()
        return disk_errors.of_filesystem(self._array or self.names[0])

    async def _count_of_pool(self) -> dict[str, int]:
        """Error counts by name since the pool was made."""
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

    async def sample(self, command: Callable[[str], tuple[str, ...]], written_bytes: int) -> Process:
        """Start it as root, who owns the device, but without capabilities."""
        await self._require_unused()
        _drop_buffers(self.parts[0])
        return await as_root.start(command(self.parts[0].path), prefix=("setpriv", *as_root.WITHOUT_RIGHTS))

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
        """Unmount and dismantle as far as possible; the rest goes with the namespaces, or `clean` removes it."""
        if not self.parts:
            return
        deadline = clock.monotonic() + END_LIMIT_S
        while self._mounted and not self._hangs and clock.monotonic() < deadline:
            with contextlib.suppress(FswizardError):
                await self.umount()
            await clock.pause(TRIES_S)
        with contextlib.suppress(FswizardError):
            await self._dismantle()
        self._errors.close()
        for part in self.parts:
            part.detach()
        self.parts = ()


class RootDisks:
    """The images and devices of a run as root."""

    def __init__(self, limit: Limited | None, arc: Arc) -> None:
        self._limit, self._arc = limit, arc
        self.limits_memory = limit is not None
        self._disks: list[RootDisk] = []

    def _add(self, *parts: Part) -> RootDisk:
        disk = RootDisk(parts, f"{commands.MOUNT_ROOT}/{os.urandom(4).hex()}", self._limit, self._arc)
        self._disks.append(disk)
        return disk

    async def image(self, directory: str, size_bytes: int, emitter: Emitter) -> RootDisk:
        """Make a scratch image in a directory of the user and write every byte of it; emits the progress.

        Raises RunFailed or Refused if it cannot be made there.
        """
        with closing(os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as descriptor:
            if system_calls.filesystem_type(descriptor) == FUSE:  # its program could change a mounted image
                raise Refused(
                    _("A program serves the filesystem of {directory} (FUSE).", directory=safe(directory)),
                    _("Choose a directory on a disk of this machine with --target image:SIZE@DIRECTORY."),
                )
        file = scratch_file.new(directory, size_bytes)
        try:
            await file.fill(emitter)
            return self._add(attach(file))
        except BaseException:
            file.close()
            raise

    def claim(self, members: Sequence[Member], content_types: Sequence[str]) -> RootDisk:
        """Check and claim the devices that the user confirmed. Raises Refused with the reason.

        `content_types` are the types of the contents that the user saw; empty for none.
        """
        claimed: list[ClaimedDevice] = []
        with contextlib.ExitStack() as undo, root():
            for member, content_type in zip(members, content_types):
                claimed.append(claim.claim(member, content_type))
                undo.callback(claimed[-1].detach)
            undo.pop_all()
        return self._add(*claimed)

    async def end(self) -> None:
        for disk in reversed(self._disks):
            await disk.detach()


@asynccontextmanager
async def open_root(memory_bytes: int) -> AsyncIterator[RootDisks]:
    """Set up disks for a run that was started as root, and remove everything on exit.

    They are mounted below a directory that only root can write to.
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
    """Raise RunFailed if a device is no longer the same or, with `unused`, if anything else uses it.

    Retries for a while, as the kernel releases the devices of ended programs and stopped arrays with a delay.
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
    """Write back and drop the page cache of the device."""
    with root():
        os.fsync(part.descriptor)
        system_calls.drop_buffers(part.descriptor)


async def _forget_btrfs(parts: Sequence[Part]) -> None:
    """Make the kernel forget the btrfs on the devices, as it would look for the missing ones of an old btrfs."""
    for part in parts:
        with contextlib.suppress(Missing):
            await as_root.finish(("btrfs", "device", "scan", "--forget", part.path))
