"""Reading of result files, which are untrusted and may be truncated."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import fswizard.engines  # noqa: F401 - finds the kinds of jobs that plans consist of
from fswizard.errors import UsageError
from fswizard.language import N_, _
from fswizard.model import events
from fswizard.model.codec import from_json
from fswizard.model.events import (
    AmountsChosen,
    CommandFinished,
    CommandStarted,
    DoubtRaised,
    Event,
    RatioUpdated,
    RoundDiscarded,
    RoundFinished,
    RunEnded,
    RunStarted,
    SampleTaken,
    SeriesRecorded,
    StepFailed,
    StepProgressed,
    StepSkipped,
    StepStarted,
    fold,
)
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
NAMING = (SampleTaken, SeriesRecorded, StepFailed)
"""Events with a part that names a candidate and a workload of the plan."""
KINDS: Mapping[str, type[Event]] = {
    kind.__name__: kind
    for kind in (*NAMING, AmountsChosen, DoubtRaised, RoundDiscarded, RoundFinished, RunStarted, RunEnded)
}
"""Events that change the result."""
UNREAD = tuple(
    f'{{"type":"{kind.__name__}",'.encode()
    for kind in (StepProgressed, StepStarted, StepSkipped, CommandStarted, CommandFinished, RatioUpdated)
)
"""Prefixes of lines to skip: events that are displayed only during the run."""
WHERE_RESULTS_ARE = N_("`fswizard history` lists the results.")


def load(path: Path) -> Result:
    """The result stored in a file; an incomplete last line is ignored.

    Raises UsageError with line and reason if it is not a result file.
    """
    lines = BytesIO(read_file(path, MAXIMUM_BYTES, hint=_(WHERE_RESULTS_ARE)))
    where = safe(path.name)
    header, __ = _expect(where, 1, lines.readline(), Header)
    if not 1 <= header.schema <= SCHEMA:
        hint = _("A newer fswizard wrote it: update fswizard.") if header.schema > SCHEMA else ""
        text = _(
            "{file} has schema {schema}; this program reads schemas up to {newest}.",
            file=where, schema=header.schema, newest=SCHEMA,
        )  # fmt: skip
        raise UsageError(text, hint)
    begun, data = _expect(where, 2, lines.readline(), RunStarted)
    plan = replace(begun.plan, beside=())
    result = fold(Result(begun.environment, plan), _events(where, header, data, begun.plan, lines))
    alive = result.outcome == "killed" and is_being_written(path)
    return replace(result, outcome="running") if alive else result


def _wrong(where: str, number: int, error: Exception) -> UsageError:
    """The error for an invalid line, with the names of file and line."""
    reason = _("nested too deeply") if isinstance(error, RecursionError) else safe(str(error))
    text = _("{file}, line {line}: {reason}.", file=where, line=number, reason=reason)
    return UsageError(text, _(WHERE_RESULTS_ARE))


def _expect(where: str, number: int, line: bytes, kind: type[T]) -> tuple[T, dict[str, Any]]:
    """The object of type `kind` in a line, and its JSON object. Raises UsageError if the line holds none."""
    if not line:
        raise UsageError(_("{file} ends before its plan.", file=where), _("Nothing was measured in that run."))
    try:
        data = parse_line(line)
        if data.get("type") != kind.__name__:
            raise ValueError(_("a line of type {type} was expected", type=kind.__name__))
        event = from_json(kind, data)
        if isinstance(event, RunStarted):
            _check_plan(event.plan)
    except UNREADABLE as error:
        raise _wrong(where, number, error) from error
    return event, data


def event_in(line: bytes) -> Event:
    """The event in a line of a result file; raises one of UNREADABLE if it holds none."""
    data = as_event(parse_line(line), {})
    kind = getattr(events, str(data.get("type")), None)
    if not (isinstance(kind, type) and issubclass(kind, Event)):
        raise ValueError(_("an event was expected"))
    return from_json(kind, data)


def _events(where: str, header: Header, started: dict[str, Any], plan: Plan, lines: Iterable[bytes]) -> Iterator[Event]:
    """Events that change the result, from the lines after the plan, and lastly the time of the final event."""
    beside = {candidate.name for candidate in plan.beside}
    candidates = frozenset(("", *beside, *(candidate.name for candidate in plan.candidates)))
    workloads = frozenset(("", *(workload.name for workload in plan.recipe.workloads)))
    unread, number = b"", 2
    for number, line in enumerate(lines, 3):
        if line.startswith(UNREAD):
            unread = line
            continue
        unread = b""
        try:
            try:
                data = parse_line(line)
            except ValueError:
                if line.endswith(b"\n"):
                    raise
                break
            if header.schema == 1:
                data = as_event(data, started)
            kind = KINDS.get(str(data.get("type")), Event)
            parts = [part for part in data.values() if kind in NAMING and type(part) is dict]
            for part in parts:
                _check_name("candidate", part, candidates)
                _check_name("predecessor", part, candidates)
                _check_name("workload", part, workloads)
            if not any(part.get("candidate") in beside for part in parts):
                yield from_json(kind, {"at_s": 0.0, **data})
        except UNREADABLE as error:
            raise _wrong(where, number, error) from error
    if unread.endswith(b"\n"):
        try:
            yield from_json(Event, parse_line(unread))
        except UNREADABLE as error:
            raise _wrong(where, number, error) from error


def _check_plan(plan: Plan) -> None:
    candidates = [candidate.name for candidate in (*plan.candidates, *plan.beside)]
    workloads = [workload.name for workload in plan.recipe.workloads]
    if len(set(candidates)) < len(candidates) or len(set(workloads)) < len(workloads):
        raise ValueError(_("the plan names a candidate or a workload twice"))
    if plan.baseline not in candidates:
        raise ValueError(_("the baseline {candidate} is not among the candidates", candidate=repr(plan.baseline)))
    if any(workload.weight < 0 for workload in plan.recipe.workloads):
        raise ValueError(_("a weight is negative"))


def _check_name(key: str, data: Mapping[str, Any], known: Collection[str]) -> None:
    name = data.get(key, "")
    if type(name) is not str or name not in known:
        raise ValueError(_("the {key} {name} is not in the plan", key=key, name=f"{name!r:.60}"))
