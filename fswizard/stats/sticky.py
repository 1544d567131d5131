"""Noise that sticks to a candidate: a figure that is high in one round stays high in the next ones.

Such rounds share an error that their differences do not show, so intervals made of those are too narrow. Neighbouring
rounds show it: they are more alike than rounds far apart.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fswizard.stats.table import Table

FEWEST = 3
"""Least number of rounds whose order means something."""
SUSPECTED, PROVEN = 1.65, 2.05
"""Standard deviations from which on intervals are widened, and a doubt is raised: noise that does not stick exceeds
them in one look of twenty, and in one of fifty."""
MOST_KEPT = 0.9
"""Largest `Stickiness.kept`, as a few rounds cannot show more."""


@dataclass(frozen=True, slots=True)
class Stickiness:
    """How much the noise of some rounds sticks to candidates."""

    alike: float = 0.0
    """How much more alike neighbouring rounds are than rounds in random order, in standard deviations."""
    kept: float = 0.0
    """Share of its error that a candidate keeps in the next round: the autocorrelation, corrected for few rounds."""

    @property
    def proven(self) -> bool:
        return self.alike > PROVEN

    @property
    def widening(self) -> float:
        """Factor by which intervals must be wider, as the mean of many such rounds varies more."""
        return math.sqrt((1 + self.kept) / (1 - self.kept)) if self.alike > SUSPECTED else 1.0


def stickiness(table: Table, rounds: Sequence[int], parts: Collection[Table] = ()) -> Stickiness:
    """How the noise of those rounds sticks to candidates.

    Residuals of neighbouring rounds are multiplied, and their sum is compared with its mean and variance over all
    orders of a candidate's figures. If `table` is the sum of `parts`, the workloads' tables, those are used, as they
    show more. Candidates without a figure in one of the rounds are left out.
    """
    n, parts = len(rounds), parts or (table,)
    names = [name for name in table if all(part.get(name, {}).keys() >= set(rounds) for part in parts)]
    if n < FEWEST or len(names) < 2:
        return Stickiness()
    residuals = [_residuals([[part[name][number] for number in rounds] for name in names]) for part in parts]
    to_the_next = squared = variance = 0.0
    for series in zip(*residuals):
        products = [[math.fsum(left[i] * left[j] for left in series) for j in range(n)] for i in range(n)]
        own = [products[i][i] for i in range(n)]
        total, squares = math.fsum(own), math.fsum(x * x for x in own)
        others = math.fsum(x * x for row in products for x in row) - squares
        to_the_next += math.fsum(products[i][i + 1] for i in range(n - 1))
        squared += total
        variance += ((n - 1) * others + total**2 - 2 * squares) / (n * (n - 1)) - (total / n) ** 2
    if variance <= 0:
        return Stickiness()
    mirrored = len(names) / (len(names) - 1)  # residuals of a round add up to 0
    kept = (n * to_the_next / squared + 1) / (n - 2)
    return Stickiness((to_the_next + squared / n) / math.sqrt(mirrored * variance), min(MOST_KEPT, max(0.0, kept)))


def _residuals(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """A table without gaps, less the means of its rows and columns."""
    middle = [math.fsum(row) / len(row) for row in rows]
    deviations = [[figure - mean for figure in row] for row, mean in zip(rows, middle)]
    common = [math.fsum(column) / len(rows) for column in zip(*deviations)]
    return [[figure - shared for figure, shared in zip(row, common)] for row in deviations]
