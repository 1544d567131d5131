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
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TypeVar

from fswizard.disks import exact_commands, scratch_file
from fswizard.disks.bus import IMAGE, Bus, BusError, loops, undoer
from fswizard.disks.disk import Begun, Disk, DiskFailed
from fswizard.disks.disk_errors import DiskErrors
from fswizard.disks.memory_limit import Limited, limited
from fswizard.disks.scratch_file import ScratchFile
from fswizard.errors import FswizardError
from fswizard.filesystems.commands import Command
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.progress.emitter import Emitter
from fswizard.system import clock, commands, timeouts
from fswizard.system.block_device import SECTOR_BYTES
from fswizard.system.process import Finished, Process

T = TypeVar("T")
APPEAR_S = 30.0
"""Time limit for udev to probe a device, and for a mount to become usable."""
POLL_S = 0.02
NO_NEW_RIGHTS = ("setpriv", "--no-new-privs", "--")
"""Prefix of workloads, also used in a run as root, so that both take the same time to start."""
TOO_EARLY = ("AlreadyMounted", "UnknownObject", "UnknownMethod", "UnknownInterface")
"""Errors if an automounter was faster, or if udisks2 has not yet probed the device."""


class UdisksDisk(Disk):
    """A scratch image, and its loop device while it is attached."""

    def __init__(self, bus: Bus, file: ScratchFile, limit: Limited | None) -> None:
        super().__init__(timeouts.finish, DiskErrors(lambda: (), file.disks), file)
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
        self._counted_bytes -= super().written_bytes() or 0
        self._file.require_direct_io(name)

    async def detach(self) -> None:
        """Unmount and detach it as far as possible, and free its space; the child process retries the rest."""
        with contextlib.suppress(FswizardError):
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
        await _until(lambda: self._file.identity not in loops().values())

    def written_bytes(self) -> int:
        return self._counted_bytes + (super().written_bytes() or 0)

    async def wipe(self) -> Sequence[Finished]:
        await self._drop_loop()
        return (await self._file.wipe(),)

    async def make(self, candidate: Candidate, begun: Begun) -> Sequence[Finished]:
        """Make the candidate as the user, who can then write to it."""
        kind, uid, gid = candidate.filesystem.name, os.getuid(), os.getgid()
        self._inside = exact_commands.WORK if kind == "btrfs" else ""
        before = _blocks_of_children()
        with tempfile.TemporaryDirectory(prefix="fswizard-") as directory:
            owner = Path(directory, "owner")
            if kind == "xfs":
                owner.write_text(f"none\n0 0\nd--755 {uid} {gid}\n$\n")  # an empty directory of the user's: mkfs.xfs(8)
            elif kind == "btrfs":
                Path(owner, exact_commands.WORK).mkdir(mode=0o700, parents=True)
            argv = exact_commands.mkfs(candidate, uid, gid, str(owner))
            begun((*argv, self._file.path))
            finished = await self._file.make(argv)
        self._counted_bytes += (_blocks_of_children() - before) * SECTOR_BYTES
        if finished.exit_code == 0:
            await self.attach()
        return (finished,)

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
                if error.name == "Failed":
                    return _ended(argv, begun_s, error.message)
                if error.name not in TOO_EARLY or clock.monotonic() > begun_s + APPEAR_S:
                    raise _no_longer_served(error) from error
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
                return _ended(argv, begun_s, f"busy: {error.message}")
            if error.name != "NotMounted":
                return _ended(argv, begun_s, error.message)
        self.directory = ""
        return _ended(argv, begun_s)

    async def require_same(self) -> None:
        self._file.require_size()

    async def sample(self, command: Callable[[str], tuple[str, ...]], written_bytes: int) -> Process:
        await self._drop_loop()
        self._counted_bytes += written_bytes
        return await commands.start(command(self._file.path), pass_fds=(self._file.descriptor,))

    async def start(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], limited: bool = False) -> Process:
        environment = {**env, IMAGE: self._file.identity}
        if limited and self._limit:
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
    return DiskFailed(
        _("udisks2 refused: {reason}", reason=error.message),
        _("Start a new run, and neither log out nor switch to another session while it measures."),
    )


class UdisksDisks:
    """The scratch images of a run through udisks2."""

    def __init__(
        self, bus: Bus, notes: Sequence[Callable[[str], None]], limit: Limited | None, undo: AsyncExitStack
    ) -> None:
        """`notes` get the name of each image before it is attached."""
        self._bus, self._notes = bus, notes
        self._limit, self._undo = limit, undo
        self.limits_memory = limit is not None

    async def image(self, directory: str, size_bytes: int, emitter: Emitter) -> UdisksDisk:
        file = await scratch_file.make(directory, size_bytes, emitter)
        for note in self._notes:
            note(file.identity)
        disk = UdisksDisk(self._bus, file, self._limit)
        self._undo.push_async_callback(disk.detach)
        await disk.attach()
        return disk


@asynccontextmanager
async def open_udisks(memory_bytes: int, note: Callable[[str], None]) -> AsyncIterator[UdisksDisks]:
    """Set up images through udisks2, and remove every mount and loop device on exit.

    `note` gets the name of each image before it is attached. Raises BusError if udisks2 is not available.
    """
    with contextlib.closing(Bus()) as bus, limited(memory_bytes) as limit, undoer() as watch:
        undo = AsyncExitStack()
        try:
            yield UdisksDisks(bus, (note, watch), limit, undo)
        finally:
            await timeouts.to_the_end(undo.aclose())


def _blocks_of_children() -> int:
    """Number of 512-byte blocks written by all child processes that have ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_oublock


async def _until(holds: Callable[[], bool]) -> None:
    """Wait until `holds` returns true, at most `APPEAR_S`."""
    deadline = clock.monotonic() + APPEAR_S
    while not holds() and clock.monotonic() < deadline:
        await clock.pause(POLL_S)
