"""Blocks of noise, each one written for good before the next: what a probe for shingled disks does to a disk."""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Iterator, Sequence

BLOCK_BYTES = 1 << 20


def write(descriptor: int, blocks: Sequence[int], pause_s: float) -> Iterator[float]:
    """The seconds that each write takes, as it ends; `descriptor` is open for direct, synchronous I/O."""
    with mmap.mmap(-1, BLOCK_BYTES) as noise:  # aligned, as direct I/O wants it
        noise.write(os.urandom(BLOCK_BYTES))
        for block in blocks:
            started = time.perf_counter()
            if os.pwrite(descriptor, noise, block * BLOCK_BYTES) != BLOCK_BYTES:
                raise OSError("a write was cut short")
            yield time.perf_counter() - started
            time.sleep(pause_s)
