"""Ratio of two candidates with an interval that remains valid when evaluated after every round.

A scale-invariant t e-process: Lai (1976), Gönen et al. (2005), Pérez-Ortiz, Lardy, de Heide and Grünwald (Annals of
Statistics, 2024), Wang and Ramdas (arXiv 2310.03722). Two forms of it are averaged: between candidates, with the
variance over each candidate's rounds, and within rounds, with a variance that excludes what a whole round has in
common.
"""

from __future__ import annotations

import math
import operator
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from fswizard.model.analysis import ALIKE, Ratio, Verdict
from fswizard.model.plan import INTERVAL_ROUNDS
from fswizard.stats.table import Table

ALPHA = 0.08
"""Nominal error rate. The mean of two forms is proven at twice that; simulated, it errs in at most 5 % of runs
without any difference, and in 7 % with one candidate three times as noisy as the others."""
PRIOR = 40.0
"""Prior variance of a difference, as a multiple of the noise."""
LEAST_DEVIATION = 0.005
"""Lower limit for the standard deviation of a difference: no filesystem can be measured to better than half a
percent."""
POOL_WEIGHT = 4
"""Degrees of freedom assigned to the noise of all candidates when combined with that of a pair."""
WIDEST = math.log(10)
"""Larger half widths, beyond a factor of ten, are useless, so there is no interval."""
BISECTIONS = 50
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Contrast:
    """The difference of two candidates in their common rounds, with the noise by which it is judged."""

    pair: Pair
    difference: float
    """Mean score of the first candidate minus that of the second."""
    rounds: int
    candidates: int
    """Number of candidates with figures in all of these rounds, which determines the degrees of freedom."""
    between: float
    """Variance of a figure over each candidate's rounds."""
    within: float
    """Variance of a figure, excluding what rounds have in common."""
    threshold: float
    """Evidence that proves a difference, given the number of pairs in the race at that time."""

    def evidence(self, difference: float, rounds: int = 0) -> float:
        """Mean e-value of both forms against the candidates being equal, if they differed by `difference`.

        With `rounds`, the value expected after that many rounds.
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
        """Largest difference with evidence below `threshold`; infinite if it exceeds WIDEST."""
        if self.rounds < INTERVAL_ROUNDS or self.evidence(WIDEST, rounds) < threshold:
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
    """Contrasts of the pairs in their common rounds. Pairs without a common round are omitted.

    A candidate that left the run retains its last interval, with the noise of the candidates in the run at that
    time.
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
        # Of a pair with more noise than the rest, a mean weighted by degrees of freedom is used.
        steadied = []
        own = (variance(rows[one]) + variance(rows[other])) / 2
        for pool, pair in ((between, own), (within, variance(differences) / 2)):
            mean = (POOL_WEIGHT * pool + (len(rounds) - 1) * pair) / (POOL_WEIGHT + len(rounds) - 1)
            steadied.append(max(pool, mean, LEAST_DEVIATION**2 / 2))
        yield Contrast(
            (one, other),
            statistics.fmean(differences),
            len(rounds),
            len(rows),
            steadied[0],
            steadied[1],
            racing * (racing - 1) / 2 / ALPHA,
        )


def variance(values: Sequence[float]) -> float:
    """Sample variance; 0 for a single value. `statistics.variance` is exact, and takes ten times as long."""
    mean = statistics.fmean(values)
    return math.dist(values, [mean] * len(values)) ** 2 / max(1, len(values) - 1)


def compare(table: Table, workload: str, pairs: Iterable[Pair]) -> tuple[Ratio, ...]:
    """Ratio of the first to the second candidate of each pair with common rounds, at the threshold for a whole run."""
    return tuple(contrast.ratio(workload, contrast.threshold, ALIKE) for contrast in contrasts(table, pairs))


def with_interval(ratio: Ratio, half_width: float, alike: float) -> Ratio:
    """The ratio with its interval, given the half width in logarithms, and the verdict.

    Differences within 1/`alike` to `alike` do not matter, proven or not.
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


def ranking(table: Table) -> list[str]:
    """Candidates of the table, best first, by the rounds that they share with the candidates with the most rounds."""
    most = max(map(len, table.values()), default=0)
    stayed = [scores for scores in table.values() if len(scores) == most]
    means: dict[int, float] = {}
    for number in stayed[0] if stayed else ():
        values = [scores[number] for scores in stayed if number in scores]
        if len(values) == len(stayed):
            means[number] = statistics.fmean(values)
    leads: dict[str, float] = {}
    for name, scores in table.items():
        differences = [scores[number] - mean for number, mean in means.items() if number in scores]
        leads[name] = statistics.fmean(differences) if differences else -math.inf
    return sorted(leads, key=leads.__getitem__, reverse=True)
