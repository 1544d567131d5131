"""Whether the machine became faster or slower while the run went on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fswizard.model.result import Result
from fswizard.stats.failures import failures
from fswizard.stats.fit import fit
from fswizard.stats.pairs import all_rounds
from fswizard.stats.table import overall_table, without, workload_tables

LEAST_DRIFT = 0.05
"""Change over the whole run from which on it is worth a word."""
_T_99 = (9.92, 5.84, 4.60, 4.03, 3.71, 3.50, 3.36, 3.25, 3.17)
"""Student's t, 99 % two-sided, for 2 to 10 degrees of freedom."""


@dataclass(frozen=True, slots=True)
class Drift:
    """A straight line through what the rounds had in common."""

    change: float
    """From the first round to the last, as a factor less 1: -0.1 is 10 % slower."""
    proven: bool
    """The slope differs from none at a level of 1 %."""


def residuals(result: Result) -> Mapping[int, float]:
    """For each round that counts, how much better its cells were than their candidates' levels: mean logarithms."""
    weights = {workload.name: workload.weight for workload in result.plan.recipe.workloads}
    table = without(overall_table(workload_tables(result), weights), failures(result, weights).overall)
    effects = fit(table, all_rounds(table)).round_effects
    middle = math.fsum(effects.values()) / len(effects) if effects else 0.0
    return {number: effect - middle for number, effect in effects.items()}


def drift(result: Result) -> Drift | None:
    """The drift of a run; None under four rounds, which any line fits."""
    rounds = residuals(result)
    n = len(rounds)
    if n < 4:
        return None
    centre = math.fsum(rounds) / n
    spread = math.fsum((x - centre) ** 2 for x in rounds)
    slope = math.fsum((x - centre) * y for x, y in rounds.items()) / spread
    left = math.fsum((y - slope * (x - centre)) ** 2 for x, y in rounds.items())
    change = math.expm1(slope * (max(rounds) - min(rounds)))
    limit = _T_99[min(n - 4, len(_T_99) - 1)]
    return Drift(change, slope * slope * spread * (n - 2) > limit * limit * left)
