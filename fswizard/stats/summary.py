"""What the rounds together say of each metric, beside the ratios."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping

from fswizard.model.judgement import Summary
from fswizard.model.recipe import Metric
from fswizard.model.result import Result, Sample

WRITE_AMPLIFICATION = Metric("write_amplification", "1", "lower")
"""Bytes that the device wrote for each byte that the program wrote."""

_Key = tuple[str, str, str]


def summarise(result: Result) -> tuple[Summary, ...]:
    """Median and worst of every metric, by candidate and workload, over the rounds that count."""
    names = {candidate.name for candidate in result.plan.candidates}
    ok = [s for s in result.samples if s.status == "ok" and math.isfinite(s.value)]
    bare = {(s.workload, s.metric): s.value for s in ok if not s.candidate}
    cells = [s for s in ok if s.candidate in names and s.round not in result.discarded_rounds]
    groups: dict[_Key, dict[int, Sample]] = {}
    for sample in (*cells, *_write_amplification(cells)):
        groups.setdefault((sample.candidate, sample.workload, sample.metric), {})[sample.round] = sample
    return tuple(_summary(list(rounds.values()), bare) for rounds in groups.values())


def _summary(samples: list[Sample], bare: Mapping[tuple[str, str], float]) -> Summary:
    first = samples[0]
    values = [sample.value for sample in samples]
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


def _write_amplification(cells: Iterable[Sample]) -> Iterator[Sample]:
    written = {(s.round, s.candidate, s.workload): s.value for s in cells if s.metric == "bytes_written"}
    for s in cells:
        if s.metric != "device_written":
            continue
        program = written.get((s.round, s.candidate, s.workload), 0.0)
        if program > 0:
            metric = WRITE_AMPLIFICATION
            value = s.value / program
            yield Sample(s.round, s.candidate, s.workload, metric.name, value, metric.unit, metric.better)
