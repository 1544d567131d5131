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
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fswizard.disks import disk_errors, scratch_file
from fswizard.disks import udisks_commands as words
from fswizard.disks.bare import READS, fio_command
from fswizard.disks.bus import Bus, BusError, loops
from fswizard.disks.disk import Begun, Disk, DiskFailed, Filling
from fswizard.disks.disk_errors import DiskErrors
from fswizard.disks.memory_limit import Limited, limited
from fswizard.disks.scratch_file import ScratchFile
from fswizard.disks.undo import IMAGE, undoer
from fswizard.engines import BareSample
from fswizard.errors import FswizardError, RunFailed
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.system import block_stats, clock, commands, mounts, timeouts
from fswizard.system.block_device import HERE
from fswizard.system.process import Finished, Process

APPEAR_S = 30.0
"""For udev to have looked at a device, and for a mount to be usable."""
LOOK_S = 0.02
NO_NEW_RIGHTS = ("setpriv", "--no-new-privs", "--")
"""Before a workload, as in a run as root, so that both take as long to start one."""
REFUSALS = ("NotAuthorized", "NotAuthorizedCanObtain", "NotAuthorizedDismissed")
"""What udisks2 calls it where polkit does not allow something to this session."""


class UdisksDisk:
    """A scratch image, and its loop device while it has one."""

    as_root = False
    pool = ""

    def __init__(self, bus: Bus, file: ScratchFile, limit: Limited | None) -> None:
        self._bus = bus
        self._file = file
        self._limit = limit
        self._loop = ""
        self._mounted = ""
        self._inside = ""
        """Of `_mounted`, the directory that is the user's."""
        self._errors = DiskErrors(lambda: (), disk_errors.disks_of(file.descriptor))
        self._counted_bytes = 0
        """Written through loop devices of before, and by programs to the file."""
        self._loop_before_bytes = 0

    @property
    def names(self) -> tuple[str, ...]:
        return (self._loop,) if self._loop else ()

    @property
    def directory(self) -> str:
        return f"{self._mounted}/{self._inside}".rstrip("/")

    @property
    def direct_io(self) -> bool:
        """Whether the loop device passes the page cache by."""
        return HERE.number(f"/sys/block/{self._loop}/loop/dio") == 1

    async def attach(self) -> None:
        """Attach a loop device to the image; RunFailed where udisks2 does not."""
        self._loop = await self._ask(self._bus.set_up, self._file.descriptor)
        self._loop_before_bytes = self._loop_bytes()

    async def detach(self) -> None:
        await self._drop_loop()
        self._errors.close()
        self._file.close()

    async def end(self) -> None:
        """Unmount and detach what is left of it."""
        if self._mounted:
            await self.umount()
        if self._loop:
            await self.detach()

    async def _drop_loop(self) -> None:
        if not self._loop:
            return
        self._counted_bytes += self._loop_bytes() - self._loop_before_bytes
        name, self._loop = self._loop, ""
        try:
            await asyncio.to_thread(self._bus.delete, name)
            await _until(lambda: all(loop.file != self._file.identity for loop in loops()))
        except BusError as error:
            raise DiskFailed(_("{device} could not be detached.", device=name), "", error.message) from error

    def _loop_bytes(self) -> int:
        counted = block_stats.counters(self._loop)
        return counted.written_bytes if counted else 0

    def written_bytes(self) -> int:
        return self._counted_bytes + (self._loop_bytes() - self._loop_before_bytes if self._loop else 0)

    async def wipe(self) -> Sequence[Finished]:
        await self._drop_loop()
        return (await self._file.wipe(),)

    async def make(self, candidate: Candidate, begun: Begun) -> Sequence[Finished]:
        filesystem = candidate.filesystem
        before = _blocks_of_children()
        if filesystem.name == "btrfs" and blind_to_mounts():
            finished = await self._format(candidate)
        else:
            self._inside = words.WORK if filesystem.name == "btrfs" else ""
            with mkfs_for_user(candidate) as argv:
                begun((*argv, self._file.path))
                finished = await self._file.make(argv)
            if finished.exit_code == 0:
                await self.attach()
        self._counted_bytes += (_blocks_of_children() - before) * block_stats.SECTOR_BYTES
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
        self._inside = ""
        begun_s = clock.monotonic()
        await self._ask(self._bus.format, self._loop, candidate.filesystem.name)
        argv = ("udisksctl", "format", f"/dev/{self._loop}", candidate.filesystem.name)
        return Finished(argv, 0, b"", b"", clock.monotonic() - begun_s)

    async def copy_to(self, other: Disk) -> Finished:
        assert isinstance(other, UdisksDisk)
        finished = await self._file.copy_to(other._file)
        other._inside = self._inside
        other._counted_bytes += self._file.size_bytes
        await other.attach()
        return finished

    async def mount(self, candidate: Candidate) -> Finished:
        options = words.mount_options(candidate)
        argv = words.mount(f"/dev/{self._loop}", options)
        began_s = clock.monotonic()
        try:
            self._mounted = await self._mount(",".join(options))
        except BusError as error:
            if error.name in (*REFUSALS, "NoReply", "Disconnected"):
                raise _unserved(error) from error
            return Finished(argv, 1, b"", error.message.encode(), clock.monotonic() - began_s)
        took_s = clock.monotonic() - began_s
        await _until(lambda: os.path.ismount(self._mounted) and os.access(self.directory, os.W_OK))
        return Finished(argv, 0, b"", b"", took_s)

    async def _mount(self, options: str) -> str:
        """Whatever else mounts what appears may be quicker: that is unmounted, as its options are others.

        Until udev has looked at the device, udisks2 knows no filesystem on it.
        """
        deadline = clock.monotonic() + APPEAR_S
        while True:
            try:
                return await asyncio.to_thread(self._bus.mount, self._loop, options)
            except BusError as error:
                if clock.monotonic() > deadline:
                    raise
                if error.name == "AlreadyMounted":
                    with contextlib.suppress(BusError):
                        await asyncio.to_thread(self._bus.unmount, self._loop)
                elif error.name in ("UnknownMethod", "UnknownInterface"):
                    await asyncio.to_thread(self._bus.rescan, self._loop)
                elif error.name != "UnknownObject":
                    raise
            await clock.pause(LOOK_S)

    async def umount(self) -> Finished:
        argv = words.unmount(f"/dev/{self._loop}")
        began_s = clock.monotonic()
        try:
            await asyncio.to_thread(self._bus.unmount, self._loop)
        except BusError as error:
            if error.name != "NotMounted":
                busy = b"busy: " if error.name == "DeviceBusy" else b""
                return Finished(argv, 1, b"", busy + error.message.encode(), clock.monotonic() - began_s)
        self._mounted = ""
        return Finished(argv, 0, b"", b"", clock.monotonic() - began_s)

    async def sync(self) -> Finished:
        finished = await timeouts.finish(["sync", "--file-system", self._mounted])
        if finished.exit_code:
            raise DiskFailed(_("{program} failed.", program="sync"), _("The disk may be failing."), finished.output)
        room = os.statvfs(self._mounted)
        used_bytes = (room.f_blocks - room.f_bfree) * room.f_frsize
        return Finished(finished.argv, 0, str(used_bytes).encode(), b"", finished.wall_s)

    async def errors(self, candidate: Candidate) -> Mapping[str, int]:
        counted: dict[str, int] = {}
        for kind in candidate.filesystem.error_counters:
            counted |= disk_errors.KINDS[kind](self._loop, HERE)
        self._errors.note(counted)
        return {name: count for name, count in counted.items() if count}

    async def disk_errors(self) -> Sequence[str]:
        return self._errors.of_disks()

    async def inspect(self, *, reading: bool) -> Finished:
        if os.fstat(self._file.descriptor).st_size != self._file.size_bytes:
            return Finished(("stat", self._file.path), 1, b"", b"the scratch image has changed its size", 0.0)
        if not reading:
            return Finished(("stat", self._file.path), 0, b"", b"", 0.0)
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

    async def _ask(self, call: object, *words: object) -> str:
        try:
            return str(await asyncio.to_thread(call, *words))  # type: ignore[arg-type]
        except BusError as error:
            raise _unserved(error) from error


def _unserved(error: BusError) -> DiskFailed:
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

    async def image(self, directory: str, size_bytes: int, filling: Filling) -> UdisksDisk:
        file = scratch_file.new(directory, size_bytes)
        try:
            await file.fill(filling)
            self._note(file.identity)
            disk = UdisksDisk(self._bus, file, self._limit)
            await disk.attach()
        except BaseException:
            file.close()
            raise
        self._disks.append(disk)
        return disk

    async def joined(self, parts: Sequence[UdisksDisk], candidates: Sequence[Candidate]) -> UdisksDisk:
        (disk,) = parts
        return disk

    async def end(self) -> None:
        """Undo everything, as far as that goes; the child tries what is left again."""
        for disk in self._disks:
            with contextlib.suppress(FswizardError):
                await disk.end()


@asynccontextmanager
async def open_udisks(memory_bytes: int, note: Callable[[str], None]) -> AsyncIterator[UdisksDisks]:
    """Images through udisks2; leaving takes away every loop device and mount. BusError where udisks2 cannot be had.

    `note` gets the name of each image before it becomes a device.
    """
    bus = Bus()
    try:
        with limited(memory_bytes) as limit, undoer() as watch:

            def noted(image: str) -> None:
                note(image)
                watch(image)

            disks = UdisksDisks(bus, noted, limit)
            try:
                yield disks
            finally:
                await timeouts.to_the_end(disks.end())
    finally:
        bus.close()


@contextlib.contextmanager
def mkfs_for_user(candidate: Candidate) -> Iterator[tuple[str, ...]]:
    """The command that makes a candidate which the user may write to, while what it reads besides is there."""
    uid, gid = os.getuid(), os.getgid()
    with tempfile.TemporaryDirectory(prefix="fswizard-") as directory:
        owner = Path(directory, "owner")
        if candidate.filesystem.name == "xfs":
            owner.write_text(words.prototype(uid, gid))
        elif candidate.filesystem.name == "btrfs":
            Path(owner, words.WORK).mkdir(mode=0o700, parents=True)
        yield words.mkfs(candidate, uid, gid, str(owner))


def blind_to_mounts() -> bool:
    """Whether mkfs.btrfs would fail: it looks at the file of every loop device that is mounted."""
    mounted = {mount.device for mount in mounts.current().values()}
    for loop in loops():
        number = HERE.text(f"/sys/block/{loop.name}/dev")
        if number in mounted and not os.path.exists(loop.file):
            return True
    return False


def _blocks_of_children() -> int:
    """Blocks of 512 bytes that all programs which were started here, and have ended, have written."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_oublock


async def _until(holds: Callable[[], bool]) -> None:
    """Wait until `holds`, at most `APPEAR_S`."""
    deadline = clock.monotonic() + APPEAR_S
    while not holds() and clock.monotonic() < deadline:
        await clock.pause(LOOK_S)
