"""What a candidate does to the others when it is measured right before them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fswizard.model.analysis import TIE, Ratio
from fswizard.stats.ratios import fit
from fswizard.stats.table import Table

MOST_CARRIED = 0.5
"""Share of a difference that a predecessor may explain without a doubt."""
MANY_ROUNDS = 8
"""Number of rounds from which on a smaller share raises a doubt, too: true differences of that size are mostly proven
earlier."""
SEEN = 1.5
"""Standard errors that the effect must have for that."""


@dataclass(frozen=True, slots=True)
class CarryOver:
    """The effect of one candidate on others that are measured right after it."""

    predecessor: str
    effect: float
    """Change of the others' logarithms; below 0 they do worse."""
    error: float
    """Standard error of the effect; infinite with too few figures."""
    follows: Table
    """1 in each cell of another candidate that came right after `predecessor`, 0 in all others."""

    def bias(self, one: str, other: str) -> float:
        """Change of the logarithm of the ratio of `one` to `other`, if one of them followed it more often."""
        shared = [number for number in self.follows[one] if number in self.follows[other]]
        return self.effect * math.fsum(self.follows[one][n] - self.follows[other][n] for n in shared) / len(shared)


def carry_overs(table: Table, predecessors: Mapping[tuple[int, str], str]) -> Iterator[CarryOver]:
    """The effect of each candidate on the next one; `predecessors` by round and candidate.

    Candidates and rounds are fitted first, both to the figures and to the predecessor's presence. Regressing the
    residuals of the one on those of the other gives the same as fitting all three at once (Frisch, Waugh and Lovell).
    """
    fitted = fit(table)
    left = fitted.residuals(table)
    for name in table:
        follows = {
            candidate: {number: float(candidate != name == predecessors.get((number, candidate))) for number in cells}
            for candidate, cells in table.items()
        }
        presence = fit(follows)
        if presence.residual_sum > 1e-6:  # else presence depends on candidate and round alone
            away = presence.residuals(follows)
            effect = math.fsum(away[cell] * left[cell] for cell in left) / presence.residual_sum
            unexplained = max(0.0, fitted.residual_sum - effect**2 * presence.residual_sum)
            freedom = fitted.freedom - 1
            error = math.sqrt(unexplained / freedom / presence.residual_sum) if freedom > 0 else math.inf
            yield CarryOver(name, effect, error, follows)


@dataclass(frozen=True, slots=True)
class Explained:
    """A proven difference, and the carry-over that may explain it."""

    share: float
    """Share of the difference's logarithm that the carry-over explains."""
    pair: Ratio
    carried: CarryOver

    @property
    def doubtful(self) -> bool:
        """The carry-over explains most of the difference; or, after many rounds, all of it that matters."""
        if self.share > MOST_CARRIED:
            return True
        left = abs(math.log(self.pair.ratio)) * (1 - self.share)
        seen = self.pair.rounds >= MANY_ROUNDS and abs(self.carried.effect) > SEEN * self.carried.error
        return seen and left < math.log(TIE)


def most_explained(
    table: Table, predecessors: Mapping[tuple[int, str], str], pairs: Iterable[Ratio]
) -> Explained | None:
    """The proven difference among `pairs` of which a carry-over explains the largest share.

    If one of two candidates slows down the other, the figures look as if the other speeds it up: the former is named.
    """
    proven = [pair for pair in pairs if pair.verdict in ("faster", "slower")]
    explanations = (
        Explained(carried.bias(pair.candidate, pair.baseline) / math.log(pair.ratio), pair, carried)
        for carried in (carry_overs(table, predecessors) if proven else ())
        for pair in proven
    )
    return max(explanations, key=lambda one: (round(one.share, 6), -one.carried.effect), default=None)
