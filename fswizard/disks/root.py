"""Disks of a run that was started as root, operated by util-linux and the programs of the filesystems.

The run has its own mount namespace, so its mounts are invisible to others and vanish with it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from typing import TypeAlias

from fswizard.disks import as_root, claim, disk_errors, scratch_file, stack
from fswizard.disks.arc import Arc
from fswizard.disks.as_root import root
from fswizard.disks.claim import ClaimedDevice
from fswizard.disks.disk import Begun, Disk, DiskFailed, succeeded
from fswizard.disks.disk_errors import DiskErrors
from fswizard.disks.loop import LoopDevice, attach, unlocked
from fswizard.disks.memory_limit import Limited, limited
from fswizard.disks.scratch_file import EDGE_BYTES, ScratchFile
from fswizard.errors import FswizardError, Missing, Refused, RunFailed
from fswizard.filesystems import commands
from fswizard.filesystems import mounting as grammar
from fswizard.filesystems.commands import DeviceNames
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import DMSETUP
from fswizard.model.plan import Member
from fswizard.model.text import safe
from fswizard.progress.emitter import Emitter
from fswizard.system import clock, mounts, system_calls, timeouts
from fswizard.system.block_device import path_of
from fswizard.system.process import Finished, Process

Part: TypeAlias = "LoopDevice | ClaimedDevice"
KEY_BYTES = 64
OPENZFS = "mount.zfs"
"""Program that identifies OpenZFS, as the abandoned zfs-fuse also has a zpool."""


class RootDisk(Disk):
    """An image, a device or several, with the array, volume or pool made of them for the current candidate."""

    as_root = True

    def __init__(
        self, parts: Sequence[Part], directory: str, limit: Limited | None, file: ScratchFile | None = None
    ) -> None:
        """`file` is the image; None for devices."""
        self.parts = tuple(parts)
        self.directory = directory
        self._limit, self._arc = limit, Arc()
        self.pool = f"fswizard-{os.urandom(8).hex()}"
        """Random name for the array, volume, pool or btrfs."""
        self.names = tuple(part.name for part in parts)
        self._candidate: Candidate | None = None
        """The candidate that was last made or mounted, even if that failed."""
        self._pool_errors: dict[str, int] = {}
        """Error counts from earlier mounts, as a pool resets its counters when it is exported."""
        self._cleaner: Process | None = None
        """NILFS2's cleaner while it runs."""
        hosts = file.disks if file else ()
        with root():
            errors = DiskErrors(lambda: (*self.names, *filter(None, [self._array])), hosts)
        super().__init__(as_root.finish, errors, file)

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

    async def require_same(self, *, unused: bool = False) -> None:
        """Raise RunFailed if a device is no longer the same or, with `unused`, if anything else uses it anywhere.

        Retries for a while, as the kernel releases the devices of ended programs and stopped arrays with a delay.
        """
        deadline = clock.monotonic() + (stack.BUSY_LIMIT_S if unused else 0.0)
        while True:
            try:
                with root():
                    for part in self.parts:
                        part.require_same(unused=unused)
                return
            except RunFailed:
                if clock.monotonic() >= deadline:
                    raise
            except Refused as refused:
                if clock.monotonic() >= deadline:
                    raise DiskFailed(refused.message, refused.hint, refused.message) from refused
            await clock.pause(stack.PAUSE_S)

    async def wipe(self) -> Sequence[Finished]:
        """Erase all signatures and both ends. Raises Refused while it is mounted."""
        if self._mounted:
            raise Refused(_("{device} is mounted.", device=self.parts[0].path))
        await self._dismantle()
        await self.require_same(unused=True)
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
            for part in self.parts:  # otherwise the kernel looks for the missing devices of an old btrfs
                with contextlib.suppress(Missing):
                    await as_root.finish(("btrfs", "device", "scan", "--forget", part.path))
        if self._is_pool:
            await stack.destroy_pool(self.pool)
        self._candidate = None
        await stack.close_volume(self.pool)
        if name := stack.find_array(self.names):
            await stack.stop_array(name, self.names)

    def _device_names(self) -> DeviceNames:
        device = path_of(stack.find_array(self.names) or self.names[0])
        if stack.find_volume(self.pool):
            device = commands.volume_path(self.pool)
        paths = tuple(part.path for part in self.parts)
        return DeviceNames(paths, device, self.pool, stack.uuid_of(self.pool), self.directory)

    async def make(self, candidate: Candidate, begun: Begun) -> Sequence[Finished]:
        """Make a candidate on the wiped disk. The exit code of the last command says whether that failed."""
        await self.require_same(unused=True)
        self._candidate, self._pool_errors = candidate, {}
        if self._is_pool:
            as_root.find(OPENZFS)
            self._make_nodes()
        key = os.urandom(KEY_BYTES)
        """Key of a volume, which only its programs and the kernel get."""
        made: list[Finished] = []
        for step in (commands.make_below, commands.make):
            for argv in step(candidate, self._device_names()):
                begun(argv)
                with ExitStack() as undo:
                    if argv[0] in grammar.LOCKING_PROGRAMS:
                        for part in self.parts:
                            undo.enter_context(unlocked(part.lock))
                    if argv == commands.export_pool(self.pool):
                        made.append(await stack.until_free(argv))
                    elif argv[0] == "cryptsetup":
                        as_root.find(DMSETUP)  # required later to close the volume
                        made.append(await as_root.finish(argv, stdin=key))
                    else:
                        made.append(await as_root.finish(argv))
                if made[-1].exit_code:
                    return made
        return made

    def _make_nodes(self) -> None:
        """Make a directory with device nodes of the pool only, so that an import probes no other device."""
        nodes = commands.pool_nodes(self.pool, len(self.parts))
        with root():
            os.makedirs(commands.pool_directory(self.pool), 0o700, exist_ok=True)
            for node, part in zip(nodes, self.parts):
                if not os.path.exists(node):
                    os.mknod(node, stat.S_IFBLK | 0o600, os.fstat(part.descriptor).st_rdev)

    async def copy_to(self, other: Disk) -> Finished:
        """Copy an image, including its filesystem, over another one of the same size."""
        assert isinstance(other, RootDisk)
        await self.require_same(unused=True)
        await other.require_same(unused=True)
        copied = succeeded(await as_root.finish(commands.copy(self.parts[0].path, other.parts[0].path)))
        _drop_buffers(other.parts[0])
        return copied

    async def mount(self, candidate: Candidate) -> Finished:
        """Mount the candidate; the exit code says whether that failed."""
        self._candidate = candidate
        uid, gid = os.geteuid(), os.getegid()
        with root():
            os.makedirs(self.directory, 0o700, exist_ok=True)
        if self._is_pool:
            self._make_nodes()
        for argv in commands.mount(candidate, self._device_names(), uid, gid):
            if argv[0] == commands.CLEANER:
                as_root.find(commands.CLEANER)
                self._cleaner = await as_root.start(argv, prefix=as_root.WITH_DAEMONS)
                break
            finished = await as_root.finish(argv)
            if finished.exit_code:
                if self._is_pool:
                    await stack.until_free(commands.export_pool(self.pool))
                return finished
        with root():
            if candidate.filesystem.mount_type not in grammar.OWNERLESS and "ro" not in candidate.scratch_mount_options:
                os.chown(self.directory, uid, gid)
                os.chmod(self.directory, 0o700)
            if self._is_pool and self._limit:
                self._arc.hold(self._limit.memory_bytes)
        return finished

    async def umount(self) -> Finished:
        """Unmount, never lazily: while files are open, the exit code is not 0 and the output contains `busy`."""
        argv = commands.umount(self.directory)
        with root():
            self._arc.end()
        if self._cleaner:
            await self._cleaner.kill()
            self._cleaner = None
        if not self._mounted:  # a killed umount had completed
            return Finished(argv, 0)
        finished = await as_root.finish(argv)
        if self._mounted:
            return finished
        if self._is_pool:  # the export drops its cache and its error counters
            with contextlib.suppress(FswizardError):
                self._pool_errors = await self._count()
            exported = await stack.until_free(commands.export_pool(self.pool))
            if exported.exit_code:
                return exported
        if not self._array:
            await self.require_same(unused=True)  # a FUSE driver closes the device shortly after the unmount
        return finished

    async def _count(self) -> dict[str, int]:
        """Those of a pool since it was made."""
        if not self._is_pool:
            return disk_errors.of_filesystem(self._array or self.names[0])
        status = succeeded(await as_root.finish(("zpool", "status", "-p", self.pool)), RunFailed)
        now = stack.parse_pool_errors(status.stdout.decode("utf-8", "replace"))
        return {name: self._pool_errors.get(name, 0) + errors for name, errors in now.items()}

    async def sample(self, command: Callable[[str], tuple[str, ...]], written_bytes: int) -> Process:
        """Start a program on the wiped disk, or the first of several, as root but without capabilities."""
        await self.require_same(unused=True)
        _drop_buffers(self.parts[0])
        return await as_root.start(command(self.parts[0].path), prefix=("setpriv", *as_root.WITHOUT_RIGHTS))

    async def start(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], limited: bool = False) -> Process:
        """Start a program as the user, without capabilities, and if `limited` under the memory limit of the run."""
        if not limited or self._limit is None:
            return await as_root.start_workload(argv, cwd=cwd, env=env)
        process = await as_root.start_workload(argv, cwd=cwd, env=env, prefix=self._limit.prefix)
        return self._limit.watched(process)

    async def detach(self) -> None:
        """Unmount and dismantle as far as possible; the rest goes with the namespaces, or `clean` removes it."""
        if not self.parts:
            return
        deadline = clock.monotonic() + stack.BUSY_LIMIT_S
        with contextlib.suppress(FswizardError):
            while (await self.umount()).exit_code and clock.monotonic() < deadline:  # a killed program is still ending
                await clock.pause(stack.PAUSE_S)
            await self._dismantle()
        self._errors.close()
        for part in self.parts:
            part.detach()
        self.parts = ()


class RootDisks:
    """The images and devices of a run as root."""

    def __init__(self, limit: Limited | None, undo: AsyncExitStack) -> None:
        self._limit, self._undo = limit, undo
        self.limits_memory = limit is not None

    def _add(self, parts: Sequence[Part], file: ScratchFile | None = None) -> RootDisk:
        disk = RootDisk(parts, f"{commands.MOUNT_ROOT}/{os.urandom(4).hex()}", self._limit, file)
        self._undo.push_async_callback(disk.detach)
        return disk

    async def image(self, directory: str, size_bytes: int, emitter: Emitter) -> RootDisk:
        """Make a scratch image in a directory of the user and write every byte of it; emits the progress.

        Raises RunFailed or Refused if it cannot be made there.
        """
        status = os.stat(directory)
        number = f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}"  # a path may be hidden by a later mount above
        if any(mount.device == number and mount.kind.startswith("fuse") for mount in mounts.current()):
            # Its program could change a mounted image.
            raise Refused(
                _("A program serves the filesystem of {directory} (FUSE).", directory=safe(directory)),
                _("Choose a directory on a disk of this machine with --target image:SIZE@DIRECTORY."),
            )
        file = await scratch_file.make(directory, size_bytes, emitter)
        return self._add([attach(file)], file)

    def claim(self, members: Sequence[Member], content_types: Sequence[str]) -> RootDisk:
        """Check and claim the devices that the user confirmed. Raises Refused with the reason.

        `content_types` are the types of the contents that the user saw; empty for none.
        """
        claimed: list[ClaimedDevice] = []
        with ExitStack() as undo, root():
            for member, content_type in zip(members, content_types):
                claimed.append(claim.claim(member, content_type))
                undo.callback(claimed[-1].detach)
            undo.pop_all()
        return self._add(claimed)


@asynccontextmanager
async def open_root(memory_bytes: int) -> AsyncIterator[RootDisks]:
    """Set up disks for a run that was started as root, and remove everything on exit.

    They are mounted below a directory that only root can write to.
    """
    as_root.waits_for_disk.clear()
    with root():
        os.makedirs(commands.MOUNT_ROOT, 0o755, exist_ok=True)
    mount = ("mount", "-t", "tmpfs", "-o", "mode=0755", "fswizard", commands.MOUNT_ROOT)
    try:
        succeeded(await timeouts.to_the_end(as_root.finish(mount)))
        with limited(memory_bytes) as limit:
            undo = AsyncExitStack()
            try:
                yield RootDisks(limit, undo)
            finally:
                await timeouts.to_the_end(undo.aclose())
    finally:
        with contextlib.suppress(FswizardError):
            await as_root.finish(commands.umount(commands.MOUNT_ROOT))


def _drop_buffers(part: Part) -> None:
    """Write back and drop the page cache of the device."""
    with root():
        os.fsync(part.descriptor)
        system_calls.drop_buffers(part.descriptor)
