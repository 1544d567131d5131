"""Reasons for doubt that the figures themselves give."""

from __future__ import annotations

from collections.abc import Iterator

from fswizard.model.judgement import Judgement
from fswizard.model.result import Doubt, Result
from fswizard.stats.constants import FIRST_LOOK
from fswizard.stats.drift import LEAST_DRIFT, drift
from fswizard.stats.table import comparable, counted, workload_tables


def doubts(result: Result, judgement: Judgement) -> tuple[Doubt, ...]:
    """What to hold against a judgement, with what can be done about it."""
    return (*_few_rounds(result, judgement), *_drift(result), *_left_out(result), *_not_measured(result))


def _few_rounds(result: Result, judgement: Judgement) -> Iterator[Doubt]:
    may_go_on = not result.environment.source
    if may_go_on and 0 < judgement.rounds < FIRST_LOOK and len(result.plan.candidates) > 1:
        counted_rounds = "One round" if judgement.rounds == 1 else f"{judgement.rounds} rounds"
        yield Doubt(
            "few-rounds",
            f"{counted_rounds}: differences cannot be told from chance, which takes {FIRST_LOOK}. Give it more time.",
        )


def _drift(result: Result) -> Iterator[Doubt]:
    trend = drift(result)
    if trend is None or not trend.proven or abs(trend.change) < LEAST_DRIFT:
        return
    direction = "faster" if trend.change > 0 else "slower"
    yield Doubt(
        "drift",
        f"The disk or the machine became {abs(trend.change):.0%} {direction} from the first round to the last. Ratios "
        "hardly suffer, as every round compares all candidates; absolute figures do. Heat and a filling write cache "
        "are usual causes: let it rest and run again.",
    )


def _left_out(result: Result) -> Iterator[Doubt]:
    unusable = [s for s in counted(result) if s.status == "ok" and not comparable(s)]
    if unusable:
        where = sorted({f"{s.candidate} in {s.workload}" for s in unusable})
        figures = "figure was" if len(unusable) == 1 else "figures were"
        yield Doubt(
            "figures-left-out",
            f"{len(unusable)} {figures} zero or no number and could not be compared: {', '.join(where)}. "
            "The workload may be too short for this disk; give it more data or time.",
        )


def _not_measured(result: Result) -> Iterator[Doubt]:
    tables = workload_tables(result)
    missing = [w.title for w in result.plan.recipe.workloads if w.weight > 0 and not tables[w.name]]
    if missing and len(missing) < len(tables):
        yield Doubt(
            "workloads-missing",
            f"Nothing was measured for {', '.join(missing)}: the overall ratios leave it out. Give it more time.",
        )
