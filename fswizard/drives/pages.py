"""What a disk says about itself in the pages that the kernel keeps below /sys/block/X/device, readable without root.

Layouts: SPC-5 and SBC-4 for the vital product data pages, ACS-4 for IDENTIFY DEVICE.
"""

from __future__ import annotations

from dataclasses import dataclass

from fswizard.drives.smr_facts import Zoned
from fswizard.model.text import safe

SSD_ROTATION_RATE = 1
_IDENTIFY_OFFSET = 60
_IDENTIFY_BYTES = 512
_ZONED: dict[int, Zoned] = {1: "host-aware", 2: "drive-managed"}


@dataclass(frozen=True, slots=True)
class Identify:
    """The parts of ATA IDENTIFY DEVICE data that matter here."""

    model: str
    serial: str
    firmware: str
    rotation_rate: int
    """Rounds per minute; 1 for a disk without moving parts, 0 where it is not reported."""
    zoned: Zoned
    """`host-aware`, `drive-managed`, or empty: word 69 bits 1:0."""
    trim: bool
    """DATA SET MANAGEMENT with TRIM is offered: word 169 bit 0."""


def parse_identify(page: bytes) -> Identify | None:
    """IDENTIFY DEVICE out of VPD page 89h (ATA Information); None for anything else."""
    data = page[_IDENTIFY_OFFSET : _IDENTIFY_OFFSET + _IDENTIFY_BYTES]
    if len(data) < _IDENTIFY_BYTES or page[1] != 0x89 or not any(data):
        return None

    def word(number: int) -> int:
        return int.from_bytes(data[2 * number : 2 * number + 2], "little")

    def string(first: int, last: int) -> str:
        swapped = data[2 * first : 2 * last + 2]
        pairs = (swapped[i : i + 2][::-1] for i in range(0, len(swapped), 2))
        return safe(b"".join(pairs).strip(b"\0 "))

    return Identify(
        model=string(27, 46),
        serial=string(10, 19),
        firmware=string(23, 26),
        rotation_rate=word(217),
        zoned=_ZONED.get(word(69) & 0b11, ""),
        trim=bool(word(169) & 1),
    )


def parse_characteristics(page: bytes) -> tuple[int, Zoned]:
    """(rotation rate, zoned) out of VPD page B1h (Block Device Characteristics), as in `Identify`."""
    if len(page) < 9 or page[1] != 0xB1:
        return 0, ""
    return int.from_bytes(page[4:6], "big"), _ZONED.get(page[8] >> 4 & 0b11, "")


def parse_serial(page: bytes) -> str:
    """Serial number out of VPD page 80h; empty for anything else."""
    return safe(page[4 : 4 + page[3]].strip(b"\0 ")) if len(page) > 4 and page[1] == 0x80 else ""
