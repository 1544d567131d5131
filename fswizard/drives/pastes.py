"""What people paste as smartctl's output, as clean pieces with their places: one for each call or JSON document.

A paste may be quoted, numbered, encoded for mail or the web, flattened to one line, or stand between prompts, logs and
talk. What looks like a disk and cannot be read is a piece, too, which says so.
"""

from __future__ import annotations

import binascii
import codecs
import html
import json
import quopri
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from fswizard.drives.smartctl_forms import YAML, assigned, read_yaml
from fswizard.language import N_

INFORMATION = "START OF INFORMATION SECTION"
_LABELS = (
    r"Model Family|Device Model|Model Number|Serial [Nn]umber|LU WWN Device Id|Add\. Product Id|Firmware Version|"
    r"User Capacity|Sector Sizes?|Rotation Rate|Form Factor|TRIM Command|Zoned Device|Device is|Device type|"
    r"S?ATA Version is|Local Time is|SMART support is|Vendor|Product|Revision|Compliance|Logical block size|"
    r"Physical block size|Logical Unit id|Transport protocol|PCI Vendor/Subsystem ID|IEEE OUI Identifier|"
    r"Total NVM Capacity|Unallocated NVM Capacity|Controller ID|NVMe Version|Number of Namespaces"
)
_EIGHT_BIT = re.compile(rb"[\t-~]{16}")
"""No text in UTF-16, of which every other byte is 0."""
_SWAPPED = ("\u7400\u6100", "\u7300\u6d00", "\u2000\u2000", "\u6500\u7200")
"""`ta`, `sm`, two blanks, and `er` in the other byte order."""
_BANNER = r"smartctl (?:version )?(?:pre-)?\d+\.\d+ (?:\d{4}-\d\d-\d\d|\[)"
_TITLE = r"=+ ?START OF [A-Z]{2,}"
_OLD_SCSI = r"Device: +\S.* Version: "
"""SCSI disks before smartctl 5.41."""
_KEY = (
    r'"(?:json_format_version|smartctl|device|model_name|scsi_model_name|rotation_rate|user_capacity)" ?:|'
    r"json_format_version:$|json\.(?:smartctl|device|model_name)\b"
)
_LABEL = re.compile(rf"(?<![\w/.])(?:{_LABELS}) ?:")
_ANCHOR = re.compile(rf"{_BANNER}|{_TITLE}|(?<![\w/.])(?:{_LABELS}) ?:|{_OLD_SCSI}|{_KEY}")
"""Begins a line of smartctl's; what stands before it on its line was put there by somebody else."""
_STARTS = re.compile(
    rf"^(?:({_BANNER})|=+ ?({INFORMATION})|(Model Family|Device Model|Model Number|Vendor) ?:|({_OLD_SCSI}))",
    re.MULTILINE,
)
_LINE = re.compile(rf"^(?:({_LABELS}) ?:)?[^\n]*", re.MULTILINE)
_ELISION = re.compile(r"\W*(?:snip\w*|cut)?\W*", re.IGNORECASE)
"""A line in place of those that were left out, or a blank one."""
_READINGS = re.compile(r"^=+ ?START OF (?:READ SMART|SMART) DATA", re.MULTILINE)
_HEADER_LINES = 60
_GLUED = re.compile(rf"(?<=[^\n])(?={_BANNER}|(?<!=){_TITLE})|(?<=SECTION ===)[ \t]*(?=[^\n=])")
_MARKS = (
    "=== START OF INFO", "smartctl 7.", "smartctl 6.", "smartctl version", "Device Model:", "Product:", "Device type:",
    "Model Number:", "json_format_version:", "json.device",
)  # fmt: skip
_PREFIXED_JSON = re.compile(r'^[ \t]*[^\s{\["][^\n]*"json_format_version"', re.MULTILINE)
_ODD = ("\x1b", "\b", "=3D", "=20\n", "=E2=", "=C2=", "&", "[/", "</", "<br", "Content-Transfer-Encoding:")
_SOFT_BREAK = re.compile(r"[^=]=\n")
_SEVERAL = ("smartctl ", INFORMATION, "Device Model", "Model Number", "Vendor", "Device: ", "Version: ")
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[^\n]\x08")
_ENCODED = re.compile(
    r"^Content-Transfer-Encoding:[ \t]*(base64|quoted-printable)\b.*\n(?:.+\n)*[ \t]*\n", re.MULTILINE | re.IGNORECASE
)
_BODY_ENDS = re.compile(r"^--\S.*$|^From \S+ .*\d{4}$", re.MULTILINE)
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]+={0,2}[ \t]*(?:\n|$))+")
_QUOTED_PRINTABLE = re.compile(r"=3D|=20$|=(?:E2=80|C2=A0)|^[^\n]{60,76}=$", re.MULTILINE)
_BLOCK_TAG = re.compile(r"</?(?:br|p|div|li|tr|pre|h\d)\b[^<>]*>", re.IGNORECASE)
_CELL = re.compile(r"</t[dh]>")
_CLOSING_TAG = re.compile(r"(?:\[/(\w+)\]|</(\w+)>)")
_SPACES = str.maketrans("\udca0\udcff“”„", '  """', "\u200b\ufeff\xad\f")
"""Also the bytes of a hard blank in the code pages of Windows and DOS."""
_LINE_ENDS = {0x0B: "\n", 0x0C: "", 0x85: "\n", 0x2028: "\n", 0x2029: "\n"}
_WRITTEN_OUT = re.compile(r"(?:SECTION ===|[\[{],?|tools\.org)(?:\\r)?\\n")
"""A line end as programs write it in a string."""
_LOGGED = re.compile(r'^\{.*"(?:log|message|msg|MESSAGE|line)": *".*\}$', re.MULTILINE)
"""A line that a collector of logs wrapped in JSON."""
_SUFFIX = re.compile(r"""[ \t]*(?:[|│`"']|\\par\b)[,; \t'"]*$""")
_COMMAND = re.compile(r"smartctl\b[^\n]*?\s(/dev/[\w/!.:-]+)")
_OPENING = re.compile(r'\{\s*"|\[\s*\{\s*"')
_DOCUMENT = re.compile(r'\{\s*"json_format_version"')
_OWN_KEYS = frozenset(
    ("smartctl", "json_format_version", "model_name", "scsi_model_name", "scsi_product", "scsi_vendor")
)
_LEFT = re.compile(
    r'\\?"(?:scsi_)?model_name\\?"\s*:|\\?"json_format_version\\?"\s*:|^json\.\w+ = |^model_name: ', re.MULTILINE
)
"""A trace of a document that was not read as one."""
_decoder = json.JSONDecoder(strict=False)  # mail programs break lines within strings


@dataclass(frozen=True, slots=True)
class Piece:
    """One call's output, or one document, or a place that could not be read."""

    line: int
    """Where it begins in what was pasted, counted from 1."""
    text: str = ""
    document: Any = None
    problem: str = ""
    """Why it could not be read."""
    asked: str = ""
    """Device in the command line before it."""


@dataclass(frozen=True, slots=True)
class _Lines:
    """Clean text, and the number that each of its lines had in what was pasted."""

    text: str
    numbers: list[int] | None = None
    """None where lines were neither joined nor split."""

    def line(self, at: int) -> int:
        index = self.text.count("\n", 0, at)
        return index + 1 if self.numbers is None else self.numbers[index]

    def each(self) -> list[tuple[int, str]]:
        lines = self.text.split("\n")
        return list(zip(self.numbers or range(1, len(lines) + 1), lines, strict=True))

    @classmethod
    def of(cls, lines: Iterable[tuple[int, str]]) -> _Lines:
        """From lines with their numbers; a line may have become several."""
        flat = [(number, part) for number, line in lines for part in line.split("\n")]
        return cls("\n".join(part for _, part in flat), [number for number, _ in flat])


def pieces(output: bytes) -> Iterator[Piece]:
    """The pieces of a paste in their order, without the talk between them."""
    lines = _clean(decoded(output))
    end = 0
    for start, stop, its in _documents(lines):
        yield from _texts(lines, end, start)
        yield from its
        end = stop
    yield from _texts(lines, end, len(lines.text))


def decoded(output: bytes) -> str:
    """Text with plain line ends, from UTF-8, UTF-16 as Windows' shells save it, or a mixture with either of them."""
    if output[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) and not _EIGHT_BIT.search(output):
        text = output.decode("utf-16", "replace")
        if not any(swapped in text for swapped in _SWAPPED):
            output = text.encode("utf-8", "replace")
    if b"\0" in output:
        for other in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"\0"):
            output = output.replace(other, b"")
    text = output.decode("utf-8", "surrogateescape")
    if any(other in text for other in "\v\f\x85\u2028"):
        text = text.translate(_LINE_ENDS)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _clean(text: str) -> _Lines:
    """Without transfer encodings, markup, escape codes, prefixes and glue."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_SPACES))
    lines = _Lines(text)
    if '":' in text and _LOGGED.search(text):
        lines = _Lines.of((number, _LOGGED.sub(_logged, line)) for number, line in lines.each())
        text = lines.text
    if "\\n" in text and _WRITTEN_OUT.search(text) and not _is_json(text):
        lines = _Lines.of((number, re.sub(r"(?:\\r)?\\n", "\n", line)) for number, line in lines.each())
        text = lines.text
    if any(odd in text for odd in _ODD) or _SOFT_BREAK.search(text):
        lines = _without_tags(_Lines.of((number, _plain(line)) for number, line in _Lines.of(_from_mail(lines)).each()))
    text = f"\n{lines.text}"
    if any(text.count(mark) != text.count(f"\n{mark}") for mark in _MARKS) or _PREFIXED_JSON.search(text):
        if _is_json(lines.text):
            return lines
        lines = _Lines.of((number, _unglued(line)) for number, line in lines.each())
        lines = _without_suffix(_Lines.of(_without_prefixes(lines.each())))
    return lines


def _is_json(text: str) -> bool:
    """Whether all of a text is one document."""
    text = text.strip()
    try:
        return text[:1] in ("{", "[") and _decoder.raw_decode(text)[1] == len(text)
    except (ValueError, RecursionError):
        return False


def _logged(line: re.Match[str]) -> str:
    """The message in a line of a log, or the line if it is none."""
    try:
        entry = json.loads(line[0])
    except (ValueError, RecursionError):
        return line[0]
    messages = (entry.get(key) for key in ("log", "message", "msg", "MESSAGE", "line"))
    return next((it.removesuffix("\n") for it in messages if isinstance(it, str)), line[0])


def _from_mail(lines: _Lines) -> Iterator[tuple[int, str]]:
    """Lines out of base64 and quoted-printable, by the headers of mail or by their look."""
    text, end = lines.text, 0
    for header in _ENCODED.finditer(text):
        if header.start() < end:
            continue
        encoded = header[1].lower() == "base64" and _BASE64.match(text, header.end())
        closing = _BODY_ENDS.search(text, header.end())
        stop = encoded.end() if encoded else closing.start() if closing else len(text)
        yield from _unquoted(text, end, header.end(), lines)
        if not encoded:
            yield from _unquoted(text, header.end(), stop, lines)
        elif body := _from_base64(text[header.end() : stop]):
            yield from ((lines.line(header.end()), line) for line in decoded(body).split("\n"))
        end = stop
    yield from _unquoted(text, end, len(text), lines)


def _from_base64(body: str) -> bytes:
    """What it says, up to where it is cut off."""
    letters = "".join(body.split()).encode("ascii", "ignore")
    try:
        return binascii.a2b_base64(letters[: len(letters) // 4 * 4])
    except ValueError:
        return b""


def _unquoted(text: str, start: int, stop: int, lines: _Lines) -> Iterator[tuple[int, str]]:
    """The lines between two places, joined where quoted-printable broke them."""
    number, body = lines.line(start), text[start:stop]
    if stop == start:
        return
    if not _QUOTED_PRINTABLE.search(body):
        yield from enumerate(body.removesuffix("\n").split("\n") if stop < len(text) else body.split("\n"), number)
        return
    begun, before = "", number
    for here, line in enumerate(body.split("\n"), number):
        if line.endswith("=") and not line.endswith("=="):
            begun += line[:-1]
            continue
        encoded = (begun + line).encode("utf-8", "surrogateescape")
        yield before, quopri.decodestring(encoded).decode("utf-8", "surrogateescape").translate(_SPACES)
        begun, before = "", here + 1
    if begun:
        yield before, begun


def _plain(line: str) -> str:
    """A line without escape codes, entities and tabulators."""
    line = _ESCAPES.sub("", line)
    for _ in range(3):  # some forums escape what was escaped
        if "&" not in line:
            break
        line = html.unescape(line)
    return unicodedata.normalize("NFKC", line.translate(_SPACES)).expandtabs()


def _without_tags(lines: _Lines) -> _Lines:
    """Without the tags of HTML and forums: those that are closed somewhere, and breaks."""
    text = lines.text
    closed = {name for match in _CLOSING_TAG.finditer(text) for name in match.groups() if name}
    if not closed and "<br" not in text:
        return lines
    names = "|".join(map(re.escape, sorted(closed))) or "br"
    tag = re.compile(rf"\[/?(?:{names})(?:=[^\]\n]*)?\]|</?(?:{names}|br)(?: [^<>\n]*)?/?>", re.IGNORECASE)
    return _Lines.of((number, tag.sub("", _CELL.sub(" ", _BLOCK_TAG.sub("\n", line)))) for number, line in lines.each())


def _unglued(line: str) -> str:
    """A line broken where smartctl's own lines begin, if several were made one or a prompt stands before."""
    if "smartctl" in line or "START OF" in line:
        line = _GLUED.sub("\n", line)
    if len(_LABEL.findall(line)) > 2:
        line = _LABEL.sub(lambda match: f"\n{match[0]}", line)
    return line


def _without_prefixes(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Without what stands before smartctl's words on several lines: quotation marks, names, numbers, times, blanks."""
    heads = [_head(line) for _, line in lines]
    shapes = Counter(_shape(head) for head in heads if head)
    often = sorted((shape for shape, count in shapes.items() if count > 1), key=len, reverse=True)
    repeated = re.compile("|".join(often)) if often else None
    for (number, line), head in zip(lines, heads, strict=True):
        if head and not re.search(r"[^\W\d_]", head):
            yield number, line[len(head) :]
        elif repeated and (prefix := repeated.match(line)):
            yield number, line[prefix.end() :]
        else:
            yield number, line[len(head or "") :] if "Device Model:" in line else line


def _without_suffix(lines: _Lines) -> _Lines:
    """Without what stands at the ends of all of smartctl's lines, as of cells and strings."""
    own = [line for _, line in lines.each() if _ANCHOR.match(line.lstrip())]
    ends = Counter(end[0].strip() for line in own if (end := _SUFFIX.search(line)))
    suffix, count = ends.most_common(1)[0] if ends else ("", 0)
    if count < 2 or 3 * count < 2 * len(own):
        return lines
    trailing = re.compile(rf"[ \t]*{re.escape(suffix)}[ \t]*$")
    return _Lines.of((number, trailing.sub("", line)) for number, line in lines.each())


def _head(line: str) -> str:
    """What stands before smartctl's own words on a line; empty if there are none."""
    anchor = _ANCHOR.search(line)
    head = line[: anchor.start()] if anchor else ""
    return head.rstrip("{[, ") if anchor and anchor[0].startswith('"') else head


def _shape(prefix: str) -> str:
    """A pattern for a prefix that counts: any number for a number, any blanks for blanks."""
    parts = re.findall(r"\d+|\s+|[^\d\s]+", prefix)
    return (
        "".join(
            r"\d+" if part.isdecimal() else r"[ \t]*" if part.isspace() else re.escape(part) for part in ["  ", *parts]
        )
        if prefix.strip()
        else r"[ \t]+"
    )


def _documents(lines: _Lines) -> Iterator[tuple[int, int, list[Piece]]]:
    """Where documents begin and end, with the pieces in each: JSON, JSON as assignments, YAML."""
    text, spans = lines.text, list[tuple[int, int, list[Piece]]]()
    if "{" in text:
        spans += _json(lines)
    if "json" in text:
        for start, stop, document in assigned(text):
            spans.append((start, stop, [Piece(lines.line(start), document=document)]))
        for match in YAML.finditer(text):
            spans.append((match.start(), match.end(), [_yaml_piece(lines, match.start(), match[0])]))
    end = 0
    for start, stop, its in sorted(spans, key=lambda item: item[:2]):
        if start >= end:
            yield start, stop, its
            end = stop


def _json(lines: _Lines) -> Iterator[tuple[int, int, list[Piece]]]:
    text, at = lines.text, 0
    while opening := _OPENING.search(text, at):
        start, line = opening.start(), lines.line(opening.start())
        try:
            document, at = _decoder.raw_decode(text, start)
            if text.find("\nsmartctl ", start, at) >= 0 or text.find("\n=== START", start, at) >= 0:
                raise json.JSONDecodeError("a string that goes on in another output", text, at)
        except (ValueError, RecursionError) as error:
            reached = max(getattr(error, "pos", 0), opening.end())
            later = [_DOCUMENT.search(text, opening.end(), reached + 40), _STARTS.search(text, opening.end(), reached)]
            at = min([reached, *(match.start() for match in later if match)])
            own = at == reached or _DOCUMENT.match(text, start)
            if own and _LEFT.search(text, start, at):
                problem = N_(
                    "The JSON that begins in line {first} can't be read beyond line {last}: it is cut off or damaged "
                    "there."
                )
                yield start, at, [Piece(line, problem=problem.format(first=line, last=lines.line(at)))]
        else:
            yield start, at, [replace(piece, line=line) for piece in _outputs(document)]


def _outputs(value: Any, deep: int = 0) -> Iterator[Piece]:
    """smartctl's documents, and its outputs as texts, within any JSON."""
    if isinstance(value, str):
        if "\n" in value and (INFORMATION in value or _DOCUMENT.search(value)):
            yield from pieces(value.encode("utf-8", "surrogatepass"))
    elif isinstance(value, dict) and not _OWN_KEYS.isdisjoint(value):
        yield Piece(1, document=value)
    elif isinstance(value, dict | list) and deep < 16:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _outputs(item, deep + 1)


def _yaml_piece(lines: _Lines, start: int, text: str) -> Piece:
    line = lines.line(start)
    try:
        return Piece(line, document=read_yaml(text))
    except (ValueError, RecursionError) as error:
        problem = N_("The YAML that begins in line {line} can't be read: {reason}")
        return Piece(line, problem=problem.format(line=line, reason=error))


def _texts(lines: _Lines, begin: int, end: int) -> Iterator[Piece]:
    """The calls in plain text between two places."""
    text, starts, named, titled = lines.text, [begin], False, False
    several = any(text.count(mark, begin, end) > 1 for mark in _SEVERAL) or text.find("\nsmartctl ", begin, end) > 0
    for match in _STARTS.finditer(text, begin, end) if several else ():
        banner, title, label, old = match.groups()
        naming = (label is not None and label != "Model Family") or old is not None
        if banner or (title and (titled or named)) or (named and (label or old) and not (titled and old)):
            starts.append(match.start())
            named = titled = False
        named, titled = named or naming, titled or title is not None
    for start, stop in zip(tuple(starts), [*starts[1:], end], strict=True):
        starts += _other_disks(text, start, stop)
    starts.sort()
    for number, (start, stop) in enumerate(zip(starts, [*starts[1:], end], strict=True)):
        body = text[start:stop]
        commands = _COMMAND.findall(text, max(starts[number - 1], start - 400), start) if number else []
        if body.strip():
            yield Piece(lines.line(start), body, asked=commands[-1] if commands else "")
    traces = any(text.find(mark, begin, end) >= 0 for mark in ("model_name", "json"))
    if traces and (left := _LEFT.search(text, begin, end)):
        line = lines.line(left.start())
        problem = N_("Line {line} belongs to a document whose beginning or form is not smartctl's.")
        yield Piece(line, problem=problem.format(line=line))


def _other_disks(text: str, start: int, stop: int) -> Iterator[int]:
    """Where, within a call, the output of another disk goes on whose beginning is missing."""
    title, name = text.find(INFORMATION, start, stop), text.find("Device Model:", start, stop)
    header = text.find("\n", title, stop) + 1 if title >= 0 else max(name, start)
    seen, foreign = set[str](), False
    for count, line in enumerate(_LINE.finditer(text, header, stop)):
        label = line[1] or ""
        if (label and foreign) or (label in seen and label not in ("SMART support is", "Device is")):
            yield line.start()
            break
        if label == "Device is" or count == _HEADER_LINES or line[0].startswith("="):
            break
        named = "Device Model" in seen or (title >= 0 and not seen)
        foreign = foreign or (named and not label and not _ELISION.fullmatch(line[0]))
        seen |= {label} - {""}
    if text.count("SMART DATA", start, stop) > 1:
        yield from (title.start() for title in list(_READINGS.finditer(text, start, stop))[1:])
