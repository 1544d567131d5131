"""Reading a result file, whoever wrote it and wherever it was cut off."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import fswizard.engines  # noqa: F401 - finds the kinds of jobs that plans consist of
from fswizard.errors import UsageError
from fswizard.model.codec import from_json
from fswizard.model.events import RoundDiscarded, RoundFinished, RunStarted
from fswizard.model.plan import Plan
from fswizard.model.result import Doubt, Failure, Result, Sample, ThroughputSeries
from fswizard.model.result_file import SCHEMA, UNREADABLE, Ending, Header, Resumption, parse_line
from fswizard.model.text import safe
from fswizard.system.files import read_file

MAXIMUM_BYTES = 20_000_000
"""Read within 300 MB of memory; twelve rounds with 30 candidates and 20 workloads write 14 MB."""
KEPT = (Sample, ThroughputSeries, Failure, Doubt, RoundDiscarded, RoundFinished, Resumption, Ending)
FORMERLY: Mapping[str, type[Any]] = {"Course": ThroughputSeries}
"""What lines were called before version 0.1."""
WHERE_RESULTS_ARE = "`fswizard history` lists the results."


def load(path: str | Path) -> Result:
    """The result that a file holds; what a cut left of its last line is passed over.

    Raises UsageError, naming line and reason, where it is not a result file.
    """
    lines = BytesIO(read_file(Path(path), MAXIMUM_BYTES, hint=WHERE_RESULTS_ARE))
    where = safe(Path(path).name)
    header = _expect(where, 1, lines.readline(), Header)
    if header.schema != SCHEMA:
        hint = "A newer fswizard wrote it: update fswizard." if header.schema > SCHEMA else ""
        raise UsageError(f"{where} has schema {header.schema}; this program reads schema {SCHEMA}.", hint)
    begun = _expect(where, 2, lines.readline(), RunStarted)
    return _collect(where, Result(begun.environment, begun.plan), lines)


def _wrong(where: str, number: int, error: Exception) -> UsageError:
    """What is wrong with a line, in words that name file and line."""
    reason = "nested too deeply" if isinstance(error, RecursionError) else safe(str(error))
    hint = "This isn't an fswizard result; `fswizard import` reads other programs' output."
    return UsageError(f"{where}, line {number}: {reason}.", hint)


def _expect(where: str, number: int, line: bytes, kind: type[Any]) -> Any:
    if not line:
        raise UsageError(f"{where} ends before its plan.", "Nothing was measured in that run.")
    try:
        data = parse_line(line)
        if data.get("type") != kind.__name__:
            raise ValueError(f"a line of type {kind.__name__} was expected")
        found = from_json(kind, data)
        if isinstance(found, RunStarted):
            _check_plan(found.plan)
    except UNREADABLE as error:
        raise _wrong(where, number, error) from error
    return found


def _collect(where: str, result: Result, lines: Iterable[bytes]) -> Result:
    """Take up the lines that follow the plan."""
    kinds: dict[str, type[Any]] = {kind.__name__: kind for kind in KEPT} | dict(FORMERLY)
    found: dict[type[Any], list[Any]] = {kind: [] for kind in KEPT}
    candidates = frozenset(("", *(candidate.name for candidate in result.plan.candidates)))
    workloads = frozenset(("", *(workload.name for workload in result.plan.recipe.workloads)))
    elapsed_s = 0.0
    for number, line in enumerate(lines, 3):
        try:
            try:
                data = parse_line(line)
            except ValueError:
                if line.endswith(b"\n"):
                    raise
                break
            _check_name("candidate", data, candidates)
            _check_name("predecessor", data, candidates)
            _check_name("workload", data, workloads)
            if kind := kinds.get(str(data.get("type"))):
                found[kind].append(from_json(kind, data))
                if kind is Resumption:
                    found[Ending].clear()
            elapsed_s = max(elapsed_s, from_json(float, data.get("at_s", 0.0)))
        except UNREADABLE as error:
            raise _wrong(where, number, error) from error
    finished: RoundFinished | None = found[RoundFinished][-1] if found[RoundFinished] else None
    return replace(
        result,
        samples=tuple(found[Sample]),
        throughput_series=tuple(found[ThroughputSeries]),
        failures=tuple(found[Failure]),
        doubts=tuple(found[Doubt]),
        discarded_rounds=tuple(event.round for event in found[RoundDiscarded]),
        finished_rounds=finished.round if finished else 0,
        survivors=finished.survivors if finished else None,
        outcome=found[Ending][-1].outcome if found[Ending] else result.outcome,
        elapsed_s=elapsed_s,
    )


def _check_plan(plan: Plan) -> None:
    candidates = [candidate.name for candidate in plan.candidates]
    workloads = [workload.name for workload in plan.recipe.workloads]
    if len(set(candidates)) < len(candidates) or len(set(workloads)) < len(workloads):
        raise ValueError("the plan names a candidate or a workload twice")
    if plan.baseline not in candidates:
        raise ValueError(f"the baseline {plan.baseline!r} is not among the candidates")
    if any(workload.weight < 0 for workload in plan.recipe.workloads):
        raise ValueError("a weight is negative")


def _check_name(key: str, data: Mapping[str, Any], known: Collection[str]) -> None:
    name = data.get(key, "")
    if type(name) is not str or name not in known:
        raise ValueError(f"the {key} {name!r:.60} is not in the plan")
