"""What a run is likely to settle, by the noise of the latest one like it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from fswizard import results
from fswizard.errors import FswizardError
from fswizard.model.outlook import expected
from fswizard.model.plan import Plan
from fswizard.results import Entry
from fswizard.stats import provable


def settles_text(plan: Plan, history: Iterable[Entry]) -> str:
    """`differences of 8 % or more, if figures vary as on 2026-11-20`; empty where nothing like it was measured.

    `history` has the newest first; what counts is the same recipe and weights on the same disk.
    """
    drive = plan.drive
    if drive is None or not drive.model:
        return ""
    same = (plan.recipe.name, plan.target.kind, drive.model, drive.serial)
    for entry in history:
        header = entry.header
        if (header.recipe, header.target, header.drive, header.serial) != same:
            continue
        try:
            result = results.load(entry.path)
        except FswizardError:
            continue
        least = provable(result, len(plan.candidates), _rounds(plan)) if _work(result.plan) == _work(plan) else None
        if least is not None:
            return (
                f"differences of {math.ceil(round(least * 100, 6))} % or more, if figures vary as on {entry.when[:10]}"
            )
    return ""


def _work(plan: Plan) -> dict[str, float]:
    return {workload.name: workload.weight for workload in plan.recipe.workloads}


def _rounds(plan: Plan) -> int:
    """That fit into the plan's time."""
    round_s = len(plan.candidates) * plan.seconds_per_trial
    return round((expected(plan).most_s - plan.preparation_s) / round_s) if round_s else plan.minimum_rounds
