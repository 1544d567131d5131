"""Scratch images through udisks2: no password, and no right but those of the active user of a desktop.

A candidate is made on the image as the user, while the image is no device yet: nobody else sees it half made, and no
discard reaches it. Then udisks2 attaches a loop device and mounts it. A child undoes both where this process is killed.
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

from fswizard.disks import exact_commands as words
from fswizard.disks import scratch_file
from fswizard.disks.bus import IMAGE, Bus, BusError, loops, undoer
from fswizard.disks.disk import READS, Begun, Disk, DiskFailed, fio_command, users
from fswizard.disks.disk_errors import DiskErrors
from fswizard.disks.memory_limit import Limited, limited
from fswizard.disks.scratch_file import ScratchFile
from fswizard.engines import BareSample
from fswizard.errors import FswizardError, RunFailed
from fswizard.filesystems.commands import Command
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.progress.emitter import Emitter
from fswizard.system import block_stats, clock, commands, mounts, timeouts
from fswizard.system.block_device import HERE
from fswizard.system.process import Finished, Process

T = TypeVar("T")
APPEAR_S = 30.0
"""For udev to have looked at a device, and for a mount to be usable."""
LOOK_S = 0.02
NO_NEW_RIGHTS = ("setpriv", "--no-new-privs", "--")
"""Before a workload, as in a run as root, so that both take as long to start one."""
REFUSALS = ("NotAuthorized", "NotAuthorizedCanObtain", "NotAuthorizedDismissed")
"""What udisks2 calls it where polkit does not allow something to this session."""

UNSERVED = ("NoReply", "Disconnected", "OptionNotPermitted")
"""What it calls it that it is gone, or that this machine's mount_options.conf forbids an option."""
TOO_EARLY = ("AlreadyMounted", "UnknownObject", "UnknownMethod", "UnknownInterface")
"""What it calls it that something else was quicker to mount a device, or that it has not yet looked at it."""


class UdisksDisk(Disk):
    """A scratch image, and its loop device while it has one."""

    def __init__(self, bus: Bus, file: ScratchFile, limit: Limited | None) -> None:
        super().__init__(timeouts.finish, DiskErrors(lambda: (), file.disks))
        self._bus = bus
        self._file = file
        self._limit = limit
        self._inside = ""
        """Of a mounted candidate, the directory that is the user's."""
        self._counted_bytes = 0
        """Written by programs to the file, and through its loop devices, but for what that of now had counted."""
        self._open = contextlib.ExitStack()
        self._open.callback(file.close)
        self._open.callback(self._errors.close)

    async def attach(self) -> None:
        """Attach a loop device to the image; DiskFailed where udisks2 does not."""
        name = await self._ask(self._bus.set_up, self._file.descriptor)
        self.names = (name,)
        self.direct_io = HERE.number(f"/sys/block/{name}/loop/dio") == 1
        self._counted_bytes -= super().written_bytes() or 0

    async def detach(self) -> None:
        """Unmount it, and give its room back."""
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
        """By the user, who may then write to it."""
        kind, uid, gid = candidate.filesystem.name, os.getuid(), os.getgid()
        if kind == "btrfs" and _blind_to_mounts():
            return (await self._format(candidate),)
        before = _blocks_of_children()
        self._inside = words.WORK if kind == "btrfs" else ""
        with tempfile.TemporaryDirectory(prefix="fswizard-") as directory:
            owner = Path(directory, "owner")
            if kind == "xfs":
                owner.write_text(words.prototype(uid, gid))
            elif kind == "btrfs":
                Path(owner, words.WORK).mkdir(mode=0o700, parents=True)
            argv = words.mkfs(candidate, uid, gid, str(owner))
            begun((*argv, self._file.path))
            finished = await self._file.make(argv)
        self._counted_bytes += (_blocks_of_children() - before) * block_stats.SECTOR_BYTES
        if finished.exit_code == 0:
            await self.attach()
        return (finished,)

    async def _format(self, candidate: Candidate) -> Finished:
        """By udisks2, which takes no options of mkfs."""
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
        """Whatever else mounts what appears may be quicker: that is unmounted, as its options are others.

        Until udev has looked at the device, udisks2 knows no filesystem on it.
        """
        options, (name,), begun_s = words.mount_options(candidate), self.names, clock.monotonic()
        argv, directory = words.mount(f"/dev/{name}", options), ""
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
                await clock.pause(LOOK_S)
        mounted = _ended(argv, begun_s)
        self.directory = f"{directory}/{self._inside}".rstrip("/")
        await _until(lambda: os.path.ismount(directory) and os.access(self.directory, os.W_OK))
        return mounted

    async def umount(self) -> Finished:
        (name,), begun_s = self.names, clock.monotonic()
        argv = words.unmount(f"/dev/{name}")
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

    async def sample(self, sample: BareSample) -> Process:
        await self._drop_loop()
        if sample.rw not in READS:
            self._counted_bytes += sample.io_bytes
        return await commands.start(fio_command(self._file.path, sample), pass_fds=(self._file.descriptor,))

    async def start(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], memory_bytes: int = 0
    ) -> Process:  # fmt: skip
        environment = {**env, IMAGE: self._file.identity}
        if memory_bytes and self._limit:
            return await self._limit.start(argv, cwd=cwd, env=environment)
        return await commands.start(argv, cwd=cwd, env=environment, prefix=NO_NEW_RIGHTS)

    async def _ask(self, call: Callable[..., T], *values: object) -> T:
        """What udisks2 answers; DiskFailed where it does not do it."""
        try:
            return await asyncio.to_thread(call, *values)
        except BusError as error:
            raise _no_longer_served(error) from error


def _ended(argv: Command, begun_s: float, problem: str = "") -> Finished:
    """The result of a call, in the form of the command that does the same."""
    return Finished(argv, int(problem != ""), stderr=problem.encode(), wall_s=clock.monotonic() - begun_s)


def _no_longer_served(error: BusError) -> DiskFailed:
    """No candidate is to blame for it."""
    if error.name in REFUSALS:
        return DiskFailed(
            _("udisks2 serves the session at this machine's own screen alone, and this one no longer is."),
            _("Start a new run, and neither log out nor switch to another session while it measures."),
            error.message,
        )
    return DiskFailed(_("udisks2 refused: {reason}", reason=error.message))


class UdisksDisks:
    """Scratch images of the user's."""

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

    def joined(self) -> UdisksDisk:
        """There is one alone, but for such as are given back."""
        return self._disks[-1]

    async def end(self) -> None:
        """Undo everything, as far as that goes; the child tries what is left again."""
        for disk in self._disks:
            with contextlib.suppress(FswizardError):
                await disk.detach()


@asynccontextmanager
async def open_udisks(memory_bytes: int, note: Callable[[str], None]) -> AsyncIterator[UdisksDisks]:
    """Images through udisks2; leaving takes away every loop device and mount. BusError where udisks2 cannot be had.

    `note` gets the name of each image before it becomes a device.
    """
    with contextlib.closing(Bus()) as bus, limited(memory_bytes) as limit, undoer() as watch:

        def noted(image: str) -> None:
            note(image)
            watch(image)

        disks = UdisksDisks(bus, noted, limit)
        try:
            yield disks
        finally:
            await timeouts.to_the_end(disks.end())


def _blind_to_mounts() -> bool:
    """Whether mkfs.btrfs would fail: it looks at the file of every loop device that is mounted."""
    mounted = {mount.device for mount in mounts.current().values()}
    unseen = [loop.name for loop in loops() if not os.path.exists(loop.file)]
    return any(HERE.text(f"/sys/block/{name}/dev") in mounted for name in unseen)


def _blocks_of_children() -> int:
    """Blocks of 512 bytes that all programs which were started here, and have ended, have written."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_oublock


async def _until(holds: Callable[[], bool]) -> None:
    """Wait until `holds`, at most `APPEAR_S`."""
    deadline = clock.monotonic() + APPEAR_S
    while not holds() and clock.monotonic() < deadline:
        await clock.pause(LOOK_S)
