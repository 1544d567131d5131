"""What is said of mistyped names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from fswizard.errors import UsageError
from fswizard.language import _
from fswizard.model.text import safe

_SENSE = re.compile(r"^(?:no[-_]?|a(?=sync)|\^)|\d+")
"""Parts that turn an option into its opposite or another one: `noatime`, `async`, `^has_journal`, `inode64`."""


def no_option(name: str, token: str, known: Iterable[str]) -> UsageError:
    """The error for an option that a filesystem or layout does not have, or not with this value."""
    text = _("{filesystem} has no option {option}.", filesystem=name, option=safe(token))
    return UsageError(text, hint(token, dict.fromkeys(known)))


def hint(wrong: str, known: Iterable[str]) -> str:
    """Hint with the known names, and the most similar one unless it is the opposite of `wrong`."""
    known = list(known)
    sense = _SENSE.sub("", wrong.lower())
    close = difflib.get_close_matches(wrong.lower(), [name for name in known if _SENSE.sub("", name) != sense], n=1)
    if close:
        return _("Did you mean {name}? Known: {names}.", name=close[0], names=", ".join(known))
    return _("Known: {names}.", names=", ".join(known))
