"""Tests whether direct I/O is direct. A standalone program without dependencies, run on the filesystem in question.

    direct_worker.py DIRECTORY [DEVICE ...]

It writes a file with O_DIRECT and prints the largest share of a write that was in memory: in the page cache during the
write (mincore(2)), or not yet on the block devices (kernel names) when the write returns. Both are needed: btrfs writes
through the page cache and empties it before it returns; FUSE programs and ZFS cache data outside the file's pages.
If O_DIRECT is refused, it prints nothing.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

BYTES = 4 << 20
"""Size of a write, large enough to be observed."""
WRITES = 4
"""Number of writes: the first one allocates the file's blocks, the others overwrite them."""
SECTOR_BYTES = 512
POLL_S = 0.0002
"""Interval of checks, much shorter than a write."""


def cached_share(descriptor: int, devices: tuple[str, ...]) -> float:
    """The share of a write that was in memory."""
    data = mmap.mmap(-1, BYTES)  # its address is a multiple of any block's size
    data.write(os.urandom(BYTES))
    before, most = written_bytes(devices), 0.0
    with ThreadPoolExecutor() as pool:
        writing = pool.submit(os.pwrite, descriptor, data, 0)
        while wait([writing], POLL_S).not_done:
            most = max(most, in_page_cache(descriptor))
    if writing.result() < BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    missing = 1 - (written_bytes(devices) - before) / BYTES if devices else 0.0
    return max(most, in_page_cache(descriptor), missing)


def in_page_cache(descriptor: int) -> float:
    """The share of a file that is in the page cache."""
    try:
        mapped = mmap.mmap(descriptor, BYTES)
    except OSError:  # files that cannot be mapped are in no page cache
        return 0.0
    pages = (ctypes.c_ubyte * (BYTES // mmap.PAGESIZE))()
    start = ctypes.byref(ctypes.c_char.from_buffer(mapped))
    if ctypes.CDLL(None).mincore(start, ctypes.c_size_t(BYTES), pages) != 0:
        return 0.0
    return sum(page & 1 for page in bytes(pages)) / len(pages)


def written_bytes(devices: tuple[str, ...]) -> int:
    stats = (Path(f"/sys/class/block/{name}/stat").read_text() for name in devices)
    return SECTOR_BYTES * sum(int(stat.split()[6]) for stat in stats)


def main(directory: str, *devices: str) -> None:
    path = os.path.join(directory, "direct")
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_DIRECT, 0o600)
        os.ftruncate(descriptor, BYTES)
        print(max(cached_share(descriptor, devices) for _ in range(WRITES)))
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        if os.path.lexists(path):  # some make the file before they refuse
            os.unlink(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
