"""A table of TOML read key by key, so that whatever is wrong is told with its place and what was expected."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fswizard.errors import UsageError
from fswizard.model.text import safe
from fswizard.model.units import binary_size_text, parse_size


class Keys:
    """A table of a recipe, read key by key; `end` refuses what nobody asked for."""

    def __init__(self, table: Mapping[str, Any], where: str, outer: Keys | None = None) -> None:
        self._table = table
        self._where = where
        self.outer = outer or self
        """The table that this one stands in."""
        self._asked: list[str] = []

    def error(self, key: str, expected: str) -> UsageError:
        if key not in self._table:
            unknown = [name for name in self._table if name not in self._asked]
            near = "".join(f" (is '{safe(name)}' meant to be it?)" for name in close(key, unknown))
            return UsageError(f"{self._where}: '{key}' is missing{near}: {expected.rstrip(',')} is expected.")
        value = self._table[key]
        given = "a table of its own" if isinstance(value, dict) else safe(repr(value))[:60]
        return UsageError(f"{self._where}: '{key}': {expected} was expected, not {given}.")

    def get(self, key: str, expected: str, fits: Callable[[Any], bool], default: Any = None) -> Any:
        """The value of `key`; without a default it must be there."""
        self._asked.append(key)
        if key not in self._table and default is not None:
            return default
        if key not in self._table or not fits(self._table[key]):
            raise self.error(key, expected)
        return self._table[key]

    def text(self, key: str, longest: int, default: str | None = None) -> str:
        expected = f"text of at most {longest} characters"
        value = self.get(key, expected, lambda v: isinstance(v, str) and 0 < len(v) <= longest, default)
        return safe(" ".join(value.split()))

    def texts(self, key: str, most: int, longest: int) -> tuple[str, ...]:
        def fits(value: Any) -> bool:
            texts = isinstance(value, list) and all(isinstance(v, str) and 0 < len(v) <= longest for v in value)
            return texts and len(value) <= most

        return tuple(safe(value) for value in self.get(key, 'a list of candidates, such as ["ext4", "xfs"]', fits, []))

    def name(self, key: str) -> str:
        pattern = re.compile(r"[a-z0-9][a-z0-9-]{0,39}", re.ASCII)
        expected = "a short name of small letters, digits and dashes"
        return str(self.get(key, expected, lambda v: isinstance(v, str) and pattern.fullmatch(v) is not None))

    def number(self, key: str, low: float, high: float, default: float | None = None) -> float:
        def fits(value: Any) -> bool:
            return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high

        return float(self.get(key, f"a number from {low:g} to {high:g}", fits, default))

    def integer(self, key: str, low: int, high: int, default: int | None = None) -> int:
        expected = f"a whole number from {low} to {high}" if low < high else f"{low}"
        return int(self.get(key, expected, lambda v: type(v) is int and low <= v <= high, default))

    def integers(self, key: str, fewest: int, most: int, high: int) -> tuple[int, ...]:
        def fits(value: Any) -> bool:
            numbers = isinstance(value, list) and all(type(v) is int and 0 <= v <= high for v in value)
            return numbers and fewest <= len(value) <= most

        return tuple(self.get(key, f"a list of {fewest} to {most} whole numbers from 0 to {high}", fits))

    def size(self, key: str, low: int, high: int, default: int | None = None) -> int:
        expected = f'a size from {binary_size_text(low)} to {binary_size_text(high)}, such as "64M"'
        text = self.get(key, expected, lambda v: isinstance(v, str), default)
        if isinstance(text, int):
            return text
        try:
            value = parse_size(text)
        except ValueError as error:
            raise self.error(key, expected) from error
        if not low <= value <= high:
            raise self.error(key, expected)
        return value

    def flag(self, key: str, default: bool) -> bool:
        return bool(self.get(key, "true or false", lambda v: isinstance(v, bool), default))

    def choice(self, key: str, choices: Mapping[str, Any] | tuple[str, ...], default: str | None = None) -> Any:
        """One of `choices`; str in practice, Any so that a Literal takes it."""
        given = self._table.get(key)
        near = nearest(given, choices) if isinstance(given, str) and given not in choices else ""
        expected = f"one of {', '.join(choices)}{near}"
        return self.get(key, expected, lambda v: isinstance(v, str) and v in choices, default)

    def tables(self, key: str, most: int) -> list[Mapping[str, Any]]:
        def fits(value: Any) -> bool:
            tables = isinstance(value, list) and all(isinstance(item, dict) for item in value)
            return tables and 0 < len(value) <= most

        return list(self.get(key, f"1 to {most} tables [[{key}]]", fits))

    def inner(self, table: Mapping[str, Any], where: str) -> Keys:
        return Keys(table, f"{self._where}: {where}", self)

    def end(self) -> None:
        for key in self._table:
            if key not in self._asked:
                hint = f"Known keys here are {', '.join(self._asked)}."
                raise UsageError(f"{self._where}: '{safe(key)[:60]}' is no known key{nearest(key, self._asked)}.", hint)


def nearest(name: str, known: Iterable[str]) -> str:
    return "".join(f" (did you mean '{near}'?)" for near in close(name, known))


def close(name: str, known: Iterable[str]) -> list[str]:
    """The nearest, if any is near."""
    return difflib.get_close_matches(name[:100].lower(), list(known), 1)
