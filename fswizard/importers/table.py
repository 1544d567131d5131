"""Published figures in TOML, which come with the program."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import fswizard
from fswizard.engines.tree import TreeJob
from fswizard.errors import UsageError
from fswizard.filesystems import parse_candidate
from fswizard.language import _
from fswizard.model.drive import Bus, Drive, DriveKind, Evidence, SmrKind, SmrVerdict
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.keys import Expected, Keys, number, one_of, whole
from fswizard.model.metrics import Better, Metric
from fswizard.model.plan import Plan, Target
from fswizard.model.recipe import PlannedCommand, Recipe, Workload
from fswizard.model.result import Doubt, Environment, Failure, Result, Sample
from fswizard.model.text import safe

ELSEWHERE = TreeJob("copy", "mixed", 0, 0)
"""Placeholder, which nobody runs, for work that this program has no job for."""

_TEXT = Expected("text", lambda value: bool(value.strip()))
_Tables = Annotated[tuple[dict[str, Any], ...], Expected("a list of tables")]
_Figures = Annotated[
    tuple[float, ...],
    Expected(
        "a number that is not negative, or a list of them,",
        lambda values: bool(values) and all(0 <= value < 1e18 for value in values),
        lambda value: value if isinstance(value, list) else [value],
    ),
]


@dataclass
class _Measured:
    metric: Annotated[str, _TEXT]
    unit: Annotated[str, _TEXT]
    better: Better
    figures: dict[str, Any]


@dataclass
class _Workload(_Measured):
    name: Annotated[str, _TEXT]
    title: Annotated[str, _TEXT]
    weight: Annotated[float, number(0, 1e18)] = 1.0


@dataclass
class _More(_Measured):
    workload: Annotated[str, _TEXT]


@dataclass
class _Failure:
    candidate: Annotated[str, _TEXT]
    workload: Annotated[str, _TEXT]
    kind: Annotated[str, _TEXT]
    text: Annotated[str, _TEXT]


@dataclass
class _Drive:
    model: str = ""
    size_bytes: Annotated[int, whole(0, 2**60)] = 0
    kind: DriveKind = "unknown"
    bus: Bus = "other"
    rpm: Annotated[int | None, whole(0, 10**6)] = None
    firmware: str = ""
    smr: SmrKind = "unknown"
    evidence: tuple[str, ...] = ()


@dataclass
class _Table:
    schema: Annotated[int, whole(1, 1)]
    name: Annotated[str, _TEXT]
    title: Annotated[str, _TEXT]
    source: Annotated[str, _TEXT]
    measured: str = ""
    kernel: str = ""
    processor: str = ""
    tools: dict[str, Any] | None = None
    caveats: tuple[str, ...] = ()
    baseline: str = ""
    candidates: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    drive: dict[str, Any] | None = None
    workload: _Tables = ()
    more: _Tables = ()
    failure: _Tables = ()


def parse(text: str, where: str) -> Result:
    """The result that a table describes; a list of figures has one for each round.

    Raises UsageError with file, key and what was expected.
    """
    keys = Keys.parse(text, where)
    root = keys.read(_Table)
    workloads: dict[str, Workload] = {}
    named = dict.fromkeys(root.candidates)
    samples: list[Sample] = []
    for inner in keys.each("workload"):
        one = inner.read(_Workload)
        if one.name in workloads:
            raise inner.error("name", "a name that no other workload has")
        metric = Metric(one.metric, one.unit, one.better)
        workloads[one.name] = Workload(one.name, one.title, ELSEWHERE.engine, ELSEWHERE, metric, one.weight)
        samples += _samples(inner, one, one.name, primary=True)
        named |= dict.fromkeys(one.figures)
    for inner in keys.each("more"):
        more = inner.read(_More)
        _check_workload(inner, workloads)
        samples += _samples(inner, more, more.workload, primary=False)
        named |= dict.fromkeys(more.figures)
    failures = []
    for inner in keys.each("failure"):
        failed = inner.read(_Failure)
        _check_workload(inner, workloads)
        named.setdefault(failed.candidate)
        failures.append(Failure(1, candidate_of(failed.candidate).name, failed.workload, failed.kind, failed.text))
    if not named:
        raise UsageError(_("{file}: 'candidates' is missing, and there are no figures either.", file=safe(where)))
    candidates = tuple(candidate_of(name) for name in named)
    baseline = candidate_of(root.baseline or next(iter(named))).name
    if baseline not in {candidate.name for candidate in candidates}:
        raise keys.error("baseline", one_of(named))
    plan = Plan(
        Recipe(root.name, root.title, "", tuple(workloads.values()), 0, 0.0, source=safe(where)),
        candidates,
        baseline,
        Target("device", ""),
        None if root.drive is None else _drive(keys.inner(root.drive, "drive")),
        commands=tuple(_command(line, keys) for line in root.commands),
    )
    doubts = tuple(Doubt(f"caveat-{number}", text) for number, text in enumerate(root.caveats, 1))
    return Result(_environment(root), plan, tuple(samples), tuple(failures), doubts, outcome="finished")


def candidate_of(name: str) -> Candidate:
    """A candidate by its short name, which may be unknown to the catalogue."""
    name = safe(name)
    try:
        return replace(parse_candidate(name), name=name)
    except UsageError:
        return Candidate(name, Filesystem(name, name, "", ""))


def _environment(root: _Table) -> Environment:
    return Environment(
        fswizard.__version__,
        root.measured,
        kernel=root.kernel,
        processor=root.processor,
        tools={key: safe(str(value)) for key, value in (root.tools or {}).items()},
        source=root.source,
    )


def _check_workload(keys: Keys, known: Mapping[str, Workload]) -> None:
    if keys.table["workload"] not in known:
        raise keys.error("workload", one_of(known) if known else "the name of a [[workload]]")


def _samples(keys: Keys, of: _Measured, workload: str, *, primary: bool) -> Iterator[Sample]:
    figures = keys.inner(of.figures, "figures")
    for name in of.figures:
        candidate = candidate_of(name).name
        for round_number, value in enumerate(figures.value(name, _Figures), 1):
            yield Sample(round_number, candidate, workload, of.metric, value, of.unit, of.better, primary)


def _drive(keys: Keys) -> Drive:
    one = keys.read(_Drive)
    smr = SmrVerdict(one.smr, "strong", tuple(Evidence("published", one.smr, "strong", t) for t in one.evidence))
    return Drive("", one.size_bytes, one.model, firmware=one.firmware, kind=one.kind, bus=one.bus, rpm=one.rpm, smr=smr)


def _command(line: str, keys: Keys) -> PlannedCommand:
    try:
        return PlannedCommand(tuple(shlex.split(line)))
    except ValueError as error:
        raise keys.error("commands", f"a list of commands ({error} in {line[:60]!r})") from error
