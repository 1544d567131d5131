"""Blocks of random data, each one written for good before the next: what a probe for shingled disks does to a disk."""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Iterator, Sequence

BLOCK_BYTES = 1 << 20


def write(descriptor: int, blocks: Sequence[int], pause_s: float) -> Iterator[float]:
    """The seconds that each write takes, as it ends; `descriptor` is open for direct, synchronous I/O.

    A block is one page again and again. The kernel cuts a write where the pages in memory do not follow each other: so
    every write reaches the disk in as many pieces as any other, and a disk that counts them counts alike.
    """
    with mmap.mmap(-1, mmap.PAGESIZE) as page:  # aligned, as direct I/O wants it
        page.write(os.urandom(mmap.PAGESIZE))
        pages = [page] * (BLOCK_BYTES // mmap.PAGESIZE)
        for block in blocks:
            started = time.perf_counter()
            if os.pwritev(descriptor, pages, block * BLOCK_BYTES) != BLOCK_BYTES:
                raise OSError("a write was cut short")
            yield time.perf_counter() - started
            time.sleep(pause_s)
