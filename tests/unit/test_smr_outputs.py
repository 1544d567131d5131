"""Real outputs of smartctl give the verdicts that the disks deserve."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.drives.smartctl_output import parse, parse_each, parse_json, parse_text
from fswizard.drives.smartctl_wear import Wear
from fswizard.drives.smr import judge_smr

RECORDED = Path(__file__).parents[1] / "recorded" / "smartctl"
TRUTH = dict(line.split("\t") for line in (RECORDED / "truth.tsv").read_text().splitlines()[1:])


def kind_of(name: str) -> str:
    return judge_smr(parse((RECORDED / name).read_bytes()).facts).kind


def test_no_disk_is_called_what_it_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = {name: kind_of(name) for name in TRUTH}
    table = Counter((TRUTH[name], verdict) for name, verdict in verdicts.items())
    with capsys.disabled():
        print("\n\n  what it is        verdict           disks")
        for (truth, verdict), count in sorted(table.items()):
            print(f"  {truth:<17} {verdict:<17} {count:>5}")
    for name, verdict in verdicts.items():
        if TRUTH[name] != "unlabelled":
            assert verdict in (TRUTH[name], "unknown"), name
    assert table["drive-managed", "drive-managed"] == 29, "every shingled one with any evidence is found"
    assert table["cmr", "cmr"] == 31
    assert table["not-a-hard-disk", "not-a-hard-disk"] == 13


def saved_by_a_windows_shell(output: bytes) -> bytes:
    return b"\xff\xfe" + output.decode("utf-8", "replace").encode("utf-16-le")


def without_its_first_lines(output: bytes) -> bytes:
    return output[output.find(b"Model") - 20 :] if output[:1] != b"{" else output


ALTERATIONS: dict[str, Callable[[bytes], bytes]] = {
    "line ends of DOS": lambda output: output.replace(b"\n", b"\r\n"),
    "line ends of a Mac": lambda output: output.replace(b"\n", b"\r"),
    "a byte order mark": lambda output: b"\xef\xbb\xbf" + output,
    "UTF-16": saved_by_a_windows_shell,
    "indented": lambda output: b"\n".join(b"    " + line for line in output.split(b"\n")),
    "blanks at the ends of lines": lambda output: output.replace(b"\n", b"  \n"),
    "bytes of no character": lambda output: output + b"\n\xff\xfe\xe9",
    "what was typed before it": lambda output: (
        b"root@nas:~# smartctl -x /dev/sda\n" + output if text(output) else output
    ),
    "quoted": lambda output: b"\n".join(b"> " + line for line in output.split(b"\n")) if text(output) else output,
    "in a forum's tags": lambda output: b"[code]" + output + b"[/code]" if text(output) else output,
    "decimal commas": lambda output: re.sub(rb"(\d)\.(\d)", rb"\1,\2", output) if text(output) else output,
    "tabulators": lambda output: re.sub(rb": +", b":\t", output) if text(output) else output,
    "the head alone": lambda output: output.partition(b"=== START OF READ SMART")[0] if text(output) else output,
    "without its first lines": without_its_first_lines,
    "JSON on one line": lambda output: output if text(output) else json.dumps(json.loads(output)).encode(),
    "JSON in a list": lambda output: output if text(output) else b"[" + output + b"]",
}


def text(output: bytes) -> bool:
    return output[:1] != b"{"


@pytest.mark.parametrize("how", ALTERATIONS)
def test_however_an_output_was_saved_it_says_the_same(how: str) -> None:
    for name in TRUTH:
        altered = parse(ALTERATIONS[how]((RECORDED / name).read_bytes())).facts
        assert judge_smr(altered).kind == kind_of(name), name


def test_a_cut_output_makes_no_disk_what_it_is_not() -> None:
    for name, truth in TRUTH.items():
        output = (RECORDED / name).read_bytes()
        for length in range(0, len(output), max(1, len(output) // 20)):
            verdict = judge_smr(parse(output[:length]).facts).kind
            assert verdict in (truth, "unknown", kind_of(name)), (name, length)


def test_of_several_outputs_in_one_file_each_is_judged_by_its_own_lines() -> None:
    for names in (sorted(TRUTH), sorted(TRUTH, reverse=True)):
        texts = [name for name in names if name.endswith(".txt")]
        documents = [name for name in names if name.endswith(".json")]
        for group in (texts, documents):
            together = b"\n".join((RECORDED / name).read_bytes() for name in group)
            found = [judge_smr(reading.facts).kind for reading in parse_each(together)]
            assert found == [kind_of(name) for name in group]


HEADER = "smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\n=== START OF INFORMATION SECTION ===\n"
OLD_HEADER = (
    "smartctl 5.41 2011-06-09 r3365 [x86_64-linux-3.2.0] (local build)\n\n=== START OF INFORMATION SECTION ===\n"
)


ATA = "Device Model:     ST4000XX000\nRotation Rate:    5400 rpm\n"
SCSI = "Vendor:               SEAGATE\nProduct:              ST4000XX\n"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (ATA + "TRIM Command:     Available\n", "drive-managed"),
        (ATA + "TRIM Command:     Unavailable\n", "unknown"),
        (ATA + "Zoned Device:     Host Aware Zones\n", "host-aware"),
        ((ATA + "Zoned Device:     Device managed zones\n").replace("\n", "\r\n"), "drive-managed"),
        (ATA + "\n\tRecording Type: SMR\n", "drive-managed"),
        (ATA + "\n\tDrive Recording Type: CMR\n", "cmr"),
        (ATA + " 169      0          1   Trim bit in DATA SET MANAGEMENT command supported\n", "drive-managed"),
        (ATA + "  69    1:0         0x2   Zoned Capabilities [OBS-ACS-5]\n", "drive-managed"),
        (ATA.replace("ST4000XX000", "ASMT109x- Safe") + "TRIM Command:     Available\n", "unknown"),
        (ATA.replace("5400 rpm", "Solid State Device") + "TRIM Command:     Available\n", "not-a-hard-disk"),
        (SCSI + "Host aware zoned block capable\n", "host-aware"),
        (SCSI + "Device managed zoned block capable\n", "drive-managed"),
        (SCSI + "Device type:          host managed zoned block device\n", "host-managed"),
    ],
)
def test_each_line_that_smartctl_prints_about_it_counts(body: str, kind: str) -> None:
    assert judge_smr(parse_text(HEADER + body)).kind == kind


def test_an_old_smartctl_is_known_to_be_silent() -> None:
    facts = parse_text(OLD_HEADER + "Device Model:     ST4000XX000\nRotation Rate:    5900 rpm\n")
    assert not facts.trim_would_show
    assert any("7.2" in sentence for sentence in judge_smr(facts).advice)


def test_a_scsi_disk_of_smartctl_5_has_its_name() -> None:
    facts = parse_text("smartctl 5.38\nDevice: SEAGATE  ST373307LC       Version: 0006\n")
    assert facts.model == "SEAGATE  ST373307LC"


def test_a_sleeping_disk_and_an_unknown_bridge_say_so() -> None:
    asleep = parse_text("smartctl 7.3 2022\n\nDevice is in STANDBY mode, exit(2)\n")
    assert asleep.asleep
    bridge = parse_text("smartctl 7.3 2022\n\n/dev/sdb: Unknown USB bridge [0x152d:0x0578 (0x209)]\nPlease specify\n")
    assert bridge.bridge == "Unknown USB bridge [0x152d:0x0578 (0x209)]"


BASE = {
    "smartctl": {"version": [7, 3]},
    "device": {"protocol": "ATA"},
    "model_name": "ST4000XX000",
    "rotation_rate": 5400,
}


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({}, "unknown"),
        ({"trim": {"supported": True}}, "drive-managed"),
        ({"trim": {"supported": False}}, "unknown"),
        ({"zoned_device": {"capabilities": "host_aware"}}, "host-aware"),
        ({"zoned_device": {"capabilities": "device_managed"}}, "drive-managed"),
        ({"scsi_host_aware_zoned_block_capable": True}, "host-aware"),
        ({"scsi_device_managed_zoned_block_capable": True}, "drive-managed"),
        ({"device_type": {"name": "host managed zoned block device"}}, "host-managed"),
        ({"seagate_farm_log": {"page_1_drive_information": {"drive_recording_type": "SMR"}}}, "drive-managed"),
        ({"seagate_farm_log": {"page_1_drive_information": {"drive_recording_type": "CMR"}}}, "cmr"),
        ({"seagate_farm_log": {"page_1_drive_information": {"drive_recording_type": "UNKNOWN"}}}, "unknown"),
        ({"model_family": "Seagate Archive HDD (SMR)"}, "drive-managed"),
        ({"ata_version": {"string": "ATA/ATAPI-6 T13/1410D revision 0"}}, "cmr"),
        ({"rotation_rate": 0}, "not-a-hard-disk"),
        ({"device": {"protocol": "NVMe"}}, "not-a-hard-disk"),
    ],
)
def test_each_key_of_the_json_counts(more: dict[str, object], kind: str) -> None:
    assert judge_smr(parse_json({**BASE, **more}).facts).kind == kind


@pytest.mark.parametrize(
    ("names", "model"),
    [
        ({"scsi_model_name": "SEAGATE ST4000"}, "SEAGATE ST4000"),
        ({"scsi_vendor": "SEAGATE", "scsi_product": "ST4000"}, "SEAGATE ST4000"),
        ({"vendor": "SEAGATE", "product": "ST4000"}, "SEAGATE ST4000"),
    ],
)
def test_the_names_of_scsi_disks_in_every_version(names: dict[str, str], model: str) -> None:
    assert parse_json({"smartctl": {"version": [7, 0]}, **names}).facts.model == model


def test_condition_is_read_too() -> None:
    reading = parse_json(
        {**BASE, "smart_status": {"passed": False}, "temperature": {"current": 41}, "power_on_time": {"hours": 9}}
    )
    assert (reading.health, reading.temperature_c, reading.power_on_hours, reading.rpm) == ("failing", 41, 9, 5400)


def test_the_wear_of_an_nvme_disk_is_read_in_its_units() -> None:
    """Figures of a real INTEL SSDPE2KE020T7."""
    log = {"data_units_written": 577364942, "percentage_used": 3}
    reading = parse_json({"smartctl": {"version": [7, 3]}, "nvme_smart_health_information_log": log})
    assert reading.wear == Wear(life_used_percent=3, written_bytes=295_610_850_304_000)
    assert parse_json(BASE).wear == Wear()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
KEYS = ["smartctl", "device", "model_name", "rotation_rate", "trim", "zoned_device", "seagate_farm_log", "temperature"]


@given(st.dictionaries(st.sampled_from(KEYS), JSON))
def test_nonsense_in_known_keys_gives_a_verdict_and_harmless_text(data: dict[str, object]) -> None:
    reading = parse(json.dumps(data).encode())
    assert judge_smr(reading.facts).kind
    assert reading.facts.model.isprintable()


@given(st.binary(max_size=2000))
def test_any_bytes_give_a_verdict_and_harmless_text(output: bytes) -> None:
    facts = parse(b"smartctl 7.3\nDevice Model: ST" + output).facts
    for piece in judge_smr(facts).evidence:
        assert piece.text.isprintable()
