"""I/O counters of block devices."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

SECTOR_BYTES = 512
"""Unit of /sys/block/*/stat, independent of the sector size of the disk (kernel: Documentation/block/stat.rst)."""


class Counters(NamedTuple):
    """Bytes read and written since the devices appeared, and the number of pending requests."""

    read_bytes: int
    written_bytes: int
    in_flight: int

    @property
    def moved_bytes(self) -> int:
        return self.read_bytes + self.written_bytes


def counters(*names: str) -> Counters | None:
    """Sum of the counters of the block devices `names`; None if one of them has no counters."""
    known = [one for name in names if (one := _counters(name)) is not None]
    return Counters(*map(sum, zip(*known))) if known and len(known) == len(names) else None


def _counters(name: str) -> Counters | None:
    try:
        fields = Path(f"/sys/class/block/{name}/stat").read_text().split()
        return Counters(int(fields[2]) * SECTOR_BYTES, int(fields[6]) * SECTOR_BYTES, int(fields[8]))
    except (OSError, IndexError, ValueError):
        return None


def device_under(directory: str) -> str:
    """Kernel name of the block device below `directory`; empty if there is none."""
    number = os.stat(directory).st_dev
    link = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    return link.resolve().name if link.exists() else ""
