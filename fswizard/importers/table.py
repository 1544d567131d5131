"""A table of figures written by hand in TOML: published ones, or a user's own."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from typing import Any

import tomli

import fswizard
from fswizard.errors import UsageError
from fswizard.importers.assemble import candidate_of
from fswizard.importers.parsed_run import ELSEWHERE
from fswizard.model.codec import from_json
from fswizard.model.drive import Drive
from fswizard.model.metrics import Metric
from fswizard.model.plan import Plan, PlannedCommand, Target
from fswizard.model.recipe import Recipe, Workload
from fswizard.model.result import Doubt, Environment, Failure, Result, Sample
from fswizard.model.text import safe

LONGEST_BYTES = 1_000_000
_ROOT = {
    "schema", "name", "title", "source", "measured", "kernel", "processor", "tools", "caveats", "baseline",
    "candidates", "commands", "drive", "workload", "more", "failure",
}  # fmt: skip
_METRIC = {"metric", "unit", "better", "figures"}
_WORKLOAD = _METRIC | {"name", "title", "weight"}
_MORE = _METRIC | {"workload"}
_FAILURE = {"candidate", "workload", "kind", "text"}
_DRIVE = {"model", "size_bytes", "kind", "bus", "rpm", "firmware", "smr", "evidence"}


def parse(text: str, where: str) -> Result:
    """The result that a table describes; several figures of a candidate in a list are its rounds.

    Raises UsageError with file, key and what was expected.
    """
    where = safe(where)
    if len(text) > LONGEST_BYTES:
        raise UsageError(f"{where}: over 1 MB is no table.")
    try:
        root = _Table(tomli.loads(text), where, "", _ROOT)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: this is not TOML: {safe(str(error)) or 'nested too deeply'}.") from error
    if root.get("schema", int, 0) != 1:
        raise root.error("schema", "1 was expected")
    tables = root.tables("workload", _WORKLOAD)
    workloads = tuple(_workload(table) for table in tables)
    named: dict[str, None] = dict.fromkeys(root.texts("candidates"))
    samples: list[Sample] = []
    for table, workload in zip(tables, workloads):
        samples += _samples(table, workload.name, workload.metric, primary=True, named=named)
    known = {workload.name for workload in workloads}
    for table in root.tables("more", _MORE):
        samples += _samples(table, table.one_of("workload", known), _metric(table), primary=False, named=named)
    failures = tuple(_failure(table, known, named) for table in root.tables("failure", _FAILURE))
    if len({w.name for w in workloads}) < len(workloads):
        raise root.error("workload", "a name stands twice")
    candidates = tuple(candidate_of(name) for name in named)
    if not candidates:
        raise root.error("candidates", "there are neither figures nor candidates")
    baseline = candidate_of(root.get("baseline", str, next(iter(named)))).name
    if baseline not in {candidate.name for candidate in candidates}:
        raise root.error("baseline", f"one of {', '.join(named)} was expected")
    plan = Plan(
        Recipe(root.text("name"), root.text("title"), "", workloads, 0, 0.0, source=where),
        candidates,
        baseline,
        Target("device", ""),
        _drive(root),
        commands=tuple(_command(root, line) for line in root.texts("commands")),
    )
    environment = Environment(
        fswizard.__version__,
        root.get("measured", str, ""),
        kernel=root.get("kernel", str, ""),
        processor=root.get("processor", str, ""),
        tools={safe(key): safe(str(value)) for key, value in root.get("tools", dict, {}).items()},
        source=root.text("source"),
    )
    doubts = tuple(Doubt(f"caveat-{number}", text) for number, text in enumerate(root.texts("caveats"), 1))
    return Result(environment, plan, tuple(samples), failures, doubts, outcome="finished")


class _Table:
    """A TOML table, read key by key; keys that nobody knows are refused."""

    def __init__(self, data: Mapping[str, Any], where: str, path: str, known: set[str]) -> None:
        self.data = data
        self._where = where
        self._path = path
        if unknown := sorted(set(data) - known):
            raise self.error(unknown[0], f"this key is not known; there are {', '.join(sorted(known))}")

    def error(self, key: str, reason: str) -> UsageError:
        return UsageError(f"{self._where}, key '{self._path}{safe(key)}': {reason}.")

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        """The value of `key`, text made harmless; without a default it must be there."""
        value = self.data.get(key, default)
        if type(value) is not kind or (isinstance(value, int) and abs(value) >= 2**60):
            raise self.error(key, f"{_WORDS[kind]} was expected")
        return safe(value) if isinstance(value, str) else value

    def text(self, key: str) -> str:
        value: str = self.get(key, str)
        if not value.strip():
            raise self.error(key, "text was expected")
        return value

    def one_of(self, key: str, known: set[str]) -> str:
        value = self.text(key)
        if value not in known:
            raise self.error(key, f"one of {', '.join(sorted(known))} was expected")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        values = self.get(key, list, [])
        if not all(isinstance(value, str) for value in values):
            raise self.error(key, "a list of texts was expected")
        return tuple(map(safe, values))

    def tables(self, key: str, known: set[str]) -> list[_Table]:
        values = self.get(key, list, [])
        if not all(isinstance(value, dict) for value in values):
            raise self.error(key, f"tables were expected: [[{key}]]")
        return [_Table(value, self._where, f"{self._path}{key}[{n}].", known) for n, value in enumerate(values, 1)]

    def table(self, key: str, known: set[str]) -> _Table | None:
        return _Table(self.get(key, dict), self._where, f"{key}.", known) if key in self.data else None

    def number(self, key: str, default: float) -> float:
        value = self.data.get(key, default)
        if not _is_figure(value) or value < 0:
            raise self.error(key, "a number that is not negative was expected")
        return float(value)


_WORDS: dict[type, str] = {str: "text", int: "a whole number", list: "a list", dict: "a table"}


def _is_figure(value: Any) -> bool:
    return (
        isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and abs(value) < 1e18
    )


def _metric(table: _Table) -> Metric:
    better = table.one_of("better", {"higher", "lower"})
    return Metric(table.text("metric"), table.text("unit"), "higher" if better == "higher" else "lower")


def _workload(table: _Table) -> Workload:
    metric = _metric(table)
    return Workload(table.text("name"), table.text("title"), "tree", ELSEWHERE, metric, table.number("weight", 1.0))


def _samples(table: _Table, workload: str, metric: Metric, *, primary: bool, named: dict[str, None]) -> list[Sample]:
    samples = []
    for name, given in table.get("figures", dict).items():
        values = given if isinstance(given, list) else [given]
        if not values or not all(_is_figure(value) and value >= 0 for value in values):
            raise table.error(f"figures.{name}", "a number, or a list of them, was expected")
        named.setdefault(safe(name))
        candidate = candidate_of(name).name
        samples += [
            Sample(number, candidate, workload, metric.name, float(value), metric.unit, metric.better, primary)
            for number, value in enumerate(values, 1)
        ]
    return samples


def _failure(table: _Table, known: set[str], named: dict[str, None]) -> Failure:
    name = table.text("candidate")
    named.setdefault(name)
    return Failure(1, candidate_of(name).name, table.one_of("workload", known), table.text("kind"), table.text("text"))


def _drive(root: _Table) -> Drive | None:
    table = root.table("drive", _DRIVE)
    if table is None:
        return None
    fields = {key: value for key, value in table.data.items() if key not in ("smr", "evidence")}
    kind = table.get("smr", str, "unknown")
    evidence = [{"code": "published", "says": kind, "strength": "strong", "text": t} for t in table.texts("evidence")]
    smr = {"kind": kind, "confidence": "strong", "evidence": evidence}
    try:
        return from_json(Drive, {"name": "", "size_bytes": 0, **_safe_texts(fields), "smr": smr})
    except ValueError as error:
        raise root.error("drive", safe(str(error))) from error


def _safe_texts(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: safe(value) if isinstance(value, str) else value for key, value in fields.items()}


def _command(root: _Table, line: str) -> PlannedCommand:
    try:
        return PlannedCommand(tuple(shlex.split(line)))
    except ValueError as error:
        raise root.error("commands", f"{safe(line)[:60]!r} is no command ({error})") from error
