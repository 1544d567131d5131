"""A scratch image: an unlinked file of the user, which is freed when its last descriptor is closed."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from fswizard.disks.disk import succeeded
from fswizard.drives.topology import devices_at
from fswizard.errors import Refused, RunFailed
from fswizard.filesystems.commands import copy
from fswizard.language import _
from fswizard.model.text import safe
from fswizard.progress.emitter import Emitter
from fswizard.progress.workload_events import Progress
from fswizard.system import block_device, timeouts
from fswizard.system.process import Finished

EDGE_BYTES = 1 << 20
"""Superblocks and partition tables are within this distance of either end."""
PART_BYTES = 64 << 20
"""What is written between two reports of progress."""
IN_PLACE = "conv=notrunc,fsync"
"""Options of dd to overwrite a file without truncating it."""


@dataclass(frozen=True, slots=True)
class ScratchFile:
    """An open file that stands for a disk."""

    descriptor: int
    """Open for reading, writing and direct I/O."""
    size_bytes: int

    @property
    def path(self) -> str:
        """Path for programs that inherit the descriptor."""
        return f"/proc/self/fd/{self.descriptor}"

    @property
    def identity(self) -> str:
        """Name of the file in /sys/block/loop*; unique while the file exists."""
        return os.readlink(self.path)

    @property
    def disks(self) -> tuple[str, ...]:
        """Kernel names of the block devices below it."""
        return devices_at(os.path.dirname(self.identity))

    async def fill(self, emitter: Emitter) -> None:
        """Allocate the whole file and fill it with zeros; emits the progress of the current step.

        Raises RunFailed if the disk is full or fails, and Refused if the filesystem compresses or omits the zeros.
        """
        reserved = await self._finish(("fallocate", "--length", str(self.size_bytes), self.path))
        if os.strerror(errno.EOPNOTSUPP) not in reserved.output:  # as on ext2 and ext3
            self._succeeded(reserved)
        for offset in range(0, self.size_bytes, PART_BYTES):
            length = min(PART_BYTES, self.size_bytes - offset)
            took_s = (await self._zero(offset, length)).wall_s
            progress = Progress((offset + length) / self.size_bytes, length / max(took_s, 1e-3))
            emitter.progress(emitter.step.title, progress)
        status = os.fstat(self.descriptor)
        if status.st_blocks * block_device.SECTOR_BYTES < status.st_size:
            raise Refused(
                _("The filesystem below the image compresses it or doesn't store its zeros."),
                _("Choose a directory on another filesystem with --target image:SIZE@DIRECTORY."),
            )

    def require_size(self) -> None:
        """Raise RunFailed if the size of the file has changed."""
        if os.fstat(self.descriptor).st_size != self.size_bytes:
            raise RunFailed(_("Something changed the size of the scratch image."), _("Nothing else may write to it."))

    def require_direct_io(self, loop: str) -> None:
        """Raise RunFailed if its loop device caches it in memory, as read back from the kernel."""
        if block_device.HERE.number(f"/sys/block/{loop}/loop/dio") != 1:
            raise without_direct_io(os.path.dirname(self.identity))

    async def wipe(self) -> Finished:
        """Erase all signatures, and zero both ends. Raises RunFailed on failure."""
        finished = self._succeeded(await self._finish(("wipefs", "--all", self.path)))
        for offset in (0, self.size_bytes - EDGE_BYTES):
            await self._zero(offset, EDGE_BYTES)
        return finished

    async def _zero(self, offset: int, length: int) -> Finished:
        """Overwrite whole MiB with zeros and flush the disk. Raises RunFailed on failure."""
        place = ("bs=1M", f"count={length >> 20}", f"seek={offset}", "oflag=direct,seek_bytes", IN_PLACE, "status=none")
        return self._succeeded(await self._finish(("dd", "if=/dev/zero", f"of={self.path}", *place)))

    async def make(self, argv: Sequence[str]) -> Finished:
        """Run a mkfs command with the image as its last argument; the exit code says whether it failed."""
        finished = await self._finish((*argv, self.path))
        # A loop device with direct I/O would bypass what is left in the page cache.
        await asyncio.to_thread(os.fsync, self.descriptor)
        os.posix_fadvise(self.descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        return finished

    async def copy_to(self, other: ScratchFile) -> Finished:
        """Copy it over another image of the same size. Raises RunFailed on failure."""
        argv = (*copy(self.path, other.path), IN_PLACE)
        return self._succeeded(await timeouts.finish(argv, pass_fds=(self.descriptor, other.descriptor)))

    async def read(self) -> Finished:
        """Read every block from the disk below; the exit code says whether that failed."""
        return await self._finish(("dd", f"if={self.path}", "of=/dev/null", "bs=4M", "iflag=direct", "status=none"))

    async def _finish(self, argv: Sequence[str]) -> Finished:
        return await timeouts.finish(argv, pass_fds=(self.descriptor,))

    def _succeeded(self, finished: Finished) -> Finished:
        """Return `finished`. Raises RunFailed if it failed, with a hint if the disk is full."""
        if finished.exit_code and os.strerror(errno.ENOSPC) in finished.output:
            raise full(os.path.dirname(self.identity), finished.output)
        return succeeded(finished, RunFailed)

    def close(self) -> None:
        os.close(self.descriptor)


async def make(directory: str, size_bytes: int, emitter: Emitter) -> ScratchFile:
    """Make a file as `new` does, and fill it as `fill` does."""
    file = new(directory, size_bytes)
    try:
        await file.fill(emitter)
    except BaseException:
        file.close()
        raise
    return file


def new(directory: str, size_bytes: int) -> ScratchFile:
    """Make an empty, unlinked file in `directory`. Raises RunFailed on failure."""
    try:
        with tempfile.TemporaryFile(dir=directory, prefix="fswizard-", buffering=0) as file:
            descriptor = os.dup(file.fileno())
    except OSError as error:
        text = _(
            "No scratch image can be made in {directory}: {reason}.", directory=safe(directory), reason=error.strerror
        )
        raise RunFailed(text, _("Was its disk unplugged?")) from error
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_DIRECT)
    except OSError as error:
        os.close(descriptor)
        raise without_direct_io(directory) from error
    with contextlib.suppress(OSError):  # with copy-on-write, btrfs would allocate space for every rewrite
        block_device.overwrite_in_place(descriptor)
    return ScratchFile(descriptor, size_bytes)


def full(directory: str, details: str) -> RunFailed:
    """The error for a filesystem without space for the image."""
    return RunFailed(
        _("The filesystem under the image ({path}) is full.", path=safe(directory)),
        _("Free some space there and run again."),
        details,
    )


def without_direct_io(directory: str) -> RunFailed:
    """The error for a filesystem without direct I/O."""
    return RunFailed(
        _(
            "The filesystem under the image ({filesystem}) refuses direct I/O, so the image would be cached in memory "
            "and the figures too good.",
            filesystem=safe(directory),
        ),
        _("Choose a directory on another filesystem with --target image:SIZE@DIRECTORY."),
    )
