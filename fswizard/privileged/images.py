"""A scratch image: made by the user, handed over as a descriptor, and out of reach of everybody from then on."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from dataclasses import dataclass

from fswizard.privileged import processes
from fswizard.privileged.identity import User
from fswizard.privileged.protocol import Refusal

MINIMUM_BYTES = 64 << 20
BLOCK_BYTES = 4 << 20
SECTOR_BYTES = 512
"""Unit of st_blocks."""
RELEASE_LIMIT_S = 5.0
"""Whoever handed it over closes it a moment later, and so do programs that index new files."""


@dataclass(frozen=True, slots=True)
class Image:
    """A file without a name, which no other process has open."""

    descriptor: int
    size_bytes: int

    def require_same(self) -> None:
        """Refusal where it was cut off or grew: only root can have done that."""
        if os.fstat(self.descriptor).st_size != self.size_bytes:
            raise Refusal("failed", "the scratch image has another size than before")

    def read(self) -> None:
        """OSError where a block of it cannot be read from the disk below."""
        os.posix_fadvise(self.descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        for offset in range(0, self.size_bytes, BLOCK_BYTES):
            os.pread(self.descriptor, BLOCK_BYTES, offset)
            os.posix_fadvise(self.descriptor, offset, BLOCK_BYTES, os.POSIX_FADV_DONTNEED)

    def close(self) -> None:
        os.close(self.descriptor)


def take(given: int, user: User) -> Image:
    """The image behind a descriptor from the user, which is closed.

    Refusal unless it is the user's own, fully allocated, and open nowhere else. Root becomes its owner and opens it
    anew: with a descriptor kept back, the user could write to the device below a mounted filesystem. An owner could
    also open it anew through one of O_PATH, which `_require_alone` does not see.
    """
    try:
        status = os.fstat(given)
        _check(status, user)
        if fcntl.fcntl(given, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDWR:
            raise Refusal("refused", "the image is not open for reading and writing")
        os.fchown(given, 0, 0)
        os.fchmod(given, 0o600)
        if os.fstat(given).st_uid != 0:  # FAT mounted with `quiet` only says that it did
            raise Refusal("refused", "the filesystem below the image keeps no owners")
        descriptor = os.open(f"/proc/self/fd/{given}", os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise Refusal("refused", f"the image cannot be made root's: {error.strerror}") from error
    finally:
        os.close(given)
    try:
        _require_alone(descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    return Image(descriptor, status.st_size)


def _check(status: os.stat_result, user: User) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Refusal("refused", "the image is no regular file")
    if status.st_uid != user.uid:
        raise Refusal("refused", f"the image belongs to user {status.st_uid}")
    if status.st_nlink:
        raise Refusal("refused", "the image still has a name")
    if status.st_size < MINIMUM_BYTES:
        raise Refusal("refused", f"the image is smaller than {MINIMUM_BYTES >> 20} MiB")
    if status.st_blocks * SECTOR_BYTES < status.st_size:
        raise Refusal("refused", "the image is sparse: the kernel would take the missing blocks with root's rights")


def _require_alone(descriptor: int) -> None:
    """Refusal where another process has the image open: then the kernel gives no lease on it (fcntl(2)).

    The lock is held until the image is closed.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refusal("busy", "the image is attached already") from None
    error = processes.poll(lambda: _lease(descriptor), lambda error: error != errno.EAGAIN, RELEASE_LIMIT_S)
    if error == errno.EAGAIN:
        raise Refusal("busy", "another program has the image open")
    if error:
        raise Refusal("refused", f"whether another program has the image open cannot be told: {os.strerror(error)}")


def _lease(descriptor: int) -> int:
    """The number of the error; 0 where nobody else has it open."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno or errno.EIO
    return 0
