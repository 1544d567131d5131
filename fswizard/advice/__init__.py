"""Recommendations, derived from what is proven, needed and safe. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fswizard.advice.answer import make_answer, reasons
from fswizard.advice.choice import choose
from fswizard.errors import UsageError
from fswizard.language import _
from fswizard.model.analysis import Findings
from fswizard.model.needs import NEEDS
from fswizard.model.result import Doubt, Result
from fswizard.model.text import safe
from fswizard.stats import analyse, doubts, summarise


def conclude(
    result: Result, *, weights: Mapping[str, float] | None = None, needs: Sequence[str] | None = None
) -> Findings:
    """Judge a result and give advice.

    `weights` (as for `Recipe.weighed`) and `needs` (features) replace those of the run, and the same figures are
    ranked again. Raises UsageError if they make no sense.
    """
    plan = result.plan
    if weights is not None:
        plan = replace(plan, recipe=plan.recipe.weighed(weights))
    if needs is not None:
        known = {feature.name for candidate in plan.candidates for feature in candidate.filesystem.features} | {*NEEDS}
        for need in needs:
            if need not in known:
                raise UsageError(
                    _("The candidates say nothing about {feature}.", feature=safe(need)),
                    _("Known: {features}.", features=", ".join(sorted(known))),
                )
        plan = replace(plan, needs=tuple(dict.fromkeys(needs)))
    result = replace(result, plan=plan)

    analysis, summaries = analyse(result), summarise(result)
    # A run may have raised what its figures show again, so the first doubt of each kind counts.
    by_code: dict[str, Doubt] = {}
    for doubt in result.doubts:
        by_code.setdefault(doubt.code, replace(doubt, text=_(doubt.text)))
    for doubt in doubts(result, analysis, summaries):
        by_code.setdefault(doubt.code, doubt)
    choice = choose(result, analysis)
    return Findings(
        result,
        analysis,
        tuple(by_code.values()),
        make_answer(choice, by_code),
        tuple(reasons(choice)),
        summaries,
    )
