"""Extract the facts for an SMR verdict from smartctl output of any version, as text or JSON."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import islice

from fswizard.drives.models import names_a_volume, scsi_name
from fswizard.drives.pastes import FARM, NAMES, Output, cleaned, outputs
from fswizard.drives.smr import Medium, Recording, SmrFacts, Zoned
from fswizard.language import N_, _
from fswizard.model.text import safe

_CAPACITY = re.compile(r"(\d[^[]{0,60}?) ?bytes \[(\d+(?:[^\d\]]{1,3}\d+)?) ([KMGTPE])B\]")
"""Capacity with any digit separators, as they depend on language and code page."""
_UNITS = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_MOST_OUTPUTS = 2000
_SECTOR = re.compile(r"(\d{3,4})(?: bytes (?:logical/)?physical|$)")
_RPM = re.compile(r"(\d{4,5})(?: rpm|$)")
_RECORDINGS: dict[str, Recording] = {"SMR": "SMR", "CMR": "CMR"}
_ZONES = re.compile(r"(host[ _-]aware)|(?:device|drive)[ _-]managed", re.IGNORECASE)
_FLASH = re.compile(r"Wear_Level|Wearout_Indicator|SSD_Life|Percent_Lifetime|NAND_|(?:Avg|Average|Max|Total)_Erase")
_PLATTERS = re.compile(r"Spin_Up_Time|Seek_Error_Rate|Spin_Retry_Count")
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
_ONLY_SMARTCTL = {
    "INFORMATION", "READ SMART DATA", "SMART DATA", FARM, "User Capacity", "Device type", "Model Family",
    "Rotation Rate", "LU WWN Device Id", "TRIM Command",
}  # fmt: skip
"""Lines that only smartctl prints."""
_NVME = (
    "PCI Vendor/Subsystem ID", "PCI Vendor ID", "IEEE OUI Identifier", "Total NVM Capacity", "Number of Namespaces",
)  # fmt: skip
"""Lines that identify an NVMe disk; they are zero if another disk was queried as NVMe."""
_FOREIGN = N_("This isn't output of smartctl about a disk; `smartctl -x DEVICE` prints it.")
_NAMELESS = N_("smartctl reported no model name.")
_BROKEN = N_("Output of smartctl is cut off here: its beginning or end is missing, and no disk is named.")


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
    found = list(islice(outputs(text), _MOST_OUTPUTS + 1))
    if len(found) > _MOST_OUTPUTS:
        problem = _("More than {count} outputs: the rest is not read.", count=_MOST_OUTPUTS)
        found[-1] = Output(found[-1].at, problem=problem)
    answered = {output.device for output in found if _model(output)} - {""}
    readings = []
    for output in found:
        reading = _reading(output, text)
        repeated = not reading.facts.model and output.device in answered
        if not repeated and reading.facts.problem != _FOREIGN:
            readings.append(reading)
    return readings or [_reading(Output(text=text), text)]


def _reading(output: Output, text: str) -> Reading:
    facts = facts_of(output)
    unread = bool(output.problem) or facts.problem in (_FOREIGN, _BROKEN)
    return Reading(facts, text.count("\n", 0, output.at) + 1, unread)


def facts_of(output: Output) -> SmrFacts:
    """Facts from an output; without a model name, `problem` says why."""
    lines = defaultdict(str, output.lines)
    model = _model(output)
    is_ata = lines["protocol"] == "ATA" or ("Device Model" in lines and not output.document)
    sector = _SECTOR.search(lines["Sector Size"] or lines["Sector Sizes"])
    rpm = _RPM.match(lines["Rotation Rate"])
    medium: Medium = "rotating" if rpm else ""
    if any(re.search("[1-9a-f]", lines[name].lower().removeprefix("0x")) for name in _NVME):
        medium = "nvme"  # the NVMe format alone proves nothing
    elif lines["Rotation Rate"] == "0" or lines["Rotation Rate"].startswith("Solid State"):
        medium = "solid-state"
    zoned: Zoned = ""
    if zones := _ZONES.search(lines["Zoned Device"]):
        zoned = "host-aware" if zones[1] else "drive-managed"
    worn = _FLASH.search(output.text) is not None and not _PLATTERS.search(output.text)
    return SmrFacts(
        source="smartctl",
        model=model,
        family=lines["Model Family"],
        standard=lines["ATA Version is"],
        capacity_bytes=_capacity(lines["User Capacity"]),
        sector_bytes=int(sector[1]) if sector and is_ata else 0,
        rpm=int(rpm[1]) if rpm else 0,
        medium=medium,
        peripheral=lines["Device type"].lower(),
        zoned=zoned,
        recording=_RECORDINGS.get(lines["Recording Type"], ""),
        trim=lines["TRIM Command"].startswith(("Available", "True")),
        flash_attributes=worn and not medium,
        volume=names_a_volume(model) or "iscsi" in lines["Transport protocol"].lower(),
        removable=_CARD in _refusal(output) and not model,
        problem=_problem_of(output),
    )


def _problem_of(output: Output) -> str:
    """Reason why an output names no model or is incomplete; empty if it is fine."""
    if output.problem or _model(output):
        return output.problem
    if refusal := _refusal(output):
        return refusal
    asks_a_disk = output.device if output.document else "banner" in output.lines
    if asks_a_disk:
        return _NAMELESS
    return _FOREIGN if _ONLY_SMARTCTL.isdisjoint(output.lines) else _BROKEN


def _refusal(output: Output) -> str:
    """Error message of smartctl or of the shell; empty if there is none."""
    refusal = _REFUSAL.search(output.text)
    return output.lines.get("messages") or (safe(refusal[0].strip()) if refusal else "")


def _model(output: Output) -> str:
    """Model name; empty if it is missing, or if the output ends with it, as it may be truncated."""
    if "INFORMATION" in output.lines and output.lines.keys() <= {*NAMES, "Model Family", "INFORMATION", "banner"}:
        return ""
    lines = defaultdict(str)
    for name, line in output.lines.items():
        if name in NAMES and not _PLACEHOLDER.match(line):
            lines[name] = line
    model = lines["Device Model"] or lines["Model Number"] or lines["Device"].partition("Version:")[0]
    if not model and (lines["Vendor"] or lines["Product"]):
        model = scsi_name(lines["Vendor"], lines["Product"], output.lines.get("Add. Product Id", ""))
    return model.strip()


def _capacity(line: str) -> int:
    """Capacity in bytes; 0 if two figures for it disagree, as in a damaged file."""
    match = _CAPACITY.match(line)
    if match is None:
        return int(line) if line.isdecimal() else 0
    exact = int(re.sub(r"\D", "", match[1]))
    rounded = float(re.sub(r"\D+", ".", match[2])) * _UNITS[match[3]]
    return exact if abs(exact - rounded) <= 0.01 * rounded else 0
