"""TOML files written by people: the keys of a table are the fields of a dataclass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import tomli
from msgspec import Meta

from fswizard.errors import UsageError
from fswizard.language import _
from fswizard.model.text import harmless, safe
from fswizard.model.units import parse_size

LONGEST_FILE_BYTES = 1 << 20


def within(low: float, high: float) -> Meta:
    """Range of a number, ends included."""
    return Meta(ge=low, le=high)


def read_table(text: str, where: str) -> dict[str, Any]:
    """Parse a whole file and make all its text harmless; raises UsageError if it is not TOML."""
    try:
        return dict(harmless(tomli.loads(text)))
    except (ValueError, RecursionError) as error:
        reason = safe(str(error)) or _("nested too deeply")
        raise UsageError(_("{where}: this is not TOML: {reason}.", where=where, reason=reason)) from error


def key_of(field: str) -> str:
    """The key for a field, which has no unit: `block` for `block_bytes`."""
    return re.sub("_(bytes|s|percent)$", "", field)


def by_field(table: Mapping[str, Any], fields: Iterable[str], where: str) -> dict[str, Any]:
    """The values of a table, by field. Sizes in bytes can be text, such as "64M"; other text becomes one line.

    Raises UsageError for keys of no field, and for text that is not a size.
    """
    known = {key_of(field): field for field in fields}
    values = {}
    for key, value in table.items():
        if key not in known:
            text = _("{where}: '{key}' is not a known key.", where=where, key=key[:60])
            raise UsageError(text, _("Known keys here are {keys}.", keys=", ".join(known)))
        field = known[key]
        if not isinstance(value, str):
            values[field] = value
            continue
        try:
            values[field] = parse_size(value[:60]) if field.endswith("_bytes") else " ".join(value.split())
        except ValueError as error:
            raise UsageError(f"{where}: '{key}': {error}.") from error
    return values


def must_be(key: str, expected: str) -> ValueError:
    """The error for a value that contradicts another one."""
    return ValueError(_("'{key}' must be {expected}", key=key, expected=expected.rstrip(",")))


def from_to(low: float, high: float) -> str:
    return _("a number from {low} to {high}", low=low, high=high)


def one_of(choices: Iterable[str]) -> str:
    return _("one of {names}", names=", ".join(choices))
