"""Ratios of figures from different runs, without common rounds, and Student's t distribution."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection

from fswizard.model.analysis import LEVEL, Ratio
from fswizard.stats.intervals import LEAST_DEVIATION, with_interval

ERROR = 0.01
"""Error rate of an interval, so low that a table of several rarely has a false difference."""
LEAST_REPEATS = 3
"""Minimum number of figures per candidate for an interval."""


def welch(pair: tuple[str, str], workload: str, logs: Collection[float], others: Collection[float]) -> Ratio:
    """Ratio of the first of a `pair` to the second, from the logarithms of their figures, with Welch's interval."""
    shift = statistics.fmean(logs) - statistics.fmean(others)
    ratio = Ratio(*pair, workload, math.exp(shift), rounds=min(len(logs), len(others)))
    if ratio.rounds < LEAST_REPEATS:
        return ratio
    error = max(statistics.stdev(logs), LEAST_DEVIATION) ** 2 / len(logs)
    other = max(statistics.stdev(others), LEAST_DEVIATION) ** 2 / len(others)
    freedom = (error + other) ** 2 / (error**2 / (len(logs) - 1) + other**2 / (len(others) - 1))
    return with_interval(ratio, quantile(freedom) * math.sqrt(error + other), LEVEL)


def quantile(freedom: float) -> float:
    """The t that is exceeded in absolute value with probability ERROR."""
    low, high = 1.0, 2.0
    while tails(high, freedom) > ERROR:
        low, high = high, 2 * high
    for _ in range(32):
        middle = (low + high) / 2
        if tails(middle, freedom) > ERROR:
            low = middle
        else:
            high = middle
    return high


def tails(t: float, freedom: float) -> float:
    """Probability that Student's t is at least `t` in absolute value, for `t` >= 1; `freedom` need not be an
    integer.

    It is the regularised incomplete beta function of a = freedom/2 and b = 1/2 as a series (DLMF 8.17.8), which
    converges slowly for `t` below 1.
    """
    a, x = freedom / 2, freedom / (freedom + t * t)
    inverse_beta = math.exp(math.lgamma(a + 0.5) - math.lgamma(a) - math.lgamma(0.5))
    term = inverse_beta * x**a * math.sqrt(1 - x) / a
    total, n = 0.0, 0
    while term > 1e-12 * total:
        total += term
        term *= (a + 0.5 + n) / (a + 1 + n) * x
        n += 1
    return total
