"""Whether a run goes on, and with whom. Asked after each whole round: half a round favours whoever came first."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from fswizard.model.judgement import Judgement
from fswizard.model.plan import Plan

Stop = Literal["", "one-left", "all-tie", "rounds", "none-left"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What the schedule does next."""

    survivors: tuple[str, ...]
    """Candidates worth another round, best estimate first."""
    stop: Stop = ""
    """Why the run is over; empty while it goes on."""


def decide(judgement: Judgement, plan: Plan, candidates: Collection[str] | None = None) -> Decision:
    """Drop who is proven slower and stop when nothing is left to settle, but not before the minimum of rounds.

    `candidates` are those still in the run, where some left it for other reasons; all by default. A candidate
    with nobody left to compare it with still gets its minimum, so that its figures have a spread.
    """
    in_the_run = (*judgement.leaders, *judgement.dropped)
    if candidates is not None:
        in_the_run = tuple(name for name in in_the_run if name in candidates)
    if not in_the_run:
        return Decision((), "none-left")
    if judgement.rounds < plan.minimum_rounds:
        return Decision(in_the_run)
    survivors = judgement.unbeaten(in_the_run)
    if len(survivors) == 1:
        return Decision(survivors, "one-left")
    if judgement.all_tie(survivors):
        return Decision(survivors, "all-tie")
    return Decision(survivors, "rounds" if judgement.rounds >= plan.maximum_rounds else "")
