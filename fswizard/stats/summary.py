"""Median and worst value of each metric."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping

from fswizard.model.analysis import Ratio, Summary
from fswizard.model.result import Result, Sample
from fswizard.stats.intervals import compare
from fswizard.stats.table import Tables, score, tables_of

BARE = ""
"""Name of the device without a filesystem, used like that of a candidate."""


def summarise(result: Result, tables: Tables | None = None) -> tuple[Summary, ...]:
    """Median and worst value of every metric, by candidate and workload, over the valid rounds; `tables` are those
    of `result`."""
    names = [candidate.name for candidate in result.plan.candidates]
    groups: dict[tuple[str, str, str], dict[int, Sample]] = {}
    for sample in result.samples:
        counts = sample.candidate in names and sample.round not in result.discarded_rounds
        if counts and sample.status == "ok" and math.isfinite(sample.value):
            # If a figure was measured twice, the later one counts.
            groups.setdefault((sample.candidate, sample.workload, sample.metric), {})[sample.round] = sample
    of_bare_device = _of_bare_device(result, tables or tables_of(result))
    summaries = []
    for (candidate, workload, name), group in groups.items():
        sample = next(iter(group.values()))
        values = [each.value for each in group.values()]
        worst = min(values) if sample.better == "higher" else max(values)
        ratio = of_bare_device.get((candidate, workload)) if sample.primary else None
        median = statistics.median(values)
        summaries.append(Summary(candidate, workload, name, median, worst, len(values), sample.primary, ratio))
    return tuple(summaries)


def _of_bare_device(result: Result, tables: Tables) -> Mapping[tuple[str, str], Ratio]:
    """Ratio to the bare device in the same rounds, by candidate and workload.

    If the device was measured only once, before the rounds, it is the ratio of the median, without an interval.
    """
    metrics = {workload.name: workload.metric.name for workload in result.plan.recipe.workloads}
    bare: dict[str, dict[int, float]] = {}
    for sample in result.samples:
        counts = not sample.candidate and sample.round not in result.discarded_rounds
        value = score(sample)
        if counts and value is not None and sample.metric == metrics.get(sample.workload):
            bare.setdefault(sample.workload, {})[sample.round] = value
    ratios: dict[tuple[str, str], Ratio] = {}
    for workload, scores in bare.items():
        table = tables.scores[workload]
        before = scores.pop(0, None)
        if scores:
            for ratio in compare({**table, BARE: scores}, workload, [(name, BARE) for name in table]):
                ratios[ratio.candidate, workload] = ratio
        elif before is not None:
            for name, rounds in table.items():
                factor = math.exp(statistics.median(rounds.values()) - before)
                ratios[name, workload] = Ratio(name, BARE, workload, factor, rounds=len(rounds))
    return ratios
