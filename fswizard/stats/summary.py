"""Median and worst value of each metric."""

from __future__ import annotations

import math
import statistics

from fswizard.model.analysis import Ratio, Summary
from fswizard.model.result import Result, Sample
from fswizard.stats.intervals import compare
from fswizard.stats.table import score, tables_of

BARE = ""
"""Name of the device without a filesystem, used like that of a candidate."""


def summarise(result: Result) -> tuple[Summary, ...]:
    """Median and worst value of every metric, by candidate and workload, over the valid rounds."""
    tables = tables_of(result)
    names = [candidate.name for candidate in result.plan.candidates]
    primary = {(workload.name, workload.metric.name) for workload in result.plan.recipe.workloads}
    groups: dict[tuple[str, str, str], dict[int, Sample]] = {}
    bare: dict[str, dict[int, float]] = {}
    for sample in result.samples:
        value = score(sample)
        if sample.round in result.discarded_rounds:
            continue
        if sample.candidate in names and math.isfinite(sample.value):
            # If a figure was measured twice, the later one counts.
            groups.setdefault((sample.candidate, sample.workload, sample.metric), {})[sample.round] = sample
        if not sample.candidate and value is not None and (sample.workload, sample.metric) in primary:
            bare.setdefault(sample.workload, {})[sample.round] = value

    of_bare_device: dict[tuple[str, str], Ratio] = {}
    for workload, scores in bare.items():
        table = tables.scores[workload]
        for ratio in compare({**table, BARE: scores}, workload, [(name, BARE) for name in table]):
            of_bare_device[ratio.candidate, workload] = ratio

    summaries = []
    for (candidate, workload, name), group in groups.items():
        sample = next(iter(group.values()))
        values = [each.value for each in group.values()]
        worst = min(values) if sample.better == "higher" else max(values)
        of_bare = of_bare_device.get((candidate, workload)) if sample.primary else None
        median = statistics.median(values)
        summaries.append(Summary(candidate, workload, name, median, worst, len(values), sample.primary, of_bare))
    return tuple(summaries)
