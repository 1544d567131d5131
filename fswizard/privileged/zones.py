"""Zones of a disk, as linux/blkzoned.h describes them."""

from __future__ import annotations

import fcntl
import struct

BLKREPORTZONE = 0xC0101282
REPORT = struct.Struct("=QII")
"""First sector, number of zones, flags."""
ZONE = struct.Struct("=QQQBBBB4xQ24x")
"""Start, length and write pointer in sectors, type, condition, two flags, capacity."""
CONVENTIONAL = 1
SECTOR_BYTES = 512


def is_conventional(descriptor: int, offset: int) -> bool:
    """Whether the zone at byte `offset` of a zoned disk can be written anywhere. OSError where it does not tell."""
    answer = bytearray(REPORT.pack(offset // SECTOR_BYTES, 1, 0) + bytes(ZONE.size))
    fcntl.ioctl(descriptor, BLKREPORTZONE, answer)
    _, _, _, kind, *_ = ZONE.unpack_from(answer, REPORT.size)
    return bool(kind == CONVENTIONAL)
