"""Find smartctl output in pasted text, which may be quoted, numbered, or surrounded by prompts and comments.

Lines of smartctl are recognised by their names, wherever they begin, and JSON by its keys. JSON must be complete.
"""

from __future__ import annotations

import html
import json
import quopri
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fswizard.language import N_, _
from fswizard.model.text import safe

LONGEST_VALUE = 120
"""Maximum length of a value; smartctl prints no longer ones."""
NAMES = {"Device Model", "Model Number", "Vendor", "Product", "Device"}
"""Lines with the model name; SCSI disks had `Device` before smartctl 5.41."""
FARM = "FARM Log Page"
"""Title of the FARM log of Seagate, which has lines with the same names as those that identify a disk."""
_MOST_DAMAGED = 500
_DATA = {"READ SMART DATA", "SMART DATA", FARM}
"""Titles that follow the lines that identify a disk."""

_IDENTIFYING = (
    "Model Family|Device Model|Model Number|Vendor|Product|Device|Add. Product Id|Firmware Version|Revision|"
    "User Capacity|Sector Sizes|Sector Size|Rotation Rate|TRIM Command|Zoned Device|Device is|ATA Version is|"
    "Device type|Transport protocol|PCI Vendor/Subsystem ID|PCI Vendor ID|IEEE OUI Identifier|Total NVM Capacity|"
    "Number of Namespaces"
)
"""Names of the lines that identify a disk."""
_IDENTITY = set(_IDENTIFYING.split("|"))
_BETWEEN = (
    "Serial Number|Serial number|LU WWN Device Id|Logical Unit id|Form Factor|SATA Version is|Compliance|"
    "Logical block size|Physical block size|Lowest aligned LBA|Logical block provisioning type|LU is|"
    "Formatted with type|Unallocated NVM Capacity|Controller ID|NVMe Version|Nominal Media Rotation Rate|"
    "Recording Type"
)
"""Names of other lines between them."""
_EVENT = re.compile(
    r"(?P<banner>smartctl (?:version )?(?:pre-)?\d+\.\d+) (?:\d{4}-\d\d-\d\d|\[)|"
    rf"(?P<title>(?<=START OF )(?:INFORMATION|(?:READ )?SMART DATA)|{FARM})|"
    r"(?:smartctl[ .]|hdparm -)[^\n]{0,80}?(?P<command>/dev/[\w/!.:-]+?)(?=smartctl|[^\w/!.:-]|$)|"
    r"(?P<zoned>Host aware|Device managed) zoned block capable|"
    rf"(?<![^\W_])(?P<name>{'|'.join(_IDENTITY - {'Device'})}|{_BETWEEN}|"
    r"Device(?=:[^\n]{0,80} Version:)) ?:"
)
"""Everything that is read from plain text."""

_LINES = {
    "device.name": "device",
    "device.protocol": "protocol",
    "model_family": "Model Family",
    "scsi_vendor": "Vendor",
    "vendor": "Vendor",
    "scsi_product": "Product",
    "product": "Product",
    "model_name": "Device Model",
    "scsi_model_name": "Device Model",
    "firmware_version": "Firmware Version",
    "scsi_revision": "Revision",
    "revision": "Revision",
    "serial_number": "Serial Number",
    "ata_version.string": "ATA Version is",
    "rotation_rate": "Rotation Rate",
    "device_type.name": "Device type",
    "user_capacity.bytes": "User Capacity",
    "zoned_device.capabilities": "Zoned Device",
    "trim.supported": "TRIM Command",
    "seagate_farm_log.page_1_drive_information.drive_recording_type": "Recording Type",
    "physical_block_size": "Sector Size",
    "scsi_transport_protocol.name": "Transport protocol",
    "nvme_pci_vendor.id": "PCI Vendor ID",
    "nvme_ieee_oui_identifier": "IEEE OUI Identifier",
    "nvme_total_capacity": "Total NVM Capacity",
    "nvme_number_of_namespaces": "Number of Namespaces",
}
"""Line names by equivalent keys of the JSON output; the keys changed from smartctl 7.0 to 7.5."""

_QUOTED_PRINTABLE = re.compile(r"=(?:3D|20\n|E2=80|C2=A0)")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
_PLAINER = {
    **dict.fromkeys(map(ord, "\xad\u200b\ufeff"), ""),
    **dict.fromkeys(map(ord, "\x85\u2028\u2029"), "\n"),
    **dict.fromkeys(range(0x2010, 0x2014), "-"),
}
"""Replacements for typographic characters that NFKC does not handle."""
_TAGS = re.compile(r"</?[a-zA-Z][^<>\n]{0,300}>|\[/?[A-Za-z]+(?:=[^\]\n]{0,100})?\]")
_QUOTED = re.compile(r"(?m)^(?:[ \t]{0,8}>)+ ?")
_VALUE_ENDS = re.compile(r'\n|\\|",| ====|<(?!\d)')
_AROUND_VALUES = " \t\v\f*|│`\"',;>_"
_DOCUMENT_KEYS = {"smartctl", "json_format_version", "model_name", "scsi_model_name"}
_OPENS_JSON = re.compile(r'\{(?:\s*"|[^{}"]{0,200}"json_format_version")')
_DAMAGED = N_("This JSON can't be read to its end: it is cut off or damaged.")
_GOES_ON = re.compile(r'\{[^{}"]{0,200}"json_format_version"|smartctl \d\.\d+ \d{4}-|START OF INFO')
"""Start of the next readable part after damaged JSON."""
_decoder = json.JSONDecoder()


@dataclass(slots=True)
class Output:
    """The output of one smartctl call, or the part of it that was pasted."""

    at: int = 0
    """Offset of its beginning in the text."""
    device: str = ""
    """Path of the device, from the preceding command or from JSON."""
    lines: dict[str, str] = field(default_factory=dict)
    """Values by line name, the first of each; of titles and `banner` only the presence counts."""
    problem: str = ""
    """Reason why it could not be read; empty if it could."""
    text: str = ""
    """The printed text, or for JSON the names of the SMART attributes."""
    document: dict[str, Any] = field(default_factory=dict)
    """The parsed JSON; `lines` has the parts that identify the disk, and errors and warnings as `messages`."""

    @property
    def identified(self) -> bool:
        """Whether the lines that identify a disk are complete."""
        return not _DATA.isdisjoint(self.lines)

    def ends_before(self, name: str) -> bool:
        """Whether a line belongs to the next output, which may lack its beginning."""
        if name == "INFORMATION":
            return bool(self.lines.keys() - {"banner"})
        if name in NAMES and name != "Product":
            return self.identified or not NAMES.isdisjoint(self.lines)
        return name == "banner" or (name in self.lines and (name in _IDENTITY or name in _DATA))


def cleaned(output: bytes) -> str:
    """Decode pasted bytes, without mail and web encodings, escape codes, special blanks and quotation marks."""
    text = output.replace(b"\0", b"").decode("utf-8", "ignore")  # UTF-16 without its zeros is ASCII
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _QUOTED_PRINTABLE.search(text):
        text = quopri.decodestring(text.encode()).decode("utf-8", "ignore")
    text = html.unescape(html.unescape(text))  # some forums escape twice
    text = _ESCAPES.sub("", text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_PLAINER))
    return _QUOTED.sub("", _TAGS.sub(" ", text))


def outputs(text: str) -> Iterator[Output]:
    """Yield the output of each smartctl call in a cleaned text, in order."""
    printed_from = at = damaged = 0
    while damaged < _MOST_DAMAGED and (opening := _OPENS_JSON.search(text, at)):
        start, found = opening.start(), list[Output]()
        try:
            value, at = _decoder.raw_decode(text, start)
            found += [_of_document(document, start) for document in _documents_in(value)]
        except json.JSONDecodeError as error:
            damaged += 1
            at = max(opening.end(), error.pos)
            if "json_format_version" in text[start : at + 200]:
                found.append(Output(start, problem=_(_DAMAGED)))
                following = _GOES_ON.search(text, opening.end())
                at = following.start() if following else len(text)
        except (RecursionError, ValueError):  # nested too deeply, or a number too long
            break
        if found:
            yield from _printed(text, printed_from, start)
            yield from found
            printed_from = at
    yield from _printed(text, printed_from, len(text))


def _printed(text: str, begin: int, end: int) -> Iterator[Output]:
    """Yield the plain text outputs between two offsets."""
    output = Output(begin)
    events = list(_EVENT.finditer(text, begin, end))
    starts = [event.start() for event in events] + [end]
    for event, next_at in zip(events, starts[1:], strict=True):
        at, name = event.start(), event["name"] or event["title"] or event.lastgroup or ""
        stop = min(event.end() + LONGEST_VALUE, next_at)
        value = _VALUE_ENDS.split(text[event.end() : stop], maxsplit=1)[0].strip(_AROUND_VALUES)
        if name == "ATA Version is" and stop == len(text) and "\n" not in text[event.end() :]:
            continue  # a truncated version may look older
        if name in _IDENTITY and output.identified and (name not in NAMES or FARM in output.lines):
            continue  # logs have lines with the same names
        if name == "Recording Type" and FARM not in output.lines:
            continue
        known = output.lines or (output.device and name != "banner")
        if known and (name == "command" or output.ends_before(name)):
            output.text = text[output.at : at]
            yield output
            output = Output(at)
        if not output.lines:
            output.at = at
        if name == "command":
            output.device = safe(event["command"])
        elif name == "zoned":
            output.lines["Zoned Device"] = event["zoned"]
        else:
            output.lines.setdefault(name, safe(value))
    if output.lines or output.device:
        output.text = text[output.at : end]
        yield output


def _documents_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the smartctl documents nested in any JSON value."""
    if isinstance(value, dict) and not _DOCUMENT_KEYS.isdisjoint(value):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _documents_in(item)


def _of_document(document: dict[str, Any], at: int = 0) -> Output:
    """Make an output from a JSON document, with the equivalent lines."""
    lines = dict[str, str]()
    for path, name in _LINES.items():
        value = value_at(document, path)
        if isinstance(value, str | int):
            lines.setdefault(name, safe(str(value)[:LONGEST_VALUE]).strip())
    for key in ("scsi_host_aware_zoned_block_capable", "scsi_device_managed_zoned_block_capable"):
        if document.get(key) is True:
            lines["Zoned Device"] = key
    blocks, block_bytes = count_at(document, "user_capacity.blocks"), count_at(document, "logical_block_size")
    if lines.get("User Capacity") != str((blocks or 0) * (block_bytes or 0)):
        lines.pop("User Capacity", None)  # two values disagree in a damaged file
    messages = [str(row.get("string")) for row in rows_at(document, "smartctl.messages")]
    if messages:
        lines["messages"] = safe(" ".join(messages)[: 2 * LONGEST_VALUE])
    attributes = [str(row.get("name")) for row in rows_at(document, "ata_smart_attributes.table")]
    return Output(at, lines.pop("device", ""), lines, text=" ".join(attributes), document=document)


def value_at(document: Any, path: str) -> Any:
    """Value in nested mappings by a dotted path, such as `trim.supported`; None if it is missing."""
    for key in path.split("."):
        document = document.get(key) if isinstance(document, dict) else None
    return document


def rows_at(document: Any, path: str) -> list[dict[str, Any]]:
    """The mappings in a list at a dotted path; empty if it is no list."""
    values = value_at(document, path)
    if not isinstance(values, list):
        return []
    return [row for row in values if isinstance(row, dict)]


def count_at(document: Any, path: str) -> int | None:
    """A number at a dotted path that is an integer and not negative; None for anything else."""
    value = value_at(document, path)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return None
    return value
