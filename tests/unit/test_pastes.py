"""Output of smartctl as people paste it: no disk is lost without a word, and none is called what it is not."""

from __future__ import annotations

import html
import json
import quopri
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from email.message import EmailMessage
from pathlib import Path

import pytest

from fswizard.drives.pastes import pieces
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
    words = [(reading.facts.problem, *judge_smr(reading.facts).advice) for reading in readings]
    assert said in str(words)
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


def mailed(text: str) -> str:
    message = EmailMessage()
    message["Subject"] = "a disk"
    message.set_content(text, cte="base64")
    return message.as_string()


def prefixed(prefix: str) -> Callable[[str], str]:
    return lambda text: "\n".join((prefix + line).rstrip() for line in text.split("\n"))


WRAPPED: dict[str, Callable[[str], str]] = {
    "quoted": prefixed("> "),
    "quoted twice": prefixed("> > "),
    "quoted by name": prefixed("Peter> "),
    "as a comment": prefixed("# "),
    "in a table": prefixed("| "),
    "numbered": numbered,
    "with times": timed,
    "indented": prefixed("\t"),
    "tags of a forum": lambda text: "\n".join(f"[INDENT]{line}[/INDENT]" for line in text.split("\n")),
    "HTML": lambda text: f"<pre>{html.escape(text)}</pre>",
    "breaks": lambda text: text.replace("\n", "<br>\n"),
    "quoted-printable": lambda text: quopri.encodestring(text.encode()).decode(),
    "quoted, then quoted-printable": lambda text: quopri.encodestring(prefixed("> ")(text).encode()).decode(),
    "a mail in base64": mailed,
    "fenced": lambda text: f"Here it is:\n```\n{text}\n```\nWhat now?",
    "between prompts": lambda text: f"root@nas:~# smartctl -x /dev/sdb\n{text}\nroot@nas:~# ",
    "a glued prompt": lambda text: f"root@nas:~# sudo smartctl -x /dev/sdb{text}",
    "colours": lambda text: f"\x1b[0m\x1b[?2004h{text}\x1b[01;32m$\x1b[0m",
    "lines of a pastebin": lambda text: "\n".join(f"{at:>3}. {line}" for at, line in enumerate(text.split("\n"), 1)),
    "found by grep": prefixed("sda.txt:"),
    "of a container": prefixed("scrutiny_1  | "),
    "said in a chat": prefixed("<@peter> "),
    "rows of a table": lambda text: "\n".join(f"| {line:<90} |" for line in text.split("\n")),
    "each line as code": lambda text: "\n".join(f"`{line}`" for line in text.split("\n")),
    "cells": lambda text: "".join(f"<tr><td>7</td><td>{html.escape(line)}</td></tr>\n" for line in text.split("\n")),
    "lines of a log in JSON": lambda text: "\n".join(json.dumps({"log": f"{line}\n"}) for line in text.split("\n")),
    "line ends written out": lambda text: text.replace("\n", "\\n"),
    "double spaced": lambda text: text.replace("\n", "\n\n"),
    "pages": lambda text: text.replace("\n", "\n\f"),
    "hard blanks": lambda text: text.replace("  ", " \xa0"),
}
ALONE = {"cells", "each line as code", "lines of a log in JSON", "line ends written out"}
"""What programs make of an output, which nobody quotes as it is."""
SAVED: dict[str, Callable[[str], bytes]] = {
    "UTF-8": str.encode,
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 without a mark": lambda text: text.encode("utf-16-le"),
    "UTF-16, big": lambda text: text.encode("utf-16-be"),
    "Windows": lambda text: text.replace("\n", "\r\n").encode("cp1252", "replace"),
    "DOS": lambda text: text.replace("\n", "\r\n").encode("cp850", "replace"),
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
    *whole, broken = pieces(paste.encode())
    assert "can't be read beyond line" in broken.problem
    lines = paste.split("\n")
    assert lines[broken.line - 1] == "{"
    assert sum(piece.document is not None for piece in whole) == 1


def test_a_further_call_on_a_disk_belongs_to_it_and_one_on_another_does_not() -> None:
    banner = "smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.1.0] (local build)\n"
    first = f"# smartctl -i /dev/sda\n{banner}\n=== START OF INFORMATION SECTION ===\nDevice Model:     ST4000XX000\n"
    farm = f"# smartctl -l farm /dev/sda\n{banner}\n\tRecording Type: SMR\n"
    assert kinds(parse_each((first + farm).encode())) == ["drive-managed"]
    other = farm.replace("sda", "sdb")
    assert kinds(parse_each((first + other).encode())) != ["drive-managed"]
    failed = f"# smartctl -i /dev/sda\n{banner}\n/dev/sda: Unknown USB bridge [0x152d:0x0578 (0x209)]\n"
    assert len(parse_each((failed + first).encode())) == 1, "the second way led to the disk"
    assert len(parse_each((failed.replace("sda", "sdc") + first).encode())) == 2


def test_lines_of_a_disk_whose_beginning_is_missing_count_for_no_disk_before_it() -> None:
    header = "=== START OF INFORMATION SECTION ===\nDevice Model:     ST4000VN006-3CW104\nRotation Rate:    5400 rpm\n"
    stray = "TRIM Command:     Available\nZoned Device:     Device managed zones\nDevice is:        Not in database\n"
    assert kinds(parse_each((header + stray).encode())) == ["drive-managed"], "by its own word on its zones"
    for between in ("Form Fac\n", "and the other one:\n\n", "Rotation Rate:    5400 rpm\n"):
        readings = parse_each((header + between + stray).encode())
        assert kinds(readings)[0] == "cmr"
        assert "is missing" in readings[1].facts.problem
    for elided in ("[...]\n", "\n\n", "-- snip --\n"):
        assert len(parse_each((header + elided + stray).encode())) == 1
    rest = "=== START OF READ SMART DATA SECTION ===\n    Recording Type: SMR\n"
    assert kinds(parse_each((header + rest).encode())) == ["drive-managed"]
    assert kinds(parse_each((header + rest.replace("SMR", "CMR") + rest).encode()))[0] == "cmr"


def test_a_name_at_the_end_of_an_output_that_may_be_cut_is_none() -> None:
    title = "=== START OF INFORMATION SECTION ===\n"
    (cut,) = parse_each(f"{title}Device Model:     WDC WD20SD\n".encode())
    assert (cut.facts.model, kinds([cut])) == ("", ["unknown"]), "perhaps a WD20SDZW, which is shingled"
    assert "cut off" in cut.facts.problem
    assert kinds(parse_each(f"{title}Device Model:     WDC WD20SDZW-11JJ8S0\n".encode())) == ["drive-managed"]
    assert kinds(parse_each(b"Device Model:     WDC WD400SD\n")) == ["cmr"]


OPPOSITES = {
    "cmr": {"drive-managed", "host-aware", "host-managed"},
    "drive-managed": {"cmr", "not-a-hard-disk"},
    "not-a-hard-disk": {"cmr", "drive-managed", "host-aware", "host-managed"},
    "unlabelled": set[str](),
}


MODELS = {name: parse_each(output)[0].facts.model for name, output in DUMPS.items()}
HEADED = re.compile(r"=== START OF INFORMATION SECTION|Device Model: |Model Number: |\"json_format_version\":")
BANNER = re.compile(r"smartctl \d\.\d \d{4}-\d\d-\d\d r")


@dataclass(frozen=True)
class Pasted:
    """What a paste holds of a disk."""

    name: str
    begun: bool = True
    cut: bool = False

    def is_named(self, model: str) -> bool:
        mine = MODELS[self.name]
        return self.begun and (mine.startswith(model.rstrip("$`")) if self.cut else mine == model)


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
        disks.append(Pasted(name, bool(HEADED.search(text) or BANNER.search(text)), cut != ""))
        texts.append(text)
    ways = sorted(chance.sample(sorted(WRAPPED), chance.choice((1, 1, 2))), key="a mail in base64".__eq__)
    wraps = [WRAPPED[way] for way in ways[: 1 if ALONE & {*ways} else 2]]
    talk = chance.choice(("\n", "\n\n", "\nroot@nas:~# \n", "\n---\n\nand the other one:\n\n"))
    saved = [SAVED[name] for name in chance.choices(sorted(SAVED), k=len(texts))]
    if chance.random() < 0.5:
        return saved[0](wrapped(talk.join(texts), wraps)), disks
    mixed = chance.random() < 0.2
    encodings = saved if mixed else saved[:1] * len(texts)
    each = [wrapped(text, wraps, f"/dev/sdz{'xyz'[number]}") for number, text in enumerate(texts)]
    return b"".join(encode(text + talk) for encode, text in zip(encodings, each, strict=True)), disks


def wrapped(text: str, wraps: list[Callable[[str], str]], device: str = "/dev/sdzx") -> str:
    for wrap in wraps:
        text = wrap(text.replace("/dev/sdb", device))
    return text.replace("/dev/sdb", device)


def tried(seeds: range) -> None:
    """Each disk is found or missed in words, in the order of the paste, and none is called what it is not."""
    for seed in seeds:
        paste, disks = fuzzed(random.Random(seed))
        readings, left, lost = parse_each(paste), list(disks), 0
        for reading, kind in zip(readings, kinds(readings), strict=True):
            if not reading.facts.model:
                assert any(disk.cut and kind not in OPPOSITES[TRUTH[disk.name]] for disk in disks) or kind == "unknown"
                continue
            while left and not left[0].is_named(reading.facts.model):
                lost += left.pop(0).begun
            assert left, (seed, disks, reading.facts.model)
            assert kind not in OPPOSITES[TRUTH[left.pop(0).name]], (seed, disks, kind)
        lost += sum(disk.begun for disk in left)
        said = sum(not reading.facts.model and "isn't output" not in reading.facts.problem for reading in readings)
        assert said >= lost, (seed, disks, readings)
        if not any(disk.cut for disk in disks):
            assert (lost, len(readings)) == (0, len(disks)), (seed, disks, readings)


def test_no_wrapping_loses_or_slanders_a_disk() -> None:
    tried(range(300))


@pytest.mark.slow
@pytest.mark.parametrize("first", [10_000, 20_000])
def test_no_wrapping_loses_or_slanders_a_disk_in_ten_thousand_pastes(first: int) -> None:
    tried(range(first, first + 10_000))
