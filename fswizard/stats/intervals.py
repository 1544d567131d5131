"""Two candidates against each other: their ratio, with an interval that permits a look after every round.

A scale-invariant t e-process: Lai (1976), Gönen et al. (2005), Pérez-Ortiz, Lardy, de Heide and Grünwald (Annals of
Statistics, 2024), Wang and Ramdas (arXiv 2310.03722). Two forms of it are averaged: between candidates, whose variance
is that of each one's own rounds, and within rounds, whose variance leaves out what a whole round has in common.
"""

from __future__ import annotations

import math
import operator
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fswizard.model.analysis import ALIKE, Ratio, Verdict
from fswizard.model.plan import FIRST_LOOK
from fswizard.stats.table import Table

ALPHA = 0.08
"""Nominal chance of an error. The mean of two forms is proven at twice that; simulated, it errs in at most 5 % of runs
where nothing differs, and in 7 % with one candidate three times as noisy as the others."""
PRIOR = 40.0
"""Variance of a difference before anything is measured, as a multiple of the noise."""
LEAST_DEVIATION = 0.005
"""Least standard deviation of a difference: nobody measures a filesystem to better than half a percent."""
POOL_WEIGHT = 4
"""Degrees of freedom that the noise of all candidates counts for, beside a pair's own."""
WIDEST = math.log(10)
"""A half width beyond a factor of ten says nothing, so there is no interval."""
BISECTIONS = 50
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Contrast:
    """The difference of two candidates in the rounds that both took part in, and the noise that it is judged by."""

    pair: Pair
    difference: float
    """Mean score of the first one less that of the second."""
    rounds: int
    candidates: int
    """Those with figures in each of the rounds: the variances are known by them."""
    between: float
    """Variance of a figure, from each candidate's own rounds."""
    within: float
    """The same, without what rounds have in common."""
    threshold: float
    """Evidence that proves a difference, where all that were in the race then are compared."""

    def evidence(self, difference: float, rounds: int = 0) -> float:
        """The mean e-value of both forms against the candidates being equal, if they were this far apart.

        With `rounds`, what it would be after so many.
        """
        rounds = rounds or self.rounds
        n = rounds / 2
        shrinkage = 1 + n * PRIOR
        total = 0.0
        for variance, candidates in ((self.between, self.candidates), (self.within, self.candidates - 1)):
            freedom = candidates * (rounds - 1)
            squared = n * difference**2 / variance
            growth = math.log1p(squared / freedom) - math.log1p(squared / (freedom * shrinkage))
            exponent = (freedom + 1) / 2 * growth - math.log(shrinkage) / 2
            total += math.exp(min(exponent, 700.0))
        return total / 2

    def half_width(self, threshold: float, rounds: int = 0) -> float:
        """Largest difference whose evidence stays below `threshold`; infinite where that says nothing."""
        if self.rounds < FIRST_LOOK or self.evidence(WIDEST, rounds) < threshold:
            return math.inf
        low, high = 0.0, WIDEST
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            if self.evidence(middle, rounds) < threshold:
                low = middle
            else:
                high = middle
        return high

    def ratio(self, workload: str, threshold: float, alike: float) -> Ratio:
        ratio = Ratio(*self.pair, workload, math.exp(self.difference), rounds=self.rounds)
        return with_interval(ratio, self.half_width(threshold), alike)


def contrasts(table: Table, pairs: Iterable[Pair]) -> Iterator[Contrast]:
    """The last look at each pair: the rounds that both took part in. Pairs without one are left out.

    Who left the run keeps the interval of his last look, with the noise of those that were in it then.
    """
    for one, other in pairs:
        rounds = sorted(table.get(one, {}).keys() & table.get(other, {}).keys())
        if not rounds:
            continue
        rows: dict[str, list[float]] = {}
        racing = 0
        for name, scores in table.items():
            if scores.keys() >= set(rounds):
                rows[name] = [scores[number] for number in rounds]
            if max(scores, default=0) >= rounds[-1]:
                racing += 1
        differences = list(map(operator.sub, rows[one], rows[other]))

        between = statistics.fmean(map(variance, rows.values()))
        # Analysis of variance: what rounds have in common is taken out of the sum of squares.
        shared = variance(list(map(statistics.fmean, zip(*rows.values()))))
        within = max(0.0, between - shared) * len(rows) / (len(rows) - 1)
        yield Contrast(
            (one, other),
            statistics.fmean(differences),
            len(rounds),
            len(rows),
            _steadied(between, (variance(rows[one]) + variance(rows[other])) / 2, len(rounds)),
            _steadied(within, variance(differences) / 2, len(rounds)),
            racing * (racing - 1) / 2 / ALPHA,
        )


def variance(values: Sequence[float]) -> float:
    """That of a sample; 0 for a single value. `statistics.variance` is exact, and takes ten times as long."""
    mean = statistics.fmean(values)
    return math.dist(values, [mean] * len(values)) ** 2 / max(1, len(values) - 1)


def _steadied(pool: float, pair: float, rounds: int) -> float:
    """The variance to judge a pair by: the pool's, or a mean weighted by degrees of freedom where its own is larger."""
    mean = (POOL_WEIGHT * pool + (rounds - 1) * pair) / (POOL_WEIGHT + rounds - 1)
    return max(pool, mean, LEAST_DEVIATION**2 / 2)


def compare(table: Table, workload: str, pairs: Iterable[Pair], *, alike: float = ALIKE) -> tuple[Ratio, ...]:
    """The ratio of the first to the second of each pair that has a round in common, as if they were all of a run."""
    ratios = []
    for contrast in contrasts(table, pairs):
        ratios.append(contrast.ratio(workload, contrast.threshold, alike))
    return tuple(ratios)


def with_interval(ratio: Ratio, half_width: float, alike: float) -> Ratio:
    """The ratio with its interval, whose half width is in logarithms, and the verdict of that.

    Within 1/`alike` to `alike` a difference does not matter, proven or not.
    """
    if half_width > WIDEST:
        return ratio
    low, high = ratio.ratio * math.exp(-half_width), ratio.ratio * math.exp(half_width)
    verdict: Verdict = "open"
    if low >= 1 / alike and high <= alike:
        verdict = "alike"
    elif low > 1:
        verdict = "faster"
    elif high < 1:
        verdict = "slower"
    return replace(ratio, low=low, high=high, verdict=verdict)


def levels(table: Table) -> Mapping[int, float]:
    """Round to the mean score of the candidates that took part in the most rounds; rounds that all of those have."""
    most = max(map(len, table.values()), default=0)
    stayed = [scores for scores in table.values() if len(scores) == most]
    means: dict[int, float] = {}
    for number in sorted(stayed[0]) if stayed else ():
        values = [scores[number] for scores in stayed if number in scores]
        if len(values) == len(stayed):
            means[number] = statistics.fmean(values)
    return means


def ranking(table: Table) -> list[str]:
    """Candidates of the table, best first, by the rounds that they share with those that took part in the most."""
    leads: dict[str, float] = {}
    means = levels(table)
    for name, scores in table.items():
        differences = [scores[number] - mean for number, mean in means.items() if number in scores]
        leads[name] = statistics.fmean(differences) if differences else -math.inf
    return sorted(leads, key=leads.__getitem__, reverse=True)
