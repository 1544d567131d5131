"""Sanitising of text from outside: model names, labels, paths, and output of programs."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Mapping
from typing import Any

from fswizard.language import _, chosen

_PLAIN = str.maketrans("│┼├┤●◂▸─×–±…µ·−▲▼▽═○✗", "||[]o<>-x-~.u.-+-<=?!")


def safe(text: str | bytes) -> str:
    """`text` with control, bidirectional, invisible and invalid characters escaped.

    The result is one line that can be printed on any terminal. It is not escaped for any markup: widgets get it with
    `markup=False`, and every report format escapes for itself.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    escaped = ""
    for character in text:
        # All that is not printable is control, invisible or invalid, except spaces other than that of ASCII.
        harmless = character.isprintable() or unicodedata.category(character) == "Zs"
        escaped += character if harmless else character.encode("unicode_escape").decode()
    return escaped


def safe_lines(text: str | bytes) -> str:
    """Like `safe`, but keeps line ends and tabs: for the output of programs."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    return "\n".join("\t".join(safe(part) for part in line.split("\t")) for line in text.split("\n"))


CAPITAL_NOUNS = frozenset({"de", "lb"})
"""Languages that capitalise nouns everywhere."""


def mid_sentence(title: str) -> str:
    """A title within a sentence, in the user's language: names such as SQLite and acronyms keep their capitals."""
    title = _(title)
    if chosen() in CAPITAL_NOUNS or not (title[1:2].islower() or title.startswith("A ")):
        return title
    return title[:1].lower() + title[1:]


def harmless(value: Any, key: str = "") -> Any:
    """JSON or TOML values, or objects of the model, with all text made safe.

    Values of `details` and `output`, which programs printed, may have several lines.
    """
    if isinstance(value, str):
        return safe_lines(value) if key in ("details", "output") else safe(value)
    if isinstance(value, Mapping):
        return {safe(name): harmless(item, name) for name, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = (field.name for field in dataclasses.fields(value))
        return type(value)(**{name: harmless(getattr(value, name), name) for name in names})
    return type(value)(harmless(item, key) for item in value) if isinstance(value, (list, tuple)) else value


def plain(text: str) -> str:
    """The same text or drawing in ASCII, for terminals and forums without Unicode."""
    return text.translate(_PLAIN).encode("ascii", "replace").decode()
