"""A scratch image, from its first byte the helper's: a file that nobody else ever had open, blank at both ends.

A child that has the user's rights makes it, so room and quotas are the user's; it has no name, so nobody can open it.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import signal
import socket
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from fswizard.privileged import block_device, commands, system_calls
from fswizard.privileged.block_device import SECTOR_BYTES
from fswizard.privileged.commands import IMAGE_UNIT_BYTES as UNIT_BYTES
from fswizard.privileged.commands import Commands
from fswizard.privileged.identity import User
from fswizard.privileged.protocol import Refusal

MINIMUM_BYTES = 64 << 20
EDGE_BYTES = 1 << 20
"""Superblocks and partition tables lie within so much of either end."""
REPORT_EVERY_S = 0.25
FUSE, BTRFS = 0x65735546, 0x9123683E
"""Types of filesystems (linux/magic.h). What FUSE answers is up to a program, which may be the caller's."""
WITHOUT_NAMES = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT)
"""What open(2) says of O_TMPFILE where it is unknown: by the filesystem, or by the kernel."""


@dataclass(frozen=True, slots=True)
class Image:
    """A file without a name, which no other process has open."""

    descriptor: int
    size_bytes: int

    def require_same(self) -> None:
        """Refusal where it was cut off or grew: only root can have done that."""
        if os.fstat(self.descriptor).st_size != self.size_bytes:
            raise Refusal("failed", "the scratch image has changed its size")

    def read(self) -> None:
        """OSError where a block of it cannot be read from the disk below."""
        os.posix_fadvise(self.descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        for offset in range(0, self.size_bytes, UNIT_BYTES):
            os.pread(self.descriptor, UNIT_BYTES, offset)
            os.posix_fadvise(self.descriptor, offset, UNIT_BYTES, os.POSIX_FADV_DONTNEED)

    def close(self) -> None:
        os.close(self.descriptor)


@dataclass(slots=True)
class Making:
    """An image that is being made in a child; `close` it in the helper."""

    directory: int
    """Descriptor of the directory that it lies in, from the caller."""
    size_bytes: int
    user: User
    _line: tuple[socket.socket, socket.socket] = field(default_factory=socket.socketpair)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What the child needs."""
        return (self.directory, self._line[1].fileno())

    @property
    def commands(self) -> Commands:
        """Programs that would do the same."""
        return commands.make_image(self.size_bytes, f"{self.size_bytes >> 20}M", commands.IMAGE)

    def begin(self) -> Callable[[], int]:
        """In the child, with the user's rights: open the file, which may take for ever; what is left to do."""
        if not stat.S_ISDIR(os.fstat(self.directory).st_mode):
            raise Refusal("refused", "what came with it isn't a directory")
        kind = system_calls.filesystem_type(self.directory)
        if kind == FUSE:
            raise Refusal("refused", "a program serves the filesystem of that directory (FUSE)")
        try:
            flags = os.O_TMPFILE | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC
            image = os.open(".", flags, 0, dir_fd=self.directory)
        except OSError as error:
            if error.errno in WITHOUT_NAMES:
                text = "the filesystem of that directory can't make files without a name (O_TMPFILE)"
                raise Refusal("refused", text) from error
            raise Refusal("refused", f"no image can be made there: {error.strerror}") from error
        if kind == BTRFS:  # copying on write, it would need new room for what is written again
            block_device.overwrite_in_place(image)
        return lambda: self._write(image)

    def _write(self, image: int) -> int:
        """Take all its room, write zeros to all of it, and hand it over; each line says how many bytes are written."""
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error that can be read, not the end of the process
        os.posix_fallocate(image, 0, self.size_bytes)
        _set_direct(image, True)
        said = time.monotonic()
        with mmap.mmap(-1, UNIT_BYTES) as zeros:  # aligned, as direct I/O wants it
            for offset in range(0, self.size_bytes, UNIT_BYTES):
                _write_at(image, memoryview(zeros)[: self.size_bytes - offset], offset)
                if time.monotonic() - said >= REPORT_EVERY_S:
                    said = time.monotonic()
                    print(min(self.size_bytes, offset + UNIT_BYTES), flush=True)
        _set_direct(image, False)
        os.fsync(image)
        socket.send_fds(self._line[1], [b"."], [image])
        return 0

    def take(self) -> Image:
        """In the helper, once the child has ended well: the image. Refusal where it is not as it should be."""
        _, received, *_ = socket.recv_fds(self._line[0], 1, 1, socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC)
        image = Image(received[0], self.size_bytes)
        try:
            self._check(image.descriptor)
        except BaseException:
            image.close()
            raise
        return image

    def _check(self, image: int) -> None:
        status = os.fstat(image)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink or status.st_size != self.size_bytes:
            raise Refusal("failed", "the image is not the file that was made")
        if status.st_uid != self.user.uid:
            raise Refusal("refused", "the filesystem below the image does not record file owners")
        if status.st_blocks * SECTOR_BYTES < status.st_size:
            raise Refusal(
                "refused", "the filesystem below the image compresses it or doesn't store its zeros; choose another"
            )
        for offset in (0, self.size_bytes - EDGE_BYTES):
            if os.pread(image, EDGE_BYTES, offset) != bytes(EDGE_BYTES):
                raise Refusal("failed", "the image is not blank")

    def close(self) -> None:
        os.close(self.directory)
        for end in self._line:
            end.close()


def _set_direct(image: int, wanted: bool) -> None:
    """Bypassing the page cache, where the filesystem can; the loop device says later whether it can as well."""
    flags = fcntl.fcntl(image, fcntl.F_GETFL) & ~os.O_DIRECT
    try:
        fcntl.fcntl(image, fcntl.F_SETFL, flags | (os.O_DIRECT if wanted else 0))
    except OSError as error:
        if not wanted or error.errno != errno.EINVAL:
            raise


def _write_at(image: int, data: memoryview, offset: int) -> None:
    while data:
        try:
            written = os.pwrite(image, data, offset)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            _set_direct(image, False)  # blocks that are larger than what is left
            continue
        data, offset = data[written:], offset + written
