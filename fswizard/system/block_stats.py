"""I/O counters of block devices."""

from __future__ import annotations

import os
from typing import NamedTuple

from fswizard.system.block_device import HERE, SECTOR_BYTES


class Counters(NamedTuple):
    """Bytes read and written since the devices appeared, and the number of pending requests."""

    read_bytes: int
    written_bytes: int
    in_flight: int

    @property
    def moved_bytes(self) -> int:
        return self.read_bytes + self.written_bytes


def counters(*names: str) -> Counters | None:
    """Sum of the counters of the block devices `names` (kernel: block/stat.rst); None if one of them has none."""
    every = []
    for name in names:
        fields = HERE.text(f"/sys/class/block/{name}/stat").split()
        if len(fields) < 9:
            return None
        every.append((int(fields[2]) * SECTOR_BYTES, int(fields[6]) * SECTOR_BYTES, int(fields[8])))
    return Counters(*map(sum, zip(*every))) if every else None


def device_under(directory: str) -> str:
    """Kernel name of the block device below `directory`; empty if there is none."""
    number = os.stat(directory).st_dev
    return HERE.device_of(f"{os.major(number)}:{os.minor(number)}")
