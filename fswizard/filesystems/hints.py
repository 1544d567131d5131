"""What is said of unknown names."""

from __future__ import annotations

from collections.abc import Iterable

from fswizard.errors import UsageError
from fswizard.language import _
from fswizard.model.text import safe


def no_option(name: str, token: str, known: Iterable[str]) -> UsageError:
    """The error for an option that a filesystem or layout does not have, or not with this value."""
    return UsageError(_("{filesystem} has no option {option}.", filesystem=name, option=safe(token)), hint(known))


def hint(known: Iterable[str]) -> str:
    """Hint with the known names."""
    return _("Known: {names}.", names=", ".join(dict.fromkeys(known)))
