"""Output of smartctl as people paste it: no disk is lost without a word, and none is called what it is not."""

from __future__ import annotations

import html
import json
import quopri
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
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
def test_each_paste_tells_of_its_disks_and_what_to_do_where_it_cannot(name: str, verdicts: str, said: str) -> None:
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


WRAPPED: dict[str, Callable[[str], str]] = {
    "quoted": prefixed("> "),
    "quoted twice": prefixed("> > "),
    "quoted by name": prefixed("Peter> "),
    "numbered": numbered,
    "with times": timed,
    "indented": prefixed("\t"),
    "tags of a forum": lambda text: "\n".join(f"[INDENT]{line}[/INDENT]" for line in text.split("\n")),
    "HTML": lambda text: f"<pre>{html.escape(text)}</pre>",
    "breaks": lambda text: text.replace("\n", "<br>\n"),
    "quoted-printable": lambda text: quopri.encodestring(prefixed("> ")(text).encode()).decode(),
    "between prompts": lambda text: f"root@nas:~# smartctl -x /dev/sdb\n{text}\nroot@nas:~# ",
    "a glued prompt": lambda text: f"root@nas:~# sudo smartctl -x /dev/sdb{text}",
    "colours": lambda text: f"\x1b[0m\x1b[?2004h{text}\x1b[01;32m$\x1b[0m",
    "found by grep": prefixed("sda.txt:"),
    "rows of a table": lambda text: "\n".join(f"| {line:<90} |" for line in text.split("\n")),
    "each line as code": lambda text: "\n".join(f"`{line}`" for line in text.split("\n")),
    "cells": lambda text: "".join(f"<tr><td>7</td><td>{html.escape(line)}</td></tr>\n" for line in text.split("\n")),
    "double spaced": lambda text: text.replace("\n", "\n\n"),
    "hard blanks": lambda text: text.replace("  ", " \xa0"),
}
SAVED: dict[str, Callable[[str], bytes]] = {
    "UTF-8": str.encode,
    "UTF-16": lambda text: text.encode("utf-16"),
    "Windows": lambda text: text.replace("\n", "\r\n").encode("cp1252", "replace"),
}


@pytest.mark.parametrize("how", WRAPPED)
@pytest.mark.parametrize("output", [TEXT, JSON], ids=["text", "JSON"])
def test_what_is_round_it_does_not_hide_it(output: str, how: str) -> None:
    for saved, encode in SAVED.items():
        readings = parse_each(encode(WRAPPED[how](output)))
        assert kinds(readings) == ["drive-managed"], (how, saved, readings)


def test_a_flattened_paste_is_read_and_two_of_them_stay_two() -> None:
    flat = " ".join(TEXT.partition("=== START OF READ")[0].split())
    assert kinds(parse_each(flat.encode())) == ["drive-managed"]
    assert kinds(parse_each(f"{flat}\n{flat}".encode())) == ["drive-managed"] * 2


def test_where_a_piece_stood_is_told_by_the_lines_of_the_paste() -> None:
    paste = f"Hello,\n\n{TEXT}\nand\n{prefixed('> ')(JSON)}\n" + JSON[: len(JSON) // 2]
    *whole, broken = parse_each(paste.encode())
    assert kinds(whole) == ["drive-managed", "drive-managed"]
    assert "can't be read beyond line" in broken.facts.problem
    assert broken.unread
    lines = paste.split("\n")
    assert lines[broken.line - 1 :][:2] == JSON.split("\n")[:2] or "json_format_version" in lines[broken.line - 1]
    assert f"begins in line {len(lines) - JSON[: len(JSON) // 2].count(chr(10))}" in broken.facts.problem


BANNER = "smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.1.0] (local build)\n"
TITLE = "=== START OF INFORMATION SECTION ===\n"
FARM = "Seagate Field Access Reliability Metrics log (FARM) (GP Log 0xa6)\n\tFARM Log Page 1: Drive Information\n"


def test_a_further_call_on_a_disk_belongs_to_it_and_one_on_another_does_not() -> None:
    first = f"# smartctl -i /dev/sda\n{BANNER}\n{TITLE}Device Model:     ST4000XX000\nSerial Number:    ZFN1\n"
    farm = f"# smartctl -l farm /dev/sda\n{BANNER}\n{FARM}\t\tSerial Number: ZFN1\n\t\tDrive Recording Type: SMR\n"
    assert kinds(parse_each((first + farm).encode())) == ["drive-managed"]
    assert kinds(parse_each((first + farm.replace("sda", "sdb")).encode()))[0] != "drive-managed"
    assert kinds(parse_each((first + farm.replace("ZFN1", "ZFN2")).encode()))[0] != "drive-managed"
    failed = f"# smartctl -i /dev/sda\n{BANNER}\n/dev/sda: Unknown USB bridge [0x152d:0x0578 (0x209)]\n"
    assert len(parse_each((failed + first).encode())) == 1, "the second way led to the disk"
    assert len(parse_each((failed.replace("sda", "sdc") + first).encode())) == 2


def test_lines_of_a_disk_whose_beginning_is_missing_count_for_no_disk_before_it() -> None:
    header = f"{TITLE}Device Model:     ST4000VN006-3CW104\nRotation Rate:    5400 rpm\n"
    stray = "TRIM Command:     Available\nZoned Device:     Device managed zones\nDevice is:        Not in database\n"
    assert kinds(parse_each((header + stray).encode())) == ["drive-managed"], "by its own word on its zones"
    for between in ("Form Fac\n", "and the other one:\n\n", "Rotation Rate:    5400 rpm\n", "\n"):
        readings = parse_each((header + between + stray).encode())
        assert kinds(readings)[0] == "cmr"
        assert readings[1].unread
    for elided in ("[...]\n", "-- snip --\n"):
        assert len(parse_each((header + elided + stray).encode())) == 1
    rest = f"=== START OF READ SMART DATA SECTION ===\n{FARM}    Recording Type: SMR\n"
    assert kinds(parse_each((header + rest).encode())) == ["drive-managed"]
    assert kinds(parse_each((header + rest.replace("SMR", "CMR") + rest).encode()))[0] == "cmr"
    assert kinds(parse_each((header + rest.partition("\n")[2].replace(FARM, "")).encode()))[0] == "cmr"
    sas = "Vendor:               SEAGATE\nProduct:              ST4000NM0023\n"
    assert kinds(parse_each((sas + "and the case:\n\nDevice type:          enclosure\n").encode()))[0] == "cmr"
    lines = prefixed("> ")('{\n "json_format_version": [\n  1\n ],\n "model_name": "HGST HUS726T4TALE6L4"\n}\n')
    assert kinds(parse_each((lines + stray).encode()))[0] == "cmr"


def test_a_disk_is_not_what_it_was_asked_as_nor_what_the_talk_round_it_says() -> None:
    asked = {"json_format_version": [1, 0], "device": {"name": "/dev/sdb", "type": "sntrealtek", "protocol": "NVMe"}}
    empty = {"nvme_pci_vendor": {"id": 0}, "nvme_ieee_oui_identifier": 0, "nvme_number_of_namespaces": 0}
    for answer in ({"model_name": "", **empty}, {"model_name": "ST8000DM004-2CX188", **empty}, {}):
        (reading,) = parse_each(json.dumps({**asked, **answer}).encode())
        assert judge_smr(reading.facts).kind in ("unknown", "drive-managed")
    talk = f"NVMe Version and START of it all, Solid State Device, SSD\n{TITLE}Device Model:     ST8000DM004-2CX188\n"
    assert kinds(parse_each(talk.encode())) == ["drive-managed"]


def test_a_name_at_the_end_of_an_output_that_may_be_cut_is_none() -> None:
    (cut,) = parse_each(f"{TITLE}Device Model:     WDC WD20SD\n".encode())
    assert (cut.facts.model, kinds([cut]), cut.unread) == ("", ["unknown"], True), "perhaps a WD20SDZW, shingled"
    assert kinds(parse_each(f"{TITLE}Device Model:     WDC WD20SDZW-11JJ8S0\n".encode())) == ["drive-managed"]
    assert kinds(parse_each(b"Device Model:     WDC WD400SD\n")) == ["cmr"]
    older = f"{TITLE}Device Model:     ST1000XX\nRotation Rate:    5400 rpm\nATA Version is:   ATA8-ACS"
    assert kinds(parse_each(older.encode())) == ["unknown"], "perhaps ATA8-ACS, ACS-3"
    assert kinds(parse_each(f"{older}\n".encode())) == ["cmr"]


HOSTILE = {
    "random": random.Random(1).randbytes(1 << 20),
    "one line": b"A" * (1 << 20),
    "deep": b'{"a":' * 200_000,
    "deep and its own": b'{"json_format_version":' * 40_000,
    "lists": b"[" * 200_000,
    "many damaged documents": b'{"json_format_version": [1, \n' * 30_000,
    "a long damaged document": b'{"json_format_version":[' + b'{"smartctl":1},' * 60_000,
    "many disks": b"Device Model: X\n" * 60_000,
    "disks in one line": b"Device type: disk " * 50_000,
    "a long name": BANNER.encode() + TITLE.encode() + b"Device Model: " + b"9" * (1 << 20),
    "tags": b"[/b]<a</pre>&amp;" * 60_000,
    "soft breaks": b"=3D\n" + b"a=\n" * 300_000,
    "commands": b"smartctl " * 100_000,
    "signs": b"Device Model: ST1\n" + b"#" * (1 << 20) + b"a\nRotation Rate: 7200 rpm\n",
    "a gap": b"Device Model: ST1\n" + b"talk\n" * 200_000 + b"Rotation Rate: 7200 rpm\n",
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
    for reading in (*parse_each(text.encode()), *parse_each(document.encode())):
        facts = reading.facts
        words = (facts.model, facts.family, reading.firmware, facts.problem, *judge_smr(facts).advice)
        assert all(word.isprintable() for word in words)


OPPOSITES = {
    "cmr": {"drive-managed", "host-aware", "host-managed"},
    "drive-managed": {"cmr", "not-a-hard-disk"},
    "not-a-hard-disk": {"cmr", "drive-managed", "host-aware", "host-managed"},
    "unlabelled": set[str](),
}
MODELS = {name: " ".join(parse_each(output)[0].facts.model.split()) for name, output in DUMPS.items()}
HEADED = re.compile(r"=== START OF INFORMATION SECTION|Device Model: |Model Number: |json_format_version\W+:")
BANNERED = re.compile(r"smartctl \d\.\d \d{4}-\d\d-\d\d r")


@dataclass(frozen=True)
class Pasted:
    """What a paste holds of a disk."""

    name: str
    begun: bool = True
    cut: bool = False

    def is_named(self, model: str) -> bool:
        mine, model = MODELS[self.name], " ".join(model.rstrip("$`").split())
        return mine.startswith(model) if self.cut else mine == model


def fuzzed(chance: random.Random) -> tuple[bytes, list[Pasted]]:
    """A paste of one to three disks, each wrapped once or twice and perhaps cut at either end."""
    disks, texts = list[Pasted](), list[str]()
    for name in chance.sample(sorted(DUMPS), chance.choice((1, 1, 2, 3))):
        text = DUMPS[name].decode("utf-8", "replace").strip().replace("/dev/sdb", "/dev/sdj") + "\n"
        at = chance.choice((chance.randrange(len(text)), chance.randrange(min(len(text), 1200))))
        cut = chance.choice(("", "", "", "end", "beginning"))
        text = text[:at] if cut == "end" else text[at:] if cut else text
        if cut == "beginning" and disks and not HEADED.search(texts[-1]):
            disks[-1] = replace(disks[-1], begun=False)  # a banner alone, which now stands before another header
        disks.append(Pasted(name, bool(HEADED.search(text) or BANNERED.search(text)), cut != ""))
        texts.append(text)
    ways = chance.sample(sorted(WRAPPED), chance.choice((1, 1, 2)))
    if {"cells", "each line as code"} & {*ways}:
        ways = ways[:1]  # nobody quotes what a program has made of an output
    for number in range(len(texts)):
        for way in ways:
            texts[number] = WRAPPED[way](texts[number].replace("/dev/sdb", f"/dev/sdz{'xyz'[number]}"))
    talk = chance.choice(("\n", "\n\n", "\nroot@nas:~# \n", "\n---\n\nand the other one:\n\n"))
    return SAVED[chance.choice(sorted(SAVED))](talk.join((*texts, ""))), disks


def tried(seeds: range) -> None:
    """No disk is called what it is not, and nearly every one that was begun is named or missed in words."""
    silent = 0
    for seed in seeds:
        paste, disks = fuzzed(random.Random(seed))
        readings = parse_each(paste)
        for reading, kind in zip(readings, kinds(readings), strict=True):
            mine = [disk for disk in disks if disk.is_named(reading.facts.model)]
            right = [kind not in OPPOSITES[TRUTH[disk.name]] for disk in mine]
            assert any(right) or kind == "unknown", (seed, disks, kind)
        silent += len(readings) < sum(disk.begun for disk in disks)
        if not any(disk.cut for disk in disks):
            named = [disk.is_named(reading.facts.model) for disk, reading in zip(disks, readings, strict=True)]
            assert all(named), (seed, disks, readings)
    assert silent <= len(seeds) / 300


def test_no_wrapping_loses_or_slanders_a_disk() -> None:
    tried(range(300))


@pytest.mark.slow
@pytest.mark.parametrize("first", [10_000, 20_000])
def test_no_wrapping_loses_or_slanders_a_disk_in_ten_thousand_pastes(first: int) -> None:
    tried(range(first, first + 10_000))
