"""Tables that people write in TOML, read as dataclasses: an error names its place and what is expected.

The fields of a dataclass are the keys of a table. Beside the type of one may stand, in Annotated, what is `Expected`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from fswizard.errors import UsageError
from fswizard.language import N_, _
from fswizard.model.text import harmless, safe
from fswizard.model.units import binary_size_text, parse_size

T = TypeVar("T")

LONGEST_FILE_BYTES = 1 << 20


class Expected(NamedTuple):
    """What people may write for a field."""

    words: str = ""
    """Such as `a whole number from 1 to 256`, in English; empty where the type says it all."""
    fits: Callable[[Any], bool] = lambda value: True
    read: Callable[[Any], Any] = lambda value: value
    """Turns what was written into a value of the type; TypeError or ValueError where it is none."""
    key: str | None = ""
    """Where it is not the field's name; None for a field without a key."""
    choices: tuple[str, ...] = ()


UNWRITTEN = Expected(key=None)


def whole(low: int, high: int, key: str = "") -> Expected:
    words = _("a whole number from {low} to {high}", low=low, high=high) if low < high else f"{low}"
    return Expected(words, lambda value: low <= value <= high, key=key)


def wholes(fewest: int, most: int, high: int) -> Expected:
    words = _("a list of {fewest} to {most} whole numbers from 0 to {high}", fewest=fewest, most=most, high=high)
    return Expected(words, lambda values: fewest <= len(values) <= most and min(values) >= 0 and max(values) <= high)


def number(low: float, high: float, key: str = "") -> Expected:
    words = _("a number from {low} to {high}", low=f"{low:g}", high=f"{high:g}")
    return Expected(words, lambda value: low <= value <= high, key=key)


def size(low: int, high: int) -> Expected:
    """Of a field that ends in `_bytes`, which is a key without that."""
    words = N_('a size from {low} to {high}, such as "64M"')
    words = _(words, low=binary_size_text(low), high=binary_size_text(high))
    return Expected(words, lambda value: low <= value <= high, parse_size)


def text(longest: int) -> Expected:
    words = _("text of at most {longest} characters", longest=longest)
    return Expected(words, lambda value: 0 < len(value) <= longest, lambda value: " ".join(value.split()))


def one_of(choices: Iterable[str]) -> Expected:
    names = tuple(choices)
    words = _("one of {names}", names=", ".join(names))
    return Expected(words, lambda value: value in names, choices=names)


class Keys:
    """A table, read as one dataclass or several."""

    def __init__(self, table: Mapping[str, Any], where: str, outer: Keys | None = None) -> None:
        self.table = table
        self._where = where
        self.outer = outer or self
        """The table that this one stands in."""
        self._known: list[str] = []

    @classmethod
    def parse(cls, text: str, where: str) -> Keys:
        """A whole file, with all text in it made harmless; UsageError where it is not TOML."""
        import tomli

        where = safe(where)
        if len(text) > LONGEST_FILE_BYTES:
            raise UsageError(_("{where}: a file over 1 MB is too long.", where=where))
        try:
            return cls(harmless(tomli.loads(text)), where)
        except (ValueError, RecursionError) as error:
            reason = safe(str(error)) or _("nested too deeply")
            raise UsageError(_("{where}: this is not TOML: {reason}.", where=where, reason=reason)) from error

    def inner(self, table: Mapping[str, Any], where: str) -> Keys:
        return Keys(table, f"{self._where}: {where}", self)

    def each(self, key: str, called: str = "name") -> Iterator[Keys]:
        """The tables [[key]], each called by its number and what stands at its key `called`."""
        for count, table in enumerate(self.table.get(key, ()), 1):
            name = table.get(called)
            yield self.inner(table, f"{key} {count}" + (f" ({name[:40]})" if isinstance(name, str) else ""))

    def read(self, kind: Callable[..., T], *, further: bool = False, **given: Any) -> T:
        """The object that the table describes; `given` are fields without keys.

        UsageError with file, key, what is expected there, and the nearest name: for a value that does not fit, for a
        key that is missing, and, unless `further` keys of the table are still to be read, for one that nobody knows.
        """
        fields = _fields(kind)
        self._known += fields
        values = {}
        for key, (field, hint, required) in fields.items():
            if key in self.table:
                values[field] = self._value(key, hint)
            elif required:
                raise self._missing(key, _expected(hint))
        for key in () if further else self._unknown():
            near, known = nearest(key, self._known), ", ".join(self._known)
            raise UsageError(
                _("{where}: '{key}' is not a known key{near}.", where=self._where, key=key[:60], near=near),
                _("Known keys here are {keys}.", keys=known),
            )
        return kind(**values, **given)

    def _value(self, key: str, hint: Any) -> Any:
        """What stands at a key that is there, as the type and what stands beside it say; UsageError as of `read`."""
        import msgspec

        expected = _expected(hint)
        try:
            value = msgspec.convert(expected.read(self.table[key]), hint)
            if expected.fits(value):
                return value
        except (AttributeError, TypeError, ValueError, re.error):
            pass
        raise self.error(key, expected)

    def _missing(self, key: str, expected: Expected) -> UsageError:
        words = _(expected.words).rstrip(",")
        if near := _close(key, self._unknown()):
            return UsageError(
                _(
                    "{where}: '{key}' is missing (is '{near}' a typo?); it must be {expected}.",
                    where=self._where, key=key, near=near[0], expected=words,
                )
            )  # fmt: skip
        return UsageError(
            _("{where}: '{key}' is missing; it must be {expected}.", where=self._where, key=key, expected=words)
        )

    def error(self, key: str, expected: Expected | str) -> UsageError:
        """What stands at a key does not fit."""
        words, choices = (expected, ()) if isinstance(expected, str) else (expected.words, expected.choices)
        value = self.table.get(key)
        given = _("a table of its own") if isinstance(value, dict) else repr(value)[:60]
        near = nearest(value, choices) if isinstance(value, str) else ""
        return UsageError(
            _(
                "{where}: '{key}' must be {expected}, not {given}.",
                where=self._where, key=key, expected=f"{_(words)}{near}", given=given,
            )
        )  # fmt: skip

    def _unknown(self) -> list[str]:
        return [key for key in self.table if key not in self._known]


def written(described: Any) -> dict[str, Any]:
    """The table that an object would be read from; fields that stand at their defaults are left out."""
    defaults = {field.name: field.default for field in dataclasses.fields(described)}
    kind: Any = type(described)
    table = {}
    for key, (field, hint, __) in _fields(kind).items():
        value = getattr(described, field)
        if value != defaults[field]:
            table[key] = str(value) if _expected(hint).read is parse_size else value
    return table


def nearest(name: str, known: Iterable[str]) -> str:
    return "".join(" " + _("(did you mean '{name}'?)", name=near) for near in _close(name, known))


def _close(name: str, known: Iterable[str]) -> list[str]:
    import difflib

    return difflib.get_close_matches(name[:100].lower(), list(known), 1)


@cache
def _fields(kind: Any) -> dict[str, tuple[str, Any, bool]]:
    """The keys of a table, each with field, type, and whether it must be there."""
    fields = {}
    hints = get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        expected = _expected(hints[field.name])
        name = field.name.removesuffix("_bytes") if expected.read is parse_size else field.name
        if expected.key is not None:
            required = field.default is MISSING and field.default_factory is MISSING
            fields[expected.key or name] = (field.name, hints[field.name], required)
    return fields


@cache
def _expected(hint: Any) -> Expected:
    """What `hint` says of itself, or else its type."""
    for said in getattr(hint, "__metadata__", ()):
        if isinstance(said, Expected):
            bare = _expected(hint.__origin__)
            return said._replace(words=said.words or bare.words, choices=said.choices or bare.choices)
    if get_origin(hint) is Literal:
        return one_of(get_args(hint))
    words = {
        str: N_("text"), int: N_("a whole number"), float: N_("a number"), bool: N_("true or false"),
        tuple: N_("a list of strings"),
    }  # fmt: skip
    return Expected(words.get(get_origin(hint) or hint, N_("a table")))
