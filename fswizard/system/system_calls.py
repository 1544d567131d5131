"""System calls without a function in Python."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
from collections.abc import Iterator

BLKFLSBUF = 0x1261
KEEP_SIZE, PUNCH_HOLE = 1, 2
PR_SET_PDEATHSIG, PR_GET_PDEATHSIG = 1, 2

_libc = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def closing(descriptor: int) -> Iterator[int]:
    """Close `descriptor` at the end."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def punch_hole(descriptor: int, offset: int, length: int) -> None:
    """Deallocate a range of a file or device, which then reads as zeros (fallocate(2))."""
    _check(_libc.fallocate64(descriptor, KEEP_SIZE | PUNCH_HOLE, ctypes.c_int64(offset), ctypes.c_int64(length)))


def drop_buffers(device: int) -> None:
    """Drop the page cache of an open block device."""
    fcntl.ioctl(device, BLKFLSBUF)


@contextlib.contextmanager
def keeping_death_signal() -> Iterator[None]:
    """Preserve the parent death signal (PR_SET_PDEATHSIG in prctl(2)) over changes of user or group.

    The kernel clears it on such changes; it is set again on exit.
    """
    number = ctypes.c_int()
    _check(_libc.prctl(PR_GET_PDEATHSIG, ctypes.byref(number)))
    try:
        yield
    finally:
        _check(_libc.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(number.value)))


def _check(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
