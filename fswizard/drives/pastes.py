"""What smartctl answered, wherever it stands in a text that people paste: quoted, numbered, between prompts and talk.

A line of smartctl's is known by its own words, whatever stands before them, and a JSON document by its keys. What lies
between is not read.
"""

from __future__ import annotations

import html
import itertools
import json
import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fswizard.language import N_
from fswizard.model.text import safe

LONGEST_VALUE = 120
"""Characters of a value; smartctl prints none that is longer."""
NAMES = {"Device Model", "Model Number", "Vendor", "Product", "Device"}
"""Lines that name the model; `Device` is that of SCSI disks before smartctl 5.41."""
FARM = "FARM Log Page"
"""Title of Seagate's log, in which lines have names like those that identify a disk."""
_MOST_CALLS = 2000
_MOST_DAMAGED = 500

_KINDS = (
    ("Model Family", "Device Model", "LU WWN Device Id", "Add. Product Id", "Firmware Version", "User Capacity",
     "Sector Sizes", "Sector Size", "Rotation Rate", "TRIM Command", "Zoned Device", "Device is", "ATA Version is"),
    ("Vendor", "Product", "Device", "Revision", "Add. Product Id", "User Capacity", "Rotation Rate", "Logical Unit id",
     "Device type", "Transport protocol"),
    ("Model Number", "Firmware Version", "PCI Vendor/Subsystem ID", "PCI Vendor ID", "IEEE OUI Identifier",
     "Total NVM Capacity", "Number of Namespaces"),
)  # fmt: skip
"""Names of the lines that identify a disk with ATA, SCSI or NVMe, in the order in which smartctl prints them."""
_IDENTITY = {name for kind in _KINDS for name in kind}
_OTHERS = (
    "Serial Number", "Serial number", "Form Factor", "SATA Version is", "Compliance", "Logical block size",
    "Physical block size", "Lowest aligned LBA", "Logical block provisioning type", "LU is", "Formatted with type",
    "Unallocated NVM Capacity", "Controller ID", "NVMe Version", "Nominal Media Rotation Rate",
)  # fmt: skip
"""Names of those that stand between them."""
_DATA = ("READ SMART DATA", "SMART DATA", FARM)
"""Titles below the lines that identify a disk."""
_KEYS = ("json_format_version", "model_name", "scsi_model_name", "model_family", "firmware_version", "rotation_rate")
"""Keys that are read line by line where JSON cannot be read as a whole: damaged, or each line quoted."""
_BANNER = r"smartctl (?:version )?(?:pre-)?(?P<banner>\d+\.\d+) (?:\d{4}-\d\d-\d\d|\[)"
_PATH = r"/dev/[\w/!.:-]+?)(?=smartctl|[^\w/!.:-]|$)"
_EVENT = re.compile(
    rf"{_BANNER}|START OF (?P<title>INFORMATION|(?:READ )?SMART DATA)|(?P<farm>{FARM})|"
    r"(?m:^[^\w\n]{0,20}(?P<elided>snip|\.\.\.)[^\w\n]{0,20}$)|"
    rf"smartctl[ .][^\n]{{0,80}}?(?P<command>{_PATH}|hdparm -[^\n]{{0,80}}?(?P<hdparm>{_PATH}|"
    rf"(?P<name>{'|'.join((_IDENTITY | {*_OTHERS}) - {'Device'})}|Device(?=:[^\n]{{0,80}} Version:)) ?:|"
    rf"(?P<key>{'|'.join(_KEYS)})\\?[\"']? ?[:=]"
)
"""All that is read of a text."""

_QUOTED_PRINTABLE = re.compile(r"=(?:3D|20\n|E2=80|C2=A0)")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
_ODD_LETTERS = (
    ("[\xad\u200b\ufeff]", ""),
    ("[\x85\u2028\u2029]", "\n"),
    ("[\xa0\u2002-\u200a\u202f\u205f\u3000]", " "),
    ("[\u2010-\u2013]", "-"),
    ("\uff1a", ":"),
)
"""Letters for which smartctl has plainer ones."""
_TAGS = re.compile(r"</?[a-zA-Z][^<>\n]{0,300}>|\[/?[A-Za-z]+(?:=[^\]\n]{0,100})?\]")
_VALUE_ENDS = re.compile(r'\n|\\|",| ====|<(?!\d)')
_AROUND_VALUES = " \t\v\f*|│`\"',;>_"
_OPENS_JSON = re.compile(r'\{\s*"')
_NEXT = re.compile(rf'\{{\s*"json_format_version"|{_BANNER}|START OF INFO')
_DOCUMENT_KEYS = {"smartctl", "json_format_version", "model_name", "scsi_model_name"}
_DOCUMENT_KEY = re.compile(f'"(?:{"|".join(_DOCUMENT_KEYS)})"')
_decoder = json.JSONDecoder()


@dataclass(slots=True)
class Call:
    """What one call of smartctl printed, or the part of it that is there."""

    at: int = 0
    """Where it begins in the text."""
    line: int = 1
    """Number of its first line."""
    device: str = ""
    """Path of the device in the command before it, or in the document."""
    lines: dict[str, str] = field(default_factory=dict)
    """Values by the names of their lines, the first of each; titles without a value."""
    document: dict[str, Any] = field(default_factory=dict)
    """Its JSON, with dots between the keys of nested mappings; some keys of what is damaged."""
    problem: str = ""
    """Why not all of it could be read."""
    text: str = ""
    gap: int = 0
    """Line ends between its lines, of which smartctl prints one."""

    @property
    def identified(self) -> bool:
        """Whether the lines that identify a disk are over."""
        return any(title in self.lines for title in _DATA)

    def ends_before(self, name: str, value: str, gap: int) -> bool:
        """Whether a line is the first of another call, or belongs to one that lost its beginning."""
        if name in _KEYS:
            return name == _KEYS[0] or bool(self.lines) or self.document.get(name, value) != value
        if name == "INFORMATION":
            return bool(self.document) or self.identified or not self.lines.keys() <= {"banner"}
        if name not in _IDENTITY:
            return name == "banner" or (name in _DATA and name in self.lines)
        names = [*(other for other in self.lines if other in _IDENTITY), name]
        in_order = any(names == [other for other in kind if other in names] for kind in _KINDS)
        return not in_order or gap > self.gap > 0 or self.identified or bool(self.document)


def calls(output: bytes) -> Iterator[Call]:
    """The calls in a text, in their order."""
    text = cleaned(output)
    line, at = 1, 0
    for number, call in enumerate(_calls(text)):
        line, at = line + text.count("\n", at, call.at), call.at
        call.line = line
        if number == _MOST_CALLS:
            rest = N_("More than {count} outputs: the rest is not read.")
            yield Call(line=line, problem=rest.format(count=number))
            return
        yield call


def cleaned(output: bytes) -> str:
    """Text without the encodings of mail and web, escape codes and odd blanks."""
    text = output.replace(b"\0", b"").decode("utf-8", "ignore")  # without its zeros, UTF-16 is smartctl's ASCII again
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _QUOTED_PRINTABLE.search(text):
        text = quopri.decodestring(text.encode()).decode("utf-8", "ignore")
    text = html.unescape(html.unescape(text))  # some forums escape what was escaped
    text = _ESCAPES.sub("", text)
    for odd, plain in () if text.isascii() else _ODD_LETTERS:
        text = re.sub(odd, plain, text)
    return _TAGS.sub(" ", text) if "[/" in text or "</" in text or "<br" in text else text


def rows(value: object) -> list[dict[str, Any]]:
    """The mappings in a value that should be a list of them, flattened."""
    return [dict(_flat(row)) for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _calls(text: str) -> Iterator[Call]:
    end = at = damaged = 0
    while damaged < _MOST_DAMAGED and (opening := _OPENS_JSON.search(text, at)):
        start, documents, at = opening.start(), [], opening.end()
        try:
            value, at = _decoder.raw_decode(text, start)
            documents = list(_documents_in(value))
        except RecursionError:
            break
        except json.JSONDecodeError as error:
            at = max(at, error.pos)
            damaged += 1
        if documents:
            yield from _printed(text, end, start)
            for document in documents:
                flat = dict(_flat(document))
                yield Call(start, device=safe(str(flat.get("device.name", ""))[:LONGEST_VALUE]), document=flat)
            end = at
        elif _DOCUMENT_KEY.search(text, start, at):
            yield from _printed(text, end, start)
            following = _NEXT.search(text, opening.end())
            end = following.start() if following else len(text)
            first, last = (text.count("\n", 0, place) + 1 for place in (start, at))
            problem = N_(
                "The JSON that begins in line {first} can't be read beyond line {last}: it is cut off or damaged there."
            )
            for call in [*_printed(text, start, end)] or [Call(start)]:
                call.problem = problem.format(first=first, last=last)
                yield call
            at = end
    yield from _printed(text, end, len(text))


def _printed(text: str, begin: int, end: int) -> Iterator[Call]:
    """The calls in plain text between two places."""
    call, read_to = Call(begin), begin
    for event, following in itertools.pairwise(itertools.chain(_EVENT.finditer(text, begin, end), (None,))):
        assert event is not None
        at, kind = event.start(), event.lastgroup or ""
        stop = min(event.end() + LONGEST_VALUE, following.start() if following else end)
        value = safe(_VALUE_ENDS.split(text[event.end() : stop], maxsplit=1)[0].strip(_AROUND_VALUES))
        name = event[kind] if kind in ("title", "farm", "name", "key") else kind
        glued = kind != "banner" and text[at - 1 : at].isalnum()
        cut = name == "ATA Version is" and stop == len(text) and "\n" not in text[event.end() :]  # so it may seem older
        late = name in _IDENTITY and call.identified and (name not in NAMES or FARM in call.lines)
        if glued or cut or late:
            continue
        gap = text.count("\n", read_to, at)
        if kind in ("command", "hdparm") or call.ends_before(name, value, gap):
            if call.lines or call.document or (call.device and name != "banner"):
                call.text = text[call.at : at]
                yield call
                call = Call(at)
        elif name in _IDENTITY and _IDENTITY & call.lines.keys():
            call.gap = call.gap or gap
        if not call.lines and not call.document:
            call.at = at
        read_to = event.end()
        if kind in ("command", "hdparm"):
            call.device = safe(event[kind])
        elif kind == "key":
            call.document.setdefault(name, value)
        else:
            call.lines.setdefault(name, event[kind] if kind == "banner" else value)
    if call.lines or call.document or call.device:
        call.text = text[call.at : end]
        yield call


def _documents_in(value: Any) -> Iterator[dict[str, Any]]:
    """smartctl's documents within any JSON."""
    if isinstance(value, dict) and _DOCUMENT_KEYS & value.keys():
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _documents_in(item)


def _flat(document: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a document by their keys: `{"trim": {"supported": True}}` has `trim.supported`."""
    for key, value in document.items():
        if isinstance(value, dict) and before.count(".") < 2:
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value
