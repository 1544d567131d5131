"""Median and worst of each metric, beside the ratios."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping

from fswizard.model.analysis import Ratio, Summary
from fswizard.model.metrics import BYTES_WRITTEN, DEVICE_WRITTEN, WRITE_AMPLIFICATION
from fswizard.model.result import Result, Sample
from fswizard.stats.intervals import compare
from fswizard.stats.table import Table, comparable, counted, score, workload_tables

BARE = ""
"""Name of the device without a filesystem, among those of candidates."""
_Group = dict[int, Sample]
"""Round to sample; if a figure was measured twice, the later one counts."""


def summarise(result: Result, tables: Mapping[str, Table] | None = None) -> tuple[Summary, ...]:
    """Median and worst of every metric, by candidate and workload, over the rounds that count.

    `tables` are the result's, by workload.
    """
    names = {candidate.name for candidate in result.plan.candidates}
    shares = _of_bare_device(result, tables or workload_tables(result))
    groups: defaultdict[tuple[str, str, str], _Group] = defaultdict(dict)
    for s in result.samples:
        counts = s.candidate in names and s.round not in result.discarded_rounds
        if counts and s.status == "ok" and math.isfinite(s.value):
            groups[s.candidate, s.workload, s.metric][s.round] = s
    measured = (
        _summary(first := next(iter(group.values())), [s.value for s in group.values()],
                 shares.get((first.candidate, first.workload)) if first.primary else None)
        for group in groups.values()
    )  # fmt: skip
    return (*measured, *_write_amplification(groups))


def _summary(first: Sample, values: list[float], of_bare_device: Ratio | None = None) -> Summary:
    worst = min(values) if first.better == "higher" else max(values)
    median = statistics.median(values)
    return Summary(
        first.candidate, first.workload, first.metric, median, worst, len(values), first.primary, of_bare_device
    )


def _of_bare_device(result: Result, tables: Mapping[str, Table]) -> Mapping[tuple[str, str], Ratio]:
    """By candidate and workload, the ratio to the bare device in the same rounds.

    If the device was measured only once, before the rounds, it is that of the median, without an interval.
    """
    metrics = {s.workload: s.metric for s in counted(result)}
    samples = [s for s in result.samples if not s.candidate and metrics.get(s.workload) == s.metric and comparable(s)]
    shares: dict[tuple[str, str], Ratio] = {}
    for workload, table in tables.items():
        scores = {s.round: score(s) for s in samples if s.workload == workload}
        in_rounds = {number: at for number, at in scores.items() if number and number not in result.discarded_rounds}
        pairs = [(name, BARE) for name in table]
        ratios = compare({**table, BARE: in_rounds}, workload, pairs)
        if not in_rounds and 0 in scores:
            ratios = tuple(
                Ratio(name, BARE, workload, math.exp(statistics.median(cells.values()) - scores[0]), rounds=len(cells))
                for name, cells in table.items()
            )
        shares |= {(ratio.candidate, workload): ratio for ratio in ratios}
    return shares


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
            yield _summary(first, values)
