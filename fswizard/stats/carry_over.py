"""What a candidate does to the others when it is measured right before them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fswizard.model.judgement import Ratio
from fswizard.stats.ratios import all_rounds, fit
from fswizard.stats.table import Table

LEAST_SPREAD = 1e-6
"""Below it, whether others follow a candidate is a matter of who and when alone, and its effect cannot be told."""


@dataclass(frozen=True, slots=True)
class CarryOver:
    """The effect of one candidate on others that are measured right after it."""

    predecessor: str
    effect: float
    """What is added to their logarithms; below 0 they do worse."""
    follows: Table
    """1 in each cell of another candidate that came right after it, 0 in all others."""

    def bias(self, one: str, other: str) -> float:
        """What it adds to the logarithm of the ratio of `one` to `other`, where one follows it more often."""
        shared = [number for number in self.follows[one] if number in self.follows[other]]
        return self.effect * math.fsum(self.follows[one][n] - self.follows[other][n] for n in shared) / len(shared)


def carry_overs(table: Table, predecessors: Mapping[tuple[int, str], str]) -> Iterator[CarryOver]:
    """The effect of each candidate, beside those of candidates and rounds; `predecessors` by round and candidate.

    Candidates and rounds are taken out of the figures, and of the predecessor's presence as well: what is left of the
    one goes with what is left of the other as it would in a fit of all three (Frisch, Waugh and Lovell).
    """
    rounds = all_rounds(table)
    left = fit(table, rounds).residuals(table)
    for name in table:
        follows = {
            candidate: {number: float(candidate != name == predecessors.get((number, candidate))) for number in cells}
            for candidate, cells in table.items()
        }
        presence = fit(follows, rounds)
        if presence.residual_sum > LEAST_SPREAD:
            away = presence.residuals(follows)
            effect = math.fsum(away[cell] * left[cell] for cell in left) / presence.residual_sum
            yield CarryOver(name, effect, follows)


@dataclass(frozen=True, slots=True)
class Explained:
    """A difference that is claimed, and what a carry-over adds to it."""

    share: float
    pair: Ratio
    carried: CarryOver


def most_explained(
    table: Table, predecessors: Mapping[tuple[int, str], str], pairs: Iterable[Ratio]
) -> Explained | None:
    """Of the differences claimed among `pairs`, the one of which a carry-over explains the largest share.

    Of two candidates, one that slows the other down looks like the other one speeding it up: the former is named.
    """
    claimed = [pair for pair in pairs if pair.verdict in ("faster", "slower")]
    carried_over = carry_overs(table, predecessors) if claimed else ()
    found = (
        Explained(carried.bias(pair.candidate, pair.baseline) / math.log(pair.ratio), pair, carried)
        for carried in carried_over
        for pair in claimed
    )
    return max(found, key=lambda one: (round(one.share, 6), -one.carried.effect), default=None)
