"""The lines of a result file: a header for listings, then the events of a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from fswizard.language import _
from fswizard.model import events
from fswizard.model.analysis import Analysis, Answer
from fswizard.model.codec import to_json
from fswizard.model.frozen import frozen
from fswizard.model.plan import Plan
from fswizard.model.result import Environment, Result
from fswizard.model.text import harmless

SCHEMA = 3
"""Earlier versions wrote schema 1, with other kinds of lines (see `results.earlier_versions`), and schema 2, with
sentences as complete English text."""
LARGEST = float(2**63)
"""Upper limit for numbers, which no valid value reaches: larger ones, as in a damaged file, are refused."""
UNREADABLE = (ValueError, OverflowError, RecursionError)
"""Exceptions that reading a line of unknown origin may raise."""


@frozen
class Header:
    """First line of a result file: what a listing needs without reading the rest."""

    schema: int
    started: str
    """UTC, ISO 8601."""
    recipe: str
    target: str
    """`image`, `device` or `directory`."""
    candidates: tuple[str, ...]
    drive: str = ""
    """Model name of the disk; empty if unknown."""
    serial: str = ""
    """Serial number of the disk; omitted from exports unless requested."""

    @classmethod
    def of(cls, plan: Plan, environment: Environment) -> Header:
        drive = plan.drive
        names = tuple(candidate.name for candidate in plan.candidates)
        model, serial = (drive.model, drive.serial) if drive else ("", "")
        return cls(SCHEMA, environment.started, plan.recipe.name, plan.target.kind, names, model, serial)


Line = Header | events.Event


def lines(result: Result, analysis: Analysis | None = None, answer: Answer | None = None) -> Iterator[Line]:
    """The lines that store a whole result.

    `analysis` and `answer` are for the history only and not needed to read the result.
    """
    yield Header.of(result.plan, result.environment)
    yield events.RunStarted(0.0, result.plan, result.environment)
    for sample in result.samples:
        yield events.SampleTaken(sample.at_s, replace(sample, at_s=0.0))
    for series in result.throughput_series:
        yield events.SeriesRecorded(0.0, series)
    for failure in result.failures:
        step = events.Step(0, "workload", "", failure.round, failure.candidate, failure.workload)
        yield events.StepFailed(0.0, step, failure)
    for doubt in result.doubts:
        yield events.DoubtRaised(0.0, doubt)
    for number in result.discarded_rounds:
        yield events.RoundDiscarded(0.0, number, "")
    if result.survivors is not None:
        yield events.RoundFinished(0.0, result.finished_rounds, result.survivors)
    leaders, rounds = (analysis.leaders, analysis.rounds) if analysis else ((), 0)
    ended = events.RunEnded(result.elapsed_s, result.outcome, result.fault, leaders, rounds, hint=result.remedy)
    yield replace(ended, verdict=answer.verdict, answer=answer.kind) if answer else ended


def encoded(line: Line) -> bytes:
    """A line as stored in the file; its type comes first, so that a reader can skip a line without decoding it."""
    text = json.dumps(
        {"type": type(line).__name__, **to_json(line)}, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return text.encode("utf-8", "backslashreplace") + b"\n"


def parse_line(line: bytes) -> dict[str, Any]:
    """A line's JSON object with its text made harmless; raises one of UNREADABLE if it is not an object."""
    import msgspec

    try:
        text = line.decode().rstrip("\n")
        plain = text.isprintable() and "\\" not in text  # nearly every line: nothing in it can be harmful
        # Names of files may be no Unicode, which msgspec refuses.
        data = msgspec.json.decode(text) if plain else harmless(json.loads(text))
    except UnicodeDecodeError as error:
        raise ValueError(_("not UTF-8")) from error
    except (ValueError, msgspec.DecodeError) as error:  # which is a ValueError only from msgspec 0.21
        raise ValueError(_("not JSON ({error})", error=error)) from error
    if not isinstance(data, dict):
        raise ValueError(_("an object was expected"))
    _check_numbers(data.values())
    return data


def _check_numbers(values: Iterable[Any]) -> None:
    for value in values:
        if type(value) is dict:
            _check_numbers(value.values())
        elif type(value) is list:
            _check_numbers(value)
        elif type(value) is not str and value is not None and not -LARGEST < value < LARGEST:
            raise ValueError(_("the number {number} is too large", number=f"{value!r:.20}"))
