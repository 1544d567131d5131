"""In which order the candidates of a round are measured."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import groupby, permutations

from fswizard.model.plan import Plan, Trial

MOST_PERMUTED = 6
"""Up to this many candidates, all orders are compared; beyond it, a random sample of them."""
DRAWN = 720


def trial_order(
    plan: Plan, number: int, survivors: Collection[str], earlier: Sequence[Trial] = (), last: str = ""
) -> tuple[Trial, ...]:
    """The trials of round `number`: every survivor once.

    `earlier` are the trials that count so far, as they were carried out; `last` is the candidate measured right before
    this round. Chosen is the order that repeats the fewest predecessors of a candidate, which may be itself from one
    round to the next: what a candidate does to whatever is measured after it then befalls all alike. Among equals it is
    the one that repeats the fewest places in the round, as the machine may drift; among those the plan's seed decides.
    """
    followed = Counter((trial.predecessor, trial.candidate) for trial in earlier)
    rounds = (trials for _, trials in groupby(earlier, key=lambda trial: trial.round))
    placed = Counter((place, trial.candidate) for trials in rounds for place, trial in enumerate(trials))

    def repeats(order: Sequence[str]) -> tuple[int, int]:
        return sum(followed[pair] for pair in zip((last, *order), order)), sum(placed[at] for at in enumerate(order))

    rng = random.Random(f"{plan.seed}/{number}")
    names = [candidate.name for candidate in plan.measured if candidate.name in survivors]
    many = len(names) > MOST_PERMUTED
    orders = [tuple(rng.sample(names, len(names))) for _ in range(DRAWN)] if many else list(permutations(names))
    rng.shuffle(orders)
    order = min(orders, key=repeats)
    return tuple(Trial(number, name, before) for name, before in zip(order, (last, *order)))
