"""Features that people need beside speed."""

from __future__ import annotations

from fswizard.errors import UsageError
from fswizard.filesystems.candidates import hint
from fswizard.model.analysis import Need
from fswizard.model.text import safe

NEEDS = (
    Need("checksums", "notices when stored data has changed"),
    Need("compression", "compresses files automatically"),
    Need("snapshots", "keeps earlier states of all files"),
    Need("send-receive", "sends changes to another disk as a stream"),
    Need("reflink", "copies files instantly; the copies share space"),
    Need("shrink", "can be made smaller"),
    Need("repair", "has a tool on Linux that repairs damage"),
    Need("grow", "can be made larger"),
    Need("quotas", "limits how much each user may store"),
    Need("case-insensitive", "can ignore upper and lower case in names"),
    Need("windows", "can be read and written by Windows"),
    Need("macos", "can be read and written by macOS"),
    Need("zoned", "works on zoned disks, which take writes only in sequence"),
)


def parse_needs(text: str) -> tuple[str, ...]:
    """Names of needs from a list such as `checksums, snapshots`; UsageError for an unknown one."""
    known = [need.name for need in NEEDS]
    names = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    for name in names:
        if name not in known:
            raise UsageError(f"There is no feature {safe(name)}.", hint(name, known))
    return names
