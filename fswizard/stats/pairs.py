"""Every candidate against every other one: ratios, with intervals that permit a look after every round."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

from fswizard.model.judgement import TIE, Ratio, Verdict
from fswizard.stats.constants import FIRST_LOOK, critical
from fswizard.stats.fit import fit
from fswizard.stats.table import Table

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
