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

BYTES = 4 << 20
"""Size of a write, large enough to be observed."""
WRITES = 4
"""Number of writes: the first one makes the file's blocks, the others overwrite them."""
SECTOR_BYTES = 512
LOOKS_EVERY_S = 0.0002
"""Much less than the write takes."""


def main(directory: str, *devices: str) -> None:
    path = os.path.join(directory, "direct")
    answer: dict[str, float | int | None]
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_DIRECT, 0o600)
        os.ftruncate(descriptor, BYTES)
        answer = {"cached": max(cached_share(descriptor, devices) for _ in range(WRITES))}
    except OSError as error:
        answer = {"error": error.errno}
    if os.path.lexists(path):  # some make the file before they refuse
        os.unlink(path)
    print(json.dumps(answer))


def cached_share(descriptor: int, devices: tuple[str, ...]) -> float:
    """The share of a write that was in memory."""
    data = mmap.mmap(-1, BYTES)  # its address is a multiple of any block's size
    data.write(os.urandom(BYTES))
    over, shares = threading.Event(), [0.0]
    observer = threading.Thread(target=observe, args=(descriptor, over, shares))
    before = written_bytes(devices)
    observer.start()
    try:
        written = os.pwrite(descriptor, data, 0)
    finally:
        over.set()
        observer.join()
    if written < BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if devices:
        shares.append(1 - (written_bytes(devices) - before) / BYTES)
    return max(shares)


def observe(descriptor: int, over: threading.Event, shares: list[float]) -> None:
    """Add the shares of a file in the page cache, until it is `over`, and once more."""
    try:
        mapped = mmap.mmap(descriptor, BYTES)
    except OSError:  # files that cannot be mapped are in no page cache
        return
    pages = (ctypes.c_ubyte * (BYTES // mmap.PAGESIZE))()
    start = ctypes.c_char.from_buffer(mapped)
    libc, last = ctypes.CDLL(None), False
    while not last:
        last = over.wait(LOOKS_EVERY_S)
        if libc.mincore(ctypes.byref(start), ctypes.c_size_t(BYTES), pages) == 0:
            shares.append(sum(page & 1 for page in bytes(pages)) / len(pages))


def written_bytes(devices: tuple[str, ...]) -> int:
    sectors = 0
    for name in devices:
        with open(f"/sys/class/block/{name}/stat", encoding="ascii") as file:
            sectors += int(file.read().split()[6])
    return sectors * SECTOR_BYTES


if __name__ == "__main__":
    main(*sys.argv[1:])
