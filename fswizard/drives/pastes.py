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
NAMES = frozenset(("Device Model", "Model Number", "Vendor", "Product", "Device"))
"""Lines that name the model; `Device` is that of SCSI disks before smartctl 5.41."""
FARM = "FARM Log Page"
"""Title of Seagate's log, in which lines have names like those that identify a disk."""
_MOST_CALLS = 2000
_DEEPEST = 16

_DIALECTS = {
    "ATA": "Model Family|Device Model|LU WWN Device Id|Sector Sizes|Sector Size|TRIM Command|Zoned Device|Device is|"
    "ATA Version is",
    "SCSI": "Vendor|Product|Revision|Logical Unit id|Device type|Transport protocol|Device",
    "NVMe": "Model Number|PCI Vendor/Subsystem ID|PCI Vendor ID|IEEE OUI Identifier|Total NVM Capacity|"
    "Number of Namespaces",
    "": "Firmware Version|User Capacity|Rotation Rate|Add. Product Id",
}
"""Names of the lines that identify a disk, by the kind of disk that answers with them."""
_DIALECT = {name: dialect for dialect, names in _DIALECTS.items() for name in names.split("|")}
_OPENING = (*NAMES - {"Product"}, "Model Family")
"""Lines that may be the first about a disk."""
_DATA = ("READ SMART DATA", "SMART DATA")
_LATER_TITLES = frozenset((FARM, *_DATA))
"""Titles below the lines that identify a disk."""
_OTHER_NAMES = (
    "Serial Number", "Serial number", "Form Factor", "SATA Version is", "Local Time is", "SMART support is",
    "Compliance", "Logical block size", "Physical block size", "Lowest aligned LBA", "PCI Vendor Subsystem ID",
    "Unallocated NVM Capacity", "Controller ID", "NVMe Version", "Nominal Media Rotation Rate",
)  # fmt: skip
_BETWEEN = re.compile(
    r"\W*(?:snip\w*|cut)?\W*|.*(?:provision|LBPME|Formattedwith|zonedblock|protection|>>|scsi).*", re.IGNORECASE
)
"""A line, without its blanks, that may stand between those with names: smartctl's, or in place of some left out."""
_KEYS = ("json_format_version", "model_name", "scsi_model_name", "model_family", "firmware_version", "rotation_rate")
"""Keys that are read line by line where JSON cannot be read as a whole: damaged, or each line quoted."""
_REFUSALS = (
    "Smartctl open device", "Read Device Identity failed", "Read NVMe", "Standard Inquiry", "Short INQUIRY",
    "CHECK POWER", "Device is in STANDBY", "Device is in SLEEP", "Device is in IDLE", "smartctl requires a device",
    "UNRECOGNIZED OPTION", "INVALID ARGUMENT", "Unable to detect device type", "Unknown USB bridge",
    "Unsupported USB bridge", "Broken USB bridge", "requires option", "Unable to open", "unable to open",
    "No such device", "device successfully opened", r"smartctl[^\s:]{0,8}: (?:command )?not found",
    r"smartctl\S{0,8} is not recogni", r"Error=\d",
)  # fmt: skip
"""In these lines smartctl, or the shell in its place, says that there is no answer."""


def _by_first_letter(*patterns: str) -> str:
    """One pattern for all of them, which are told apart by their first letters first: that makes the search quick."""
    groups = itertools.groupby(sorted(patterns), key=lambda pattern: pattern[0])
    return "|".join(f"{first}(?:{'|'.join(pattern[1:] for pattern in group)})" for first, group in groups)


_BANNER = r"smartctl (?:version )?(?:pre-)?(?P<banner>\d+\.\d+) (?:\d{4}-\d\d-\d\d|\[)"
_EVENT = re.compile(
    rf"{_BANNER}|START OF (?P<title>INFORMATION|(?:READ )?SMART DATA)|"
    r"smartctl[ .][^\n]{0,80}?(?P<command>/dev/[\w/!.:-]+?)(?=smartctl|[^\w/!.:-]|$)|"
    r"hdparm -[^\n]{0,80}?(?P<hdparm>/dev/\w+)|"
    r"/dev/\S{1,60} -d \S{1,40} (?P<listed># )|"
    + _by_first_letter(
        FARM, *_REFUSALS, *(f"{name} ?:" for name in (*_DIALECT.keys() - {"Device"}, *_OTHER_NAMES)),
        r"Device:(?=[^\n]{0,80} Version:)",
        *(rf"{key}\\?[\"']? ?[:=]" for key in _KEYS),
    )
)  # fmt: skip
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
_DEVICE_BEFORE = re.compile(r"/dev/[^\s:]{1,60}:? $")
_VALUE_ENDS = re.compile(r'\n|\\|",| ====|<(?!\d)')
_AROUND_VALUES = " \t\v\f*|│`\"',;>_"
_OPENS_JSON = re.compile(r'\{\s*"')
_NEXT = re.compile(rf'\{{\s*"json_format_version"|{_BANNER}|START OF INFO')
_DOCUMENT_KEYS = frozenset(("smartctl", "json_format_version", "model_name", "scsi_model_name"))
_DOCUMENT_KEY = re.compile(r'"(?:smartctl|json_format_version|(?:scsi_)?model_name)"')
_decoder = json.JSONDecoder()


@dataclass(slots=True)
class Call:
    """What one call of smartctl printed, or the part of it that is there."""

    line: int
    """Where it begins, counted from 1."""
    device: str = ""
    """Path of the device in the command before it, or in the document."""
    lines: dict[str, str] = field(default_factory=dict)
    """Values by the names of their lines, the first of each; titles and other words without a value."""
    document: dict[str, Any] = field(default_factory=dict)
    """Its JSON, with dots between the keys of nested mappings; some keys of what is damaged."""
    problem: str = ""
    """Why not all of it could be read."""
    text: str = ""
    read_to: int = 0
    """End of what was read last."""
    blank_lines: int | None = None
    """Before the first lines that identify the disk; smartctl itself prints none between them."""

    @property
    def identified(self) -> bool:
        """Whether the lines that identify a disk are over."""
        return not _LATER_TITLES.isdisjoint(self.lines)

    def leaves_out(self, name: str) -> bool:
        """Whether a line stands below those that identify the disk and is not the first about another one."""
        opens = name in _OPENING and not (name == "Model Number" and FARM in self.lines)
        return name in _DIALECT and self.identified and not opens

    def ends_before(self, name: str, value: str) -> bool:
        """Whether a line is the first of another call, or belongs to one that lost its beginning."""
        identity = _DIALECT.keys() & self.lines.keys()
        if name in ("command", "banner", "json_format_version"):
            return True
        if name in _KEYS:
            return bool(self.lines) or self.document.get(name, value) != value
        if name == "INFORMATION":
            return bool(self.document or self.identified or identity) or name in self.lines
        if name not in _DIALECT:
            return name in _DATA and name in self.lines
        refused = "refusal" in self.lines and "INFORMATION" not in self.lines
        opens = name in _OPENING and (refused or self.identified or NAMES & identity)
        dialects = {_DIALECT[other] for other in (name, *identity)} - {""}
        late = "Device is" in self.lines and name != "ATA Version is"
        return bool(self.document or opens) or late or name in self.lines or len(dialects) > 1


def calls(output: bytes) -> Iterator[Call]:
    """The calls in a text, in their order."""
    every = _Paste(cleaned(output)).calls()
    yield from itertools.islice(every, _MOST_CALLS)
    if rest := next(every, None):
        yield Call(rest.line, problem=N_("More than {count} outputs: the rest is not read.").format(count=_MOST_CALLS))


def cleaned(output: bytes) -> str:
    """Text without the encodings of mail and web, escape codes and odd blanks."""
    text = output.replace(b"\0", b"").decode("utf-8", "ignore")  # without its zeros, UTF-16 is smartctl's ASCII again
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _QUOTED_PRINTABLE.search(text):
        text = quopri.decodestring(text.encode()).decode("utf-8", "ignore")
    for _ in range(2):  # some forums escape what was escaped
        text = html.unescape(text)
    text = _ESCAPES.sub("", text)
    for odd, plain in () if text.isascii() else _ODD_LETTERS:
        text = re.sub(odd, plain, text)
    return _TAGS.sub(" ", text) if "[/" in text or "</" in text or "<br" in text else text


def rows(value: object) -> list[dict[str, Any]]:
    """The mappings in a value that should be a list of them."""
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


class _Paste:
    """A clean text, read once from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at, self._line = 0, 1

    def _line_of(self, at: int) -> int:
        """Number of a line; each question is about a later place than the one before."""
        self._line += self._text.count("\n", self._at, at)
        self._at = max(at, self._at)
        return self._line

    def calls(self) -> Iterator[Call]:
        text, end, at = self._text, 0, 0
        left = 40 * len(text) + 10**8  # characters to look at; a hostile text begins many documents that fail late
        while left > 0 and (opening := _OPENS_JSON.search(text, at)):
            start, documents, at = opening.start(), [], opening.end()
            try:
                value, at = _decoder.raw_decode(text, start)
                documents = list(_documents_in(value))
            except RecursionError:
                break
            except ValueError as error:
                at = reached = max(at, getattr(error, "pos", 0))
                left -= reached + 100 * (reached - start)  # the error has counted the lines before it
            if documents:
                yield from self._printed(end, start)
                line = self._line_of(start)
                for document in documents:
                    flat = dict(_flat(document))
                    yield Call(line, safe(str(flat.get("device.name", ""))[:LONGEST_VALUE]), document=flat)
                end = at
            elif _DOCUMENT_KEY.search(text, start, at):
                yield from self._printed(end, start)
                following = _NEXT.search(text, opening.end())
                end = following.start() if following else len(text)
                yield from self._damaged(start, end, at)
                at = end
        yield from self._printed(end, len(text))

    def _damaged(self, start: int, end: int, reached: int) -> Iterator[Call]:
        """What can be read of a document that is cut off."""
        first = self._line_of(start)
        last = first + self._text.count("\n", start, reached)
        problem = N_(
            "The JSON that begins in line {first} can't be read beyond line {last}: it is cut off or damaged there."
        )
        for call in [*self._printed(start, end)] or [Call(first)]:
            call.problem = problem.format(first=first, last=last)
            yield call

    def _printed(self, begin: int, end: int) -> Iterator[Call]:
        """The calls in plain text between two places."""
        text, start, call = self._text, begin, Call(0)
        events = itertools.chain(_EVENT.finditer(text, begin, end), (None,))
        for event, following in itertools.pairwise(events):
            assert event is not None
            at, after = event.start(), event.end()
            stop = min(after + LONGEST_VALUE, following.start() if following else end)
            name, value = _read(event, text[after:stop])
            if call.leaves_out(name) or (name != "banner" and text[at - 1 : at].isalnum()):
                continue
            if name == "ATA Version is" and "\n" not in text[after:stop] and stop == len(text):
                continue  # it may be cut, and seem older than it is
            torn = name in _DIALECT and self._is_torn(call, at)
            if (call.lines or call.document) and (torn or call.ends_before(name, value)):
                yield self._closed(call, start, at)
                call = Call(0)
            if not call.lines and not call.document:
                start = at
            if name == "command":
                call.device = value
            elif name in _KEYS:
                call.document.setdefault(name, value)
            else:
                call.lines.setdefault(name, value)
            call.read_to = after
        if call.lines or call.document:
            yield self._closed(call, start, end)

    def _closed(self, call: Call, start: int, end: int) -> Call:
        call.line, call.text = self._line_of(start), self._text[start:end]
        return call

    def _is_torn(self, call: Call, at: int) -> bool:
        """Whether foreign lines stand before `at`, within what identifies a disk: the rest may be that of another."""
        _, *lines = self._text[call.read_to : at].split("\n")
        if not lines or call.identified or "Device is" in call.lines:
            return False
        between = [_shape(line).removeprefix(_shape(lines[-1])) for line in lines[:-1]]
        if call.blank_lines is None:
            call.blank_lines = len(between)
        if not call.lines.keys() & _DIALECT.keys():
            return False
        if len(between) > call.blank_lines and not any(between):
            return True
        return not all(map(_BETWEEN.fullmatch, between))


def _read(event: re.Match[str], rest: str) -> tuple[str, str]:
    """Name and value of a line."""
    kind, word = event.lastgroup or "", event[0].rstrip(" :=\"'\\")
    if kind == "title":
        return event[kind], ""
    if kind:
        return "command" if kind == "hdparm" else kind, safe(event[kind])
    value = _VALUE_ENDS.split(rest, maxsplit=1)[0]
    if word in _DIALECT or word in _OTHER_NAMES or word in _KEYS:
        return word, safe(value.strip(_AROUND_VALUES))
    if word == FARM:
        return word, ""
    device = _DEVICE_BEFORE.search(event.string, max(event.start() - LONGEST_VALUE, 0), event.start())
    return "refusal", safe(f"{device[0] if device else ''}{event[0]}{value}".strip())


def _shape(line: str) -> str:
    """What stands before smartctl's lines, without the numbers and blanks that differ."""
    return re.sub(r"[\d\s]+", "", line[:LONGEST_VALUE])


def _documents_in(value: Any, deep: int = 0) -> Iterator[dict[str, Any]]:
    """smartctl's documents within any JSON."""
    if isinstance(value, dict) and _DOCUMENT_KEYS & value.keys():
        yield value
    elif isinstance(value, dict | list) and deep < _DEEPEST:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _documents_in(item, deep + 1)


def _flat(document: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a document by their keys: `{"trim": {"supported": True}}` has `trim.supported`."""
    for key, value in document.items():
        if isinstance(value, dict) and before.count(".") < 2:
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value
