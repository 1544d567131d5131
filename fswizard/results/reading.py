"""Reading of result files, which are untrusted and may be truncated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import fswizard.engines  # noqa: F401 - finds the kinds of jobs that plans consist of
from fswizard.errors import UsageError
from fswizard.language import N_, _
from fswizard.model import events
from fswizard.model.codec import from_json
from fswizard.model.events import Event, RunStarted, SampleTaken, SeriesRecorded, StepFailed, fold
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.model.result_file import SCHEMA, UNREADABLE, Header, parse_line
from fswizard.model.text import safe
from fswizard.results.earlier_versions import as_event
from fswizard.results.writing import is_being_written
from fswizard.system.files import read_file

T = TypeVar("T")
MAXIMUM_BYTES = 200_000_000
"""Half a day of progress, ten times a second, is 70 MB; the figures of the largest run are 25 MB."""
UNREAD = (b'{"type":"StepProgressed",', b'{"type":"StepStarted",', b'{"type":"Command', b'{"type":"RatioUpdated",')
"""Prefixes of lines that are displayed only during the run. They are most of a file, and are skipped undecoded."""
WHERE_RESULTS_ARE = N_("`fswizard history` lists the results.")


def load(path: Path) -> Result:
    """The result stored in a file; an incomplete last line is ignored.

    Raises UsageError with line and reason if it is not a result file.
    """
    *lines, _rest = read_file(path, MAXIMUM_BYTES, hint=_(WHERE_RESULTS_ARE)).split(b"\n")
    where = safe(path.name)
    if len(lines) < 2:
        raise UsageError(_("{file} ends before its plan.", file=where), _("Nothing was measured in that run."))
    with _line(where, 1):
        header = _expected(Header, parse_line(lines[0]))
    if not 1 <= header.schema <= SCHEMA:
        hint = _("A newer fswizard wrote it: update fswizard.") if header.schema > SCHEMA else ""
        text = _(
            "{file} has schema {schema}; this program reads schemas up to {newest}.",
            file=where, schema=header.schema, newest=SCHEMA,
        )  # fmt: skip
        raise UsageError(text, hint)
    with _line(where, 2):
        data = as_event(parse_line(lines[1]), {})
        started = _expected(RunStarted, data)
        _check_plan(started.plan)
    result = fold(Result(started.environment, started.plan), _events(where, data, started.plan, lines))
    alive = result.outcome == "killed" and is_being_written(path)
    return replace(result, outcome="running") if alive else result


def event_in(line: bytes) -> Event:
    """The event in a line of a result file; raises one of UNREADABLE if it holds none."""
    event = _event(as_event(parse_line(line), {}))
    if event is None:
        raise ValueError(_("an event was expected"))
    return event


def _event(data: dict[str, Any]) -> Event | None:
    """The event in the JSON object of a line; None if this version knows no such event."""
    kind = getattr(events, str(data.get("type")), None)
    if not (isinstance(kind, type) and issubclass(kind, Event)):
        return None
    return from_json(kind, {"at_s": 0.0, **data})


@contextmanager
def _line(where: str, number: int) -> Iterator[None]:
    """Convert errors of an invalid line to UsageError with the names of file and line."""
    try:
        yield
    except UNREADABLE as error:
        reason = _("nested too deeply") if isinstance(error, RecursionError) else safe(str(error))
        text = _("{file}, line {line}: {reason}.", file=where, line=number, reason=reason)
        raise UsageError(text, _(WHERE_RESULTS_ARE)) from error


def _expected(kind: type[T], data: dict[str, Any]) -> T:
    if data.get("type") != kind.__name__:
        raise ValueError(_("a line of type {type} was expected", type=kind.__name__))
    return from_json(kind, data)


def _events(where: str, started: dict[str, Any], plan: Plan, lines: list[bytes]) -> Iterator[Event]:
    """Events that change the result, from the lines after the plan, and the time of the last line.

    Figures of candidates and workloads that the plan does not have are left out: earlier versions also stored those of
    unaged candidates.
    """
    candidates = {"", *(candidate.name for candidate in plan.candidates)}
    workloads = {"", *(workload.name for workload in plan.recipe.workloads)}
    for number, line in enumerate(lines[2:], 3):
        if line.startswith(UNREAD) and number < len(lines):
            continue
        with _line(where, number):
            event = _event(as_event(parse_line(line), started))
        match event:
            case None:
                continue
            case SampleTaken(sample=part) | SeriesRecorded(series=part) | StepFailed(failure=part):
                if part.candidate not in candidates or part.workload not in workloads:
                    continue
        yield event


def _check_plan(plan: Plan) -> None:
    candidates = [candidate.name for candidate in plan.candidates]
    workloads = [workload.name for workload in plan.recipe.workloads]
    if len(set(candidates)) < len(candidates) or len(set(workloads)) < len(workloads):
        raise ValueError(_("the plan names a candidate or a workload twice"))
    if plan.baseline not in candidates:
        raise ValueError(_("the baseline {candidate} is not among the candidates", candidate=repr(plan.baseline)))
    if any(workload.weight < 0 for workload in plan.recipe.workloads):
        raise ValueError(_("a weight is negative"))
