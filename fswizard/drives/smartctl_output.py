"""Extract the facts for an SMR verdict from smartctl output of any version, as text or JSON."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from fswizard.drives.models import names_a_volume, scsi_name
from fswizard.drives.pastes import NAMES, Output, cleaned, outputs
from fswizard.drives.smr import Medium, Recording, SmrFacts, Zoned
from fswizard.language import N_, _
from fswizard.model.text import safe

_TRIM_VERSION = [7, 2]
"""First release of smartmontools that shows TRIM and zones (NEWS)."""
_CAPACITY = re.compile(r"(\d[^[]{0,60}?) ?bytes \[(\d+(?:[^\d\]]{1,3}\d+)?) ([KMGTPE])B\]")
"""Capacity with any digit separators, as they depend on language and code page."""
_UNITS = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_MOST_OUTPUTS = 2000
_LARGEST_BYTES = 200e12
"""Upper limit for plausible capacities."""
_SECTOR = re.compile(r"(\d{3,4})(?: bytes (?:logical/)?physical|$)")
_RPM = re.compile(r"(\d{4,5})(?: rpm|$)")
_RECORDINGS: dict[str, Recording] = {"SMR": "SMR", "CMR": "CMR"}
_ZONES = re.compile(r"(host[ _-]aware)|(?:device|drive)[ _-]managed", re.IGNORECASE)
_FLASH = re.compile(r"Wear_Level|Wearout_Indicator|SSD_Life|Percent_Lifetime|NAND_|(?:Avg|Average|Max|Total)_Erase")
_PLATTERS = re.compile(r"Spin_Up_Time|Seek_Error_Rate|Spin_Retry_Count")
_NETWORK = re.compile(r"LIO-ORG|ISCSI|IET |SYNOLOGY +STORAGE|FREENAS|TRUENAS|NBD|COMSTAR|FABRICS", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\[No Information Found\]|\(none\)|[\W_x0]*$|.*/\d+:\d+:\d+:\d+", re.IGNORECASE)
"""Placeholders for a missing name."""
_REFUSAL = re.compile(
    r"(?:/dev/[^\s:]{1,60}:? )?"
    r"(?:Smartctl open device|Read Device Identity failed|Read NVMe|Standard Inquiry|Short INQUIRY|CHECK POWER|"
    r"Device is in (?:STANDBY|SLEEP|IDLE)|smartctl requires a device|UNRECOGNIZED OPTION|INVALID ARGUMENT|"
    r"Unable to detect device type|(?:Unknown|Unsupported|Broken) USB bridge|requires option|[Uu]nable to open|"
    r"No such device|device successfully opened|smartctl[^\s:]{0,8}: (?:command )?not found|"
    r"command not found: smartctl|smartctl\S{0,8} is not recogni|Error=\d)(?:(?! ====|<\D|\",|\\)[^\n]){0,120}"
)
"""Error messages of smartctl, or of the shell if smartctl is missing."""
_CARD = "/dev/mmcblk"
_LOG = re.compile(r"\b(?:[Ll]og|SCT|Self-test)\b")
"""Words in the output of calls that query logs."""
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
"""Hard disk makers by the OUI in their WWNs (IEEE registry)."""
_ONLY_SMARTCTL = {
    "INFORMATION", "User Capacity", "Device type", "Model Family", "Rotation Rate", "LU WWN Device Id", "TRIM Command",
    "banner",
}  # fmt: skip
"""Lines that only smartctl prints."""
_NVME = (
    "PCI Vendor/Subsystem ID", "PCI Vendor ID", "IEEE OUI Identifier", "Total NVM Capacity", "Number of Namespaces",
)  # fmt: skip
"""Lines that identify an NVMe disk; they are zero if another disk was queried as NVMe."""
_FOREIGN = N_("This isn't output of smartctl; `smartctl -x DEVICE` prints it.")
_NAMELESS = N_("smartctl reported no model name.")
_BROKEN = N_("Output of smartctl is cut off here: its beginning or end is missing, and no disk is named.")
_LIST = N_("This is a list of devices, which says nothing about them.")


@dataclass(frozen=True, slots=True)
class Reading:
    """Facts from one smartctl output, with sanitised texts."""

    facts: SmrFacts
    line: int
    """Line number of its beginning in the paste."""
    unread: bool
    """Whether it is no smartctl output, or is incomplete."""


def parse_each(pasted: bytes) -> list[Reading]:
    """Return a reading for each disk in a paste, and for each call without an answer; at least one."""
    text = cleaned(pasted)
    disks: list[Output] = []
    talk = Output(text=text)
    for number, output in enumerate(outputs(text)):
        if number == _MOST_OUTPUTS:
            problem = _("More than {count} outputs: the rest is not read.", count=number)
            disks.append(Output(output.at, problem=problem))
            break
        problem = problem_of(output)
        disk = next((disk for disk in reversed(disks) if output.device in ("", disk.device)), None)
        if problem == _NAMELESS and disk and _continues(disk, output):
            disk.lines = {**output.lines, **disk.lines}
            disk.text += output.text
        elif problem == _LIST or (problem == _NAMELESS and output.document and not output.device):
            talk = output
        elif problem != _FOREIGN:
            disks.append(output)
    answered = {output.device for output in disks if _model(output)} - {""}
    readings = []
    for output in disks or [talk]:
        if _model(output) or output.device not in answered:
            facts = facts_of(output)
            unread = bool(output.problem) or facts.problem in (_FOREIGN, _BROKEN)
            readings.append(Reading(facts, text.count("\n", 0, output.at) + 1, unread))
    return readings


def _continues(disk: Output, output: Output) -> bool:
    """Whether a nameless output is from another call for the same disk."""
    serials = {each.lines["Serial Number"] for each in (disk, output) if "Serial Number" in each.lines}
    return "INFORMATION" not in output.lines and len(serials) < 2


def facts_of(output: Output) -> SmrFacts:
    """Facts from an output; without a model name, `problem` says why."""
    lines = defaultdict(str, output.lines)
    model, capacity = _model(output), _capacity(lines["User Capacity"])
    is_ata = lines["protocol"] == "ATA" or ("Device Model" in lines and not output.document)
    version = [int(part) for part in lines["banner"].split(".") if part.isdecimal()]
    recent = version >= _TRIM_VERSION
    sector = _SECTOR.search(lines["Sector Size"] or lines["Sector Sizes"])
    rpm = _RPM.match(lines["Rotation Rate"])
    wwn = _WWN.match(lines["LU WWN Device Id"] or lines["Logical Unit id"])
    medium: Medium = "rotating" if rpm else ""
    if any(re.search("[1-9a-f]", lines[name].lower().removeprefix("0x")) for name in _NVME):
        medium = "nvme"  # the NVMe format alone proves nothing
    elif lines["Rotation Rate"] == "0" or lines["Rotation Rate"].startswith("Solid State"):
        medium = "solid-state"
    zoned: Zoned = ""
    if zones := _ZONES.search(lines["Zoned Device"]):
        zoned = "host-aware" if zones[1] else "drive-managed"
    by_page = N_("VPD page B1 in smartctl's output")
    offers_trim = lines["TRIM Command"].startswith(("Available", "True"))
    worn = _FLASH.search(output.text) is not None and not _PLATTERS.search(output.text)
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
        zoned=zoned,
        zoned_where=by_page if "Product" in lines else N_("Zoned Device in smartctl's output"),
        recording=_RECORDINGS.get(lines["Recording Type"], ""),
        trim=N_("TRIM Command in smartctl's output") if offers_trim else "",
        trim_would_show=recent and is_ata,
        recent=recent,
        flash_attributes=worn and not medium,
        volume=names_a_volume(model),
        removable=_CARD in _refusal(output) and not model,
        network="iscsi" in lines["Transport protocol"].lower() or _NETWORK.search(model) is not None,
        problem=problem_of(output),
    )


def problem_of(output: Output) -> str:
    """Reason why an output names no model or is incomplete; empty if it is fine."""
    lines = output.lines
    if output.problem or _model(output):
        return output.problem
    if _capacity(lines.get("User Capacity", "")) >= _LARGEST_BYTES:
        return _("The disk answers garbage: {value}.", value=lines["User Capacity"])
    if "devices" in lines:
        return _LIST
    if refusal := _refusal(output):
        return refusal
    is_log = "INFORMATION" not in lines and (output.identified or _LOG.search(output.text))
    if output.document or ("banner" in lines and ("User Capacity" in lines or is_log)):
        return _NAMELESS
    return _BROKEN if output.identified or not _ONLY_SMARTCTL.isdisjoint(lines) else _FOREIGN


def _refusal(output: Output) -> str:
    """Error message of smartctl or of the shell; empty if there is none."""
    refusal = _REFUSAL.search(output.text)
    return output.messages or (safe(refusal[0].strip()) if refusal else "")


def _model(output: Output) -> str:
    """Model name; empty if it is missing, or if the output ends with it, as it may be truncated."""
    if "INFORMATION" in output.lines and output.lines.keys() <= {*NAMES, "Model Family", "INFORMATION", "banner"}:
        return ""
    lines = {name: line for name, line in output.lines.items() if name in NAMES and not _PLACEHOLDER.match(line)}
    model = lines.get("Device Model") or lines.get("Model Number") or lines.get("Device", "").partition("Version:")[0]
    if not model and lines:
        model = scsi_name(lines.get("Vendor", ""), lines.get("Product", ""), output.lines.get("Add. Product Id", ""))
    return model.strip()


def _capacity(line: str) -> int:
    """Capacity in bytes; 0 if two figures for it disagree, as in a damaged file."""
    match = _CAPACITY.match(line)
    if match is None:
        return int(line) if line.isdecimal() else 0
    exact = int(re.sub(r"\D", "", match[1]))
    rounded = float(re.sub(r"\D+", ".", match[2])) * _UNITS[match[3]]
    return exact if abs(exact - rounded) <= 0.01 * rounded else 0
