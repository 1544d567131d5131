"""Figures that were not measured in rounds: of two runs, or repeats of one filesystem after another."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable

from fswizard.model.analysis import Ratio
from fswizard.stats.ratios import LEAST_DEVIATION, with_interval
from fswizard.stats.student import quantile
from fswizard.stats.table import Table

ERROR = 0.05
LEAST_REPEATS = 3
"""Least number of figures that each of two candidates needs for an interval."""


def ranking(table: Table) -> list[str]:
    """Candidates of the table, best first, by all their figures."""
    return sorted(table, key=lambda name: -statistics.fmean(table[name].values()))


def compare(
    table: Table,
    workload: str,
    _started_with: int,
    pairs: Iterable[tuple[str, str]],
    _parts: Collection[Table] = (),
) -> tuple[Ratio, ...]:
    """The ratio of the first to the second of each pair, with intervals that hold for all pairs together (Bonferroni).

    There is one look, after everything was measured, so pairs without an interval do not widen the others.
    """
    able = sum(len(cells) >= LEAST_REPEATS for cells in table.values())
    error = ERROR / max(1, math.comb(able, 2))
    return tuple(
        welch((candidate, baseline), workload, table[candidate].values(), table[baseline].values(), error)
        for candidate, baseline in pairs
        if table.get(candidate) and table.get(baseline)
    )


def welch(
    pair: tuple[str, str],
    workload: str,
    logs: Collection[float],
    others: Collection[float],
    error: float = ERROR,
) -> Ratio:
    """The ratio of the first of a `pair` to the second, from the logarithms of both, with Welch's interval.

    A single interval, at one look, misses with a chance of `error`.
    """
    shift = statistics.fmean(logs) - statistics.fmean(others)
    fewest = min(len(logs), len(others))
    ratio = Ratio(*pair, workload, math.exp(shift), rounds=fewest)
    if fewest < LEAST_REPEATS:
        return ratio
    errors = [max(statistics.stdev(some), LEAST_DEVIATION) ** 2 / len(some) for some in (logs, others)]
    freedom = sum(errors) ** 2 / sum(error**2 / (len(some) - 1) for error, some in zip(errors, (logs, others)))
    half = quantile(error, freedom) * math.sqrt(sum(errors))
    return with_interval(ratio, shift, half)
