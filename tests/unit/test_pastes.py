"""Output of smartctl as people paste it: no disk is lost without a word, and none is called what it is not."""

from __future__ import annotations

import html
import itertools
import json
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


def wrapped(form: str, text: str) -> str:
    """The text with each line in a form, such as `> {line}`."""
    lines = html.escape(text).split("\n") if "<td>" in form else text.split("\n")
    return "\n".join(form.format(line=line, number=number) for number, line in enumerate(lines, 10))


HIDING = {
    "numbered": "{number:>6}\t{line}",
    "with times": "Nov 27 13:40:07 nas disk[812]: {line}",
    "rows of a table": "| {line:<90} |",
    "each line as code": "`{line}`",
    "cells": "<tr><td>7</td><td>{line}</td></tr>",
}
"""What hides JSON, which is said then."""
WRAPPED = {
    **HIDING,
    "quoted twice": "> > {line}",
    "breaks": "{line}<br>",
    "colours": "\x1b[0m\x1b[?2004h{line}\x1b[K",
    "double spaced": "{line}\n",
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
        if name.endswith(".json") and how in HIDING:
            continue
        paste = next(saved)(wrapped(WRAPPED[how], output.decode("utf-8", "replace")))
        assert kinds(parse_each(paste)) == kinds(parse_each(output)), name


@pytest.mark.parametrize("how", HIDING)
def test_json_that_is_hidden_is_said_to_be_damaged(how: str) -> None:
    (reading,) = parse_each(wrapped(HIDING[how], JSON).encode())
    assert reading.unread
    assert reading.facts.problem


FLAT = " ".join(TEXT.partition("=== START OF READ")[0].split())
BANNER = "smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.1.0] (local build)\n"
TITLE = "=== START OF INFORMATION SECTION ===\n"
FARM = "Seagate Field Access Reliability Metrics log (FARM) (GP Log 0xa6)\n\tFARM Log Page 1: Drive Information\n"
FIRST = f"# smartctl -i /dev/sda\n{BANNER}\n{TITLE}Device Model:     ST4000XX000\nSerial Number:    ZFN1\n"
FAILED = f"# smartctl -i /dev/sda\n{BANNER}\n/dev/sda: Unknown USB bridge [0x152d:0x0578 (0x209)]\n"
HEADER = f"{TITLE}Device Model:     ST4000VN006-3CW104\nRotation Rate:    5400 rpm\n"
STRAY = "TRIM Command:     Available\nZoned Device:     Device managed zones\nDevice is:        Not in database\n"
ASKED_AS_NVME = {"json_format_version": [1, 0], "device": {"protocol": "NVMe"}, "nvme_number_of_namespaces": 0}
LOGS = f"=== START OF READ SMART DATA SECTION ===\n{FARM}    Recording Type: SMR\n"


@pytest.mark.parametrize(
    ("paste", "verdicts"),
    [
        (f"{FLAT}\n{FLAT}", ["drive-managed", "drive-managed"]),
        (FAILED + FIRST, ["unknown"]),
        (FAILED.replace("sda", "sdb") + FIRST, ["unknown", "unknown"]),
        (HEADER + STRAY, ["drive-managed"]),
        (HEADER + LOGS, ["drive-managed"]),
        (HEADER + LOGS.replace("SMR", "CMR") + LOGS, ["cmr", "drive-managed"]),
        (JSON.replace("ST8000AS0002-1NA17Z", "HGST HUS726T4TALE6L4") + STRAY, ["cmr", "drive-managed"]),
        ("Device Model:     WDC WD400SD\n", ["cmr"]),
        (f"{HEADER.replace('VN006-3CW104', 'XX')}ATA Version is:   ATA8-ACS", ["unknown"]),
        (json.dumps(ASKED_AS_NVME), ["unknown"]),
        (json.dumps({**ASKED_AS_NVME, "model_name": "ST8000DM004-2CX188"}), ["drive-managed"]),
        (f"Solid State Device, NVMe Version\n{HEADER.replace('ST4000VN006', 'ST8000DM004')}", ["drive-managed"]),
    ],
)
def test_lines_count_for_the_disk_that_they_belong_to(paste: str, verdicts: list[str]) -> None:
    readings = parse_each(paste.encode())
    assert kinds(readings) == verdicts
    assert all(reading.facts.problem or reading.facts.model for reading in readings)


LETTERS = "\u202e\x1b[31m\x07[/b]`"
HOSTILE = {
    "letters": f"{TITLE}Model Family: {LETTERS}\nDevice Model: ST{LETTERS}1\n".encode(),
    "letters in JSON": json.dumps({"smartctl": {"messages": [{"string": LETTERS}]}}).encode(),
    "random": random.Random(1).randbytes(1 << 20),
    "a long number": b'{"smartctl": ' + b"9" * 5000 + b"}",
    "deep": b'{"a":' * 200_000,
    "many damaged documents": b'{"json_format_version": [1, \n' * 30_000,
    "many disks": b"Device Model: X\n" * 60_000,
    "a long name": BANNER.encode() + TITLE.encode() + b"Device Model: " + b"9" * (1 << 20),
    "tags": b"[/b]<a</pre>&amp;" * 60_000,
    "soft breaks": b"=3D\n" + b"a=\n" * 300_000,
    "quotation": b">" * (1 << 20),
    "signs": b"Device Model: ST1\n" + b"#" * (1 << 20) + b"a\nRotation Rate: 7200 rpm\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_ends_soon_in_harmless_words(name: str) -> None:
    begun = time.process_time()
    readings = parse_each(HOSTILE[name])
    assert set(kinds(readings)) == {"unknown"}
    facts = readings[-1].facts
    assert facts.problem or facts.model
    words = (facts.model, facts.family, facts.problem, *judge_smr(facts).advice)
    assert all(word.isprintable() for word in words)
    assert time.process_time() - begun < 10
