"""How long a run is likely to go on, should the figures stay as they are."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

from fswizard.model.judgement import Judgement, Ratio
from fswizard.model.plan import Plan
from fswizard.stats.constants import FIRST_LOOK, critical
from fswizard.stats.decide import decide
from fswizard.stats.pairs import verdict


def likely_trials(judgement: Judgement, plan: Plan, candidates: Collection[str]) -> int | None:
    """Trials until the decision to stop, of the `candidates` still in the run; None before there are intervals.

    Each ratio and its noise are taken to stay as they are, so that intervals narrow with the number of rounds alone.
    """
    if judgement.rounds < max(FIRST_LOOK, plan.minimum_rounds):
        return None
    trials = 0
    for rounds in range(judgement.rounds + 1, plan.maximum_rounds + 1):
        trials += len(candidates)
        pairs = tuple(_narrowed(pair, rounds, len(plan.candidates)) for pair in judgement.pairs)
        decision = decide(replace(judgement, pairs=pairs, rounds=rounds), plan, candidates)
        if decision.stop:
            break
        candidates = decision.survivors
    return trials


def _narrowed(pair: Ratio, rounds: int, started_with: int) -> Ratio:
    """The interval of a pair after so many rounds; of one that is settled or has no interval, what it is."""
    if pair.low is None or pair.high is None or pair.verdict != "undecided" or pair.rounds >= rounds:
        return pair
    narrower = critical(started_with, rounds) / critical(started_with, pair.rounds) * math.sqrt(pair.rounds / rounds)
    middle, half = math.log(pair.low * pair.high) / 2, math.log(pair.high / pair.low) / 2 * narrower
    low, high = math.exp(middle - half), math.exp(middle + half)
    return replace(pair, low=low, high=high, rounds=rounds, verdict=verdict(low, high))
