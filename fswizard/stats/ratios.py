"""Every candidate against every other one: ratios, with intervals that permit a look after every round."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from fswizard.model.judgement import TIE, Ratio, Verdict
from fswizard.model.plan import FIRST_LOOK
from fswizard.model.pool import Estimate
from fswizard.stats.constants import CRITICAL, LAST_LOOK
from fswizard.stats.sticky import stickiness
from fswizard.stats.table import Table


def critical(candidates: int, rounds: int) -> float:
    """The constant for a pair with `rounds` rounds in common, in a run that started with so many candidates.

    Nobody looked beyond 12 rounds when the constants were made: from there on intervals do not narrow.
    Beyond ten candidates the constants go on as they rose from nine to ten, which errs on the wide side.
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
"""Nobody measures a filesystem to better than half a percent, however alike a few figures happen to be."""
POOL_WEIGHT = 4
"""The noise of all pairs together counts as much as so many rounds of a pair's own."""
PAIRED_FROM = 3
"""Rounds from which on intervals may rest on differences within rounds: two rounds have but one degree of freedom."""
ROBUST_FROM = 6
"""Rounds from which on a difference that is far off can be told from the others."""
FAR_OFF = 5.0
"""Standard deviations, as the median of absolute deviations has them: differences beyond it count as that far off."""
NORMAL_MAD = 1.4826
"""Standard deviations of normal figures in a median of their absolute deviations."""


def ranking(table: Table) -> list[str]:
    """Candidates of the table, best first, by all rounds together."""
    levels = fit(table, all_rounds(table)).effects
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
    rounds had nothing in common. Both rest on the rounds that the two took part in, steadied by what all candidates
    did in the same rounds. So it stands still once one of the two has left the run. It is wider where noise sticks to
    candidates, which shows best in the `parts`, if any, that the table is the sum of.
    """
    ratios = []
    for found in estimates(table, workload, pairs, parts):
        if found.error is None:
            ratios.append(Ratio(found.candidate, found.baseline, workload, math.exp(found.mean), rounds=found.rounds))
            continue
        half_width = critical(started_with, found.rounds) * found.error
        low, high = math.exp(found.mean - half_width), math.exp(found.mean + half_width)
        ratios.append(
            Ratio(
                found.candidate, found.baseline, workload, math.exp(found.mean), low, high, found.rounds,
                verdict(low, high),
            )
        )  # fmt: skip
    return tuple(ratios)


def estimates(
    table: Table, workload: str, pairs: Iterable[tuple[str, str]], parts: Collection[Table] = ()
) -> Iterator[Estimate]:
    """Of each pair that has a round in common, what `compare` makes intervals of."""
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
        error = deviation / math.sqrt(len(shared))
        yield Estimate(candidate, baseline, workload, mean, error, len(shared))


def verdict(low: float, high: float) -> Verdict:
    """What an interval around its ratio amounts to.

    Within ±5 % it is a tie even if it clears 1: proven, and proven not to matter. To be faster or slower, the interval
    must clear 1 and the ratio itself must differ by more than 5 %: a lead that would not matter is no lead to act upon,
    and the same filesystem measured against itself would otherwise win now and then.
    """
    if low >= 1 / TIE and high <= TIE:
        return "tie"
    ratio = math.sqrt(low * high)
    if low > 1 and ratio > TIE:
        return "faster"
    return "slower" if high < 1 and ratio < 1 / TIE else "undecided"


_Cells = Mapping[int, float]


def _estimates(
    one: _Cells, other: _Cells, shared: Sequence[int], pools: tuple[float, float], wider: float
) -> Iterator[tuple[float, float]]:
    """The mean difference and the deviation of a difference: within rounds, and as if unpaired."""
    differences = _without_far_off([one[number] - other[number] for number in shared])
    figures = [[cells[number] for number in shared] for cells in (one, other)]
    means = statistics.fmean(differences), statistics.fmean(figures[0]) - statistics.fmean(figures[1])
    own = _variance(differences), _variance(figures[0]) + _variance(figures[1])
    freedom = len(shared) - 1
    for mean, variance, pool in list(zip(means, own, pools))[freedom < PAIRED_FROM - 1 :]:
        steadied = (POOL_WEIGHT * pool + freedom * variance) / (POOL_WEIGHT + freedom)
        yield mean, max(LEAST_DEVIATION, wider * math.sqrt(steadied))


def _pooled(table: Table, rounds: Sequence[int]) -> tuple[float, float]:
    """The mean variance of a difference in those rounds, over all pairs and as if unpaired, by degrees of freedom."""
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
    """Those far off pulled in (winsorised): a cell that garbage collection hit says little of the candidate."""
    b = len(differences)
    if b < ROBUST_FROM:
        return differences
    middle = statistics.median(differences)
    spread = statistics.median(abs(d - middle) for d in differences)
    reach = FAR_OFF * max(LEAST_DEVIATION, NORMAL_MAD * math.sqrt(b / (b - 1)) * spread)
    return [min(max(d, middle - reach), middle + reach) for d in differences]


@dataclass(frozen=True, slots=True)
class Fit:
    """Least squares on a table that may have gaps, as candidates leave a run at different rounds."""

    effects: Mapping[str, float]
    """Each candidate's level, comparable with one another; larger is better."""
    round_effects: Mapping[int, float]
    """What each round had in common: how good or bad the machine was."""
    residual_sum: float
    """Sum of squared residuals."""
    freedom: int
    """Cells less the parameters fitted."""

    @property
    def residual_mean_square(self) -> float:
        return self.residual_sum / self.freedom if self.freedom > 0 else 0.0

    def residuals(self, table: Table) -> dict[tuple[str, int], float]:
        """What the model leaves of each cell of the table that it was fitted to."""
        return {
            (name, number): value - self.effects[name] - self.round_effects[number]
            for name, cells in table.items()
            for number, value in cells.items()
        }


def fit(table: Table, rounds: Iterable[int]) -> Fit:
    """Fit the additive model to those rounds of the table.

    Round means are taken out first, which leaves one equation for each candidate. They determine levels up to
    a constant; where candidates share no rounds at all, up to one constant for each group of them.
    """
    names = list(table)
    cells = {number: [(i, table[n][number]) for i, n in enumerate(names) if number in table[n]] for number in rounds}
    cells = {number: row for number, row in cells.items() if row}
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
    """Solve symmetric equations that may leave some unknowns free (those become 0); the solution and the rank."""
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
