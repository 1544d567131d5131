"""Real outputs of smartctl, in each form that it prints, give the verdicts that the disks deserve."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.drives.smartctl_output import parse_each
from fswizard.drives.smr import SmrFacts, judge_smr

RECORDED = Path(__file__).parents[1] / "recorded" / "smartctl"
TRUTH = dict(line.split("\t") for line in (RECORDED / "truth.tsv").read_text().splitlines()[1:])
OPPOSITES = {
    "cmr": {"drive-managed", "host-aware", "host-managed"},
    "drive-managed": {"cmr", "not-a-hard-disk"},
    "not-a-hard-disk": {"cmr", "drive-managed", "host-aware", "host-managed"},
    "unlabelled": set[str](),
}


def facts_in(output: bytes) -> SmrFacts:
    return parse_each(output)[0].facts


def judged(output: bytes) -> str:
    return judge_smr(facts_in(output)).kind


def kind_of(name: str) -> str:
    return judged((RECORDED / name).read_bytes())


def test_no_disk_is_called_what_it_is_not_nor_by_the_lines_of_another() -> None:
    verdicts = {name: kind_of(name) for name in TRUTH}
    table = Counter((TRUTH[name], verdict) for name, verdict in verdicts.items())
    for name, verdict in verdicts.items():
        assert TRUTH[name] == "unlabelled" or verdict in (TRUTH[name], "unknown"), name
    assert table["drive-managed", "drive-managed"] == 29, "every shingled one with any evidence is found"
    assert table["cmr", "cmr"] == 31
    assert table["not-a-hard-disk", "not-a-hard-disk"] == 13
    for suffix in (".txt", ".json"):
        names = sorted(name for name in TRUTH if name.endswith(suffix))
        for group in (names, names[::-1]):
            together = b"\n".join((RECORDED / name).read_bytes() for name in group)
            found = [judge_smr(reading.facts).kind for reading in parse_each(together)]
            assert found == [verdicts[name] for name in group]


def test_decimal_commas_blanks_and_json_on_one_line_change_nothing() -> None:
    for name in TRUTH:
        output = (RECORDED / name).read_bytes()
        if output.startswith(b"{"):
            changed = b"[" + json.dumps(json.loads(output)).encode() + b"]"
        else:
            changed = re.sub(rb": +", b":\t", re.sub(rb"(\d)\.(\d)", rb"\1,\2", output)).replace(b"\n", b"  \r")
        assert judged(changed) == kind_of(name), name


def test_a_cut_or_damaged_output_makes_no_disk_what_it_is_not() -> None:
    chance = random.Random(22)
    for name, truth in TRUTH.items():
        output = (RECORDED / name).read_bytes()
        for length in range(0, len(output), max(1, len(output) // 20)):
            assert judged(output[:length]) in (truth, "unknown", kind_of(name)), (name, length)
        for _ in range(20):
            copy = damaged(output, chance)
            found = {judge_smr(reading.facts).kind for reading in parse_each(copy)}
            assert not found & OPPOSITES[truth], (name, copy)


def damaged(output: bytes, chance: random.Random) -> bytes:
    """Lines cut, changed or replaced by others; not those that name the model."""
    lines = output[:6000].split(b"\n")
    others = [number for number, line in enumerate(lines[:60]) if b"odel" not in line and b"Product" not in line]
    for number in chance.choices(others, k=chance.choice((1, 2, 5, 20))):
        line = lines[number]
        at = chance.randrange(len(line) + 1)
        changed = line[:at] + bytes([chance.randrange(32, 127)]) + line[at + chance.randrange(2) :]
        lines[number] = chance.choice((line[:at], line[at:], changed, lines[chance.choice(others)]))
    return b"\n".join(lines)


def test_most_models_that_outputs_were_silent_about_are_known_by_name() -> None:
    """Of 7,250 outputs 1,730 led to `unknown` once: their models with counts."""
    known = Counter[bool]()
    for line in (RECORDED.parent / "silent_models.tsv").read_text("utf-8").splitlines()[1:]:
        count, model, *_ = line.split("\t")
        known[judge_smr(SmrFacts("name", model=model)).kind != "unknown"] += int(count)
    assert known.total() == 1730 and known[True] >= 1384, "four in five"


OUTPUT = """smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)

=== START OF INFORMATION SECTION ===
Device Model:     ST4000XX000
{line}
Rotation Rate:    5400 rpm
"""


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("TRIM Command:     Available", "drive-managed"),
        ("Sector Size:      512 bytes logical/physical", "cmr"),
        ("User Capacity:    320,072,933,376 bytes [8.00 TB]", "unknown"),
        ("ATA Version is:   8", "cmr"),
        ("Zoned Device:     Host Aware Zones", "host-aware"),
        ("Zoned Device:     Device managed zones\r", "drive-managed"),
        ("\tFARM Log Page 1: Drive Information\n\tRecording Type: SMR", "drive-managed"),
        ("\tFARM Log Page 1: Drive Information\n\t\tDrive Recording Type: CMR", "cmr"),
        ("Host aware zoned block capable", "host-aware"),
        ("Device type:          host managed zoned block device", "host-managed"),
    ],
)
def test_each_line_that_smartctl_prints_about_it_counts(line: str, kind: str) -> None:
    assert judged(OUTPUT.format(line=line).encode()) == kind


BASE = {"smartctl": {}, "device": {"protocol": "ATA"}, "model_name": "ST4000XX000", "rotation_rate": 5400}


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({}, "unknown"),
        ({"trim": {"supported": True}}, "drive-managed"),
        ({"zoned_device": {"capabilities": "host_aware"}}, "host-aware"),
        ({"scsi_host_aware_zoned_block_capable": True}, "host-aware"),
        ({"device_type": {"name": "host managed zoned block device"}}, "host-managed"),
        ({"seagate_farm_log": {"page_1_drive_information": {"drive_recording_type": "SMR"}}}, "drive-managed"),
        ({"seagate_farm_log": {"page_1_drive_information": {"drive_recording_type": "UNKNOWN"}}}, "unknown"),
        ({"logical_block_size": 512, "physical_block_size": 512}, "cmr"),
        ({"logical_block_size": 512, "user_capacity": {"blocks": 15628053168, "bytes": 250059350016}}, "unknown"),
        ({"rotation_rate": None, "device": {"protocol": "NVMe"}, "nvme_number_of_namespaces": 1}, "not-a-hard-disk"),
    ],
)
def test_each_key_of_the_json_counts(more: dict[str, object], kind: str) -> None:
    assert judged(json.dumps({**BASE, **more}).encode()) == kind


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
SMR_KEYS = (
    "smartctl", "device", "model_name", "rotation_rate", "trim", "zoned_device", "seagate_farm_log", "temperature",
    "ata_device_statistics", "ata_smart_attributes", "nvme_smart_health_information_log", "endurance_used",
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(SMR_KEYS), JSON))
def test_nonsense_in_known_keys_gives_a_verdict_and_harmless_text(data: dict[str, object]) -> None:
    for given_data in (data, {**data, "rotation_rate": 0, "model_family": "Intel"}):
        facts = facts_in(json.dumps(given_data).encode())
        assert judge_smr(facts).kind
        assert facts.model.isprintable()
