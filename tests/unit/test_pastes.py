"""Output of smartctl as people paste it: no disk is lost without a word, and none is called what it is not."""

from __future__ import annotations

import html
import itertools
import json
import quopri
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fswizard.drives.smartctl_output import Reading, parse_each
from fswizard.drives.smr import judge_smr

RECORDED = Path(__file__).parents[1] / "recorded"
PASTES = [line.split("\t") for line in (RECORDED / "pastes" / "kinds.tsv").read_text("utf-8").splitlines()[1:]]
TRUTH = dict(line.split("\t") for line in (RECORDED / "smartctl" / "truth.tsv").read_text().splitlines()[1:])
DUMPS = {name: (RECORDED / "smartctl" / name).read_bytes() for name in sorted(TRUTH)}


def kinds(readings: list[Reading]) -> list[str]:
    return [judge_smr(reading.facts).kind for reading in readings]


@pytest.mark.parametrize(("name", "verdicts", "said"), PASTES)
def test_recorded_pastes(name: str, verdicts: str, said: str) -> None:
    readings = parse_each((RECORDED / "pastes" / name).read_bytes())
    assert kinds(readings) == verdicts.split()
    assert said in str([(reading.facts.problem, *judge_smr(reading.facts).advice) for reading in readings])
    for reading in readings:
        assert reading.facts.model or reading.facts.problem, "nothing is left without a name or a reason"


TEXT = DUMPS["WDC_WD40EFAX-68JH4N1.txt"].decode()
JSON = json.dumps(
    {
        "json_format_version": [1, 0],
        "smartctl": {"version": [7, 4], "argv": ["smartctl", "-aj", "/dev/sdb"]},
        "device": {"name": "/dev/sdb", "protocol": "ATA"},
        "model_name": "ST8000AS0002-1NA17Z",
        "rotation_rate": 5980,
    },
    indent=2,
)


def numbered(text: str) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(text.split("\n"), 1))


def timed(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(f"Nov 27 13:40:{number % 60:02} nas disk[812]: {line}" for number, line in enumerate(lines))


def prefixed(prefix: str) -> Callable[[str], str]:
    return lambda text: "\n".join((prefix + line).rstrip() for line in text.split("\n"))


LINES: dict[str, Callable[[str], str]] = {
    "numbered": numbered,
    "with times": timed,
    "rows of a table": lambda text: "\n".join(f"| {line:<90} |" for line in text.split("\n")),
    "each line as code": lambda text: "\n".join(f"`{line}`" for line in text.split("\n")),
    "cells": lambda text: "".join(f"<tr><td>7</td><td>{html.escape(line)}</td></tr>\n" for line in text.split("\n")),
}
"""What hides JSON, which is said then."""
WRAPPED: dict[str, Callable[[str], str]] = {
    **LINES,
    "quoted twice": prefixed("> > "),
    "tags of a forum": lambda text: "\n".join(f"[INDENT]{line}[/INDENT]" for line in text.split("\n")),
    "HTML": lambda text: f"<pre>{html.escape(text)}</pre>",
    "breaks": lambda text: text.replace("\n", "<br>\n"),
    "quoted-printable": lambda text: quopri.encodestring(prefixed("> ")(text).encode()).decode(),
    "between prompts": lambda text: f"root@nas:~# smartctl -x /dev/sdb\n{text}\nroot@nas:~# ",
    "a glued prompt": lambda text: f"root@nas:~# sudo smartctl -x /dev/sdb{text}",
    "colours": lambda text: f"\x1b[0m\x1b[?2004h{text}\x1b[01;32m$\x1b[0m",
    "double spaced": lambda text: text.replace("\n", "\n\n"),
    "hard blanks": lambda text: text.replace("  ", " \xa0"),
}
SAVED: dict[str, Callable[[str], bytes]] = {
    "UTF-8": str.encode,
    "UTF-16": lambda text: text.encode("utf-16"),
    "Windows": lambda text: text.replace("\n", "\r\n").encode("cp1252", "replace"),
}


@pytest.mark.parametrize("how", WRAPPED)
def test_no_wrapping_changes_a_verdict(how: str) -> None:
    saved = itertools.cycle(SAVED.values())
    for name, output in DUMPS.items():
        if name.endswith(".json") and how in LINES:
            continue
        wrapped = next(saved)(WRAPPED[how](output.decode("utf-8", "replace")))
        assert kinds(parse_each(wrapped)) == kinds(parse_each(output)), name


@pytest.mark.parametrize("how", LINES)
def test_json_that_is_hidden_is_said_to_be_damaged(how: str) -> None:
    (reading,) = parse_each(WRAPPED[how](JSON).encode())
    assert reading.unread
    assert "can't be read beyond line" in reading.facts.problem


def test_two_flattened_outputs_stay_two_and_pieces_have_their_lines() -> None:
    flat = " ".join(TEXT.partition("=== START OF READ")[0].split())
    assert kinds(parse_each(f"{flat}\n{flat}".encode())) == ["drive-managed"] * 2
    cut = JSON[: len(JSON) // 2]
    paste = f"Hello,\n\n{TEXT}\nand\n{prefixed('> ')(JSON)}\n{cut}"
    *whole, broken = parse_each(paste.encode())
    assert kinds(whole) == ["drive-managed", "drive-managed"]
    assert broken.unread
    assert broken.line == paste.count("\n") - cut.count("\n") + 1
    assert f"begins in line {broken.line}" in broken.facts.problem


BANNER = "smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.1.0] (local build)\n"
TITLE = "=== START OF INFORMATION SECTION ===\n"
FARM = "Seagate Field Access Reliability Metrics log (FARM) (GP Log 0xa6)\n\tFARM Log Page 1: Drive Information\n"
FIRST = f"# smartctl -i /dev/sda\n{BANNER}\n{TITLE}Device Model:     ST4000XX000\nSerial Number:    ZFN1\n"
FAILED = f"# smartctl -i /dev/sda\n{BANNER}\n/dev/sda: Unknown USB bridge [0x152d:0x0578 (0x209)]\n"
HEADER = f"{TITLE}Device Model:     ST4000VN006-3CW104\nRotation Rate:    5400 rpm\n"
STRAY = "TRIM Command:     Available\nZoned Device:     Device managed zones\nDevice is:        Not in database\n"
LOGS = f"=== START OF READ SMART DATA SECTION ===\n{FARM}    Recording Type: SMR\n"


@pytest.mark.parametrize(
    ("paste", "verdicts"),
    [
        (FAILED + FIRST, ["unknown"]),
        (FAILED.replace("sda", "sdb") + FIRST, ["unknown", "unknown"]),
        (HEADER + STRAY, ["drive-managed"]),
        (HEADER + LOGS, ["drive-managed"]),
        (HEADER + LOGS.replace("SMR", "CMR") + LOGS, ["cmr", "drive-managed"]),
        (JSON.replace("ST8000AS0002-1NA17Z", "HGST HUS726T4TALE6L4") + STRAY, ["cmr", "drive-managed"]),
        ("Device Model:     WDC WD400SD\n", ["cmr"]),
        (f"{HEADER.replace('VN006-3CW104', 'XX')}ATA Version is:   ATA8-ACS", ["unknown"]),
        (f"Solid State Device, NVMe Version\n{HEADER.replace('ST4000VN006', 'ST8000DM004')}", ["drive-managed"]),
    ],
)
def test_lines_count_for_the_disk_that_they_belong_to(paste: str, verdicts: list[str]) -> None:
    readings = parse_each(paste.encode())
    assert kinds(readings) == verdicts
    assert all(reading.facts.problem or reading.facts.model for reading in readings)


@pytest.mark.parametrize("model", ["", "ST8000DM004-2CX188"])
def test_a_disk_is_not_nvme_because_it_was_asked_as_such(model: str) -> None:
    asked = {"json_format_version": [1, 0], "device": {"name": "/dev/sdb", "type": "sntrealtek", "protocol": "NVMe"}}
    empty = {"nvme_pci_vendor": {"id": 0}, "nvme_ieee_oui_identifier": 0, "nvme_number_of_namespaces": 0}
    (reading,) = parse_each(json.dumps({**asked, **empty, "model_name": model}).encode())
    assert judge_smr(reading.facts).kind == ("drive-managed" if model else "unknown")


HOSTILE = {
    "random": random.Random(1).randbytes(1 << 20),
    "a long number": b'{"smartctl": ' + b"9" * 5000 + b"}",
    "deep": b'{"a":' * 200_000,
    "deep and its own": b'{"json_format_version":' * 40_000,
    "many damaged documents": b'{"json_format_version": [1, \n' * 30_000,
    "a long damaged document": b'{"json_format_version":[' + b'{"smartctl":1},' * 60_000,
    "many disks": b"Device Model: X\n" * 60_000,
    "a long name": BANNER.encode() + TITLE.encode() + b"Device Model: " + b"9" * (1 << 20),
    "tags": b"[/b]<a</pre>&amp;" * 60_000,
    "soft breaks": b"=3D\n" + b"a=\n" * 300_000,
    "commands": b"smartctl " * 100_000,
    "quotation": b">" * (1 << 20),
    "signs": b"Device Model: ST1\n" + b"#" * (1 << 20) + b"a\nRotation Rate: 7200 rpm\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_ends_soon_in_words(name: str) -> None:
    begun = time.process_time()
    readings = parse_each(HOSTILE[name])
    assert set(kinds(readings)) == {"unknown"}
    assert readings[-1].facts.problem or readings[-1].facts.model
    assert time.process_time() - begun < 10


def test_text_from_outside_is_harmless() -> None:
    letters = "\u202e\x1b[31m\x07[/b]`"
    text = f"{TITLE}Model Family: {letters}\nDevice Model: ST{letters}1\nFirmware Version: {letters}\n"
    document = json.dumps({"smartctl": {"messages": [{"string": letters}]}, "device": {"name": letters}})
    for output in (text, document):
        (reading,) = parse_each(output.encode())
        facts = reading.facts
        words = (facts.model, facts.family, facts.problem, *judge_smr(facts).advice)
        assert all(word.isprintable() for word in words)
