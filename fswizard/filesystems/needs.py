"""Features that users require, as they are typed."""

from __future__ import annotations

from fswizard.errors import UsageError
from fswizard.filesystems.hints import hint
from fswizard.language import _
from fswizard.model.needs import NEEDS
from fswizard.model.text import safe


def parse_needs(text: str) -> tuple[str, ...]:
    """Parse a list such as `checksums, snapshots`. Raises UsageError for an unknown feature."""
    names = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    for name in names:
        if name not in NEEDS:
            raise UsageError(_("There is no feature {name}.", name=safe(name)), hint(NEEDS))
    return names
