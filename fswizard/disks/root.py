"""Disks of a run that was started as root: by the programs of util-linux and of the filesystems themselves.

The run has a mount namespace of its own, so nobody else sees what it mounts, and nothing stays mounted when it is gone.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from fswizard.disks import as_root, claim, disk_errors, scratch_file
from fswizard.disks.arc import Arc
from fswizard.disks.as_root import root
from fswizard.disks.bare import fio_command
from fswizard.disks.disk import Begun, Disk, DiskFailed, Filling
from fswizard.disks.disk_errors import DiskErrors
from fswizard.disks.loop import LoopDevice, attach, drop_buffers
from fswizard.disks.memory_limit import Limited, limited
from fswizard.disks.scratch_file import EDGE_BYTES, FUSE
from fswizard.disks.stack import Part, Stack, until_unused
from fswizard.engines import BareSample, require_unkilled
from fswizard.errors import FswizardError, Refused, RunFailed
from fswizard.filesystems import commands
from fswizard.filesystems import mounting as grammar
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Member
from fswizard.model.text import safe
from fswizard.system import block_stats, clock, mounts, system_calls, timeouts
from fswizard.system.block_device import HERE
from fswizard.system.process import Finished, Process

END_LIMIT_S = 10.0
TRIES_S = 0.2


class RootDisk:
    """A device, or several as one."""

    as_root = True

    def __init__(self, parts: Sequence[Part], directory: str, limit: Limited | None, arc: Arc) -> None:
        self.parts = tuple(parts)
        self.directory = directory
        self._limit, self._arc = limit, arc
        self._stack = Stack(parts, directory)
        self.pool = self._stack.name
        self.names = tuple(part.name for part in parts)
        self.direct_io = all(part.direct_io for part in parts)
        self._hangs = False
        hosts = [host for part in parts if isinstance(part, LoopDevice)
                 for host in disk_errors.disks_of(part.file.descriptor)]  # fmt: skip
        with root():
            self._errors = DiskErrors(self._log_names, hosts)
        self._before_bytes = self._counted_bytes() or 0

    def _log_names(self) -> tuple[str, ...]:
        """What the kernel's log may call it."""
        array = self._stack.array
        return (*self.names, array) if array else self.names

    @property
    def _mounted(self) -> bool:
        """As the kernel says, also of a filesystem that answers nothing any more."""
        return any(mount.path == self.directory for mount in mounts.current().values())

    async def _unused(self) -> None:
        """RunFailed where anything else uses a device, in whatever namespace, or where it hangs."""
        if self._hangs:
            raise timeouts.no_answer("umount")
        for part in self.parts:
            await until_unused(functools.partial(_require_same, part, unused=True))

    async def wipe(self) -> Sequence[Finished]:
        """Refused while it is mounted."""
        if self._mounted:
            raise Refused(_("{device} is mounted.", device=self.parts[0].path))
        await self._stack.take_apart()
        await self._unused()
        wiped = []
        for part in self.parts:
            wiped.append(_succeeded(await as_root.finish(commands.wipe(part.path))))
            self._zero_ends(part)
        return wiped

    @staticmethod
    def _zero_ends(part: Part) -> None:
        try:
            size_bytes = os.lseek(part.descriptor, 0, os.SEEK_END)
            for offset in (0, size_bytes - EDGE_BYTES):
                os.pwrite(part.descriptor, bytes(EDGE_BYTES), offset)
            drop_buffers(part.descriptor)
        except OSError as error:
            text = _("{device} could not be wiped: {reason}.", device=part.path, reason=error.strerror)
            raise DiskFailed(text, _("The disk may be failing."), str(error)) from error

    async def make(self, candidate: Candidate, begun: Begun) -> Sequence[Finished]:
        await self._unused()
        return await self._stack.make(candidate, begun)

    async def copy_to(self, other: Disk) -> Finished:
        assert isinstance(other, RootDisk)
        await self._unused()
        await other._unused()
        copied = _succeeded(await as_root.finish(commands.copy(self.parts[0].path, other.parts[0].path)))
        drop_buffers(other.parts[0].descriptor)
        return copied

    async def mount(self, candidate: Candidate) -> Finished:
        with root():
            os.makedirs(self.directory, 0o700, exist_ok=True)
        *before, last = await self._stack.mounting(candidate, os.geteuid(), os.getegid())
        finished = next((each for each in before if each.exit_code), last)
        if finished.exit_code == 0:
            self._give_to_user(candidate)
        elif self._mounted:  # what comes after the mount failed
            await self.umount()
        return finished

    def _give_to_user(self, candidate: Candidate) -> None:
        """The root directory is the user's, where the filesystem knows owners."""
        if candidate.filesystem.mount_type in grammar.OWNERLESS or "ro" in candidate.scratch_mount_options:
            return
        uid, gid = os.geteuid(), os.getegid()
        with root():
            os.chown(self.directory, uid, gid)
            os.chmod(self.directory, 0o700)

    async def umount(self) -> Finished:
        argv = commands.umount(self.directory)
        if not self._mounted:  # one that was killed had done it
            return Finished(argv, 0, b"", b"", 0.0)
        await self._stack.unmounting()
        try:
            finished = await as_root.finish(argv)
        except RunFailed:
            self._hangs = True  # in the kernel it goes on, and keeps the device in use
            raise
        if not self._mounted:
            exported = await self._stack.unmounted()
            if exported and exported.exit_code:
                return exported
            await self._unused_or_busy()
        return finished

    async def _unused_or_busy(self) -> None:
        """A program of FUSE closes the device a moment after it was unmounted."""
        if not self._stack.array:
            await self._unused()

    async def sync(self) -> Finished:
        finished = await as_root.finish(["sync", "--file-system", self.directory])
        require_unkilled(finished)
        _succeeded(finished)
        room = os.statvfs(self.directory)
        used_bytes = (room.f_blocks - room.f_bfree) * room.f_frsize
        return Finished(finished.argv, 0, str(used_bytes).encode(), b"", finished.wall_s)

    async def errors(self, candidate: Candidate) -> Mapping[str, int]:
        counted: dict[str, int] = {}
        device = self._stack.array or self.names[0]
        for kind in candidate.filesystem.error_counters:
            if kind == disk_errors.ZPOOL:
                counted |= await self._stack.pool_errors()
            else:
                counted |= disk_errors.KINDS[kind](device, HERE)
        self._errors.note(counted)
        return {name: count for name, count in counted.items() if count}

    async def disk_errors(self) -> Sequence[str]:
        return tuple(safe(line) for line in self._errors.of_disks())

    async def inspect(self, *, reading: bool) -> Finished:
        for part in self.parts:
            _require_same(part, unused=False)
        images = [part.file for part in self.parts if isinstance(part, LoopDevice)] if reading else []
        for image in images:
            read = await image.read()
            if read.exit_code:
                return read
        return Finished(("stat", self.parts[0].path), 0, b"", b"", 0.0)

    async def sample(self, sample: BareSample) -> Process:
        """As root, who owns the device, without root's capabilities."""
        await self._unused()
        drop_buffers(self.parts[0].descriptor)
        argv = fio_command(self.parts[0].path, sample)
        return await as_root.start(argv, prefix=("setpriv", *as_root.WITHOUT_RIGHTS))

    async def start(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], memory_bytes: int = 0
    ) -> Process:  # fmt: skip
        if not memory_bytes or self._limit is None:
            return await as_root.start_workload(argv, cwd=cwd, env=env)
        process = await as_root.start_workload(argv, cwd=cwd, env=env, prefix=self._limit.prefix)
        if not self._stack.is_pool:
            return self._limit.watched(process)
        with root():
            self._arc.hold(memory_bytes)
        return self._limit.watched(process, self._release_arc)

    def _release_arc(self) -> None:
        with root():
            self._arc.end()

    def written_bytes(self) -> int | None:
        counted = self._counted_bytes()
        return None if counted is None else counted - self._before_bytes

    def _counted_bytes(self) -> int | None:
        counted = block_stats.counters(*self.names)
        return counted.written_bytes if counted else None

    async def detach(self) -> None:
        if self._stack.array:
            raise DiskFailed(_("{device} is still an array or volume.", device=self.pool))
        self._release()

    def _release(self) -> None:
        self._errors.close()
        for part in self.parts:
            part.detach()
        self.parts = ()

    def give_up(self) -> None:
        """Its devices are part of another disk from here on."""
        self._errors.close()

    async def end(self) -> None:
        """Undo what is there, as far as that goes: what is left goes with the namespaces, or `clean` removes it."""
        if not self.parts:
            return
        deadline = clock.monotonic() + END_LIMIT_S
        while self._mounted and not self._hangs and clock.monotonic() < deadline:
            with contextlib.suppress(FswizardError):
                await self.umount()
            if self._mounted:
                await clock.pause(TRIES_S)
        with contextlib.suppress(FswizardError):
            await self._stack.take_apart()
        self._release()


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

    async def image(self, directory: str, size_bytes: int, filling: Filling) -> RootDisk:
        _refuse_fuse(directory)
        file = scratch_file.new(directory, size_bytes)
        try:
            await file.fill(filling)
            device = attach(file)
        except BaseException:
            file.close()
            raise
        return self._hold(device)

    async def claim(self, member: Member, shown: str) -> RootDisk:
        """Check a device that the user gave up, and hold it; Refused with the reason.

        `shown` is the type of the filesystem that the user was shown, empty for none.
        """
        with root():
            claimed = claim.claim(member.number, member.diskseq, member.size_bytes, member.identifier, shown)
        return self._hold(claimed)

    async def joined(self, parts: Sequence[RootDisk], candidates: Sequence[Candidate]) -> RootDisk:
        if len(parts) == 1:
            return parts[0]
        for part in parts:
            part.give_up()
            self._disks.remove(part)
        return self._hold(*(device for part in parts for device in part.parts))

    async def end(self) -> None:
        for disk in reversed(self._disks):
            await disk.end()


@asynccontextmanager
async def open_root(memory_bytes: int) -> AsyncIterator[RootDisks]:
    """Disks for a run that was started as root; leaving takes away whatever was made."""
    if os.getuid() != as_root.ROOT:
        raise RunFailed(_("This run was not started as root."), _("This is a bug in fswizard."))
    as_root.waits_for_disk.clear()
    arc = Arc()
    try:
        _succeeded(await timeouts.to_the_end(_mount_root()))
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


async def _mount_root() -> Finished:
    """A place to mount at that root alone can write to; where the run has a namespace, nobody else sees it."""
    with root():
        os.makedirs(commands.MOUNT_ROOT, 0o755, exist_ok=True)
    return await as_root.finish(("mount", "-t", "tmpfs", "-o", "mode=0755", "fswizard", commands.MOUNT_ROOT))


def _require_same(part: Part, *, unused: bool) -> None:
    """DiskFailed where a device is another one by now, or, with `unused`, where anything else uses it."""
    try:
        with root():
            part.require_same(unused=unused)
    except Refused as refused:
        raise DiskFailed(refused.message, refused.hint, refused.message) from refused


def _refuse_fuse(directory: str) -> None:
    """What a program serves could be changed by it below a filesystem that root has mounted."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if system_calls.filesystem_type(descriptor) == FUSE:
            raise Refused(
                _("A program serves the filesystem of {directory} (FUSE).", directory=safe(directory)),
                _("Choose a directory on a disk of this machine with --target image:SIZE@DIRECTORY."),
            )
    finally:
        os.close(descriptor)


def _succeeded(finished: Finished) -> Finished:
    if finished.exit_code:
        raise DiskFailed(
            _("{program} failed.", program=finished.argv[0]), _("The disk may be failing."), finished.output
        )
    return finished
