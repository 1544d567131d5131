"""System calls that Python has no function for."""

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


def filesystem_type(descriptor: int) -> int:
    """Number of the type of filesystem that an open file lies on (`f_type` in statfs(2))."""
    status = ctypes.create_string_buffer(256)
    _check(_libc.fstatfs(descriptor, status))
    return ctypes.c_ulong.from_buffer(status).value


def punch_hole(descriptor: int, offset: int, length: int) -> None:
    """Give back the room of a part of a file or device, which then reads as zeros (fallocate(2))."""
    _check(_libc.fallocate64(descriptor, KEEP_SIZE | PUNCH_HOLE, ctypes.c_int64(offset), ctypes.c_int64(length)))


def drop_buffers(device: int) -> None:
    """Forget what the kernel keeps of an open block device."""
    fcntl.ioctl(device, BLKFLSBUF)


@contextlib.contextmanager
def keeping_death_signal() -> Iterator[None]:
    """For changes of the user or group, at which the kernel forgets the signal that this process gets when its parent
    dies (PR_SET_PDEATHSIG in prctl(2)): at the end it is set again."""
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
