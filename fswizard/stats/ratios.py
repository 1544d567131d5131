"""Every candidate against every other one: ratios, with intervals that permit a look after every round."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from fswizard.model.judgement import TIE, Ratio, Verdict
from fswizard.stats.table import Table

FIRST_LOOK = 3
"""Rounds below which there is no interval."""
LAST_LOOK = 12

CRITICAL: dict[int, tuple[float, ...]] = {
    2: (15.17, 6.98, 5.00, 4.12, 3.69, 3.39, 3.16, 3.00, 2.87, 2.78),
    3: (7.54, 5.24, 4.49, 4.09, 3.81, 3.62, 3.48, 3.36, 3.27, 3.19),
    4: (6.25, 4.95, 4.47, 4.18, 3.98, 3.80, 3.69, 3.60, 3.51, 3.43),
    5: (5.87, 4.91, 4.52, 4.32, 4.14, 4.04, 3.93, 3.81, 3.73, 3.66),
    6: (5.66, 4.94, 4.61, 4.42, 4.29, 4.16, 4.07, 4.00, 3.91, 3.86),
    7: (5.62, 5.00, 4.73, 4.52, 4.42, 4.33, 4.19, 4.14, 4.06, 3.96),
    8: (5.57, 5.06, 4.79, 4.65, 4.54, 4.42, 4.34, 4.27, 4.19, 4.14),
    9: (5.60, 5.15, 4.83, 4.72, 4.60, 4.54, 4.47, 4.41, 4.34, 4.28),
    10: (5.55, 5.12, 4.95, 4.82, 4.73, 4.64, 4.57, 4.50, 4.42, 4.37),
}
"""Candidates at the start to the constants for 3 to 12 rounds. Source: simulation, as README.md tells."""


def critical(candidates: int, rounds: int) -> float:
    """The constant for a pair with `rounds` rounds in common, in a run that started with so many candidates.

    Nobody looked beyond 12 rounds when the constants were made, so from there on intervals do not narrow.
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


def ranking(table: Table) -> list[str]:
    """Candidates of the table, best first, by all rounds together."""
    levels = fit(table, all_rounds(table)).effects
    return sorted(table, key=lambda name: -levels[name])


def all_rounds(table: Table) -> list[int]:
    return sorted({number for rounds in table.values() for number in rounds})


def compare(table: Table, workload: str, started_with: int, pairs: Iterable[tuple[str, str]]) -> tuple[Ratio, ...]:
    """The ratio of the first to the second of each pair that has a round in common.

    The interval rests on the rounds that both took part in: the pair's own variance, steadied by the residuals of
    all candidates in the same rounds. So it stands still once one of the two has left the run.
    """
    pools: dict[tuple[int, ...], float] = {}
    ratios = []
    for candidate, baseline in pairs:
        one, other = table.get(candidate, {}), table.get(baseline, {})
        shared = tuple(sorted(number for number in one if number in other))
        if not shared:
            continue
        if shared not in pools:
            pools[shared] = 2 * fit(table, shared).residual_mean_square
        differences = [one[number] - other[number] for number in shared]
        ratio = Ratio(candidate, baseline, workload, math.exp(math.fsum(differences) / len(shared)), rounds=len(shared))
        ratios.append(_with_interval(ratio, differences, pools[shared], started_with))
    return tuple(ratios)


def compare_all(table: Table, workload: str, started_with: int) -> tuple[Ratio, ...]:
    """All pairs, the better one of each over the other."""
    return compare(table, workload, started_with, combinations(ranking(table), 2))


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


def _with_interval(ratio: Ratio, differences: Sequence[float], pool: float, started_with: int) -> Ratio:
    b = len(differences)
    if b < FIRST_LOOK:
        return ratio
    mean = math.fsum(differences) / b
    own = math.fsum((d - mean) ** 2 for d in differences) / (b - 1)
    variance = (POOL_WEIGHT * pool + (b - 1) * own) / (b - 1 + POOL_WEIGHT)
    deviation = max(LEAST_DEVIATION, math.sqrt(variance))
    half_width = critical(started_with, b) * deviation / math.sqrt(b)
    low, high = math.exp(mean - half_width), math.exp(mean + half_width)
    return replace(ratio, low=low, high=high, verdict=verdict(low, high))


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
