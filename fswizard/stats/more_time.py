"""Forecast of the effect of more time, from the formula of the intervals."""

from __future__ import annotations

import math
from collections.abc import Collection
from itertools import combinations

from fswizard.model.analysis import ALIKE, MoreTime
from fswizard.model.plan import INTERVAL_ROUNDS
from fswizard.model.result import Result
from fswizard.stats.intervals import contrasts
from fswizard.stats.table import ALL, tables_of

MOST = math.log(2)
"""Largest half width that would be worth the time."""


def more_time(result: Result, candidates: Collection[str]) -> MoreTime | None:
    """The rounds until all pairs of `candidates` are known to ±10 %, or at most as many as there were so far.

    None if no pair with an interval is open, if no round is left, or if the intervals would still be wide.
    """
    tables = tables_of(result)
    pairs = combinations([name for name in tables.standing[ALL] if name in candidates], 2)
    unsettled = []
    for contrast in contrasts(tables.scores[ALL], pairs):
        if contrast.rounds >= INTERVAL_ROUNDS and contrast.ratio(ALL, contrast.threshold, ALIKE).verdict == "open":
            unsettled.append(contrast)
    done = rounds = max((contrast.rounds for contrast in unsettled), default=0)
    target, half_width = math.log(ALIKE), math.inf
    if all(contrast.half_width(contrast.threshold) <= target for contrast in unsettled):
        target = 0.0  # narrow enough, and open still
    most = min(result.plan.maximum_rounds, 2 * done)
    while rounds < most and half_width > target:
        rounds += 1
        half_width = max(contrast.half_width(contrast.threshold, rounds) for contrast in unsettled)
    if half_width > MOST:
        return None
    ahead = rounds - done
    return MoreTime(ahead, ahead * len(candidates) * result.trial_s, math.expm1(half_width))
