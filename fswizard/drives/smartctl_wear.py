"""Wear of an SSD and bytes written, in smartctl's JSON, by a standard or else by its maker's attributes.

Attributes are a maker's own: of two disks that call one `Total_LBAs_Written`, one counts sectors and the other
32 MiB at a time, and many never move the value that smartctl shows for their wear. So they are read only where
smartctl's database knows the family, of makers that say what they count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fswizard.drives.smartctl_forms import mapping, rows
from fswizard.system.block_stats import SECTOR_BYTES

NVME_UNIT_BYTES = 512_000
"""Unit of bytes written: thousands of 512 bytes (NVM Express Base Specification, SMART log)."""
_GENERAL, _SECTORS_WRITTEN = 1, 24
_SOLID_STATE, _PERCENTAGE_USED = 7, 8
"""Page and offset in the device statistics (ACS-4, 9.5)."""


@dataclass(frozen=True, slots=True)
class Wear:
    """Wear of a disk; None for what it does not report."""

    life_used_percent: int | None = None
    written_bytes: int | None = None

    def or_else(self, other: Wear) -> Wear:
        """This wear, with values of `other` for those that are None."""
        used, written = self.life_used_percent, self.written_bytes
        return Wear(
            other.life_used_percent if used is None else used, other.written_bytes if written is None else written
        )


NOT_REPORTED = Wear()


@dataclass(frozen=True, slots=True)
class _Maker:
    """Meaning of the attributes of a family of disks."""

    family: str
    """Beginning of its name in smartctl's database."""
    remaining: tuple[int, str]
    """Attribute whose normalised value is the percentage of life that remains: number and name."""
    written: tuple[int, str, int]
    """Attribute of the data written: number, name, bytes for each count."""


_MAKERS = (
    _Maker("Samsung", (177, "Wear_Leveling_Count"), (241, "Total_LBAs_Written", SECTOR_BYTES)),
    _Maker("Crucial", (202, "Percent_Lifetime_Remain"), (246, "Total_LBAs_Written", SECTOR_BYTES)),
    _Maker("Micron", (202, "Percent_Lifetime_Remain"), (246, "Total_LBAs_Written", SECTOR_BYTES)),
    _Maker("Intel", (233, "Media_Wearout_Indicator"), (241, "Host_Writes_32MiB", 32 << 20)),
)
"""Samsung's SMART attribute white paper; Micron TN-FD-22 (attributes 202, 246); Intel SSD DC S3500 Product
Specification, table of SMART attributes (E9h declines linearly from 100 to 1; F1h counts 65,536 sectors)."""


def wear(data: Mapping[str, Any]) -> Wear:
    """Wear in a document of any version of smartctl, for any kind of disk."""
    nvme = mapping(data, "nvme_smart_health_information_log")
    units = _count(nvme.get("data_units_written"))
    own = Wear(_count(nvme.get("percentage_used")), units * NVME_UNIT_BYTES if units is not None else None)
    common = Wear(_count(mapping(data, "endurance_used").get("current_percent")))
    scsi = Wear(_count(data.get("scsi_percentage_used_endurance_indicator")))
    return own.or_else(_statistics(data)).or_else(common).or_else(scsi).or_else(_attributes(data))


def _statistics(data: Mapping[str, Any]) -> Wear:
    counts = {}
    for page in rows(mapping(data, "ata_device_statistics").get("pages")):
        for row in rows(page.get("table")):
            if mapping(row, "flags").get("valid") is True:
                counts[page.get("number"), row.get("offset")] = _count(row.get("value"))
    sectors = counts.get((_GENERAL, _SECTORS_WRITTEN))
    return Wear(counts.get((_SOLID_STATE, _PERCENTAGE_USED)), sectors * SECTOR_BYTES if sectors is not None else None)


def _attributes(data: Mapping[str, Any]) -> Wear:
    family = str(data.get("model_family", ""))
    maker = next((maker for maker in _MAKERS if family.startswith(maker.family)), None)
    if maker is None or data.get("rotation_rate") != 0:
        return NOT_REPORTED
    table = mapping(data, "ata_smart_attributes").get("table")
    named = {(row.get("id"), row.get("name")): row for row in rows(table)}
    *counted, unit_bytes = maker.written
    remaining = _count(named.get(maker.remaining, {}).get("value"))
    written = _count(mapping(named.get((counted[0], counted[1]), {}), "raw").get("value"))
    return Wear(
        100 - remaining if remaining is not None and remaining <= 100 else None,
        written * unit_bytes if written is not None else None,
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
