"""Every candidate against every other one: ratios, with intervals that permit a look after every round.

A scale-invariant t e-process: Lai (1976), Gönen et al. (2005), Pérez-Ortiz, Lardy, de Heide and Grünwald (Annals of
Statistics, 2024), Wang and Ramdas (arXiv 2310.03722). Two forms of it are averaged: between candidates, whose variance
is that of each one's own rounds, and within rounds, whose variance leaves out what a whole round has in common.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fswizard.model.analysis import ALIKE, LEVEL, Ratio, Verdict
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


def log_evidence(difference: float, variance: float, rounds: int, freedom: float) -> float:
    """Logarithm of the e-value against two candidates being equal.

    `difference` is the mean of their logarithms over `rounds`, `variance` that of one figure, known with `freedom`.
    """
    n = rounds / 2
    squared = n * difference**2 / variance
    shrinkage = 1 + n * PRIOR
    growth = math.log1p(squared / freedom) - math.log1p(squared / (freedom * shrinkage))
    return (freedom + 1) / 2 * growth - math.log(shrinkage) / 2


@dataclass(frozen=True, slots=True)
class Noise:
    """The variance of one figure of a pair, by each of the two forms, and its degrees of freedom."""

    rounds: int
    forms: tuple[tuple[float, float], ...]

    def evidence(self, difference: float) -> float:
        """The mean e-value of both forms."""
        exponents = [log_evidence(difference, variance, self.rounds, freedom) for variance, freedom in self.forms]
        return statistics.fmean(math.exp(min(exponent, 700.0)) for exponent in exponents)

    def half_width(self, threshold: float, rounds: int = 0) -> float:
        """Largest difference whose e-value stays below `threshold`; infinite where none reaches it.

        With `rounds`, what it would be after so many, if the variance stays the same.
        """
        noise = self.after(rounds) if rounds else self
        if noise.evidence(WIDEST) < threshold:
            return math.inf
        low, high = 0.0, WIDEST
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if noise.evidence(middle) < threshold else (low, middle)
        return high

    def after(self, rounds: int) -> Noise:
        """The same variance, known from so many rounds."""
        grown = (rounds - 1) / (self.rounds - 1)
        return Noise(rounds, tuple((variance, freedom * grown) for variance, freedom in self.forms))


@dataclass(frozen=True, slots=True)
class Look:
    """The rounds that both of a pair took part in, and how the figures of all vary that took part in each of them."""

    table: Table
    rounds: Sequence[int]
    own: Mapping[str, float]
    """The variance of each one's figures."""
    within: float
    """The variance of all, without what rounds have in common."""
    pairs: int
    """Of the candidates that were in the race then, also of those that lack a figure."""

    @classmethod
    def of(cls, table: Table, rounds: Sequence[int]) -> Look:
        names = [name for name in table if set(rounds) <= set(table[name])]
        racing = sum(max(cells, default=0) >= rounds[-1] for cells in table.values())
        own = {name: variance([table[name][n] for n in rounds]) for name in names}
        shared = variance([statistics.fmean(table[name][n] for name in names) for n in rounds])
        # Analysis of variance: what rounds have in common is taken out of the sum of squares.
        within = max(0.0, statistics.fmean(own.values()) - shared) * len(names) / (len(names) - 1)
        return cls(table, rounds, own, within, racing * (racing - 1) // 2)

    def differences(self, one: str, other: str) -> Sequence[float]:
        return [self.table[one][n] - self.table[other][n] for n in self.rounds]

    def difference(self, one: str, other: str) -> float:
        return statistics.fmean(self.differences(one, other))

    def noise(self, one: str, other: str) -> Noise:
        """The pooled variance of all candidates; more where the two are noisier than that."""
        rounds, candidates = len(self.rounds), len(self.own)
        of_both = (self.own[one] + self.own[other]) / 2
        between = _steadied(statistics.fmean(self.own.values()), of_both, rounds)
        within = _steadied(self.within, variance(self.differences(one, other)) / 2, rounds)
        return Noise(rounds, ((between, candidates * (rounds - 1)), (within, (candidates - 1) * (rounds - 1))))


def variance(values: Sequence[float]) -> float:
    """That of a sample; 0 for a single value. `statistics.variance` is exact, and takes ten times as long."""
    mean = statistics.fmean(values)
    return math.fsum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)


def _steadied(pool: float, own: float, rounds: int) -> float:
    """A pair's variance: the pool's, or a mean weighted by degrees of freedom where its own is larger."""
    steadied = (POOL_WEIGHT * pool + (rounds - 1) * own) / (POOL_WEIGHT + rounds - 1)
    return max(pool, steadied, LEAST_DEVIATION**2 / 2)


def looks(table: Table, pairs: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], Look]:
    """The last look at each pair: the rounds that both took part in. Pairs without one are left out.

    Who left the run keeps the interval of his last look, with the noise of those that were in it then.
    """
    found: dict[tuple[str, str], Look] = {}
    known: dict[tuple[int, ...], Look] = {}
    for one, other in pairs:
        rounds = tuple(sorted(set(table.get(one, ())) & set(table.get(other, ()))))
        if rounds and rounds not in known:
            known[rounds] = Look.of(table, rounds)
        if rounds:
            found[one, other] = known[rounds]
    return found


def compare(
    table: Table, workload: str, pairs: Iterable[tuple[str, str]], *, alike: float = ALIKE
) -> tuple[Ratio, ...]:
    """The ratio of the first to the second of each pair that has a round in common, as if they were all of a run."""
    return tuple(_ratio(pair, workload, look, look.pairs / ALPHA, alike) for pair, look in looks(table, pairs).items())


def marked(tables: Mapping[str, Table], pairs: Mapping[str, Sequence[tuple[str, str]]]) -> tuple[Ratio, ...]:
    """The ratios of single tests: `pairs` by test. Of those called different 8 % at most are not, on average.

    e-BH (Wang and Ramdas, 2022): of all tests and pairs the largest k e-values are marked, of which the least is at
    least their number over k times ALPHA. Intervals have the same threshold, so that marks follow from them.
    """
    known = {(test, *pair): look for test, table in tables.items() for pair, look in looks(table, pairs[test]).items()}
    evidence = sorted((_evidence(look, key[1], key[2]) for key, look in known.items()), reverse=True)
    threshold = len(known) / ALPHA
    for count, value in enumerate(evidence, 1):
        if value >= len(known) / (ALPHA * count):
            threshold = len(known) / (ALPHA * count)
    return tuple(_ratio(key[1:], key[0], look, threshold, LEVEL) for key, look in known.items())


def _evidence(look: Look, one: str, other: str) -> float:
    if len(look.rounds) < FIRST_LOOK:
        return 0.0
    return look.noise(one, other).evidence(look.difference(one, other))


def _ratio(pair: tuple[str, str], workload: str, look: Look, threshold: float, alike: float) -> Ratio:
    difference = look.difference(*pair)
    ratio = Ratio(*pair, workload, math.exp(difference), rounds=len(look.rounds))
    if ratio.rounds < FIRST_LOOK:
        return ratio
    return with_interval(ratio, difference, look.noise(*pair).half_width(threshold), alike)


def with_interval(ratio: Ratio, middle: float, half_width: float, alike: float) -> Ratio:
    """The ratio with an interval around `middle`, in logarithms, and its verdict."""
    if half_width > WIDEST:
        return ratio
    low, high = math.exp(middle - half_width), math.exp(middle + half_width)
    return replace(ratio, low=low, high=high, verdict=verdict(low, high, alike))


def verdict(low: float, high: float, alike: float = ALIKE) -> Verdict:
    """The verdict of an interval. Within 1/`alike` to `alike` a difference does not matter, proven or not."""
    if low >= 1 / alike and high <= alike:
        return "alike"
    if low > 1:
        return "faster"
    return "slower" if high < 1 else "open"


def ranking(table: Table) -> list[str]:
    """Candidates of the table, best first: by the rounds that they share with those that took part in the most."""
    most = max((len(cells) for cells in table.values()), default=0)
    stayed = [cells for cells in table.values() if len(cells) == most]

    def level(name: str) -> float:
        shared = [n for n in table[name] if all(n in cells for cells in stayed)]
        if not shared:
            return -math.inf
        return statistics.fmean(table[name][n] - statistics.fmean(cells[n] for cells in stayed) for n in shared)

    return sorted(table, key=lambda name: -level(name))
