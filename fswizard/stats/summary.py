"""What the rounds together say of each metric, beside the ratios."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping

from fswizard.model.judgement import Summary
from fswizard.model.metrics import BYTES_WRITTEN, DEVICE_WRITTEN, WRITE_AMPLIFICATION
from fswizard.model.result import Result, Sample

_Group = dict[int, Sample]
"""By round; where a figure was taken twice, the later one stands."""


def summarise(result: Result) -> tuple[Summary, ...]:
    """Median and worst of every metric, by candidate and workload, over the rounds that count."""
    names = {candidate.name for candidate in result.plan.candidates}
    ok = [s for s in result.samples if s.status == "ok" and math.isfinite(s.value)]
    bare = {(s.workload, s.metric): s.value for s in ok if not s.candidate}
    groups: defaultdict[tuple[str, str, str], _Group] = defaultdict(dict)
    for s in ok:
        if s.candidate in names and s.round not in result.discarded_rounds:
            groups[s.candidate, s.workload, s.metric][s.round] = s
    measured = (
        _summary(next(iter(group.values())), [s.value for s in group.values()], bare) for group in groups.values()
    )
    return (*measured, *_write_amplification(groups))


def _summary(first: Sample, values: list[float], bare: Mapping[tuple[str, str], float]) -> Summary:
    median = statistics.median(values)
    limit = bare.get((first.workload, first.metric), 0.0)
    share = None
    if limit > 0 and median > 0 and first.primary:
        share = median / limit if first.better == "higher" else limit / median
    worst = min(values) if first.better == "higher" else max(values)
    return Summary(
        first.candidate, first.workload, first.metric, first.unit, first.better, median, worst,
        len(values), first.primary, share,
    )  # fmt: skip


def _write_amplification(groups: Mapping[tuple[str, str, str], _Group]) -> Iterator[Summary]:
    metric = WRITE_AMPLIFICATION
    for (candidate, workload, name), device in groups.items():
        if name != DEVICE_WRITTEN.name:
            continue
        program = groups.get((candidate, workload, BYTES_WRITTEN.name), {})
        values = [
            s.value / program[s.round].value
            for s in device.values()
            if s.round in program and program[s.round].value > 0
        ]
        if values:
            first = Sample(0, candidate, workload, metric.name, 0.0, metric.unit, metric.better)
            yield _summary(first, values, {})
