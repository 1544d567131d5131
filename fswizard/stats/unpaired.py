"""Figures of two runs, which share no rounds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection

from fswizard.model.analysis import LEVEL, Ratio
from fswizard.stats.intervals import LEAST_DEVIATION, with_interval
from fswizard.stats.student import quantile

ERROR = 0.01
"""Chance that an interval misses: a table of several shows hardly a difference that is none."""
LEAST_REPEATS = 3
"""Least number of figures that each of two candidates needs for an interval."""


def welch(pair: tuple[str, str], workload: str, logs: Collection[float], others: Collection[float]) -> Ratio:
    """The ratio of the first of a `pair` to the second, from the logarithms of both, with Welch's interval."""
    shift = statistics.fmean(logs) - statistics.fmean(others)
    fewest = min(len(logs), len(others))
    ratio = Ratio(*pair, workload, math.exp(shift), rounds=fewest)
    if fewest < LEAST_REPEATS:
        return ratio
    errors = [max(statistics.stdev(some), LEAST_DEVIATION) ** 2 / len(some) for some in (logs, others)]
    freedom = sum(errors) ** 2 / sum(error**2 / (len(some) - 1) for error, some in zip(errors, (logs, others)))
    half = quantile(ERROR, freedom) * math.sqrt(sum(errors))
    return with_interval(ratio, shift, half, LEVEL)
