"""A scratch image as its owner makes it: a file without a name, gone with the last descriptor on it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fswizard.disks.disk import succeeded
from fswizard.drives.machine import HERE
from fswizard.drives.topology import devices_at
from fswizard.errors import Refused, RunFailed
from fswizard.filesystems.commands import copy, make_image
from fswizard.language import _
from fswizard.model.text import safe
from fswizard.progress.emitter import Emitter
from fswizard.progress.workload_events import Progress
from fswizard.system import block_device, clock, commands, timeouts
from fswizard.system.process import Finished

EDGE_BYTES = 1 << 20
"""Superblocks and partition tables lie within so much of either end."""
FUSE = 0x65735546
"""Type of the filesystems that a program serves (linux/magic.h)."""
LOOK_S = 0.25
"""How often it is looked how far an image is written."""
IN_PLACE = "conv=notrunc,fsync"
"""For dd, which would cut off a file before it writes to it."""


@dataclass(frozen=True, slots=True)
class ScratchFile:
    """An open file that stands for a disk."""

    descriptor: int
    """Open for reading, writing and direct I/O."""
    size_bytes: int

    @property
    def path(self) -> str:
        """For programs that are started with the descriptor."""
        return f"/proc/self/fd/{self.descriptor}"

    @property
    def identity(self) -> str:
        """The file as the kernel names it in /sys/block/loop*; no other file has this name while the file exists."""
        return os.readlink(self.path)

    @property
    def disks(self) -> tuple[str, ...]:
        """Kernel names of the block devices that it lies on."""
        return devices_at(os.path.dirname(self.identity), HERE)

    async def fill(self, emitter: Emitter) -> None:
        """Take all its room and write zeros to all of it, which is the progress of the current step.

        Raises RunFailed where the disk is full or fails, and Refused where the filesystem below stores it otherwise.
        """
        reserve, fill = make_image(self.size_bytes, self.path)
        reserved = await self._finish(reserve)
        if os.strerror(errno.EOPNOTSUPP) not in reserved.output:  # as of ext2 and ext3: writing takes its room there
            self._succeeded(reserved)
        argv = (*fill, IN_PLACE)
        emitter.command_begins(argv)
        process = await commands.start(argv, pass_fds=(self.descriptor,))
        ended = asyncio.ensure_future(process.wait())
        written_bytes, moved_s = 0, clock.monotonic()
        try:
            while not ended.done():
                await clock.ended(ended, LOOK_S)
                position, now_s = _position(process.pid), clock.monotonic()
                if position > written_bytes:
                    rate = (position - written_bytes) / max(now_s - moved_s, 1e-3)
                    emitter.progress(emitter.step.title, Progress(position / self.size_bytes, rate))
                    written_bytes, moved_s = position, now_s
                elif now_s - moved_s > timeouts.LIMIT_S:
                    raise timeouts.no_answer("dd")
        finally:
            if not ended.done():
                await timeouts.end(process, "dd")
        emitter.command_ended(self._succeeded(await ended))
        status = os.fstat(self.descriptor)
        if status.st_blocks * block_device.SECTOR_BYTES < status.st_size:
            raise Refused(
                _("The filesystem below the image compresses it or doesn't store its zeros."),
                _("Choose a directory on another filesystem with --target image:SIZE@DIRECTORY."),
            )

    def require_size(self) -> None:
        """RunFailed where it was cut off or grew."""
        if os.fstat(self.descriptor).st_size != self.size_bytes:
            raise RunFailed(_("Something changed the size of the scratch image."), _("Nothing else may write to it."))

    async def wipe(self) -> Finished:
        """Take away every signature, and zero both ends; RunFailed where that fails."""
        finished = self._succeeded(await self._finish(("wipefs", "--all", self.path)))
        for offset in (0, self.size_bytes - EDGE_BYTES):
            words = ("bs=1M", "count=1", f"seek={offset}", "oflag=direct,seek_bytes", IN_PLACE, "status=none")
            self._succeeded(await self._finish(("dd", "if=/dev/zero", f"of={self.path}", *words)))
        return finished

    async def make(self, argv: Sequence[str]) -> Finished:
        """Run a mkfs program, whose last argument is the device; the exit code says whether it failed."""
        finished = await self._finish((*argv, self.path))
        # Nothing of it may stay in memory, where a loop device with direct I/O would pass it by.
        await asyncio.to_thread(os.fsync, self.descriptor)
        os.posix_fadvise(self.descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        return finished

    async def copy_to(self, other: ScratchFile) -> Finished:
        """Write all of it over another image of the same size; RunFailed where that fails."""
        argv = (*copy(self.path, other.path), IN_PLACE)
        return self._succeeded(await timeouts.finish(argv, pass_fds=(self.descriptor, other.descriptor)))

    async def read(self) -> Finished:
        """Read every block from the disk below; the exit code says whether that failed."""
        return await self._finish(("dd", f"if={self.path}", "of=/dev/null", "bs=4M", "iflag=direct", "status=none"))

    async def _finish(self, argv: Sequence[str]) -> Finished:
        return await timeouts.finish(argv, pass_fds=(self.descriptor,))

    def _succeeded(self, finished: Finished) -> Finished:
        """RunFailed where a program failed on it."""
        if finished.exit_code and os.strerror(errno.ENOSPC) in finished.output:
            raise full(os.path.dirname(self.identity), finished.output)
        return succeeded(finished, RunFailed)

    def close(self) -> None:
        os.close(self.descriptor)


def new(directory: str, size_bytes: int) -> ScratchFile:
    """An empty file in `directory` that nobody can open by a name; RunFailed where it cannot be made."""
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
    with contextlib.suppress(OSError):  # copying on write, btrfs would need new room for what is written again
        block_device.overwrite_in_place(descriptor)
    return ScratchFile(descriptor, size_bytes)


def full(directory: str, details: str = "") -> RunFailed:
    """Says that a filesystem has no room left for an image, and what to do."""
    return RunFailed(
        _("The filesystem under the image ({path}) is full.", path=safe(directory)),
        _("Free some space there and run again."),
        details,
    )


def without_direct_io(directory: str) -> RunFailed:
    """Says that an image cannot be measured on a filesystem, and what to do."""
    return RunFailed(
        _(
            "The filesystem under the image ({filesystem}) refuses direct I/O, so the image would be cached in memory "
            "and the figures too good.",
            filesystem=safe(directory),
        ),
        _("Choose a directory on another filesystem with --target image:SIZE@DIRECTORY."),
    )


def _position(pid: int) -> int:
    """How many bytes a running dd has written (proc_pid_fdinfo(5))."""
    try:
        return int(Path(f"/proc/{pid}/fdinfo/1").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
