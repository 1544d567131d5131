"""Each rung of the ladder of evidence, and what happens where they disagree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fswizard.drives.identity import parse_characteristics, parse_identify
from fswizard.drives.models import ModelRow, ModelTable
from fswizard.drives.smr import SmrFacts, judge_smr, with_evidence
from fswizard.model.drive import Evidence, SmrVerdict

DISK = SmrFacts("smartctl", model="ST4000XX000-1AB104", medium="rotating", trim_would_show=True)
NOTHING = ModelTable(())


def table(kind: str, pattern: str = "ST4000XX000", **fields: object) -> ModelTable:
    row = ModelRow(pattern, kind, "https://example.org/list", "vendor")  # type: ignore[arg-type]
    return ModelTable((replace(row, **fields),))  # type: ignore[arg-type]


def verdict(facts: SmrFacts, rows: ModelTable = NOTHING) -> tuple[str, str]:
    found = judge_smr(facts, rows)
    return found.kind, found.confidence


def test_nothing_seen_is_unknown_and_says_why_that_proves_nothing() -> None:
    found = judge_smr(DISK, NOTHING)
    assert (found.kind, found.confidence) == ("unknown", "weak")
    assert any("that is no proof" in piece.text for piece in found.evidence)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (replace(DISK, zone_model="host-managed"), ("host-managed", "certain")),
        (replace(DISK, zone_model="host-aware"), ("host-aware", "certain")),
        (replace(DISK, peripheral="host managed zoned block device"), ("host-managed", "certain")),
        (replace(DISK, zoned="host-aware"), ("host-aware", "certain")),
        (replace(DISK, zoned="drive-managed"), ("drive-managed", "certain")),
        (replace(DISK, recording="SMR"), ("drive-managed", "certain")),
        (replace(DISK, recording="CMR"), ("cmr", "certain")),
        (replace(DISK, family="Seagate Archive HDD (SMR)"), ("drive-managed", "strong")),
        (replace(DISK, family="Western Digital Blue (CMR)"), ("cmr", "strong")),
        (replace(DISK, family="Seagate BarraCuda 3.5 (CMR+HAMR)"), ("cmr", "strong")),
        (replace(DISK, trim=True), ("drive-managed", "strong")),
        (replace(DISK, standard="ATA/ATAPI-7 T13/1532D revision 4a"), ("cmr", "weak")),
        (replace(DISK, medium="solid-state", trim=True), ("not-a-hard-disk", "certain")),
        (replace(DISK, medium="nvme"), ("not-a-hard-disk", "certain")),
        (replace(DISK, medium="nvme", zone_model="host-managed"), ("host-managed", "certain")),
        (replace(DISK, medium="", flash_attributes=True), ("not-a-hard-disk", "strong")),
    ],
)
def test_each_rung_decides_alone(facts: SmrFacts, expected: tuple[str, str]) -> None:
    assert verdict(facts) == expected


def test_the_table_decides_and_names_its_source() -> None:
    found = judge_smr(DISK, table("drive-managed"))
    assert (found.kind, found.confidence) == ("drive-managed", "strong")
    assert any("https://example.org/list" in piece.text for piece in found.evidence)


def test_peoples_lists_are_weak_evidence() -> None:
    assert verdict(DISK, table("drive-managed", strength="community")) == ("drive-managed", "weak")


def test_the_disks_own_word_beats_the_table() -> None:
    assert verdict(replace(DISK, recording="CMR"), table("drive-managed")) == ("cmr", "certain")
    assert verdict(replace(DISK, zoned="drive-managed"), table("cmr")) == ("drive-managed", "certain")


def test_equals_that_contradict_each_other_leave_it_open() -> None:
    found = judge_smr(replace(DISK, trim=True), table("cmr"))
    assert found.kind == "unknown"
    assert any("contradict" in sentence for sentence in found.advice)


def test_kinds_of_shingles_do_not_contradict_each_other() -> None:
    assert verdict(replace(DISK, recording="SMR"), table("host-managed")) == ("host-managed", "certain")
    assert verdict(replace(DISK, trim=True, family="X (SMR)"), table("host-managed")) == ("host-managed", "strong")


def test_a_disputed_model_stays_open_unless_the_disk_shows_something() -> None:
    assert verdict(DISK, table("unknown")) == ("unknown", "weak")
    assert verdict(replace(DISK, trim=True), table("unknown")) == ("drive-managed", "strong")


@pytest.mark.parametrize(
    "facts",
    [
        replace(DISK, model="ASMT109x- Safe", trim=True),
        replace(DISK, model="LSI MR9271-8i", trim=True, volume=True),
        replace(DISK, model="QEMU HARDDISK", trim=True, volume=True),
        replace(DISK, family="Seagate Laptop SSHD", trim=True),
        replace(DISK, model="ST500LX012-SSHD-8GB", trim=True),
        replace(DISK, medium="", trim=True),
    ],
)
def test_trim_of_a_bridge_a_volume_or_a_hybrid_proves_nothing(facts: SmrFacts) -> None:
    assert verdict(facts) == ("unknown", "weak")


def test_trim_of_a_hybrid_in_the_table_proves_nothing() -> None:
    assert verdict(replace(DISK, trim=True), table("unknown", hybrid=True)) == ("unknown", "weak")
    shipped = judge_smr(replace(DISK, model="TOSHIBA MQ02ABD100H", trim=True))
    assert shipped.kind == "unknown"


def test_an_earlier_release_of_the_same_database_does_not_count_twice() -> None:
    old_family = replace(DISK, family="Seagate BarraCuda 3.5 (SMR)")
    assert verdict(old_family, table("cmr", strength="database")) == ("cmr", "strong")


def test_advice_follows_from_what_is_missing() -> None:
    hidden = judge_smr(replace(DISK, model="ASMT109x- Safe"), NOTHING)
    assert any("smartctl -d sat" in sentence for sentence in hidden.advice)
    named = judge_smr(SmrFacts("name", model="ST4000XX000"), NOTHING)
    assert any("fswizard smr DEVICE" in sentence for sentence in named.advice)
    old = judge_smr(replace(DISK, trim_would_show=False), NOTHING)
    assert any("7.2" in sentence for sentence in old.advice)


def test_a_probes_evidence_turns_an_open_verdict() -> None:
    cliff = Evidence("write-cliff", "drive-managed", "strong", "the rate fell")
    assert with_evidence(SmrVerdict("unknown", "weak"), cliff).kind == "drive-managed"
    clean = Evidence("probe", "unknown", "weak", "nothing was seen")
    assert with_evidence(SmrVerdict("unknown", "weak"), clean).kind == "unknown"


def identify_page(**words: int) -> bytes:
    page = bytearray(572)
    page[1] = 0x89
    page[60 + 54 : 60 + 54 + 40] = b"".join(
        bytes(reversed(b"ST8000AS0002-1NA17Z".ljust(40)[i : i + 2])) for i in range(0, 40, 2)
    )
    for word, value in words.items():
        at = 60 + 2 * int(word[1:])
        page[at : at + 2] = value.to_bytes(2, "little")
    return bytes(page)


def test_identify_is_read_from_its_vital_product_data_page() -> None:
    found = parse_identify(identify_page(w217=5980, w69=0b10, w169=1))
    assert found is not None
    assert (found.model, found.rotation_rate, found.zoned, found.trim) == (
        "ST8000AS0002-1NA17Z",
        5980,
        "drive-managed",
        True,
    )


def test_pages_of_other_kinds_and_short_ones_are_no_identify() -> None:
    assert parse_identify(identify_page()[:500]) is None
    assert parse_identify(b"\0" * 572) is None


def test_zones_and_rotation_from_block_device_characteristics() -> None:
    page = bytes((0, 0xB1, 0, 60, 0x15, 0x18, 0, 2, 0b0010_0000)) + bytes(55)
    assert parse_characteristics(page) == (5400, "drive-managed")
    assert parse_characteristics(page[:8] + b"\x10" + bytes(55)) == (5400, "host-aware")
    assert parse_characteristics(b"") == (0, "")
