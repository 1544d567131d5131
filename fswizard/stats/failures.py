"""Which candidates are out because they could not do the work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fswizard.model.result import Failure, Result
from fswizard.stats.table import counted

_PLAIN = {"timed-out": "did not finish in time", "failed": "could not be measured"}


@dataclass(frozen=True, slots=True)
class Failures:
    """The first failure of each candidate: of the run as a whole, and of single workloads."""

    overall: Mapping[str, str]
    """Candidate to what happened."""
    by_workload: Mapping[str, Mapping[str, str]]
    """Workload to candidate to what happened."""


def failures(result: Result, weights: Mapping[str, float]) -> Failures:
    """Failures in rounds that count. What has no weight costs nobody the run; formatting and mounting always does."""
    names = {candidate.name for candidate in result.plan.candidates}
    overall: dict[str, str] = {}
    by_workload: dict[str, dict[str, str]] = {workload.name: {} for workload in result.plan.recipe.workloads}
    for failure in _all(result):
        if failure.candidate not in names:
            continue
        text = failure.text or failure.kind
        if weights.get(failure.workload, 1.0) > 0:
            overall.setdefault(failure.candidate, text)
        for workload in [failure.workload] if failure.workload else by_workload:
            by_workload.setdefault(workload, {}).setdefault(failure.candidate, text)
    return Failures(overall, by_workload)


def _all(result: Result) -> Iterable[Failure]:
    yield from (failure for failure in result.failures if failure.round not in result.discarded_rounds)
    for s in counted(result):
        if s.status != "ok":
            yield Failure(s.round, s.candidate, s.workload, s.status, _PLAIN[s.status])
