"""Vital product data: SCSI pages that the kernel has read from a disk, in /sys/block/X/device, readable without root.

Layouts: SPC-5 and SBC-4 for the pages, ACS-4 for IDENTIFY DEVICE.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from fswizard.drives.smr import Zoned
from fswizard.system.block_device import Tree

_ZONED: dict[int, Zoned] = {1: "host-aware", 2: "drive-managed"}
_IDENTIFY_AT = 60
"""Offset of the IDENTIFY DEVICE data in page 89h."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Data from the pages of a disk, with unsanitised texts."""

    model: str
    serial: str
    firmware: str
    rotation_rate: int
    """Rotations per minute; 1 for a disk without moving parts, 0 if not reported."""
    zoned: Zoned
    trim: bool
    """Whether DATA SET MANAGEMENT with TRIM is offered: word 169 bit 0."""


def pages_of(block: Tree) -> Pages:
    """The pages of a disk, by its directory in /sys/block."""
    return parse_pages(block.bytes("device/vpd_pg89"), block.bytes("device/vpd_pgb1"))


def parse_pages(information: bytes, characteristics: bytes) -> Pages:
    """Parse pages 89h (ATA Information, with IDENTIFY DEVICE) and B1h (Block Device Characteristics).

    Either may be empty or invalid.
    """
    words = (0,) * 256
    if len(information) >= _IDENTIFY_AT + 512 and information[1] == 0x89:
        words = struct.unpack_from("<256H", information, _IDENTIFY_AT)
    rate, zoned = words[217], _ZONED.get(words[69] & 0b11, "")
    if len(characteristics) > 8 and characteristics[1] == 0xB1:
        rate = rate or int.from_bytes(characteristics[4:6], "big")
        zoned = _ZONED.get(characteristics[8] >> 4 & 0b11) or zoned
    return Pages(
        model=_string(words[27:47]),
        serial=_string(words[10:20]),
        firmware=_string(words[23:27]),
        rotation_rate=rate,
        zoned=zoned,
        trim=bool(words[169] & 1),
    )


def _string(words: Sequence[int]) -> str:
    """Decode a text of IDENTIFY DEVICE, where each word has its first letter in the high byte."""
    return struct.pack(f">{len(words)}H", *words).decode("ascii", "backslashreplace").strip("\0 ")
