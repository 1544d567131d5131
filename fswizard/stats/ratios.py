"""Every candidate against every other one: ratios, with intervals that permit a look after every round."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from fswizard.model.analysis import TIE, Ratio, Verdict
from fswizard.model.plan import FIRST_LOOK
from fswizard.model.pool import Estimate
from fswizard.stats.constants import CRITICAL, LAST_LOOK
from fswizard.stats.sticky import stickiness
from fswizard.stats.table import Table


def critical(candidates: int, rounds: int) -> float:
    """The constant for a pair with `rounds` rounds in common, in a run that started with this many candidates.

    Constants were made for up to 12 rounds: beyond them intervals do not narrow. Beyond ten candidates constants rise
    as they do from nine to ten, which errs on the wide side.
    """
    if candidates < 2 or rounds < FIRST_LOOK:
        raise ValueError(f"there is no constant for {candidates} candidates and {rounds} rounds")
    beyond = math.sqrt(max(1.0, rounds / LAST_LOOK))
    look = min(rounds, LAST_LOOK) - FIRST_LOOK
    largest = max(CRITICAL)
    if candidates <= largest:
        return CRITICAL[candidates][look] * beyond
    rise = max(0.0, CRITICAL[largest][look] - CRITICAL[largest - 1][look])
    return (CRITICAL[largest][look] + rise * (candidates - largest)) * beyond


LEAST_DEVIATION = 0.005
"""Least standard deviation: nobody measures a filesystem to better than half a percent, however alike figures are."""
POOL_WEIGHT = 4
"""Degrees of freedom that the noise of all pairs together counts for, beside a pair's own."""
PAIRED_FROM = 3
"""Least number of rounds for intervals from differences within rounds: two have only one degree of freedom."""
ROBUST_FROM = 6
"""Least number of rounds for recognising outliers."""
FAR_OFF = 5.0
"""Outliers are pulled in to this many standard deviations, estimated by the median of absolute deviations (MAD)."""
NORMAL_MAD = 1.4826
"""Standard deviation of normal figures, over their MAD."""


def ranking(table: Table) -> list[str]:
    """Candidates of the table, best first, by all rounds together."""
    levels = fit(table).effects
    return sorted(table, key=lambda name: -levels[name])


def all_rounds(table: Table) -> list[int]:
    return sorted({number for rounds in table.values() for number in rounds})


def compare(
    table: Table,
    workload: str,
    started_with: int,
    pairs: Iterable[tuple[str, str]],
    parts: Collection[Table] = (),
) -> tuple[Ratio, ...]:
    """The ratio of the first to the second of each pair that has a round in common.

    The interval is the narrower of two: of the differences within rounds, and of the two candidates' figures as if
    rounds had nothing in common. Both use the rounds that the two took part in, steadied by what all candidates did in
    the same rounds, so the interval stays the same once one of the two has left the run. It is wider if noise sticks to
    candidates, which shows best in the `parts`, if any, whose sum the table is.
    """
    ratios = []
    for pair in estimates(table, workload, pairs, parts):
        ratio = Ratio(pair.candidate, pair.baseline, workload, math.exp(pair.mean), rounds=pair.rounds)
        if pair.error is not None:
            half_width = critical(started_with, pair.rounds) * pair.error
            low, high = math.exp(pair.mean - half_width), math.exp(pair.mean + half_width)
            ratio = replace(ratio, low=low, high=high, verdict=verdict(low, high))
        ratios.append(ratio)
    return tuple(ratios)


def estimates(
    table: Table, workload: str, pairs: Iterable[tuple[str, str]], parts: Collection[Table] = ()
) -> Iterator[Estimate]:
    """The estimate that `compare` makes an interval of, for each pair that has a round in common."""
    pools: dict[tuple[int, ...], tuple[tuple[float, float], float]] = {}
    for candidate, baseline in pairs:
        one, other = table.get(candidate, {}), table.get(baseline, {})
        shared = tuple(sorted(number for number in one if number in other))
        if not shared:
            continue
        if len(shared) < FIRST_LOOK:
            mean = math.fsum(one[number] - other[number] for number in shared) / len(shared)
            yield Estimate(candidate, baseline, workload, mean, None, len(shared))
            continue
        if shared not in pools:
            pools[shared] = _pooled(table, shared), stickiness(table, shared, parts).widening
        mean, deviation = min(_estimates(one, other, shared, *pools[shared]), key=lambda estimate: estimate[1])
        yield Estimate(candidate, baseline, workload, mean, deviation / math.sqrt(len(shared)), len(shared))


def verdict(low: float, high: float) -> Verdict:
    """The verdict of an interval around its ratio.

    Within ±5 % it is a tie even if it clears 1: a difference that does not matter. For faster or slower, the interval
    must clear 1 and the ratio itself must differ by more than 5 %: otherwise a filesystem measured against itself would
    win now and then.
    """
    if low >= 1 / TIE and high <= TIE:
        return "tie"
    ratio = math.sqrt(low * high)
    if low > 1 and ratio > TIE:
        return "faster"
    return "slower" if high < 1 and ratio < 1 / TIE else "undecided"


def _estimates(
    one: Mapping[int, float], other: Mapping[int, float], shared: Sequence[int], pools: Sequence[float], wider: float
) -> Iterator[tuple[float, float]]:
    """The mean difference and the deviation of a difference: within rounds, and as if unpaired."""
    differences = _without_far_off([one[number] - other[number] for number in shared])
    figures = [[cells[number] for number in shared] for cells in (one, other)]
    means = statistics.fmean(differences), statistics.fmean(figures[0]) - statistics.fmean(figures[1])
    own = _variance(differences), _variance(figures[0]) + _variance(figures[1])
    freedom = len(shared) - 1
    for within_rounds, mean, variance, pool in zip((True, False), means, own, pools):
        if within_rounds and len(shared) < PAIRED_FROM:
            continue
        steadied = (POOL_WEIGHT * pool + freedom * variance) / (POOL_WEIGHT + freedom)
        yield mean, max(LEAST_DEVIATION, wider * math.sqrt(steadied))


def _pooled(table: Table, rounds: Sequence[int]) -> tuple[float, float]:
    """Mean variance of a difference in those rounds, within rounds over all pairs and as if unpaired."""
    rows = [cells for cells in table.values() if any(number in cells for number in rounds)]
    pairs = ([one[n] - other[n] for n in rounds if n in one and n in other] for one, other in combinations(rows, 2))
    paired = [_without_far_off(differences) for differences in pairs]
    return _mean_variance(paired), 2 * _mean_variance([[cells[n] for n in rounds if n in cells] for cells in rows])


def _mean_variance(samples: Iterable[Sequence[float]]) -> float:
    enough = [sample for sample in samples if len(sample) > 1]
    freedom = sum(len(sample) - 1 for sample in enough)
    return math.fsum((len(sample) - 1) * _variance(sample) for sample in enough) / freedom


def _variance(sample: Sequence[float]) -> float:
    mean = math.fsum(sample) / len(sample)
    return math.fsum((x - mean) ** 2 for x in sample) / (len(sample) - 1)


def _without_far_off(differences: Sequence[float]) -> Sequence[float]:
    """Differences with outliers pulled in (winsorised), such as those of a figure that garbage collection slowed."""
    b = len(differences)
    if b < ROBUST_FROM:
        return differences
    middle = statistics.median(differences)
    spread = statistics.median(abs(d - middle) for d in differences)
    reach = FAR_OFF * max(LEAST_DEVIATION, NORMAL_MAD * math.sqrt(b / (b - 1)) * spread)
    return [min(max(d, middle - reach), middle + reach) for d in differences]


@dataclass(frozen=True, slots=True)
class Fit:
    """Least squares on a table with gaps, as candidates leave a run at different rounds."""

    effects: Mapping[str, float]
    """Level of each candidate; larger is better."""
    round_effects: Mapping[int, float]
    """Level of each round: how good or bad the machine was."""
    residual_sum: float
    """Sum of squared residuals."""
    freedom: int
    """Cells less the parameters fitted."""

    @property
    def residual_mean_square(self) -> float:
        return self.residual_sum / self.freedom if self.freedom > 0 else 0.0

    def residuals(self, table: Table) -> dict[tuple[str, int], float]:
        """Residual of each cell of the table that was fitted."""
        return {
            (name, number): value - self.effects[name] - self.round_effects[number]
            for name, cells in table.items()
            for number, value in cells.items()
        }


def fit(table: Table) -> Fit:
    """Fit the additive model to a table.

    Round means are taken out first, which leaves one equation for each candidate. They determine levels up to a
    constant, or up to one for each group of candidates if groups share no rounds.
    """
    names = list(table)
    cells = {
        number: [(i, table[name][number]) for i, name in enumerate(names) if number in table[name]]
        for number in all_rounds(table)
    }
    size = len(names)
    matrix = [[0.0] * size for _ in names]
    right = [0.0] * size
    total = 0.0
    means = {}
    for number, row in cells.items():
        share = 1.0 / len(row)
        means[number] = mean = sum(value for _, value in row) * share
        for i, value in row:
            deviation = value - mean
            total += deviation * deviation
            right[i] += deviation
            line = matrix[i]
            line[i] += 1.0
            for j, _ in row:
                line[j] -= share
    effects, rank = _solve([line[:] for line in matrix], right[:])
    explained = sum(effect * r for effect, r in zip(effects, right))
    luck = {n: means[n] - sum(effects[i] for i, _ in row) / len(row) for n, row in cells.items()}
    freedom = sum(map(len, cells.values())) - len(cells) - rank
    return Fit(dict(zip(names, effects)), luck, max(0.0, total - explained), freedom)


def _solve(matrix: list[list[float]], right: list[float]) -> tuple[list[float], int]:
    """The solution and the rank of symmetric equations; unknowns that they leave free become 0."""
    size, pivots = len(right), []
    for i in range(size):
        pivot = matrix[i][i]
        if pivot < 1e-9:
            continue
        pivots.append(i)
        for j in range(size):
            if j != i and matrix[j][i]:
                factor = matrix[j][i] / pivot
                right[j] -= factor * right[i]
                line, top = matrix[j], matrix[i]
                for k in range(i, size):
                    line[k] -= factor * top[k]
    solution = [0.0] * size
    for i in pivots:
        solution[i] = right[i] / matrix[i][i]
    return solution, len(pivots)
