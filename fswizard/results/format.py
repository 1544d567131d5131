"""The lines of a result file that are not objects of the model, and what every line has to keep to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fswizard.model.plan import Plan
from fswizard.model.result import Outcome
from fswizard.model.text import safe, safe_lines

SCHEMA = 1
UNREADABLE = (ValueError, OverflowError, RecursionError)
"""What reading a line of unknown origin may raise."""


@dataclass(frozen=True, slots=True)
class Header:
    """First line of a result file: what a listing needs to know without reading the rest."""

    schema: int
    started: str
    """UTC, ISO 8601."""
    recipe: str
    target: str
    """`image`, `device` or `directory`."""
    candidates: tuple[str, ...]
    drive: str = ""
    """Model name, empty where the disk could not be told."""
    serial: str = ""
    """Tells two disks of the same model apart; never leaves the machine unless asked for."""

    @classmethod
    def of(cls, plan: Plan, started: str) -> Header:
        drive = plan.drive
        names = tuple(candidate.name for candidate in plan.candidates)
        model, serial = (drive.model, drive.serial) if drive else ("", "")
        return cls(SCHEMA, started, plan.recipe.name, plan.target.kind, names, model, serial)


@dataclass(frozen=True, slots=True)
class Ending:
    """Last line of a result file."""

    at_s: float
    outcome: Outcome
    text: str = ""
    leaders: tuple[str, ...] = ()
    """Candidates that nobody was proven to beat, best first."""
    rounds: int = 0


@dataclass(frozen=True, slots=True)
class Resumption:
    """The run goes on from here; how it ended before does not count any more."""

    at_s: float
    started: str
    """UTC, ISO 8601."""


def parse_line(line: bytes) -> dict[str, Any]:
    """A line's JSON object with its text made harmless; one of UNREADABLE is raised where it is none."""
    try:
        text = line.decode().rstrip("\n")
        data = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg} at column {error.colno})") from error
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8") from error
    if not isinstance(data, dict):
        raise ValueError("an object was expected")
    if text.isprintable() and "\\" not in text:  # nearly every line: nothing in it can be harmful
        return data
    return {safe(key): _harmless(key, value) for key, value in data.items()}


def parse_lines(lines: Sequence[bytes]) -> list[dict[str, Any]] | None:
    """The objects of many lines at once; None where one of the lines has to be looked at by itself."""
    try:
        text = b",".join(lines).decode().replace("\n", "")
        data: list[dict[str, Any]] = _DECODER.decode(f"[{text}]")
    except UNREADABLE:
        return None
    plain = text.isprintable() and "\\" not in text and len(data) == len(lines)
    return data if plain and set(map(type, data)) <= {dict} else None


def _harmless(key: str, value: Any) -> Any:
    if isinstance(value, str):
        return safe_lines(value) if key == "details" else safe(value)
    if isinstance(value, dict):
        return {safe(name): _harmless(name, item) for name, item in value.items()}
    return [_harmless(key, item) for item in value] if isinstance(value, list) else value


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is no number")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
