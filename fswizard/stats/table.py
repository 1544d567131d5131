"""Results as tables of logarithms, in which candidates are compared, and failures, which keep candidates out."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fswizard.model.result import Failure, Result, Sample

Table = Mapping[str, Mapping[int, float]]
"""Candidate to round to the logarithm of its figure, with a sign by which larger is better."""


LEAST = 1e-150
"""Figures below it, or above its inverse, are of a damaged file; their ratios would not fit into a float."""


def counted(result: Result) -> Iterable[Sample]:
    """The candidates' primary figures in rounds that count: those that all went through, once there is one."""
    names = {candidate.name for candidate in result.plan.candidates}
    discarded, last = set(result.discarded_rounds), result.finished_rounds or math.inf
    samples = (s for s in result.samples if s.primary and s.candidate in names)
    return (s for s in samples if s.round not in discarded and s.round <= last)


def comparable(sample: Sample) -> bool:
    """Whether ratios can be made of a figure; there are none to zero."""
    return sample.status == "ok" and LEAST < sample.value < 1 / LEAST


def score(sample: Sample) -> float:
    """The logarithm of a comparable figure, with a sign by which larger is better."""
    return math.log(sample.value) * (1 if sample.better == "higher" else -1)


@dataclass(frozen=True, slots=True)
class Failures:
    """The first failure of each candidate: of the run as a whole, and of single workloads."""

    overall: Mapping[str, str]
    """Candidate to what happened."""
    by_workload: Mapping[str, Mapping[str, str]]
    """Workload to candidate to what happened."""


@dataclass(frozen=True, slots=True)
class Tables:
    """All figures of a result that candidates are compared by, and who failed."""

    by_workload: Mapping[str, Table]
    """A table for each workload of the recipe, also those without weight."""
    parts: Sequence[Table]
    """Each weighted workload's summand of `overall`."""
    overall: Table
    """The weighted mean of the workloads, of candidates that failed, too."""
    failed: Failures

    @property
    def standing(self) -> Table:
        """Overall scores of candidates that did not fail."""
        return without(self.overall, self.failed.overall)


def tables_of(result: Result) -> Tables:
    weights = {workload.name: workload.weight for workload in result.plan.recipe.workloads}
    by_workload = workload_tables(result)
    parts = shares(by_workload, weights)
    return Tables(by_workload, parts, overall_table(parts), failures(result, weights))


def workload_tables(result: Result) -> dict[str, Table]:
    """A table for each workload of the recipe, candidates in the plan's order; the later one of two figures counts."""
    tables: dict[str, dict[str, dict[int, float]]] = {w.name: {} for w in result.plan.recipe.workloads}
    for sample in counted(result):
        if sample.workload in tables and comparable(sample):
            tables[sample.workload].setdefault(sample.candidate, {})[sample.round] = score(sample)
    names = [candidate.name for candidate in result.plan.candidates]
    return {workload: {name: table[name] for name in names if name in table} for workload, table in tables.items()}


def overall_table(parts: Sequence[Table]) -> Table:
    """The weighted mean of all workloads' logarithms, from its summands (`shares`), in rounds that have all of them."""
    overall = {}
    for candidate in dict.fromkeys(candidate for part in parts for candidate in part):
        rounds = sorted(set.intersection(*(set(part.get(candidate, ())) for part in parts)))
        overall[candidate] = {number: math.fsum(part[candidate][number] for part in parts) for number in rounds}
    return overall


def shares(tables: Mapping[str, Table], weights: Mapping[str, float]) -> list[Table]:
    """Each workload's summand of the weighted mean; workloads without any figure do not take part."""
    weighed = {name: weights[name] for name, table in tables.items() if weights.get(name, 0.0) > 0 and table}
    total = sum(weighed.values())
    return [
        {
            candidate: {n: weight / total * value for n, value in cells.items()}
            for candidate, cells in tables[name].items()
        }
        for name, weight in weighed.items()
    ]


def without(table: Table, candidates: Collection[str]) -> Table:
    """The table without some candidates, and without those that have no figure at all."""
    return {name: rounds for name, rounds in table.items() if rounds and name not in candidates}


def failures(result: Result, weights: Mapping[str, float]) -> Failures:
    """Failures in rounds that count; overall, those of workloads without weight do not count."""
    names = {candidate.name for candidate in result.plan.candidates}
    counting = [failure for failure in result.failures if failure.round not in result.discarded_rounds]
    plain = {"timed-out": "did not finish in time", "failed": "could not be measured"}
    for s in counted(result):
        if s.status != "ok":
            counting.append(Failure(s.round, s.candidate, s.workload, s.status, plain[s.status]))
    overall: dict[str, str] = {}
    by_workload: dict[str, dict[str, str]] = {workload.name: {} for workload in result.plan.recipe.workloads}
    for failure in counting:
        if failure.candidate not in names:
            continue
        text = failure.text or failure.kind
        if weights.get(failure.workload, 1.0) > 0:
            overall.setdefault(failure.candidate, text)
        for workload in [failure.workload] if failure.workload else by_workload:
            by_workload.setdefault(workload, {}).setdefault(failure.candidate, text)
    return Failures(overall, by_workload)
