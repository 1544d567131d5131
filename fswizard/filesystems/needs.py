"""Features that people need beside speed."""

from __future__ import annotations

from fswizard.errors import UsageError
from fswizard.filesystems.candidates import hint
from fswizard.language import N_, _
from fswizard.model.analysis import Need
from fswizard.model.text import safe

NEEDS = (
    Need("checksums", N_("notices when stored data has changed")),
    Need("compression", N_("compresses files automatically")),
    Need("snapshots", N_("keeps earlier states of all files")),
    Need("send-receive", N_("sends changes to another disk as a stream")),
    Need("reflink", N_("copies files instantly; the copies share space")),
    Need("shrink", N_("can be made smaller")),
    Need("repair", N_("has a tool on Linux that repairs damage")),
    Need("grow", N_("can be made larger")),
    Need("quotas", N_("limits how much each user may store")),
    Need("case-insensitive", N_("can ignore upper and lower case in names")),
    Need("windows", N_("can be read and written by Windows")),
    Need("macos", N_("can be read and written by macOS")),
)


def parse_needs(text: str) -> tuple[str, ...]:
    """Names of needs from a list such as `checksums, snapshots`; UsageError for an unknown one."""
    known = [need.name for need in NEEDS]
    names = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    for name in names:
        if name not in known:
            raise UsageError(_("There is no feature {name}.", name=safe(name)), hint(name, known))
    return names
