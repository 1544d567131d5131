"""Advice for error messages of smartctl."""

from __future__ import annotations

import re

from fswizard.language import N_

_ADVICE = {
    r"Permission denied|Operation not permitted|Access is denied|Error=5\b|[Mm]ust be root|[Ii]nsufficient": N_(
        "smartctl needs root here: `sudo smartctl -x DEVICE`. On Windows run it in a terminal opened as administrator."
    ),
    r"in (?:STANDBY|IDLE\w*|ACTIVE)\b.*mode|POWER MODE|STANDBY": N_(
        "The disk is asleep. Query it when it is in use, or wake it: `smartctl -x DEVICE` without `-n standby`."
    ),
    r"in SLEEP mode": N_(
        "The disk is asleep, or a USB adapter doesn't pass the query on. Open a file on it and query it again; "
        "behind an adapter, add `-d sat` (some USB adapters need `-d sntasmedia`, `-d usbjmicron` or `-d "
        "sntrealtek`)."
    ),
    r"/dev/mmcblk": N_("It is a memory card or built-in flash, which smartctl cannot query."),
    r"megaraid|cciss|3ware|areca|hpsa|aacraid|Smart Array|MegaRaid": N_(
        "A RAID controller hides the disks. `smartctl --scan-open` lists them; query each with its type, such as "
        "`smartctl -d megaraid,N -x DEVICE` or `smartctl -d cciss,N -x DEVICE`."
    ),
    r"/dev/(?:loop|zram|ram|dm-|md|nbd|mapper)": N_(
        "The kernel makes this device, so it has no SMART data. Query the disk that it lies on."
    ),
    r"[Nn]o such (?:device|file)|cannot find|Error=2\b|[Uu]nable to open|ENOENT|Not a device": N_(
        "There is no such device. `smartctl --scan-open` lists what there is."
    ),
    r"list of devices": N_("Query each of them, with its type if one is shown: `smartctl -x -d TYPE DEVICE`."),
    r"requires a device name|UNRECOGNIZED OPTION|INVALID ARGUMENT|Use smartctl -h|VALID ARGUMENTS": N_(
        "Name the disk last: `smartctl -x /dev/sdX`; `smartctl --scan-open` lists the disks."
    ),
    r"command not found|not recogni[sz]ed|[Nn]o such command|not installed|: not found": N_(
        "Install smartmontools, which smartctl is part of, and run `smartctl -x DEVICE` again."
    ),
    r"resource busy|Error=32\b|Error=170\b|being used": N_(
        "Another program holds the disk. End it, or query the disk later."
    ),
    r"is missing, and no disk|cut off or damaged": N_(
        "Paste it again as a whole, or save it first: `smartctl -x DEVICE > FILE`."
    ),
    r"successfully opened": N_("Ask for all that the disk says: `smartctl -x DEVICE`."),
    r"garbage": N_("The disk or its connection may be failing: save its data first, then try another cable and port."),
    r"Input/output error|[Tt]imed? ?out|No medium|not ready|Error=(?:21|1117)\b|NVME_IOCTL|"
    r"Read NVMe(?!.*scsi error unsupported)": N_(
        "The disk does not answer. Query it again; if that fails, too, save its data and try another cable or port."
    ),
    r"device type|Identity failed|Inquiry|INQUIRY|USB bridge|mandatory|no model name|-d (?:ata|sat)|"
    r"open device|Error=(?:1|50|87)\b|No Information|scsi error unsupported": N_(
        "Query it with the type of its adapter: `smartctl -x DEVICE` with `-d sat` (some USB adapters need `-d "
        "sntasmedia`, `-d usbjmicron` or `-d sntrealtek`), or with that shown by `smartctl --scan-open`; or attach "
        "the disk to a SATA port."
    ),
}
"""Advice by a pattern of the message; the first match counts."""


def advice_for(problem: str) -> str:
    """Advice for an error message; empty if there is none."""
    return next((advice for pattern, advice in _ADVICE.items() if re.search(pattern, problem)), "")
