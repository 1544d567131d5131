"""Features that users may require of a filesystem."""

from __future__ import annotations

from fswizard.errors import UsageError
from fswizard.filesystems.candidates import hint
from fswizard.language import N_, _
from fswizard.model.text import safe

NEEDS = {
    "checksums": N_("notices when stored data has changed"),
    "compression": N_("compresses files automatically"),
    "snapshots": N_("keeps earlier states of all files"),
    "send-receive": N_("sends changes to another disk as a stream"),
    "reflink": N_("copies files instantly; the copies share space"),
    "shrink": N_("can be made smaller"),
    "repair": N_("has a tool on Linux that repairs damage"),
    "grow": N_("can be made larger"),
    "quotas": N_("limits how much each user may store"),
    "case-insensitive": N_("can ignore upper and lower case in names"),
    "windows": N_("can be read and written by Windows"),
    "macos": N_("can be read and written by macOS"),
}
"""Description of each feature by name."""


def parse_needs(text: str) -> tuple[str, ...]:
    """Parse a list such as `checksums, snapshots`. Raises UsageError for an unknown feature."""
    names = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    for name in names:
        if name not in NEEDS:
            raise UsageError(_("There is no feature {name}.", name=safe(name)), hint(name, NEEDS))
    return names
