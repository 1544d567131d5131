"""Facts for a verdict from output of smartctl, of any version and in any form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from fswizard.drives.models import names_a_volume, scsi_name, shipped_table
from fswizard.drives.pastes import INFORMATION, Piece, pieces
from fswizard.drives.refusals import MESSAGE
from fswizard.drives.smartctl_forms import mapping, rows
from fswizard.drives.smartctl_wear import NOT_REPORTED, Wear, wear
from fswizard.drives.smr import Medium, Recording, SmrFacts, Zoned
from fswizard.language import N_
from fswizard.model.text import safe

_TRIM_VERSION = (7, 2)
"""First release that shows TRIM and zones (smartmontools' NEWS)."""
_VERSION = re.compile(r"smartctl (?:version )?(?:pre-)?(\d+)\.(\d+)")
_HEADER_BYTES = 8192
_READINGS = "START OF READ SMART"
"""Title after the header; nothing below it identifies the disk."""
_FIELDS = frozenset(
    (
        "Device Model", "Model Number", "Model Family", "Vendor", "Product", "Device", "Firmware Version", "Revision",
        "Rotation Rate", "TRIM Command", "Zoned Device", "Device type", "NVMe Version", "Total NVM Capacity",
        "ATA Version is", "User Capacity", "Sector Size", "Sector Sizes", "Add. Product Id",
        "Serial Number", "Serial number", "LU WWN Device Id", "Logical Unit id", "Transport protocol",
    )
)  # fmt: skip
_NAMES = frozenset(("Device Model", "Model Family", "Model Number", "Vendor", "Product"))
_OF_DISKS = frozenset(
    ("User Capacity", "Device type", "Model Family", "Rotation Rate", "LU WWN Device Id", "TRIM Command")
)
"""Lines that nothing but smartctl prints."""
_CAPACITY = re.compile(r"(\d[^[\n]{0,60}?) ?bytes(?: \[(\d+(?:[^\d\]]{1,3}\d+)?) ([KMGTPE])B\])?")
"""Digits in groups, whatever stands between them in somebody's language and code page."""
_UNITS = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_LARGEST_BYTES = 200e12
"""No disk is nearly as large."""
_SECTOR = re.compile(r"(\d{3,4}) bytes (?:logical/)?physical")
_RPM = re.compile(r"(\d{4,5}) rpm")
_RECORDING = re.compile(r"Recording Type\s*:\s*(SMR|CMR)\b")
_SCSI_ZONED = re.compile(r"^(Host aware|Device managed) zoned block capable", re.MULTILINE)
_IDENTIFY_TRIM = re.compile(r"^ *169 +0 +1 +Trim bit", re.MULTILINE)
_IDENTIFY_ZONED = re.compile(r"^ *69 +1:0 +(?:0x)?0*([12]) +Zoned Cap", re.MULTILINE)
_FLASH = re.compile(r"Wear_Level|Wearout_Indicator|SSD_Life|Percent_Lifetime|NAND_|(?:Avg|Average|Max|Total)_Erase")
_PLATTERS = re.compile(r"Spin_Up_Time|Seek_Error_Rate|Spin_Retry_Count")
_NETWORK = re.compile(r"LIO-ORG|ISCSI|IET |SYNOLOGY +STORAGE|FREENAS|TRUENAS|NBD|COMSTAR|FABRICS", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\[No Information Found\]|\(none\)|[\W_x0]*$|.*/\d+:\d+:\d+:\d+", re.IGNORECASE)
"""What stands where a name is missing."""
_BRIDGE = re.compile(r"(?:Unknown|Unsupported|Broken) USB bridge[^\r\n]*", re.IGNORECASE)
_ASLEEP = re.compile(r"Device is in STANDBY", re.IGNORECASE)
"""Not SLEEP, which smartctl also reports for bridges without ATA commands."""
_FAILED_DEVICE = re.compile(r"(/dev/[\w/!.-]+)")
_HDPARM = re.compile(r"^\s*(?:ATA device, with|Firmware Revision:)", re.MULTILINE)
_SCANNED = re.compile(r"^/dev/\S+ -d \S+ # ", re.MULTILINE)
_TITLE = re.compile(r"^=+ ?START OF [A-Z]", re.MULTILINE)
_FURTHER = re.compile(r"START OF (?!INFO)[A-Z /,-]+ SECTION|\b(?:[Ll]og|SCT|Recording Type|Self-test)\b")
_WWN = re.compile(r"(?:0x|naa\.)?5 ?([0-9a-f]{6})", re.IGNORECASE)


_FOREIGN = N_("This isn't output of smartctl; `smartctl -x DEVICE` prints it.")
_NAMELESS = N_("smartctl reported no model name.")
_BROKEN = N_("Output of smartctl is cut off here: its beginning or end is missing, and no disk is named.")
_LIST = N_("This is a list of devices, which says nothing about them.")
_IN_OUTPUT = N_("{name} in smartctl's output")
_OF_A_CALL = ("source", "problem", "asleep", "bridge", "trim_where", "zoned_where")
_MAKERS = {
    **dict.fromkeys(("000c50", "002037"), "Seagate"),
    **dict.fromkeys(("0014ee", "0090a9"), "Western Digital"),
    **dict.fromkeys(("000cca",), "HGST"),
    **dict.fromkeys(("000039",), "Toshiba"),
    **dict.fromkeys(("0024e9", "0000f0"), "Samsung"),
    **dict.fromkeys(("00000e",), "Fujitsu"),
}
"""Makers of hard disks by the beginning of their WWNs (IEEE's list)."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Data of one output of smartctl, with harmless texts."""

    facts: SmrFacts
    serial: str = ""
    rpm: int | None = None
    health: str = ""
    """`good`, `failing`, or empty if it was not reported."""
    temperature_c: int | None = None
    power_on_hours: int | None = None
    wear: Wear = NOT_REPORTED
    version: tuple[int, ...] = ()
    """Version of smartctl, for JSON."""
    device: str = ""
    """Path of the device that was asked."""
    line: int = 1
    """Where it begins in what was pasted."""
    unread: bool = False
    """Whether it isn't output of smartctl, or cannot be read."""
    talk: bool = False
    """Whether it tells of no disk and of no failure, as a list of devices or the version of smartctl."""
    further: bool = False
    """Whether it is a call for more about a disk that another call names."""


def parse(output: bytes) -> Reading:
    """Data of the first output in a file; for foreign output only `SmrFacts.problem` is set."""
    return next(iter(parse_each(output)))


def parse_each(output: bytes) -> list[Reading]:
    """A reading for each disk in a paste, and for each call or place that answers of none."""
    readings = [_reading(piece) for piece in pieces(output)]
    return _disks(readings) or [Reading(parse_text(""))]


def _reading(piece: Piece) -> Reading:
    if piece.problem:
        return Reading(SmrFacts("smartctl", problem=safe(piece.problem)), line=piece.line, unread=True)
    if piece.document is not None:
        return replace(parse_json(piece.document), line=piece.line)
    facts = parse_text(piece.text)
    device = _FAILED_DEVICE.search(facts.problem)
    return Reading(
        facts,
        device=device[1] if device else piece.asked,
        line=piece.line,
        unread=facts.problem in (_FOREIGN, _BROKEN),
        talk=facts.problem in (_FOREIGN, _LIST),
        further=facts.problem == _NAMELESS and INFORMATION not in piece.text,
    )


def _disks(readings: list[Reading]) -> list[Reading]:
    """One for each disk: further calls on it belong to it, and so do failed ones if another one was answered."""
    answered = {reading.device for reading in readings if reading.facts.model and reading.device}
    disks: list[Reading] = []
    for reading in readings:
        before = next((disk for disk in reversed(disks) if disk.device == reading.device), None)
        if reading.further and disks and (before or not reading.device):
            mine = disks.index(before) if before else -1
            disks[mine] = _joined(disks[mine], reading)
        elif not reading.talk and (reading.facts.model or reading.device not in answered):
            disks.append(reading)
    return disks or readings[:1]


def _joined(disk: Reading, part: Reading) -> Reading:
    """A disk's reading with what a further call answers of it."""
    mine = disk.facts
    answers = {
        field.name: getattr(part.facts, field.name) for field in fields(part.facts) if field.name not in _OF_A_CALL
    }
    more = {name: value for name, value in answers.items() if value and not getattr(mine, name)}
    return replace(disk, facts=replace(mine, **more), wear=disk.wear.or_else(part.wear))


def parse_text(text: str) -> SmrFacts:
    """Facts from the text of `smartctl -i`, `-a` or `-x`."""
    start = max(text.find(INFORMATION), 0)
    if not start and (banner := _VERSION.search(text)):
        start = banner.start()
    end = text.find(_READINGS, start, start + _HEADER_BYTES)
    header = _fields(text[start : end if end > start else start + _HEADER_BYTES])
    version = _VERSION.search(text, 0, start + _HEADER_BYTES)
    capacity = _text_capacity(header.get("User Capacity", ""))
    model = "" if _HDPARM.search(text) and not version else _text_model(header)
    if model and INFORMATION in text and header.keys() <= _NAMES and shipped_table().may_be_cut(model):
        model = ""  # the output ends here, perhaps within the name
    trim = header.get("TRIM Command", "").startswith("Available")
    identify_trim = "Trim bit" in text and _IDENTIFY_TRIM.search(text) is not None
    zoned, zoned_where = _text_zoned(header, text)
    recording = _RECORDING.search(text) if "Recording Type" in text else None
    medium = _text_medium(header, text)
    opening = text if not model else text[:start]
    bridge = _BRIDGE.search(opening)
    recent = version is not None and (int(version[1]), int(version[2])) >= _TRIM_VERSION
    return SmrFacts(
        source="smartctl",
        model=model,
        family=header.get("Model Family", ""),
        firmware=header.get("Firmware Version", header.get("Revision", "")),
        standard=header.get("ATA Version is", ""),
        capacity_bytes=capacity if capacity < _LARGEST_BYTES else 0,
        sector_bytes=int(sector[1])
        if (sector := _SECTOR.search(header.get("Sector Size", header.get("Sector Sizes", ""))))
        else 0,
        rpm=int(rate[1]) if (rate := _RPM.match(header.get("Rotation Rate", ""))) else 0,
        medium=medium,
        peripheral=header.get("Device type", "").lower(),
        maker=_maker(header.get("LU WWN Device Id", header.get("Logical Unit id", ""))),
        zoned=zoned,
        zoned_where=zoned_where,
        recording=_recording(recording[1]) if recording else "",
        trim=trim or identify_trim,
        trim_where=N_("TRIM Command in smartctl's output") if trim else N_("IDENTIFY DEVICE word 169"),
        trim_would_show=recent and "Device Model" in header,
        recent=recent,
        flash_attributes=not medium and _has_flash_attributes(text),
        bridge=safe(bridge[0]) if bridge else "",
        volume=names_a_volume(model),
        network=_is_network(model, header.get("Transport protocol", "")),
        asleep=not model and _ASLEEP.search(opening) is not None,
        problem="" if model else _text_problem(text, header, capacity, version is not None),
    )


def _text_problem(text: str, header: Mapping[str, str], capacity: int, by_smartctl: bool) -> str:
    """Why a text names no model."""
    if capacity >= _LARGEST_BYTES:
        return N_("The disk answers garbage: {value}.").format(value=header["User Capacity"])
    if failed := MESSAGE.search(text):
        return safe(failed[0].strip())
    if _SCANNED.search(text):
        return _LIST
    if _HDPARM.search(text) or not (by_smartctl or _OF_DISKS & header.keys() or _TITLE.search(text)):
        return _FOREIGN
    if by_smartctl and ("User Capacity" in header or (INFORMATION not in text and _FURTHER.search(text))):
        return _NAMELESS
    return _BROKEN


def _maker(wwn: str) -> str:
    """Whose number a disk has, if it is that of a maker of hard disks."""
    number = _WWN.match(wwn)
    return _MAKERS.get(number[1].lower(), "") if number else ""


def _is_network(model: str, transport: str) -> bool:
    return "iscsi" in transport.lower() or _NETWORK.search(model) is not None


def _fields(opening: str) -> dict[str, str]:
    """The relevant lines of a opening, harmless; the first of each name."""
    lines: dict[str, str] = {}
    for line in opening.split("\n"):
        name, colon, value = line.partition(":")
        if colon and (name := name.rstrip()) in _FIELDS and name not in lines:
            lines[name] = safe(value.strip()).strip()
    return lines


def _text_capacity(words: str) -> int:
    """Capacity in bytes; 0 if the exact number and the rounded one disagree, as in a damaged file."""
    match = _CAPACITY.match(words)
    if match is None or not match[2]:
        return 0
    exact = int(re.sub(r"\D", "", match[1]) or "0")
    rounded = float(re.sub(r"\D+", ".", match[2])) * _UNITS[match[3]]
    return exact if abs(exact - rounded) <= 0.01 * rounded else 0


def _text_model(header: Mapping[str, str]) -> str:
    if model := named(header.get("Device Model", header.get("Model Number", ""))):
        return model
    if "Product" in header or "Vendor" in header:
        return scsi_name(*(named(header.get(name, "")) for name in ("Vendor", "Product", "Add. Product Id")))
    name, version, _ = header.get("Device", "").partition("Version:")  # SCSI before smartctl 5.41
    return named(name.rstrip()) if version else ""


def named(words: str) -> str:
    """A name, or nothing where a placeholder stands in its place."""
    return "" if _PLACEHOLDER.match(words) else words


def _text_medium(header: Mapping[str, str], text: str) -> Medium:
    rate = header.get("Rotation Rate", "")
    if "NVMe Version" in header or "Total NVM Capacity" in header or ("Model Number" in header and "NVMe" in text):
        return "nvme"
    if rate.startswith("Solid State"):
        return "solid-state"
    return "rotating" if _RPM.match(rate) else ""


def _text_zoned(header: Mapping[str, str], text: str) -> tuple[Zoned, str]:
    if zoned := _zoned(header.get("Zoned Device", "")):
        return zoned, N_("Zoned Device in smartctl's output")
    if "zoned block capable" in text and (scsi := _SCSI_ZONED.search(text)):
        return _zoned(scsi[1]), N_("VPD page B1 in smartctl's output")
    if "Zoned Cap" in text and (word := _IDENTIFY_ZONED.search(text)):
        return ("host-aware" if word[1] == "1" else "drive-managed"), N_("IDENTIFY DEVICE word 69")
    return "", ""


def _zoned(words: str) -> Zoned:
    """Kind of zones by smartctl's words: `Device managed zones`, `host_aware`, …"""
    flat = re.sub(r"[\s_-]+", " ", words.lower())
    if "host aware" in flat:
        return "host-aware"
    return "drive-managed" if re.search(r"(device|drive) managed", flat) else ""


def _recording(word: object) -> Recording:
    return "SMR" if word == "SMR" else "CMR" if word == "CMR" else ""


def _has_flash_attributes(text: str) -> bool:
    return _FLASH.search(text) is not None and _PLATTERS.search(text) is None


def parse_json(data: Any) -> Reading:
    """Facts and condition from `smartctl --json`, whose keys changed with the versions 7.0 to 7.5."""
    data = data if isinstance(data, Mapping) else {}
    run, device, rate = mapping(data, "smartctl"), mapping(data, "device"), data.get("rotation_rate")
    messages = " ".join(str(message.get("string", "")) for message in rows(run.get("messages")))
    facts = _json_facts(data, messages)
    passed = mapping(data, "smart_status").get("passed")
    return Reading(
        facts,
        serial=_string(data, "serial_number"),
        rpm=rate if isinstance(rate, int) and rate > 1 else None,
        health={True: "good", False: "failing"}.get(passed, "") if isinstance(passed, bool) else "",
        temperature_c=_whole(mapping(data, "temperature").get("current")),
        power_on_hours=_whole(mapping(data, "power_on_time").get("hours")),
        wear=wear(data),
        version=_version(run),
        device=_string(device, "name") or _asked(messages),
        unread=facts.problem == _FOREIGN,
        talk=facts.problem in (_FOREIGN, _LIST) or (facts.problem == _NAMELESS and not device),
        further=facts.problem == _NAMELESS and not facts.asleep,
    )


def _json_facts(data: Mapping[str, Any], messages: str) -> SmrFacts:
    mode, protocol = mapping(data, "power_mode"), str(mapping(data, "device").get("protocol", ""))
    model, rate = _json_model(data), data.get("rotation_rate")
    capacity, oui = _json_capacity(data), _whole(mapping(data, "wwn").get("oui"))
    zoned, zoned_where = _json_zoned(data)
    attributes = rows(mapping(data, "ata_smart_attributes").get("table"))
    attribute_names = " ".join(str(row.get("name", "")) for row in attributes)
    knows_trim = _version(mapping(data, "smartctl")) >= _TRIM_VERSION
    return SmrFacts(
        source="smartctl",
        model=model,
        family=_string(data, "model_family"),
        firmware=_string(data, "firmware_version", "scsi_revision", "revision"),
        standard=_string(mapping(data, "ata_version"), "string"),
        capacity_bytes=capacity if capacity < _LARGEST_BYTES else 0,
        sector_bytes=_whole(data.get("physical_block_size")) or 0 if protocol == "ATA" else 0,
        rpm=_whole(rate) or 0,
        medium=_json_medium(protocol, rate),
        peripheral=str(mapping(data, "device_type").get("name", "")).lower(),
        maker=_maker(f"5{oui:06x}" if oui else _string(data, "logical_unit_id")),
        zoned=zoned,
        zoned_where=zoned_where,
        recording=_farm_recording(data),
        trim=mapping(data, "trim").get("supported") is True,
        trim_where=_IN_OUTPUT.format(name="trim.supported"),
        trim_would_show=knows_trim and protocol == "ATA",
        recent=knows_trim,
        flash_attributes=not isinstance(rate, int) and _has_flash_attributes(attribute_names),
        bridge=safe(match[0]) if (match := _BRIDGE.search(messages)) else "",
        volume=names_a_volume(model),
        network=_is_network(model, str(mapping(data, "scsi_transport_protocol").get("name", ""))),
        asleep=_ASLEEP.search(messages) is not None
        or "STANDBY" in f"{mode.get('name')} {mode.get('ata_string')}".upper(),
        problem="" if model else _json_problem(data, capacity, safe(messages)),
    )


def _asked(messages: str) -> str:
    device = _FAILED_DEVICE.search(messages)
    return safe(device[1]) if device else ""


def _json_model(data: Mapping[str, Any]) -> str:
    if data.get("scsi_product") or data.get("product"):
        return scsi_name(named(_string(data, "scsi_vendor", "vendor")), named(_string(data, "scsi_product", "product")))
    return named(_string(data, "model_name", "scsi_model_name")) or named(_string(data, "scsi_vendor", "vendor"))


def _json_problem(data: Mapping[str, Any], capacity: int, messages: str) -> str:
    """Why a document names no model."""
    if capacity >= _LARGEST_BYTES:
        return N_("The disk answers garbage: a size of {count} bytes.").format(count=capacity)
    if "devices" in data:
        return _LIST
    if not data.keys() & {"smartctl", "json_format_version", "device"}:
        return _FOREIGN
    return messages or _NAMELESS


def _json_medium(protocol: str, rate: object) -> Medium:
    if protocol == "NVMe":
        return "nvme"
    if isinstance(rate, int) and not isinstance(rate, bool):
        return "rotating" if rate > 1 else "solid-state"
    return ""


def _json_capacity(data: Mapping[str, Any]) -> int:
    """Capacity in bytes; 0 if it is not the number of blocks times their size."""
    capacity = mapping(data, "user_capacity")
    size, blocks, block = (
        _whole(it) or 0 for it in (capacity.get("bytes"), capacity.get("blocks"), data.get("logical_block_size"))
    )
    return size if size == blocks * block else 0


def _json_zoned(data: Mapping[str, Any]) -> tuple[Zoned, str]:
    if zoned := _zoned(str(mapping(data, "zoned_device").get("capabilities", ""))):
        return zoned, _IN_OUTPUT.format(name="zoned_device.capabilities")
    for key, value in data.items():
        if value is True and "zoned_block_capable" in key and (zoned := _zoned(key)):
            return zoned, _IN_OUTPUT.format(name=safe(key))
    return "", ""


def _farm_recording(data: Mapping[str, Any]) -> Recording:
    for key, log in data.items():
        if "farm" in key and isinstance(log, Mapping):
            for page in log.values():
                if isinstance(page, Mapping) and (recording := _recording(page.get("drive_recording_type"))):
                    return recording
    return ""


def _version(run: Mapping[str, Any]) -> tuple[int, ...]:
    version = run.get("version")
    return tuple(part for part in version if isinstance(part, int)) if isinstance(version, list) else ()


def _string(data: Mapping[str, Any], *keys: str) -> str:
    """The first of `keys` that holds text, harmless."""
    return next((safe(data[key]).strip() for key in keys if isinstance(data.get(key), str)), "")


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
