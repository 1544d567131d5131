"""The additive model behind all intervals: a cell is its candidate's level plus its round's luck plus noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fswizard.stats.table import Table


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
