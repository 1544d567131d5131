"""How worn an SSD is: what a standard defines goes first, and attributes that nobody vouches for are not believed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.drives.smartctl_wear import Wear, wear


def statistics(used: int, sectors: int, **flags: bool) -> dict[str, Any]:
    """What `smartctl --json --log devstat` prints, cut down to the two figures."""
    valid = {"valid": True, **flags}
    written = {"offset": 24, "name": "Logical Sectors Written", "value": sectors, "flags": valid}
    worn = {"offset": 8, "name": "Percentage Used Endurance Indicator", "value": used, "flags": valid}
    return {"ata_device_statistics": {"pages": [{"number": 1, "table": [written]}, {"number": 7, "table": [worn]}]}}


def attributes(family: str, *rows: tuple[int, str, int, int]) -> dict[str, Any]:
    """Number, name, normalised value and raw value of each attribute of a solid-state disk."""
    table = [{"id": number, "name": name, "value": value, "raw": {"value": raw}} for number, name, value, raw in rows]
    known = {"model_family": family} if family else {}
    return {"rotation_rate": 0, **known, "ata_smart_attributes": {"table": table}}


INTEL = attributes(
    "Intel 730 and DC S35x0/3610/3700 Series SSDs",
    (233, "Media_Wearout_Indicator", 22, 0), (241, "Host_Writes_32MiB", 100, 15376617),
)  # fmt: skip
MICRON = attributes(
    "Micron 5100 Pro / 52x0 / 5300 SSDs",
    (202, "Percent_Lifetime_Remain", 100, 0), (246, "Total_LBAs_Written", 100, 130006927240),
)  # fmt: skip
SAMSUNG = attributes(
    "Samsung based SSDs",
    (177, "Wear_Leveling_Count", 99, 60), (202, "Exception_Mode_Status", 100, 0),
    (241, "Total_LBAs_Written", 99, 27300548916),
)  # fmt: skip
UNKNOWN = attributes(
    "",
    (177, "Wear_Leveling_Count", 100, 0), (231, "Unknown_SSD_Attribute", 100, 94),
    (241, "Total_LBAs_Written", 100, 3945),
)  # fmt: skip
"""Figures of real disks; the last one is 5 % worn and has written 4.24 TB."""


@pytest.mark.parametrize(
    ("data", "used", "written"),
    [
        (INTEL, 78, 15376617 * (32 << 20)),
        (MICRON, 0, 130006927240 * 512),
        (SAMSUNG, 1, 27300548916 * 512),
        (UNKNOWN, None, None),
        ({**UNKNOWN, **statistics(5, 8274386439)}, 5, 8274386439 * 512),
    ],
)
def test_the_wear_of_real_sata_disks(data: dict[str, Any], used: int | None, written: int | None) -> None:
    assert wear(data) == Wear(used, written)


def test_the_standard_goes_before_the_makers_own_attributes() -> None:
    assert wear({**SAMSUNG, **statistics(0, 27300548917)}) == Wear(0, 27300548917 * 512)
    assert wear({**SAMSUNG, **statistics(0, 5, valid=False)}) == wear(SAMSUNG)


def test_what_smartctl_made_of_it_itself_and_what_a_sas_disk_tells() -> None:
    assert wear({"endurance_used": {"current_percent": 7}}).life_used_percent == 7
    assert wear({"scsi_percentage_used_endurance_indicator": 12}).life_used_percent == 12


def test_attributes_of_a_hard_disk_or_under_another_name_are_no_wear() -> None:
    assert wear({**SAMSUNG, "rotation_rate": 5400}) == Wear()
    assert wear(attributes("Samsung based SSDs", (177, "Another_Name", 40, 0))) == Wear()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
KEYS = ["ata_device_statistics", "ata_smart_attributes", "nvme_smart_health_information_log", "endurance_used"]


@given(st.dictionaries(st.sampled_from(KEYS), JSON | st.fixed_dictionaries({"table": JSON, "pages": JSON})))
def test_nonsense_is_no_wear_and_no_error(data: dict[str, Any]) -> None:
    found = wear({**data, "rotation_rate": 0, "model_family": "Intel"})
    assert found.life_used_percent is None or found.life_used_percent >= 0
