"""Facts for a verdict, and the condition of a disk, from output of smartctl of any version."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fswizard.drives.models import names_a_volume, scsi_name, shipped_table
from fswizard.drives.pastes import FARM, LONGEST_VALUE, NAMES, Call, calls, rows
from fswizard.drives.smartctl_wear import NOT_REPORTED, Wear, wear
from fswizard.drives.smr import Medium, SmrFacts, Zoned
from fswizard.language import N_
from fswizard.model.text import safe

_TRIM_VERSION = (7, 2)
"""First release that shows TRIM and zones (smartmontools' NEWS)."""
_CAPACITY = re.compile(r"(\d[^[]{0,60}?) ?bytes(?: \[(\d+(?:[^\d\]]{1,3}\d+)?) ([KMGTPE])B\])?")
"""Digits in groups, whatever stands between them in somebody's language and code page."""
_UNITS = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_LARGEST_BYTES = 200e12
"""No disk is nearly as large."""
_SECTOR = re.compile(r"(\d{3,4})(?: bytes (?:logical/)?physical|$)")
_RPM = re.compile(r"(\d{4,5})(?: rpm|$)")
_RECORDING = re.compile(r"Recording Type\s*:\s*(SMR|CMR)\b")
_SCSI_ZONED = re.compile(r"(?:Host aware|Device managed) zoned block capable")
_ZONES = re.compile(r"(host[ _-]aware)|(?:device|drive)[ _-]managed", re.IGNORECASE)
_IDENTIFY = re.compile(r"Word +Bit +Value")
_IDENTIFY_TRIM = re.compile(r"\b169 +0 +1 +Trim bit")
_IDENTIFY_ZONED = re.compile(r"\b69 +1:0 +(?:0x)?0*([12]) +Zoned Cap")
_FLASH = re.compile(r"Wear_Level|Wearout_Indicator|SSD_Life|Percent_Lifetime|NAND_|(?:Avg|Average|Max|Total)_Erase")
_PLATTERS = re.compile(r"Spin_Up_Time|Seek_Error_Rate|Spin_Retry_Count")
_NETWORK = re.compile(r"LIO-ORG|ISCSI|IET |SYNOLOGY +STORAGE|FREENAS|TRUENAS|NBD|COMSTAR|FABRICS", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\[No Information Found\]|\(none\)|[\W_x0]*$|.*/\d+:\d+:\d+:\d+", re.IGNORECASE)
"""What stands where a name is missing."""
_BRIDGE = re.compile(r"(?:Unknown|Unsupported|Broken) USB bridge.*", re.IGNORECASE)
_ASLEEP = re.compile(r"Device is in STANDBY", re.IGNORECASE)
"""Not SLEEP, which smartctl also reports for bridges without ATA commands."""
_DEVICE = re.compile(r"/dev/[\w/!.-]+")
_CARD = "/dev/mmcblk"
_LOG = re.compile(r"\b(?:[Ll]og|SCT|Self-test)\b")
"""In what a call prints that asks for more about a disk."""
_WWN = re.compile(r"(?:0x|naa\.)?5 ?([0-9a-f]{6})", re.IGNORECASE)
_MAKERS = {
    "000c50": "Seagate",
    "002037": "Seagate",
    "0014ee": "Western Digital",
    "0090a9": "Western Digital",
    "000cca": "HGST",
    "000039": "Toshiba",
    "0024e9": "Samsung",
    "0000f0": "Samsung",
    "00000e": "Fujitsu",
}
"""Makers of hard disks by the beginning of their WWNs (IEEE's list)."""
_ONLY_SMARTCTL = (
    "User Capacity",
    "Device type",
    "Model Family",
    "Rotation Rate",
    "LU WWN Device Id",
    "TRIM Command",
    "banner",
)
"""Lines that nothing but smartctl prints."""
_NVME = (
    "PCI Vendor/Subsystem ID",
    "PCI Vendor ID",
    "IEEE OUI Identifier",
    "Total NVM Capacity",
    "Number of Namespaces",
)
"""Lines in which an NVMe disk says who made it; they hold zeros where another disk was asked as NVMe."""
_KEYS = (
    ("Model Family", "model_family"),
    ("Vendor", "scsi_vendor"),
    ("Vendor", "vendor"),
    ("Product", "scsi_product"),
    ("Product", "product"),
    ("Device Model", "model_name"),
    ("Device Model", "scsi_model_name"),
    ("Firmware Version", "firmware_version"),
    ("Revision", "scsi_revision"),
    ("Revision", "revision"),
    ("Serial Number", "serial_number"),
    ("ATA Version is", "ata_version.string"),
    ("Rotation Rate", "rotation_rate"),
    ("Device type", "device_type.name"),
    ("Zoned Device", "zoned_device.capabilities"),
    ("TRIM Command", "trim.supported"),
    ("Logical Unit id", "logical_unit_id"),
    ("Transport protocol", "scsi_transport_protocol.name"),
    ("PCI Vendor ID", "nvme_pci_vendor.id"),
    ("IEEE OUI Identifier", "nvme_ieee_oui_identifier"),
    ("Total NVM Capacity", "nvme_total_capacity"),
    ("Number of Namespaces", "nvme_number_of_namespaces"),
)
"""Names of smartctl's lines with the keys that say the same in its JSON, which changed from 7.0 to 7.5."""

_FOREIGN = N_("This isn't output of smartctl; `smartctl -x DEVICE` prints it.")
_NAMELESS = N_("smartctl reported no model name.")
_BROKEN = N_("Output of smartctl is cut off here: its beginning or end is missing, and no disk is named.")
_LIST = N_("This is a list of devices, which says nothing about them.")


@dataclass(frozen=True, slots=True)
class Reading:
    """Data of one output of smartctl, with harmless texts."""

    facts: SmrFacts
    serial: str = ""
    health: str = ""
    """`good`, `failing`, or empty if it was not reported."""
    temperature_c: int | None = None
    power_on_hours: int | None = None
    wear: Wear = NOT_REPORTED
    version: tuple[int, ...] = ()
    """Version of smartctl."""
    line: int = 1
    """Where it begins in what was pasted."""
    unread: bool = False
    """Whether it isn't output of smartctl, or not all of it can be read."""


def parse(output: bytes) -> Reading:
    """Data of the first output in a file; for foreign output only `SmrFacts.problem` is set."""
    return parse_each(output)[0]


def parse_each(output: bytes) -> list[Reading]:
    """A reading for each disk in a paste, and for each call or place that answers of none."""
    disks: list[Call] = []
    of_device: dict[str, Call] = {}
    talk = Call(1)
    for call in calls(output):
        _take_document(call)
        problem = _problem(call)
        before = of_device.get(call.device) if call.device else next(iter(disks[-1:]), None)
        if problem == _NAMELESS and before and "INFORMATION" not in call.lines and _may_be_one(before, call):
            before.lines = {**call.lines, **before.lines}
            before.document = {**call.document, **before.document}
            before.text += call.text
        elif problem in (_LIST, _FOREIGN) or (problem == _NAMELESS and call.document and not call.device):
            talk = call
        else:
            disks.append(call)
            of_device[call.device] = call
    answered = {call.device for call in disks if _model(call)} - {""}
    return [_reading(call) for call in disks if _model(call) or call.device not in answered] or [_reading(talk)]


def _may_be_one(disk: Call, part: Call) -> bool:
    """Whether a call for more about a disk may be about this one."""
    serial = disk.lines.get("Serial Number", "")
    return not serial or part.lines.get("Serial Number", serial) == serial


def _take_document(call: Call) -> None:
    """Add the lines that say the same as a document, and the device that is named where there is no answer."""
    answers = call.document
    for name, key in _KEYS:
        if isinstance(answers.get(key), str | int):
            call.lines.setdefault(name, _text(answers[key]))
    if "Product" in call.lines:
        call.lines.pop("Device Model", None)
    if isinstance(answers.get("wwn.oui"), int):
        call.lines["LU WWN Device Id"] = f"{answers.get('wwn.naa')} {answers['wwn.oui']:06x}"
    if messages := [str(row.get("string")) for row in rows(answers.get("smartctl.messages"))]:
        call.lines["refusal"] = safe(" ".join(messages)[: 2 * LONGEST_VALUE])
    if version := answers.get("smartctl.version"):
        call.lines["banner"] = ".".join(map(str, version)) if isinstance(version, list) else ""
    if answers:
        call.text = " ".join(str(row.get("name")) for row in rows(answers.get("ata_smart_attributes.table")))
    if not call.device and (device := _DEVICE.search(call.lines.get("refusal", ""))):
        call.device = device[0]


def _reading(call: Call) -> Reading:
    facts, answers = _facts(call), call.document
    passed = answers.get("smart_status.passed")
    return Reading(
        facts,
        serial=call.lines.get("Serial Number", ""),
        health="good" if passed is True else "failing" if passed is False else "",
        temperature_c=whole(answers.get("temperature.current")),
        power_on_hours=whole(answers.get("power_on_time.hours")),
        wear=wear(answers),
        version=_version(call),
        line=call.line,
        unread=bool(call.problem) or facts.problem in (_FOREIGN, _BROKEN),
    )


def _facts(call: Call) -> SmrFacts:
    lines, answers, text = call.lines, call.document, call.text
    model, medium, capacity = _model(call), _medium(lines), _capacity(call)
    is_ata = answers.get("device.protocol") == "ATA" or ("Device Model" in lines and not answers)
    sector = _SECTOR.search(lines.get("Sector Size", lines.get("Sector Sizes", "")))
    if is_ata and answers:
        sector = _SECTOR.match(_text(answers.get("physical_block_size")))
    rate = _RPM.match(lines.get("Rotation Rate", ""))
    wwn = _WWN.match(lines.get("LU WWN Device Id", lines.get("Logical Unit id", "")))
    identify = text[words.end() :] if (words := _IDENTIFY.search(text)) else ""
    farm = _RECORDING.search(text, text.find(FARM)) if FARM in lines else None
    recorded = [farm[1]] if farm else [answers[key] for key in answers if key.endswith("drive_recording_type")]
    trim = lines.get("TRIM Command", "").startswith(("Available", "True"))
    zoned, zoned_where = _zoned(call, identify)
    worn = not medium and _FLASH.search(text) is not None and not _PLATTERS.search(text)
    refusal = lines.get("refusal", "")
    bridge = _BRIDGE.search(refusal)
    mode = f"{answers.get('power_mode.name')} {answers.get('power_mode.ata_string')}".upper()
    recent = _version(call) >= _TRIM_VERSION
    return SmrFacts(
        source="smartctl",
        model=model,
        family=lines.get("Model Family", ""),
        firmware=lines.get("Firmware Version", lines.get("Revision", "")),
        standard=lines.get("ATA Version is", ""),
        capacity_bytes=capacity if capacity < _LARGEST_BYTES else 0,
        sector_bytes=int(sector[1]) if sector else 0,
        rpm=int(rate[1]) if rate else 0,
        medium=medium,
        peripheral=lines.get("Device type", "").lower(),
        maker=_MAKERS.get(wwn[1].lower(), "") if wwn else "",
        zoned=zoned,
        zoned_where=zoned_where,
        recording="SMR" if "SMR" in recorded else "CMR" if "CMR" in recorded else "",
        trim=trim or _IDENTIFY_TRIM.search(identify) is not None,
        trim_where=N_("TRIM Command in smartctl's output") if trim else N_("IDENTIFY DEVICE word 169"),
        trim_would_show=recent and is_ata,
        recent=recent,
        flash_attributes=worn and (bool(answers) or "Device is" in lines),
        bridge=bridge[0] if bridge else "",
        volume=names_a_volume(model),
        removable=_CARD in refusal,
        network="iscsi" in lines.get("Transport protocol", "").lower() or _NETWORK.search(model) is not None,
        asleep=not model and (_ASLEEP.search(refusal) is not None or "STANDBY" in mode),
        problem=_problem(call),
    )


def _model(call: Call) -> str:
    """The model's name; empty if it is missing, or if the output ends within it."""
    lines = {
        name: "" if _PLACEHOLDER.match(call.lines[name]) else call.lines[name] for name in NAMES & call.lines.keys()
    }
    model = lines.get("Device Model") or lines.get("Model Number") or lines.get("Device", "").partition("Version:")[0]
    if not model and lines:
        more = call.lines.get("Add. Product Id", "")
        model = scsi_name(lines.get("Vendor", ""), lines.get("Product", ""), more)
    ends = "INFORMATION" in call.lines and call.lines.keys() <= {*NAMES, "Model Family", "INFORMATION", "banner"}
    return "" if ends and shipped_table().may_be_cut(model) else model.strip()


def _version(call: Call) -> tuple[int, ...]:
    """Version of smartctl; JSON without one is taken for that of a recent release."""
    version = call.lines.get("banner", "7.2" if call.document else "")
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _medium(lines: Mapping[str, str]) -> Medium:
    """What the disk's own answer says; that it was asked as NVMe says nothing."""
    if any(re.search(r"[1-9a-f]", lines.get(name, "").lower().removeprefix("0x")) for name in _NVME):
        return "nvme"
    rate = lines.get("Rotation Rate", "")
    if rate == "0" or rate.startswith("Solid State"):
        return "solid-state"
    return "rotating" if _RPM.match(rate) else ""


def _capacity(call: Call) -> int:
    """Capacity in bytes; 0 if two figures for it disagree, as in a damaged file."""
    keys = ("user_capacity.bytes", "user_capacity.blocks", "logical_block_size")
    size, blocks, block = (whole(call.document.get(key)) or 0 for key in keys)
    match = _CAPACITY.match(call.lines.get("User Capacity", ""))
    if match is None or not match[2]:
        return size if size == blocks * block else 0
    exact = int(re.sub(r"\D", "", match[1]) or "0")
    rounded = float(re.sub(r"\D+", ".", match[2])) * _UNITS[match[3]]
    return exact if abs(exact - rounded) <= 0.01 * rounded else 0


def _zoned(call: Call, identify: str) -> tuple[Zoned, str]:
    """Kind of zones and where the disk says so."""
    pages = [key for key, value in call.document.items() if "zoned_block_capable" in key and value is True]
    if "Product" in call.lines:
        pages += _SCSI_ZONED.findall(call.text)
    if zones := _ZONES.search(call.lines.get("Zoned Device", "")):
        return "host-aware" if zones[1] else "drive-managed", N_("Zoned Device in smartctl's output")
    if zones := _ZONES.search(" ".join(pages)):
        return "host-aware" if zones[1] else "drive-managed", N_("VPD page B1 in smartctl's output")
    if word := _IDENTIFY_ZONED.search(identify):
        return "host-aware" if word[1] == "1" else "drive-managed", N_("IDENTIFY DEVICE word 69")
    return "", ""


def _problem(call: Call) -> str:
    """Why an output names no model, or is not whole."""
    lines, answers = call.lines, call.document
    if call.problem or _model(call):
        return call.problem
    capacity = _capacity(call)
    if capacity >= _LARGEST_BYTES:
        value = lines.get("User Capacity", f"{capacity} bytes")
        return N_("The disk answers garbage: {value}.").format(value=value)
    if "listed" in lines or "devices" in answers:
        return _LIST
    if "refusal" in lines:
        return lines["refusal"]
    whole_document = bool(answers.keys() & {"smartctl.version", "device.name"})
    is_further = "INFORMATION" not in lines and (call.identified or _LOG.search(call.text))
    if whole_document or ("banner" in lines and ("User Capacity" in lines or is_further)):
        return _NAMELESS
    by_smartctl = call.identified or answers or {"INFORMATION", *_ONLY_SMARTCTL} & lines.keys()
    return _BROKEN if by_smartctl else _FOREIGN


def _text(value: object) -> str:
    return safe(str(value)[:LONGEST_VALUE]).strip()


def whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
