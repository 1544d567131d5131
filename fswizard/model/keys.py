"""TOML tables written by people, read into dataclasses. Errors name the position, the key, and the expected value.

The fields of a dataclass are the keys of a table. Their types, with `Limits` in Annotated, define the valid values.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import msgspec
import tomli
from msgspec import Meta

from fswizard.errors import UsageError
from fswizard.language import N_, _
from fswizard.model.text import harmless, safe
from fswizard.model.units import binary_size_text, parse_size

T = TypeVar("T")

LONGEST_FILE_BYTES = 1 << 20


class Limits(NamedTuple):
    """Valid values of a field in a recipe. In others' results, any value of the field's type is accepted."""

    meta: Meta = Meta()
    key: str | None = ""
    """The key if it differs from the field's name; None for a field without a key."""
    range: tuple[float, ...] = ()
    sizes: tuple[int, ...] = ()
    """Range of a size, such as `64M`. The key is the field's name without its suffix `_bytes`."""
    expected: str = ""
    """Description of valid values, in English, for what neither type nor range describes."""


TYPES = {
    "`array`": N_("a list"),
    "`bool`": N_("true or false"),
    "`int`": N_("a whole number"),
    "`object`": N_("a table"),
    "`str`": N_("text"),
}
"""msgspec's names of types to descriptions for users."""
UNWRITTEN = Limits(key=None)


def number(low: float, high: float, key: str = "") -> Limits:
    return Limits(Meta(ge=low, le=high), key, range=(low, high))


whole = number


def size(low: int, high: int) -> Limits:
    return Limits(Meta(ge=low, le=high), sizes=(low, high))


def text(longest: int) -> Limits:
    expected = _("text of at most {longest} characters", longest=longest)
    return Limits(Meta(min_length=1, max_length=longest), expected=expected)


def matching(pattern: str, expected: str) -> Limits:
    return Limits(Meta(pattern=rf"^(?:{pattern})\Z"), expected=expected)


class Keys:
    """A table that is read into one dataclass or several."""

    def __init__(self, table: Mapping[str, Any], where: str, outer: Keys | None = None) -> None:
        self.table = table
        self._where = where
        self.outer = outer or self
        """The enclosing table."""
        self._known: list[str] = []

    @classmethod
    def parse(cls, text: str, where: str) -> Keys:
        """Parse a whole file and make all its text harmless; raises UsageError if it is not TOML."""
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

    def each(self, key: str) -> Iterator[Keys]:
        """The tables [[key]], identified in errors by their number and name."""
        for count, table in enumerate(self.table.get(key, ()), 1):
            name = table.get("name")
            yield self.inner(table, f"{key} {count}" + (f" ({name[:40]})" if isinstance(name, str) else ""))

    def read(self, kind: Callable[..., T], *, more_keys: bool = False, **keyless: Any) -> T:
        """Read the table into an object; `keyless` are fields without keys.

        Raises UsageError with file and key for an invalid value, a missing key or, unless `more_keys` keys of the table
        are read later, an unknown key.
        """
        keys = _keys(kind)
        self._known += keys
        values = dict(keyless)
        for key, (field, hint) in keys.items():
            if key in self.table:
                values[field.name] = self._value(key, hint)
            elif field.default is dataclasses.MISSING:
                self._refuse(_("{where}: '{key}' is missing.", where=self._where, key=key))
        for key in self.table:
            if key not in self._known and not more_keys:
                text = _("{where}: '{key}' is not a known key{near}.",
                         where=self._where, key=key[:60], near=nearest(key, self._known))  # fmt: skip
                self._refuse(text)
        return kind(**values)

    def _value(self, key: str, hint: Any) -> Any:
        value, limits = self.table[key], _limits(hint)
        try:
            if isinstance(value, str):
                value = " ".join(value.split())
            if limits.sizes:
                value = parse_size(value)
            return msgspec.convert(value, Annotated[hint, limits.meta])
        except (TypeError, ValueError) as error:
            expected = str(error).removeprefix("Expected ").partition(", got")[0]
            if get_origin(hint) is Literal:
                expected = one_of(get_args(hint), value)
            elif limits.sizes:
                low, high = map(binary_size_text, limits.sizes)
                expected = _('a size from {low} to {high}, such as "64M"', low=low, high=high)
            elif limits.range:
                expected = from_to(*limits.range)
            else:
                expected = _(limits.expected or TYPES.get(expected, expected))
            raise self.error(key, expected) from None

    def _refuse(self, text: str) -> None:
        raise UsageError(text, _("Known keys here are {keys}.", keys=", ".join(self._known)))

    def error(self, key: str, expected: str) -> UsageError:
        """The error for an invalid value of a key."""
        value = self.table.get(key)
        text = _("a table of its own") if isinstance(value, dict) else repr(value)[:60]
        return UsageError(
            _("{where}: '{key}' must be {expected}, not {given}.",
              where=self._where, key=key, expected=expected, given=text)
        )  # fmt: skip


def from_to(low: float, high: float) -> str:
    return _("a number from {low} to {high}", low=low, high=high)


def one_of(choices: Iterable[object], value: object) -> str:
    """`one of ext4, xfs (did you mean 'xfs'?)`, for a `value` that is none of them."""
    names = [str(choice) for choice in choices]
    return _("one of {names}", names=", ".join(names)) + nearest(str(value), names)


def written(described: Any) -> dict[str, Any]:
    """The table from which `described` could be read; fields equal to their defaults are omitted."""
    kind: Any = type(described)
    table = {}
    for key, (field, hint) in _keys(kind).items():
        value = getattr(described, field.name)
        if value != field.default:
            table[key] = str(value) if _limits(hint).sizes else value
    return table


def nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name[:100].lower(), list(known), 1)
    return " " + _("(did you mean '{name}'?)", name=near[0]) if near else ""


@cache
def _keys(kind: Any) -> dict[str, tuple[dataclasses.Field[Any], Any]]:
    """Field and type by key of a table."""
    keys = {}
    hints = get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        limits = _limits(hint)
        name = field.name.removesuffix("_bytes") if limits.sizes else field.name
        if limits.key is not None:
            keys[limits.key or name] = (field, hint)
    return keys


def _limits(hint: Any) -> Limits:
    return next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Limits)), Limits())
