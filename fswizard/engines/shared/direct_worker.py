"""Whether direct I/O is direct: a program of the standard library alone, run where it is measured.

    direct_worker.py DIRECTORY [DEVICE ...]

It writes a file there with O_DIRECT and checks how much of it is in the page cache meanwhile (mincore(2)), and how much
the block devices (kernel names) have got when the write returns (/sys/class/block/NAME/stat). Both are needed: btrfs
writes through the page cache and empties it before it returns, and what a FUSE program or ZFS keeps in memory is not
among the file's pages.

On standard output is a JSON object: `cached`, the largest share of a write that was in memory, or `error`, the number
of the error where O_DIRECT is refused.
"""

from __future__ import annotations

import ctypes
import errno
import json
import mmap
import os
import sys
import threading
from collections.abc import Sequence

BYTES = 4 << 20
"""Size of a write, large enough to be observed."""
WRITES = 4
"""Number of writes: the first one makes the file's blocks, the others overwrite them."""
SECTOR_BYTES = 512
LOOKS_EVERY_S = 0.0002
"""Much less than the write takes."""


def main(directory: str, *devices: str) -> None:
    path = os.path.join(directory, "direct")
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_DIRECT, 0o600)
    except OSError as error:
        answer: dict[str, float | int | None] = {"error": error.errno}
        if os.path.lexists(path):  # some make the file before they refuse
            os.unlink(path)
    else:
        try:
            os.ftruncate(descriptor, BYTES)
            answer = {"cached": max(_write(descriptor, devices) for _ in range(WRITES))}
        except OSError as error:
            answer = {"error": error.errno}
        finally:
            os.close(descriptor)
            os.unlink(path)
    print(json.dumps(answer))


def _write(descriptor: int, devices: Sequence[str]) -> float:
    """The share of a write that was in memory."""
    data = mmap.mmap(-1, BYTES)  # its address is a multiple of any block's size
    data.write(os.urandom(BYTES))
    resident = _Resident(descriptor)
    before = _written_bytes(devices)
    with resident:
        written = os.pwrite(descriptor, data, 0)
    if written < BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    given = (_written_bytes(devices) - before) / BYTES if devices else 1.0
    return max(resident.most, 1.0 - given)


class _Resident:
    """Observes the share of a file in the page cache, until it is left."""

    def __init__(self, descriptor: int) -> None:
        self.most = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, args=(descriptor,))

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self, descriptor: int) -> None:
        try:
            mapped = mmap.mmap(descriptor, BYTES)
        except OSError:  # files that cannot be mapped are in no page cache
            return
        pages = (ctypes.c_ubyte * (BYTES // mmap.PAGESIZE))()
        start = ctypes.c_char.from_buffer(mapped)
        libc, over = ctypes.CDLL(None), False
        while not over:
            over = self._over.wait(LOOKS_EVERY_S)
            if libc.mincore(ctypes.byref(start), ctypes.c_size_t(BYTES), pages) == 0:
                self.most = max(self.most, sum(page & 1 for page in bytes(pages)) / len(pages))


def _written_bytes(devices: Sequence[str]) -> int:
    sectors = 0
    for name in devices:
        with open(f"/sys/class/block/{name}/stat", encoding="ascii") as file:
            sectors += int(file.read().split()[6])
    return sectors * SECTOR_BYTES


if __name__ == "__main__":
    main(*sys.argv[1:])
