"""Scratch images through udisks2, with the privileges of the active user of a desktop and without a password.

A candidate is made on the image file as the user, before it is attached: nobody sees it half made, and no discard
reaches it. Then udisks2 attaches a loop device and mounts it. A child process undoes both if this process is killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from fswizard.disks import exact_commands, scratch_file
from fswizard.disks.bus import IMAGE, Bus, BusError, loops, undoer
from fswizard.disks.disk import Begun, Disk, DiskFailed, users
from fswizard.disks.disk_errors import DiskErrors
from fswizard.disks.memory_limit import Limited, limited
from fswizard.disks.scratch_file import ScratchFile
from fswizard.errors import FswizardError, RunFailed
from fswizard.filesystems.commands import Command
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.progress.emitter import Emitter
from fswizard.system import clock, commands, mounts, timeouts
from fswizard.system.block_device import HERE, SECTOR_BYTES
from fswizard.system.process import Finished, Process

T = TypeVar("T")
APPEAR_S = 30.0
"""Time limit for udev to probe a device, and for a mount to become usable."""
POLL_S = 0.02
NO_NEW_RIGHTS = ("setpriv", "--no-new-privs", "--")
"""Prefix of workloads, also used in a run as root, so that both take the same time to start."""
REFUSALS = ("NotAuthorized", "NotAuthorizedCanObtain", "NotAuthorizedDismissed")
"""Errors of udisks2 if polkit does not allow this session an operation."""
UNSERVED = ("NoReply", "Disconnected", "OptionNotPermitted")
"""Errors if udisks2 is gone, or if mount_options.conf of this machine forbids an option."""
TOO_EARLY = ("AlreadyMounted", "UnknownObject", "UnknownMethod", "UnknownInterface")
"""Errors if an automounter was faster, or if udisks2 has not yet probed the device."""


class UdisksDisk(Disk):
    """A scratch image, and its loop device while it is attached."""

    def __init__(self, bus: Bus, file: ScratchFile, limit: Limited | None) -> None:
        super().__init__(timeouts.finish, DiskErrors(lambda: (), file.disks))
        self._bus = bus
        self._file = file
        self._limit = limit
        self._inside = ""
        """The user's directory on the mounted filesystem, relative to its root; empty for the root directory."""
        self._counted_bytes = 0
        """Bytes written to the file and through earlier loop devices, minus the initial counter of the current one."""
        self._open = contextlib.ExitStack()
        self._open.callback(file.close)
        self._open.callback(self._errors.close)

    async def attach(self) -> None:
        """Attach a loop device to the image. Raises DiskFailed if udisks2 refuses."""
        name = await self._ask(self._bus.set_up, self._file.descriptor)
        self.names = (name,)
        self.direct_io = HERE.number(f"/sys/block/{name}/loop/dio") == 1
        self._counted_bytes -= super().written_bytes() or 0

    async def detach(self) -> None:
        """Unmount and detach it, and free its space."""
        if self.directory:
            await self.umount()
        await self._drop_loop()
        self._open.close()

    async def _drop_loop(self) -> None:
        if not self.names:
            return
        self._counted_bytes += super().written_bytes() or 0
        (name,), self.names = self.names, ()
        await self._ask(self._bus.delete, name)
        await _until(lambda: all(loop.file != self._file.identity for loop in loops()))

    def written_bytes(self) -> int:
        return self._counted_bytes + (super().written_bytes() or 0)

    async def wipe(self) -> Sequence[Finished]:
        await self._drop_loop()
        return (await self._file.wipe(),)

    async def make(self, candidate: Candidate, begun: Begun) -> Sequence[Finished]:
        """Make the candidate as the user, who can then write to it."""
        kind, uid, gid = candidate.filesystem.name, os.getuid(), os.getgid()
        if kind == "btrfs" and _has_unreadable_mounts():
            return (await self._format(candidate),)
        before = _blocks_of_children()
        self._inside = exact_commands.WORK if kind == "btrfs" else ""
        with tempfile.TemporaryDirectory(prefix="fswizard-") as directory:
            owner = Path(directory, "owner")
            if kind == "xfs":
                owner.write_text(exact_commands.prototype(uid, gid))
            elif kind == "btrfs":
                Path(owner, exact_commands.WORK).mkdir(mode=0o700, parents=True)
            argv = exact_commands.mkfs(candidate, uid, gid, str(owner))
            begun((*argv, self._file.path))
            finished = await self._file.make(argv)
        self._counted_bytes += (_blocks_of_children() - before) * SECTOR_BYTES
        if finished.exit_code == 0:
            await self.attach()
        return (finished,)

    async def _format(self, candidate: Candidate) -> Finished:
        """Format through udisks2, which accepts no mkfs options."""
        if candidate.mkfs_options:
            text = _(
                "mkfs.btrfs needs root here to make {candidate}: it can't look at the file of a loop device that "
                "somebody else has mounted.",
                candidate=candidate.name,
            )
            raise RunFailed(text, _("Unmount that, or start fswizard as root."))
        await self.attach()
        self._inside, (name,), begun_s = "", self.names, clock.monotonic()
        await self._ask(self._bus.format, name, candidate.filesystem.name)
        argv = ("udisksctl", "format", f"/dev/{name}", candidate.filesystem.name)
        return _ended(argv, begun_s)

    async def copy_to(self, other: Disk) -> Finished:
        assert isinstance(other, UdisksDisk)
        finished = await self._file.copy_to(other._file)
        other._inside = self._inside
        other._counted_bytes += self._file.size_bytes
        await other.attach()
        return finished

    async def mount(self, candidate: Candidate) -> Finished:
        """Mount the candidate, retrying until udev has probed the device.

        If an automounter was faster, its mount is undone, as it has other options.
        """
        options, (name,), begun_s = exact_commands.mount_options(candidate), self.names, clock.monotonic()
        argv, directory = exact_commands.mount(f"/dev/{name}", options), ""
        while not directory:
            try:
                directory = await asyncio.to_thread(self._bus.mount, name, ",".join(options))
            except BusError as error:
                if error.name in (*REFUSALS, *UNSERVED):
                    raise _no_longer_served(error) from error
                if error.name not in TOO_EARLY or clock.monotonic() > begun_s + APPEAR_S:
                    return _ended(argv, begun_s, error.message)
                with contextlib.suppress(BusError):
                    if error.name == "AlreadyMounted":
                        await asyncio.to_thread(self._bus.unmount, name)
                    elif error.name != "UnknownObject":
                        await asyncio.to_thread(self._bus.rescan, name)
                await clock.pause(POLL_S)
        mounted = _ended(argv, begun_s)
        self.directory = f"{directory}/{self._inside}".rstrip("/")
        await _until(lambda: os.path.ismount(directory) and os.access(self.directory, os.W_OK))
        return mounted

    async def umount(self) -> Finished:
        (name,), begun_s = self.names, clock.monotonic()
        argv = exact_commands.unmount(f"/dev/{name}")
        try:
            await asyncio.to_thread(self._bus.unmount, name)
        except BusError as error:
            if error.name == "DeviceBusy":
                by = users(self.directory.removesuffix(f"/{self._inside}"))
                return _ended(argv, begun_s, f"busy: {error.message}{by}")
            if error.name != "NotMounted":
                return _ended(argv, begun_s, error.message)
        self.directory = ""
        return _ended(argv, begun_s)

    async def require_same(self) -> None:
        self._file.require_size()

    async def read(self) -> Finished:
        return await self._file.read()

    async def sample(self, command: Callable[[str], tuple[str, ...]], written_bytes: int) -> Process:
        await self._drop_loop()
        self._counted_bytes += written_bytes
        return await commands.start(command(self._file.path), pass_fds=(self._file.descriptor,))

    async def start(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], memory_bytes: int = 0
    ) -> Process:  # fmt: skip
        environment = {**env, IMAGE: self._file.identity}
        if memory_bytes and self._limit:
            return await self._limit.start(argv, cwd=cwd, env=environment)
        return await commands.start(argv, cwd=cwd, env=environment, prefix=NO_NEW_RIGHTS)

    async def _ask(self, call: Callable[..., T], *values: object) -> T:
        """Call udisks2 in a thread. Raises DiskFailed if it refuses."""
        try:
            return await asyncio.to_thread(call, *values)
        except BusError as error:
            raise _no_longer_served(error) from error


def _ended(argv: Command, begun_s: float, problem: str = "") -> Finished:
    """The result of a D-Bus call, as that of the equivalent command `argv`."""
    return Finished(argv, int(problem != ""), stderr=problem.encode(), wall_s=clock.monotonic() - begun_s)


def _no_longer_served(error: BusError) -> DiskFailed:
    """The error for a refusal by udisks2, which no candidate is to blame for."""
    if error.name in REFUSALS:
        return DiskFailed(
            _("udisks2 serves the session at this machine's own screen alone, and this one no longer is."),
            _("Start a new run, and neither log out nor switch to another session while it measures."),
            error.message,
        )
    return DiskFailed(_("udisks2 refused: {reason}", reason=error.message))


class UdisksDisks:
    """The scratch images of a run through udisks2."""

    def __init__(self, bus: Bus, note: Callable[[str], None], limit: Limited | None) -> None:
        self._bus = bus
        self._note = note
        self._limit = limit
        self.limits_memory = limit is not None
        self._disks: list[UdisksDisk] = []

    async def image(self, directory: str, size_bytes: int, emitter: Emitter) -> UdisksDisk:
        file = scratch_file.new(directory, size_bytes)
        try:
            await file.fill(emitter)
            self._note(file.identity)
            disk = UdisksDisk(self._bus, file, self._limit)
            await disk.attach()
        except BaseException:
            file.close()
            raise
        self._disks.append(disk)
        return disk

    async def end(self) -> None:
        """Detach all images as far as possible; the child process retries the rest."""
        for disk in self._disks:
            with contextlib.suppress(FswizardError):
                await disk.detach()


@asynccontextmanager
async def open_udisks(memory_bytes: int, note: Callable[[str], None]) -> AsyncIterator[UdisksDisks]:
    """Set up images through udisks2, and remove every mount and loop device on exit.

    `note` gets the name of each image before it is attached. Raises BusError if udisks2 is not available.
    """
    with contextlib.closing(Bus()) as bus, limited(memory_bytes) as limit, undoer() as watch:

        def record(image: str) -> None:
            note(image)
            watch(image)

        disks = UdisksDisks(bus, record, limit)
        try:
            yield disks
        finally:
            await timeouts.to_the_end(disks.end())


def _has_unreadable_mounts() -> bool:
    """Whether mkfs.btrfs would fail, as it examines the file of every mounted loop device."""
    mounted = {mount.device for mount in mounts.current()}
    unreadable = [loop.name for loop in loops() if not os.path.exists(loop.file)]
    return any(HERE.text(f"/sys/block/{name}/dev") in mounted for name in unreadable)


def _blocks_of_children() -> int:
    """Number of 512-byte blocks written by all child processes that have ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_oublock


async def _until(holds: Callable[[], bool]) -> None:
    """Wait until `holds` returns true, at most `APPEAR_S`."""
    deadline = clock.monotonic() + APPEAR_S
    while not holds() and clock.monotonic() < deadline:
        await clock.pause(POLL_S)
