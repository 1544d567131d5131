"""The lines of a result file that are not objects of the model, and what every line has to keep to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fswizard.model.plan import Plan
from fswizard.model.result import Outcome
from fswizard.model.text import harmless

SCHEMA = 1
LARGEST = float(2**63)
"""No number of the model reaches it; a larger one, as a damaged file may have, is refused."""
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
    verdict: str = ""
    """Of the result's card, so that a listing says the same words; empty in files of earlier versions."""


@dataclass(frozen=True, slots=True)
class Resumption:
    """The run goes on from here; how it ended before does not count any more."""

    at_s: float
    started: str
    """UTC, ISO 8601."""


def parse_line(line: bytes) -> dict[str, Any]:
    """A line's JSON object with its text made harmless; one of UNREADABLE is raised where it is none."""
    import msgspec

    try:
        text = line.decode().rstrip("\n")
        plain = text.isprintable() and "\\" not in text  # nearly every line: nothing in it can be harmful
        # Names of files may be no Unicode, which msgspec refuses.
        data = msgspec.json.decode(text) if plain else harmless(json.loads(text))
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8") from error
    except ValueError as error:
        raise ValueError(f"not JSON ({error})") from error
    if not isinstance(data, dict):
        raise ValueError("an object was expected")
    _check_numbers(data.values())
    return data


def _check_numbers(values: Iterable[Any]) -> None:
    for value in values:
        if type(value) is dict:
            _check_numbers(value.values())
        elif type(value) is list:
            _check_numbers(value)
        elif type(value) is not str and value is not None and not -LARGEST < value < LARGEST:
            raise ValueError(f"the number {value!r:.20} is too large")
