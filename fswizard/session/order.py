"""Order of the candidates in a round."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence

from fswizard.model.plan import Plan, Trial


def trial_order(
    plan: Plan, number: int, survivors: Collection[str], earlier: Sequence[Trial], last: str
) -> tuple[Trial, ...]:
    """The trials of round `number`: every survivor once, in random order.

    `earlier` are the valid trials so far, in order; `last` is the candidate measured immediately before this round.
    Each candidate is followed by the one that followed it least often, so that aftereffects of a candidate are
    shared evenly. Ties are broken by the plan's seed.
    """
    followed = Counter((trial.predecessor, trial.candidate) for trial in earlier)
    left = [candidate.name for candidate in plan.candidates if candidate.name in survivors]
    random.Random(f"{plan.seed}/{number}").shuffle(left)
    trials = []
    while left:
        counts = [followed[last, name] for name in left]
        name = left.pop(counts.index(min(counts)))
        trials.append(Trial(number, name, last))
        last = name
    return tuple(trials)
