"""A scratch image as its owner makes it: a file without a name, gone with the last descriptor on it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fswizard.disks.disk import Filling
from fswizard.errors import Refused, RunFailed
from fswizard.filesystems.commands import IMAGE_UNIT_BYTES
from fswizard.language import _
from fswizard.model.text import safe
from fswizard.system import block_device, clock, commands, timeouts
from fswizard.system.process import Finished

EDGE_BYTES = 1 << 20
"""Superblocks and partition tables lie within so much of either end."""
FUSE = 0x65735546
"""Type of the filesystems that a program serves (linux/magic.h)."""
WITHOUT_NAMES = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT)
"""What open(2) says of O_TMPFILE where it is unknown: by the filesystem, or by the kernel."""
LOOK_S = 0.25
"""How often it is looked how far an image is written."""


@dataclass(frozen=True, slots=True)
class ScratchFile:
    """An open file that stands for a disk."""

    descriptor: int
    """Open for reading, writing and, where the filesystem below can, direct I/O."""
    size_bytes: int
    direct: bool

    @property
    def path(self) -> str:
        """For programs that are started with the descriptor."""
        return f"/proc/self/fd/{self.descriptor}"

    @property
    def identity(self) -> str:
        """The file as the kernel names it in /sys/block/loop*; no other file has this name while the file exists."""
        return os.readlink(self.path)

    async def fill(self, filling: Filling) -> None:
        """Take all its room and write zeros to all of it.

        Raises RunFailed where the disk is full or fails, and Refused where the filesystem below stores it otherwise.
        """
        await self._reserve()
        count = self.size_bytes // IMAGE_UNIT_BYTES
        argv = ["dd", "if=/dev/zero", f"of={self.path}", "bs=4M", f"count={count}", *self._flags("oflag")]
        filling.begins(tuple(argv))
        process = await commands.start(argv, pass_fds=(self.descriptor,))
        ended = asyncio.ensure_future(process.wait())
        written, moved_at = 0, clock.monotonic()
        try:
            while not ended.done():
                await clock.ended(ended, LOOK_S)
                if (now := _position(process.pid)) > written:
                    written, moved_at = now, clock.monotonic()
                    filling.written(written)
                elif clock.monotonic() - moved_at > timeouts.LIMIT_S:
                    raise timeouts.no_answer("dd")
        finally:
            if not ended.done():
                await timeouts.end(process, "dd")
        filling.ended(_succeeded(await ended))
        status = os.fstat(self.descriptor)
        if status.st_blocks * block_device.SECTOR_BYTES < status.st_size:
            raise Refused(
                _("The filesystem below the image compresses it or doesn't store its zeros."),
                _("Choose a directory on another filesystem with --target image:SIZE@DIRECTORY."),
            )

    async def _reserve(self) -> None:
        """Take its room beforehand where the filesystem below can: ext2 and ext3 cannot, and writing takes it there."""
        argv = ["fallocate", "--length", str(self.size_bytes), self.path]
        finished = await timeouts.finish(argv, pass_fds=(self.descriptor,))
        if os.strerror(errno.EOPNOTSUPP) not in finished.output:
            _succeeded(finished)

    async def wipe(self) -> Finished:
        """Take away every signature, and zero both ends."""
        finished = await self.run(["wipefs", "--all", self.path])
        await asyncio.to_thread(self._zero_ends)
        return finished

    def _zero_ends(self) -> None:
        with open(self.path, "r+b", buffering=0) as file:  # without O_DIRECT, which wants aligned memory
            for offset in (0, self.size_bytes - EDGE_BYTES):
                os.pwrite(file.fileno(), bytes(EDGE_BYTES), offset)
            self._settle(file.fileno())

    async def make(self, argv: Sequence[str], *, pass_fds: Sequence[int] = ()) -> Finished:
        """Run a mkfs program, whose last argument is the device; the exit code says whether it failed."""
        finished = await timeouts.finish([*argv, self.path], pass_fds=(self.descriptor, *pass_fds))
        await asyncio.to_thread(self._settle, self.descriptor)
        return finished

    def _settle(self, descriptor: int) -> None:
        """Nothing of the file is in memory from here on, where a loop device with direct I/O would pass it by."""
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)

    async def copy_to(self, other: ScratchFile) -> Finished:
        """Write all of it over another image of the same size."""
        flags = [*self._flags("iflag"), *self._flags("oflag")]
        argv = ["dd", f"if={self.path}", f"of={other.path}", "bs=4M", "status=none", *flags]
        return _succeeded(await timeouts.finish(argv, pass_fds=(self.descriptor, other.descriptor)))

    async def read(self) -> Finished:
        """Read every block from the disk below; the exit code says whether that failed."""
        argv = ["dd", f"if={self.path}", "of=/dev/null", "bs=4M", "status=none", *self._flags("iflag")]
        return await timeouts.finish(argv, pass_fds=(self.descriptor,))

    async def run(self, argv: Sequence[str]) -> Finished:
        """Run a program on it to its end; RunFailed where it fails."""
        return _succeeded(await timeouts.finish(argv, pass_fds=(self.descriptor,)))

    def _flags(self, side: str) -> tuple[str, ...]:
        writes = ("conv=notrunc,fsync",) if side == "oflag" else ()
        return (*((f"{side}=direct",) if self.direct else ()), *writes)

    def close(self) -> None:
        os.close(self.descriptor)


def new(directory: str, size_bytes: int) -> ScratchFile:
    """An empty file in `directory` that nobody can open by a name; RunFailed where it cannot be made."""
    direct = True
    try:
        try:
            descriptor = _opened(directory, os.O_DIRECT)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            direct = False
            descriptor = _opened(directory, 0)
    except OSError as error:
        text = _(
            "No scratch image can be made in {directory}: {reason}.", directory=safe(directory), reason=error.strerror
        )
        raise RunFailed(text, _("Was its disk unplugged?")) from error
    with contextlib.suppress(OSError):  # copying on write, btrfs would need new room for what is written again
        block_device.overwrite_in_place(descriptor)
    return ScratchFile(descriptor, size_bytes, direct)


def _opened(directory: str, further: int) -> int:
    """Descriptor of a new file: one that never had a name, or, where those are unknown, one that has lost it."""
    flags = os.O_RDWR | os.O_CLOEXEC | further
    try:
        return os.open(directory, flags | os.O_TMPFILE | os.O_EXCL, 0o600)
    except OSError as error:
        if error.errno not in WITHOUT_NAMES:
            raise
    path = f"{directory}/fswizard-{secrets.token_hex(6)}"
    descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        os.unlink(path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _position(pid: int) -> int:
    """How many bytes a running dd has written (proc_pid_fdinfo(5))."""
    try:
        return int(Path(f"/proc/{pid}/fdinfo/1").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def _succeeded(finished: Finished) -> Finished:
    if finished.exit_code == 0:
        return finished
    if os.strerror(errno.ENOSPC) in finished.output:
        raise RunFailed(
            _("The filesystem under the image is full."), _("Free some space there and run again."), finished.output
        )
    raise RunFailed(_("{program} failed.", program=finished.argv[0]), _("The disk may be failing."), finished.output)
