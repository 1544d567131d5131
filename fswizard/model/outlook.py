"""What a run will take: time and bytes written, expected beforehand and corrected by each round that is over."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fswizard.model.estimates import BARE_SHARE
from fswizard.model.plan import Plan
from fswizard.model.result import Result

LEAST_SHARE = 0.5
"""Of what a trial is expected to write, so much is left to it by the smallest write budget."""


ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Outlook:
    """The whole run, from what is sure to come to what its limits allow."""

    least_s: float
    most_s: float
    least_bytes: float
    most_bytes: float
    measured_on: str = ""
    """Date of the run that it rests on, until this one has figures of its own."""


@dataclass(frozen=True, slots=True)
class Spent:
    """How far a run is, and what a trial takes as it looks now."""

    rounds: int
    candidates: int
    """Still in the run."""
    elapsed_s: float
    written_bytes: float
    trial_s: float
    trial_bytes: float


def expected(plan: Plan, earlier: Result | None = None) -> Outlook:
    """Before the run; of one that resumes `earlier`, what is still to come.

    Where the write budget is small, workloads end at their share of it.
    """
    rounds, candidates = (earlier.whole_rounds, len(earlier.candidates_left)) if earlier else (0, len(plan.candidates))
    filled_bytes = plan.target.filled_bytes
    trial_bytes: float = plan.writes_bytes_per_trial
    if plan.write_budget_bytes is not None and candidates:
        share_bytes = (plan.write_budget_bytes - filled_bytes) / (plan.minimum_rounds * candidates)
        trial_bytes = min(trial_bytes, max(LEAST_SHARE * trial_bytes, share_bytes))
    begun = Spent(rounds, candidates, plan.preparation_s, filled_bytes, plan.seconds_per_trial, trial_bytes)
    return replace(outlook(plan, begun, least_rounds=1), measured_on="" if earlier else plan.measured_on)


def outlook(plan: Plan, spent: Spent, *, least_rounds: int = 0) -> Outlook:
    """A run ends early where all is settled after the minimum of rounds, else by its time, its rounds or its budget.

    `least_rounds` of those to come are sure, where its limits allow them.
    """
    round_s, round_bytes = spent.candidates * spent.trial_s, spent.candidates * spent.trial_bytes
    most = 0
    while _begins(plan, spent.rounds + most, spent.elapsed_s + most * round_s, round_s):
        most += 1
    if plan.write_budget_bytes is not None and round_bytes:
        most = min(most, max(0, int((plan.write_budget_bytes - spent.written_bytes) / round_bytes + ROUNDING)))
    least = min(most, max(least_rounds, plan.minimum_rounds - spent.rounds))
    return Outlook(
        spent.elapsed_s + least * round_s,
        spent.elapsed_s + most * round_s,
        spent.written_bytes + least * round_bytes,
        spent.written_bytes + most * round_bytes,
    )


def _begins(plan: Plan, rounds: int, now_s: float, round_s: float) -> bool:
    """A further round begins, by the rule of `session.another_round_fits`."""
    if rounds >= plan.maximum_rounds:
        return False
    if not plan.time_limit_s:
        return rounds < plan.minimum_rounds
    if rounds < plan.minimum_rounds:
        return now_s < 2 * plan.time_limit_s
    return now_s + (1 + BARE_SHARE) * round_s <= plan.time_limit_s
