"""Results as tables of scores for comparing candidates, and failures, which exclude candidates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fswizard.model.result import Result, Sample

Table = Mapping[str, Mapping[int, float]]
"""Score by candidate and round: the logarithm of the figure, negated if lower figures are better."""
LEAST = 1e-150
"""Figures below it, or above its inverse, come from a damaged file; their ratios would not fit into a float."""
ALL = ""
"""Key for all workloads together, used like the name of a workload."""


@dataclass(frozen=True, slots=True)
class Tables:
    """All comparable figures of a result, and failures, by workload.

    ALL, the weighted mean of the workloads, comes first; workloads without weight have a table, too.
    """

    scores: Mapping[str, Table]
    """Tables of all candidates, including failed ones, in the plan's order."""
    standing: Mapping[str, Table]
    """Tables of the candidates that did not fail."""
    failed: Mapping[str, Mapping[str, str]]
    """First failure by candidate; under ALL only failures of workloads with weight."""


def tables_of(result: Result) -> Tables:
    """Tables of the primary figures of candidates in valid rounds."""
    weights = {workload.name: workload.weight for workload in result.plan.recipe.workloads}
    names = [candidate.name for candidate in result.plan.candidates]
    figures: dict[str, dict[str, dict[int, float]]] = {}
    failed: dict[str, dict[str, str]] = {ALL: {}}
    for workload in weights:
        figures[workload] = {name: {} for name in names}
        failed[workload] = {}
    last = result.finished_rounds or math.inf
    for sample in result.samples:
        # Once a round is complete, only complete ones count.
        counts = sample.round <= last and sample.round not in result.discarded_rounds
        if not (counts and sample.primary and sample.candidate in names):
            continue
        value = score(sample)
        if value is not None and sample.workload in figures:
            figures[sample.workload][sample.candidate][sample.round] = value
    for failure in result.failures:
        if failure.candidate not in names or failure.round in result.discarded_rounds:
            continue
        text = failure.text or failure.kind
        if weights.get(failure.workload, 1.0) > 0:
            failed[ALL].setdefault(failure.candidate, text)
        # Who cannot be made or mounted fails every workload.
        for workload in [failure.workload] if failure.workload else weights:
            failed.setdefault(workload, {}).setdefault(failure.candidate, text)

    scores: dict[str, Table] = {}
    standing: dict[str, Table] = {}
    for workload, table in {ALL: weighted_mean(figures, weights), **figures}.items():
        scores[workload] = {name: rounds for name, rounds in table.items() if rounds}
        standing[workload] = {name: rounds for name, rounds in table.items() if rounds and name not in failed[workload]}
    return Tables(scores, standing, failed)


def score(sample: Sample) -> float | None:
    """Logarithm of a figure, negated if lower is better; None if no ratio can be computed from it."""
    if not LEAST < sample.value < 1 / LEAST:
        return None
    return math.log(sample.value) * (1 if sample.better == "higher" else -1)


def weighted_mean(tables: Mapping[str, Table], weights: Mapping[str, float]) -> Table:
    """Weighted mean of each candidate over the workloads, in the rounds in which it has figures of all of them.

    Workloads without any figure are ignored.
    """
    parts = []
    total = 0.0
    for workload, weight in weights.items():
        if weight > 0 and any(tables[workload].values()):
            parts.append((tables[workload], weight))
            total += weight
    overall: dict[str, dict[int, float]] = {}
    for candidate, rounds in parts[0][0].items() if parts else ():
        overall[candidate] = {}
        for number in sorted(rounds):
            shares = [weight / total * t[candidate][number] for t, weight in parts if number in t.get(candidate, ())]
            if len(shares) == len(parts):
                overall[candidate][number] = math.fsum(shares)
    return overall
