"""Which candidate comes when, and when it is enough."""

from __future__ import annotations

import random
from collections.abc import Collection

from fswizard.model.plan import Plan, Trial


def order(plan: Plan, number: int, survivors: Collection[str]) -> tuple[Trial, ...]:
    """The trials of round `number`: every survivor once, in an order that the plan's seed decides.

    Random order, because a drift of the machine would otherwise look like a difference between candidates; every
    second round goes backwards through the order of the one before, so that nobody is first by chance each time.
    """
    names = [candidate.name for candidate in plan.candidates]
    random.Random(f"{plan.seed}/{(number + 1) // 2}").shuffle(names)
    if number % 2 == 0:
        names.reverse()
    return tuple(Trial(number, name) for name in names if name in survivors)


def another_round_fits(plan: Plan, rounds_done: int, now_s: float, round_s: float) -> bool:
    """Whether a further round may begin, `now_s` seconds into the run.

    The minimum of rounds is gone through even past the time limit, up to twice the limit:
    fewer rounds give no interval, and the time spent on them would be lost.
    """
    if rounds_done >= plan.maximum_rounds:
        return False
    if not plan.time_limit_s:
        return True
    if rounds_done < plan.minimum_rounds:
        return now_s < 2 * plan.time_limit_s
    return now_s + round_s <= plan.time_limit_s
