"""Facts for a verdict from output of smartctl, of any version and in any form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fswizard.drives.smartctl_forms import (
    INFORMATION,
    VERSION,
    decoded,
    documents,
    holds_documents,
    mapping,
    parts,
    rows,
)
from fswizard.drives.smartctl_wear import NOT_REPORTED, Wear, wear
from fswizard.drives.smr import Medium, Recording, SmrFacts, Zoned
from fswizard.model.text import safe

_TRIM_VERSION = (7, 2)
"""First release that shows TRIM and zones (smartmontools' NEWS)."""
_HEADER_BYTES = 8192
_READINGS = "=== START OF READ SMART"
"""Title after the header; nothing below it identifies the disk."""
_FIELDS = frozenset(
    (
        "Device Model", "Model Number", "Model Family", "Vendor", "Product", "Device", "Firmware Version", "Revision",
        "Rotation Rate", "TRIM Command", "Zoned Device", "Device type", "NVMe Version", "Total NVM Capacity",
        "ATA Version is", "User Capacity", "Sector Size", "Sector Sizes", "Add. Product Id",
    )
)  # fmt: skip
_CAPACITY = re.compile(r"([\d,.'\u00a0\u202f ]{1,40}) bytes(?: \[(\d+(?:[.,]\d+)?) ([MGT])B\])?")
_SECTOR = re.compile(r"(\d{3,4}) bytes (?:logical/)?physical")
_RPM = re.compile(r"(\d{4,5}) rpm")
_RECORDING = re.compile(r"Recording Type\s*:\s*(SMR|CMR)\b")
_SCSI_ZONED = re.compile(r"^(Host aware|Device managed) zoned block capable", re.MULTILINE)
_IDENTIFY_TRIM = re.compile(r"^ *169 +0 +1 +Trim bit", re.MULTILINE)
_IDENTIFY_ZONED = re.compile(r"^ *69 +1:0 +(?:0x)?0*([12]) +Zoned Cap", re.MULTILINE)
_FLASH = re.compile(r"Wear_Level|Wearout_Indicator|SSD_Life|Percent_Lifetime|NAND_|(?:Avg|Average|Max|Total)_Erase")
_PLATTERS = re.compile(r"Spin_Up_Time|Seek_Error_Rate|Spin_Retry_Count")
_VOLUME = re.compile(
    r"LOGICAL|PERC |MEGARAID|MR9\d|SMART ARRAY|VIRTUAL|VMWARE|QEMU|VBOX|RAID|ISCSI|DISK ARRAY|MSFT", re.IGNORECASE
)
_BRIDGE = re.compile(r"(?:Unknown|Unsupported|Broken) USB bridge[^\r\n]*", re.IGNORECASE)
_ASLEEP = re.compile(r"Device is in STANDBY", re.IGNORECASE)
"""Not SLEEP, which smartctl also reports for bridges without ATA commands."""
_FAILED = re.compile(
    r"^(?:Smartctl open device|Read Device Identity failed|Read NVMe|Standard Inquiry)[^\r\n]*", re.MULTILINE
)


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


def parse(output: bytes) -> Reading:
    """Data of the first output in a file; for foreign output only `SmrFacts.problem` is set."""
    return next(parse_each(output))


def parse_each(output: bytes) -> Iterator[Reading]:
    """A reading for each disk in a file: texts, JSON documents, or a list of them."""
    text = decoded(output)
    if not holds_documents(text):
        yield from (Reading(parse_text(part)) for part in parts(text))
        return
    any_read = False
    try:
        for document in documents(text):
            any_read = True
            yield parse_json(document)
    except (ValueError, RecursionError) as error:
        if not any_read:  # text after the last document is ignored
            problem = safe(f"This can't be read as smartctl's JSON or YAML: {error}")
            yield Reading(SmrFacts("smartctl", problem=problem))


def parse_text(text: str) -> SmrFacts:
    """Facts from the text of `smartctl -i`, `-a` or `-x`."""
    start = max(text.find(INFORMATION), 0)
    end = text.find(_READINGS, start, start + _HEADER_BYTES)
    fields = _fields(text[start : end if end > start else start + _HEADER_BYTES])
    version = VERSION.search(text, 0, start + _HEADER_BYTES)
    model = _text_model(fields)
    medium = _text_medium(fields, text)
    trim = fields.get("TRIM Command", "").startswith("Available")
    identify_trim = "Trim bit" in text and _IDENTIFY_TRIM.search(text) is not None
    zoned, zoned_where = _text_zoned(fields, text)
    recording = _RECORDING.search(text) if "Recording Type" in text else None
    opening = text[: start or _HEADER_BYTES]
    bridge = _BRIDGE.search(opening)
    return SmrFacts(
        source="smartctl",
        model=model,
        family=fields.get("Model Family", ""),
        firmware=fields.get("Firmware Version", fields.get("Revision", "")),
        standard=fields.get("ATA Version is", ""),
        capacity_bytes=_text_capacity(fields.get("User Capacity", "")),
        sector_bytes=int(sector[1])
        if (sector := _SECTOR.search(fields.get("Sector Size", fields.get("Sector Sizes", ""))))
        else 0,
        rpm=int(rate[1]) if (rate := _RPM.match(fields.get("Rotation Rate", ""))) else 0,
        medium=medium,
        peripheral=fields.get("Device type", "").lower(),
        zoned=zoned,
        zoned_where=zoned_where,
        recording=_recording(recording[1]) if recording else "",
        trim=trim or identify_trim,
        trim_where="TRIM Command in smartctl's output" if trim else "IDENTIFY DEVICE word 169",
        trim_would_show=version is not None
        and (int(version[1]), int(version[2])) >= _TRIM_VERSION
        and "Device Model" in fields,
        flash_attributes=not medium and _has_flash_attributes(text),
        bridge=safe(bridge[0]) if bridge else "",
        volume=_VOLUME.search(model) is not None,
        asleep=_ASLEEP.search(opening) is not None,
        problem=safe(failed[0]) if (failed := _FAILED.search(opening)) else _problem(model, version is not None),
    )


def _fields(header: str) -> dict[str, str]:
    """The relevant lines of a header, harmless; the first of each name."""
    fields: dict[str, str] = {}
    for line in header.split("\n"):
        name, colon, value = line.partition(":")
        if colon and (name := name.rstrip()) in _FIELDS and name not in fields:
            fields[name] = safe(value.strip()).strip()
    return fields


def _text_capacity(words: str) -> int:
    """Capacity in bytes; 0 if the exact number and the rounded one disagree, as in a damaged file."""
    match = _CAPACITY.match(words)
    if match is None or not match[2]:
        return 0
    exact = int(re.sub(r"\D", "", match[1]) or "0")
    rounded = float(match[2].replace(",", ".")) * {"M": 1e6, "G": 1e9, "T": 1e12}[match[3]]
    return exact if abs(exact - rounded) <= 0.01 * rounded else 0


def _text_model(fields: Mapping[str, str]) -> str:
    if model := fields.get("Device Model", fields.get("Model Number", "")):
        return model
    if "Product" in fields or "Vendor" in fields:
        return " ".join(filter(None, (fields.get("Vendor"), fields.get("Product"), fields.get("Add. Product Id"))))
    return re.sub(r"\s+Version:.*", "", fields.get("Device", ""))  # SCSI before smartctl 5.41


def _text_medium(fields: Mapping[str, str], text: str) -> Medium:
    rate = fields.get("Rotation Rate", "")
    if "NVMe Version" in fields or "Total NVM Capacity" in fields or ("Model Number" in fields and "NVMe" in text):
        return "nvme"
    if rate.startswith("Solid State"):
        return "solid-state"
    return "rotating" if _RPM.match(rate) else ""


def _text_zoned(fields: Mapping[str, str], text: str) -> tuple[Zoned, str]:
    if zoned := _zoned(fields.get("Zoned Device", "")):
        return zoned, "Zoned Device in smartctl's output"
    if "zoned block capable" in text and (scsi := _SCSI_ZONED.search(text)):
        return _zoned(scsi[1]), "VPD page B1 in smartctl's output"
    if "Zoned Cap" in text and (word := _IDENTIFY_ZONED.search(text)):
        return ("host-aware" if word[1] == "1" else "drive-managed"), "IDENTIFY DEVICE word 69"
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


def _problem(model: str, by_smartctl: bool, messages: str = "") -> str:
    """Why there is no model, which smartctl may say in its `messages`."""
    if model:
        return ""
    if not by_smartctl:
        return "This isn't output of smartctl; `smartctl -x DEVICE` prints it."
    return messages or "smartctl reported no model name."


def parse_json(data: Any) -> Reading:
    """Facts and condition from `smartctl --json`, whose keys changed with the versions 7.0 to 7.5."""
    data = data if isinstance(data, Mapping) else {}
    run, mode = mapping(data, "smartctl"), mapping(data, "power_mode")
    protocol = str(mapping(data, "device").get("protocol", ""))
    model = _string(data, "model_name", "scsi_model_name") or " ".join(
        filter(None, (_string(data, "scsi_vendor", "vendor"), _string(data, "scsi_product", "product")))
    )
    rate = data.get("rotation_rate")
    zoned, zoned_where = _json_zoned(data)
    messages = " ".join(str(message.get("string", "")) for message in rows(run.get("messages")))
    attributes = rows(mapping(data, "ata_smart_attributes").get("table"))
    attribute_names = " ".join(str(row.get("name", "")) for row in attributes)
    facts = SmrFacts(
        source="smartctl",
        model=model,
        family=_string(data, "model_family"),
        firmware=_string(data, "firmware_version", "scsi_revision", "revision"),
        standard=_string(mapping(data, "ata_version"), "string"),
        capacity_bytes=_json_capacity(data),
        sector_bytes=_whole(data.get("physical_block_size")) or 0 if protocol == "ATA" else 0,
        rpm=_whole(rate) or 0,
        medium=_json_medium(protocol, rate),
        peripheral=str(mapping(data, "device_type").get("name", "")).lower(),
        zoned=zoned,
        zoned_where=zoned_where,
        recording=_farm_recording(data),
        trim=mapping(data, "trim").get("supported") is True,
        trim_where="trim.supported in smartctl's output",
        trim_would_show=_version(run) >= _TRIM_VERSION and protocol == "ATA",
        flash_attributes=not isinstance(rate, int) and _has_flash_attributes(attribute_names),
        bridge=safe(match[0]) if (match := _BRIDGE.search(messages)) else "",
        volume=_VOLUME.search(model) is not None,
        asleep=_ASLEEP.search(messages) is not None
        or "STANDBY" in f"{mode.get('name')} {mode.get('ata_string')}".upper(),
        problem=_problem(model, bool(run), safe(messages)),
    )
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
    )


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
        return zoned, "zoned_device.capabilities in smartctl's output"
    for key, value in data.items():
        if value is True and "zoned_block_capable" in key and (zoned := _zoned(key)):
            return zoned, f"{safe(key)} in smartctl's output"
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
