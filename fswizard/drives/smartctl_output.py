"""Facts for a verdict, and the condition of a disk, from output of smartctl of any version."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from fswizard.drives.models import names_a_volume, scsi_name, shipped_table
from fswizard.drives.pastes import FARM, LONGEST_VALUE, NAMES, Call, calls, cleaned, rows
from fswizard.drives.smr import Medium, SmrFacts
from fswizard.language import N_
from fswizard.model.text import safe
from fswizard.system.block_stats import SECTOR_BYTES

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
_FLASH = re.compile(r"Wear_Level|Wearout_Indicator|SSD_Life|Percent_Lifetime|NAND_|(?:Avg|Average|Max|Total)_Erase")
_PLATTERS = re.compile(r"Spin_Up_Time|Seek_Error_Rate|Spin_Retry_Count")
_NETWORK = re.compile(r"LIO-ORG|ISCSI|IET |SYNOLOGY +STORAGE|FREENAS|TRUENAS|NBD|COMSTAR|FABRICS", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\[No Information Found\]|\(none\)|[\W_x0]*$|.*/\d+:\d+:\d+:\d+", re.IGNORECASE)
"""What stands where a name is missing."""
_DEVICE = re.compile(r"/dev/[\w/!.-]+")
_REFUSAL = re.compile(
    r"(?:/dev/[^\s:]{1,60}:? )?"
    r"(?:Smartctl open device|Read Device Identity failed|Read NVMe|Standard Inquiry|Short INQUIRY|CHECK POWER|"
    r"Device is in (?:STANDBY|SLEEP|IDLE)|smartctl requires a device|UNRECOGNIZED OPTION|INVALID ARGUMENT|"
    r"Unable to detect device type|(?:Unknown|Unsupported|Broken) USB bridge|requires option|[Uu]nable to open|"
    r"No such device|device successfully opened|smartctl[^\s:]{0,8}: (?:command )?not found|"
    r"smartctl\S{0,8} is not recogni|Error=\d)(?:(?! ====|<\D|\",|\\)[^\n]){0,120}"
)
"""What smartctl, or the shell in its place, says where there is no answer."""
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
_ONLY_SMARTCTL = {
    "INFORMATION", "User Capacity", "Device type", "Model Family", "Rotation Rate", "LU WWN Device Id", "TRIM Command",
    "banner",
}  # fmt: skip
"""Lines that nothing but smartctl prints."""
_NVME = (
    "PCI Vendor/Subsystem ID", "PCI Vendor ID", "IEEE OUI Identifier", "Total NVM Capacity", "Number of Namespaces",
)  # fmt: skip
"""Lines in which an NVMe disk says who made it; they hold zeros where another disk was asked as NVMe."""
_KEYS = {
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
    "zoned_device.capabilities": "Zoned Device",
    "trim.supported": "TRIM Command",
    "physical_block_size": "Sector Size",
    "logical_unit_id": "Logical Unit id",
    "scsi_transport_protocol.name": "Transport protocol",
    "nvme_pci_vendor.id": "PCI Vendor ID",
    "nvme_ieee_oui_identifier": "IEEE OUI Identifier",
    "nvme_total_capacity": "Total NVM Capacity",
    "nvme_number_of_namespaces": "Number of Namespaces",
}
"""Keys of smartctl's JSON, which changed from 7.0 to 7.5, with the lines that say the same."""

_NVME_UNIT_BYTES = 512_000
"""Unit of bytes written: thousands of 512 bytes (NVM Express Base Specification, SMART log)."""
_PERCENTAGE_USED, _SECTORS_WRITTEN = "7 8", "1 24"
"""Page and offset in the device statistics (ACS-4, 9.5)."""
_ATTRIBUTES = {
    "Samsung": ("177 Wear_Leveling_Count", "241 Total_LBAs_Written", SECTOR_BYTES),
    "Crucial": ("202 Percent_Lifetime_Remain", "246 Total_LBAs_Written", SECTOR_BYTES),
    "Micron": ("202 Percent_Lifetime_Remain", "246 Total_LBAs_Written", SECTOR_BYTES),
    "Intel": ("233 Media_Wearout_Indicator", "241 Host_Writes_32MiB", 32 << 20),
}
"""By the beginning of a family's name in smartctl's database: the attribute whose normalised value is the percentage of
life that remains, the attribute of the data written, and bytes for each count. Other makers' are not read: of two disks
that call one `Total_LBAs_Written`, one counts sectors and the other 32 MiB at a time.

Samsung's SMART attribute white paper; Micron TN-FD-22 (attributes 202, 246); Intel SSD DC S3500 Product
Specification, table of SMART attributes (E9h declines linearly from 100 to 1; F1h counts 65,536 sectors)."""

_FOREIGN = N_("This isn't output of smartctl; `smartctl -x DEVICE` prints it.")
_NAMELESS = N_("smartctl reported no model name.")
_BROKEN = N_("Output of smartctl is cut off here: its beginning or end is missing, and no disk is named.")
_LIST = N_("This is a list of devices, which says nothing about them.")


@dataclass(frozen=True, slots=True)
class Reading:
    """Data of one output of smartctl, with harmless texts."""

    facts: SmrFacts
    asleep: bool = False
    serial: str = ""
    firmware: str = ""
    health: str = ""
    """`good`, `failing`, or empty if it was not reported."""
    temperature_c: int | None = None
    power_on_hours: int | None = None
    life_used_percent: int | None = None
    written_bytes: int | None = None
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
    talk = Call(text=cleaned(output))
    for call in calls(output):
        _take_document(call)
        problem = _problem(call)
        disk = next((disk for disk in reversed(disks) if call.device in ("", disk.device)), None)
        serials = {each.lines["Serial Number"] for each in (disk, call) if each and "Serial Number" in each.lines}
        if problem == _NAMELESS and disk and "INFORMATION" not in call.lines and len(serials) < 2:
            disk.lines = {**call.lines, **disk.lines}
            disk.document = {**call.document, **disk.document}
            disk.text += call.text
        elif problem == _LIST or (problem == _NAMELESS and call.document and not call.device):
            talk = call
        elif problem != _FOREIGN:
            disks.append(call)
    answered = {call.device for call in disks if _model(call)} - {""}
    return [_reading(call) for call in disks if _model(call) or call.device not in answered] or [_reading(talk)]


def _take_document(call: Call) -> None:
    """Add the lines that say the same as a document, and the device that is named where there is no answer."""
    answers, lines = call.document, call.lines
    for key, name in _KEYS.items():
        if isinstance(answers.get(key), str | int):
            lines.setdefault(name, safe(str(answers[key])[:LONGEST_VALUE]).strip())
    if "Product" in lines:
        lines.pop("Device Model", None)
    if isinstance(answers.get("wwn.oui"), int):
        lines["LU WWN Device Id"] = f"{answers.get('wwn.naa')} {answers['wwn.oui']:06x}"
    if version := answers.get("smartctl.version"):
        lines["banner"] = ".".join(map(str, version)) if isinstance(version, list) else ""
    if answers:
        call.text = " ".join(str(row.get("name")) for row in rows(answers.get("ata_smart_attributes.table")))
    call.device = call.device or "".join(_DEVICE.findall(_refusal(call))[:1])


def _refusal(call: Call) -> str:
    """What smartctl, or the shell in its place, says instead of an answer."""
    if messages := rows(call.document.get("smartctl.messages")):
        return safe(" ".join(str(row.get("string")) for row in messages)[: 2 * LONGEST_VALUE])
    refusal = _REFUSAL.search(call.text)
    return safe(refusal[0].strip()) if refusal else ""


def _reading(call: Call) -> Reading:
    facts, answers, lines = _facts(call), call.document, call.lines
    mode = f"{answers.get('power_mode.name')} {answers.get('power_mode.ata_string')}".upper()
    asleep = "STANDBY" in mode or "DEVICE IS IN STANDBY" in _refusal(call).upper()
    passed = answers.get("smart_status.passed")
    life_used_percent, written_bytes = _wear(answers)
    return Reading(
        facts,
        asleep=asleep and not facts.model,  # not SLEEP, which bridges without ATA commands report, too
        serial=lines.get("Serial Number", ""),
        firmware=lines.get("Firmware Version", lines.get("Revision", "")),
        health="good" if passed is True else "failing" if passed is False else "",
        temperature_c=_whole(answers.get("temperature.current")),
        power_on_hours=_whole(answers.get("power_on_time.hours")),
        life_used_percent=life_used_percent,
        written_bytes=written_bytes,
        version=_version(call),
        line=call.line,
        unread=bool(call.problem) or facts.problem in (_FOREIGN, _BROKEN),
    )


def _facts(call: Call) -> SmrFacts:
    lines, answers, text = defaultdict(str, call.lines), call.document, call.text
    model, capacity, refusal = _model(call), _capacity(call), _refusal(call)
    is_ata = answers.get("device.protocol") == "ATA" or ("Device Model" in call.lines and not answers)
    recent = _version(call) >= _TRIM_VERSION
    sector = _SECTOR.search(lines["Sector Size"] or lines["Sector Sizes"])
    rpm = _RPM.match(lines["Rotation Rate"])
    medium: Medium = "rotating" if rpm else ""
    if any(re.search("[1-9a-f]", lines[name].lower().removeprefix("0x")) for name in _NVME):
        medium = "nvme"  # that a disk was asked as NVMe says nothing
    elif lines["Rotation Rate"] == "0" or lines["Rotation Rate"].startswith("Solid State"):
        medium = "solid-state"
    wwn = _WWN.match(lines["LU WWN Device Id"] or lines["Logical Unit id"])
    farm = _RECORDING.search(text, text.find(FARM)) if FARM in call.lines else None
    recorded = [farm[1]] if farm else [answers[key] for key in answers if key.endswith("drive_recording_type")]
    zoned_where, zones = N_("Zoned Device in smartctl's output"), _ZONES.search(lines["Zoned Device"])
    if zones is None:
        pages = [key for key, value in answers.items() if "zoned_block_capable" in key and value is True]
        pages += _SCSI_ZONED.findall(text) if "Product" in call.lines else []
        zoned_where, zones = N_("VPD page B1 in smartctl's output"), _ZONES.search(" ".join(pages))
    offers_trim = lines["TRIM Command"].startswith(("Available", "True"))
    worn = _FLASH.search(text) is not None and not _PLATTERS.search(text)
    return SmrFacts(
        source="smartctl",
        model=model,
        family=lines["Model Family"],
        standard=lines["ATA Version is"],
        capacity_bytes=capacity if capacity < _LARGEST_BYTES else 0,
        sector_bytes=int(sector[1]) if sector and is_ata else 0,
        rpm=int(rpm[1]) if rpm else 0,
        medium=medium,
        peripheral=lines["Device type"].lower(),
        maker=_MAKERS.get(wwn[1].lower(), "") if wwn else "",
        zoned="" if zones is None else "host-aware" if zones[1] else "drive-managed",
        zoned_where=zoned_where if zones else "",
        recording="SMR" if "SMR" in recorded else "CMR" if "CMR" in recorded else "",
        trim=N_("TRIM Command in smartctl's output") if offers_trim else "",
        trim_would_show=recent and is_ata,
        recent=recent,
        flash_attributes=worn and not medium and (bool(answers) or "Device is" in call.lines),
        volume=names_a_volume(model),
        removable=_CARD in refusal and not model,
        network="iscsi" in lines["Transport protocol"].lower() or _NETWORK.search(model) is not None,
        problem=_problem(call),
    )


def _model(call: Call) -> str:
    """The model's name; empty if it is missing, or if the output ends within it."""
    lines = {name: line for name, line in call.lines.items() if name in NAMES and not _PLACEHOLDER.match(line)}
    model = lines.get("Device Model") or lines.get("Model Number") or lines.get("Device", "").partition("Version:")[0]
    if not model and lines:
        model = scsi_name(lines.get("Vendor", ""), lines.get("Product", ""), call.lines.get("Add. Product Id", ""))
    ends = "INFORMATION" in call.lines and call.lines.keys() <= {*NAMES, "Model Family", "INFORMATION", "banner"}
    return "" if ends and shipped_table().may_be_cut(model) else model.strip()


def _version(call: Call) -> tuple[int, ...]:
    """Version of smartctl; JSON without one is taken for that of a recent release."""
    version = call.lines.get("banner", "7.2" if call.document else "")
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _capacity(call: Call) -> int:
    """Capacity in bytes; 0 if two figures for it disagree, as in a damaged file."""
    keys = ("user_capacity.bytes", "user_capacity.blocks", "logical_block_size")
    size, blocks, block = (_whole(call.document.get(key)) or 0 for key in keys)
    match = _CAPACITY.match(call.lines.get("User Capacity", ""))
    if match is None or not match[2]:
        return size if size == blocks * block else 0
    exact = int(re.sub(r"\D", "", match[1]) or "0")
    rounded = float(re.sub(r"\D+", ".", match[2])) * _UNITS[match[3]]
    return exact if abs(exact - rounded) <= 0.01 * rounded else 0


def _problem(call: Call) -> str:
    """Why an output names no model, or is not whole."""
    lines, answers = call.lines, call.document
    if call.problem or _model(call):
        return call.problem
    capacity = _capacity(call)
    if capacity >= _LARGEST_BYTES:
        value = lines.get("User Capacity", f"{capacity} bytes")
        return N_("The disk answers garbage: {value}.").format(value=value)
    if "devices" in answers:
        return _LIST
    if refusal := _refusal(call):
        return refusal
    whole_document = bool(answers.keys() & {"smartctl.version", "device.name"})
    is_further = "INFORMATION" not in lines and (call.identified or _LOG.search(call.text))
    if whole_document or ("banner" in lines and ("User Capacity" in lines or is_further)):
        return _NAMELESS
    by_smartctl = call.identified or answers or _ONLY_SMARTCTL & lines.keys()
    return _BROKEN if by_smartctl else _FOREIGN


def _wear(answers: dict[str, Any]) -> tuple[int | None, int | None]:
    """Percentage of life used and bytes written: by a standard, or else by attributes of the disk's maker."""
    nvme = "nvme_smart_health_information_log"
    statistics = {
        f"{page.get('number')} {row.get('offset')}": row.get("value")
        for page in rows(answers.get("ata_device_statistics.pages"))
        for row in rows(page.get("table"))
        if row.get("flags.valid") is True
    }
    named = {f"{row.get('id')} {row.get('name')}": row for row in rows(answers.get("ata_smart_attributes.table"))}
    family = str(answers.get("model_family")).partition(" ")[0] if answers.get("rotation_rate") == 0 else ""
    remaining, counted, unit_bytes = _ATTRIBUTES.get(family, ("", "", 0))
    remains = _whole(named.get(remaining, {}).get("value"))
    percentages = (
        answers.get(f"{nvme}.percentage_used"),
        statistics.get(_PERCENTAGE_USED),
        answers.get("endurance_used.current_percent"),
        answers.get("scsi_percentage_used_endurance_indicator"),
        100 - remains if remains is not None else None,
    )
    counts = (
        (answers.get(f"{nvme}.data_units_written"), _NVME_UNIT_BYTES),
        (statistics.get(_SECTORS_WRITTEN), SECTOR_BYTES),
        (named.get(counted, {}).get("raw.value"), unit_bytes),
    )
    used = (whole for value in percentages if (whole := _whole(value)) is not None and whole >= 0)
    written = (whole * unit for value, unit in counts if (whole := _whole(value)) is not None and whole >= 0)
    return next(used, None), next(written, None)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
