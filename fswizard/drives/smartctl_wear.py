"""Wear of an SSD and bytes written, in smartctl's JSON, by a standard or else by its maker's attributes.

Attributes are a maker's own: of two disks that call one `Total_LBAs_Written`, one counts sectors and the other
32 MiB at a time, and many never move the value that smartctl shows for their wear. So they are read only where
smartctl's database knows the family, of makers that say what they count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fswizard.drives.pastes import rows
from fswizard.system.block_stats import SECTOR_BYTES

NVME_UNIT_BYTES = 512_000
"""Unit of bytes written: thousands of 512 bytes (NVM Express Base Specification, SMART log)."""
_SECTORS_WRITTEN, _PERCENTAGE_USED = "1 24", "7 8"
"""Page and offset in the device statistics (ACS-4, 9.5)."""
_MAKERS = {
    "Samsung": ("177 Wear_Leveling_Count", "241 Total_LBAs_Written", SECTOR_BYTES),
    "Crucial": ("202 Percent_Lifetime_Remain", "246 Total_LBAs_Written", SECTOR_BYTES),
    "Micron": ("202 Percent_Lifetime_Remain", "246 Total_LBAs_Written", SECTOR_BYTES),
    "Intel": ("233 Media_Wearout_Indicator", "241 Host_Writes_32MiB", 32 << 20),
}
"""By the beginning of a family's name in smartctl's database: the attribute whose normalised value is the percentage of
life that remains, the attribute of the data written, and bytes for each count.

Samsung's SMART attribute white paper; Micron TN-FD-22 (attributes 202, 246); Intel SSD DC S3500 Product
Specification, table of SMART attributes (E9h declines linearly from 100 to 1; F1h counts 65,536 sectors)."""


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


def wear(answers: dict[str, Any]) -> Wear:
    """Wear in a flattened document of any version of smartctl, for any kind of disk."""
    nvme = "nvme_smart_health_information_log"
    own = Wear(
        _count(answers.get(f"{nvme}.percentage_used")),
        _count(answers.get(f"{nvme}.data_units_written"), NVME_UNIT_BYTES),
    )
    common = Wear(_count(answers.get("endurance_used.current_percent")))
    scsi = Wear(_count(answers.get("scsi_percentage_used_endurance_indicator")))
    return own.or_else(_statistics(answers)).or_else(common).or_else(scsi).or_else(_attributes(answers))


def _statistics(answers: dict[str, Any]) -> Wear:
    counts = {}
    for page in rows(answers.get("ata_device_statistics.pages")):
        for row in rows(page.get("table")):
            flags = row.get("flags")
            if isinstance(flags, dict) and flags.get("valid") is True:
                counts[f"{page.get('number')} {row.get('offset')}"] = row.get("value")
    return Wear(_count(counts.get(_PERCENTAGE_USED)), _count(counts.get(_SECTORS_WRITTEN), SECTOR_BYTES))


def _attributes(answers: dict[str, Any]) -> Wear:
    family = str(answers.get("model_family"))
    maker = next((maker for maker in _MAKERS if family.startswith(maker)), "")
    if not maker or answers.get("rotation_rate") != 0:
        return NOT_REPORTED
    remaining, written, unit_bytes = _MAKERS[maker]
    table = rows(answers.get("ata_smart_attributes.table"))
    named = {f"{row.get('id')} {row.get('name')}": row for row in table}
    remains, raw = _count(named.get(remaining, {}).get("value")), named.get(written, {}).get("raw")
    return Wear(
        100 - remains if remains is not None and remains <= 100 else None,
        _count(raw.get("value"), unit_bytes) if isinstance(raw, dict) else None,
    )


def _count(value: object, unit: int = 1) -> int | None:
    return value * unit if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
