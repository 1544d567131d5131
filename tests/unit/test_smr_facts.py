"""Each rung of the ladder of evidence, what happens where they disagree, and what is advised then."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fswizard.drives import persistent_cache_bytes
from fswizard.drives.models import (
    ModelRow,
    ModelTable,
    shipped_table,
)
from fswizard.drives.smr import SmrFacts, judge_smr
from fswizard.drives.vpd import parse_pages
from tests.builders import make_drive

DISK = SmrFacts("smartctl", model="ST4000XX000-1AB104", medium="rotating")
NOTHING = ModelTable(())
SILENT = Path(__file__).parents[1] / "recorded" / "silent_models.tsv"


def table(kind: str, pattern: str = "ST4000XX000", **fields: object) -> ModelTable:
    row = ModelRow(pattern, kind, "https://example.org/list", "vendor")  # type: ignore[arg-type]
    return ModelTable((replace(row, **fields),))  # type: ignore[arg-type]


TRIM = {"trim": True}
OLD = {"standard": "ATA8-ACS (minor revision not indicated)", "sector_bytes": 512, "capacity_bytes": 250 * 10**9}
LATER = {"standard": "ACS-2, ACS-3 T13/2161-D revision 3b", "sector_bytes": 4096, "capacity_bytes": 500 * 10**9}
ACS_2 = {"standard": "ACS-2 (minor revision not indicated)"}


@pytest.mark.parametrize(
    ("facts", "rows", "verdict"),
    [
        # each rung alone
        ({"zoned": "host-managed"}, NOTHING, "host-managed, certain"),
        ({"zoned": "host-aware"}, NOTHING, "host-aware, certain"),
        ({"rpm": 15_000}, NOTHING, "cmr, strong"),
        ({"peripheral": "tape"}, NOTHING, "not-a-hard-disk, certain"),
        ({"family": "Seagate Archive HDD (SMR)"}, NOTHING, "drive-managed, strong"),
        (TRIM, NOTHING, "drive-managed, strong"),
        ({"standard": "ATA/ATAPI-7 T13/1532D revision 4a"}, NOTHING, "cmr, strong"),
        ({"standard": "ACS-2, ATA8-ACS T13/1699-D revision 6"}, NOTHING, "cmr, weak"),
        ({"medium": "solid-state", "trim": True}, NOTHING, "not-a-hard-disk, certain"),
        ({"medium": "nvme", "zoned": "host-managed"}, NOTHING, "host-managed, certain"),
        ({"medium": "", "flash_attributes": True}, NOTHING, "not-a-hard-disk, strong"),
        ({}, NOTHING, "unknown, weak"),
        # marks of the time are those of the disk itself
        ({**OLD, "model": "ASMT109x- Safe"}, NOTHING, "unknown, weak"),
        ({**OLD, "model": "WD Elements 25A2"}, NOTHING, "unknown, weak"),
        ({**OLD, "model": "LOGICAL VOLUME"}, NOTHING, "unknown, weak"),
        ({**OLD, "model": "MM1000GBKAL"}, NOTHING, "cmr, strong"),
        ({**OLD, "model": "SAMSUNG HD204UI"}, NOTHING, "cmr, strong"),
        ({**OLD, "volume": True}, NOTHING, "unknown, weak"),
        ({**OLD, "medium": "solid-state", "model": "ST120FN0021"}, NOTHING, "not-a-hard-disk, certain"),
        (LATER, NOTHING, "unknown, weak"),
        ({"standard": "ACS-2, AC"}, NOTHING, "unknown, weak"),
        (OLD, table("drive-managed"), "drive-managed, strong"),
        (ACS_2, table("unknown"), "unknown, weak"),
        (ACS_2, table("unknown", hybrid=True), "cmr, weak"),
        # TRIM contradicts the time, is a hint where a family may offer it, and proves nothing of what is between
        ({**OLD, "trim": True}, NOTHING, "unknown, weak"),
        (TRIM, table("cmr", may_trim=True), "cmr, strong"),
        (TRIM, table("drive-managed", may_trim=True, strength="community"), "drive-managed, weak"),
        (TRIM, table("unknown", may_trim=True), "unknown, weak"),
        (TRIM, table("unknown"), "drive-managed, strong"),
        (TRIM, table("unknown", hybrid=True), "unknown, weak"),
        ({**TRIM, "model": "ASMT109x- Safe"}, NOTHING, "unknown, weak"),
        ({**TRIM, "model": "QEMU HARDDISK", "volume": True}, NOTHING, "unknown, weak"),
        ({**TRIM, "family": "Seagate Laptop SSHD"}, NOTHING, "unknown, weak"),
        ({**TRIM, "model": "TOSHIBA MQ02ABD100H"}, shipped_table(), "unknown, weak"),
        # the disk's own word beats the table; kinds of shingles don't contradict each other
        ({"recording": "CMR"}, table("drive-managed"), "cmr, certain"),
        ({"zoned": "drive-managed"}, table("cmr"), "drive-managed, certain"),
        ({"recording": "SMR"}, table("host-managed"), "host-managed, certain"),
        # an earlier release of the database doesn't count twice
        ({"family": "Seagate BarraCuda 3.5 (SMR)"}, table("cmr", strength="database"), "cmr, strong"),
    ],
)
def test_the_ladder_of_evidence(facts: dict[str, Any], rows: ModelTable, verdict: str) -> None:
    found = judge_smr(replace(DISK, **facts), rows)
    assert f"{found.kind}, {found.confidence}" == verdict


def test_zones_are_read_from_the_page_of_characteristics() -> None:
    page = bytes((0, 0xB1, 0, 60, 0x15, 0x18, 0, 2))
    for bits, zoned in {0b0010_0000: "drive-managed", 0b0001_0000: "host-aware", 0: ""}.items():
        found = parse_pages(b"", bytes((*page, bits)))
        assert (found.rotation_rate, found.zoned) == (5400, zoned)
    assert not parse_pages(b"\0" * 572, page).rotation_rate, "of another kind, or short"


def test_every_shipped_row_has_a_source_reads_like_no_pattern_and_contradicts_no_other() -> None:
    shipped = shipped_table()
    assert len(shipped.rows) > 120
    assert {row.kind for row in shipped.rows} >= {"host-managed", "drive-managed", "cmr", "unknown", "not-a-hard-disk"}
    assert {row.source for row in shipped.rows} == shipped.sources.keys(), "each source once, and none for nothing"
    for row in shipped.rows:
        assert re.fullmatch(r"https?://[^\s/]+\.[^\s/]+(/\S*)?", row.source), row
        assert {other.kind for other in shipped.find(row.pattern)} <= {row.kind}, row
    # Patterns may overlap without a row in between.
    for line in SILENT.read_text("utf-8").splitlines()[1:]:
        model = line.split("\t")[1]
        assert len({item.kind for item in shipped.find(model)}) <= 1, model


WELL_KNOWN = {
    "drive-managed": """
        WDC WD40EFAX-68JH4N1; wd60efax; ST8000DM004-2CX188; ST8000AS0002; TOSHIBA HDWD240UZSVA;
        TOSHIBA MQ04ABF100; WDC WD40EZAZ-00SF3B0; ST6000AS0012; ST2000DM008; TOSHIBA HDWD220UZSVA;
        ST1000LX015-1U7172; ST36000NM003K-3WX103;
        ata-WDC_WD40EFAX-68JH4N1_WD-WX00000000; WDC_WD40EFAX-68JH4N1_WD-WX00000000; WDC WD60 EFAX-68SHWN0;
        usb-ST8000DM_004-2CX188_152D00539000-0:0; ST8000DM_004-2CX188; ST8000DM 004-2CX188 USB Device;
        Seagate BarraCuda ST8000DM004
    """,
    "cmr": """
        WDC WD80EFAX-68LHPN0; WD101EFAX; WDC WD40EFZX-68AWUN0; ST8000DM0004-1ZC11G; TOSHIBA HDWD120;
        WDC  WUH722020ALE6L4; Hitachi HDS721010CLA332; HTS541010A9E680; Maxtor 6Y080L0; WDC WD80EFZX-68UW8N0;
        WDC WD40EZRZ-00GXCB0; WD6003FZBX; ST8000DM005; ST2000DM006; SAMSUNG HD103SJ; ST1000LM024 HN-M101MBB;
        ST500DM005 HD502HJ; ST4000NM0033-9ZM170; ST16000NM001G-2KK103; ST30000NM004K; HGST HUH728080ALE604;
        TOSHIBA MG08ACA16TE; TOSHIBA MQ01ABD100; TOSHIBA MD04ACA400; TOSHIBA DT01ACA100; ST22000NM001E-3HM103;
        ST18000NM000J-2TV103; TOSHIBA MG09ACA18TE; HGST HUS726060ALE614; WDC WD20EZRX-00D8PB0; ST18000VE002-3BS101;
        HGST HTS725050A7E630; ST8000NM0055-1RM112; MB4000GCWLV;
        WDC WD6004FZWX-00BKVA0; ST2000NX0253; OOS6000G; YADRO WUH721414AL4204; HGST HUS726T4TAL
    """,
    "unknown": """
        ST4000DM000-1F2168; ST5000DM000-1FK178; ST4000VX007-2DT166; HGST HTS541010B7E610; HTS541010B7E610;
        Maxtor M3 Portable; WD60EZZX; ST2000LM003 HN-M201RAD; TOSHIBA MQ01ABD100H;
        ST1000LM014-SSHD-8GB; ST1000LX001-1EM164; WD43PURZ; WD40EFAK;
        ST18000NM014J; ASMT109x- Safe; a disk that nobody knows; Seagate BarraCuda
    """,
    "host-managed": "HGST HSH721414ALE6M0; WDC  WSH722020ALE6L4; ST32000NM003K",
    "not-a-hard-disk": "Samsung SSD 860 EVO 1TB; CT1000MX500SSD1; WDC WDS500G2B0A-00SM50",
}


@pytest.mark.parametrize(
    ("model", "kind"),
    [("", "unknown"), *((model.strip(), kind) for kind, models in WELL_KNOWN.items() for model in models.split(";"))],
)
def test_well_known_models_their_twins_and_names_as_bridges_links_and_sellers_write_them(model: str, kind: str) -> None:
    assert judge_smr(SmrFacts("name", model=model)).kind == kind


def test_the_cache_is_known_or_assumed() -> None:
    assert persistent_cache_bytes(make_drive("drive-managed")) == 20_000_000_000
    assert persistent_cache_bytes(make_drive("drive-managed", model="nobody knows")) > 0
    assert persistent_cache_bytes(make_drive("cmr")) == 0
