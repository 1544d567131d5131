"""A result with everything that can be concluded from it, for all reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fswizard.advice.answer import make_answer
from fswizard.advice.choice import Choice, choose
from fswizard.advice.reasons import reasons
from fswizard.errors import UsageError
from fswizard.language import _, chosen, shown
from fswizard.model.analysis import Findings
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.model.text import safe
from fswizard.stats import analyse, doubts, more_time, summarise, tables_of
from fswizard.stats.age import age_ratios


def conclude(
    result: Result, *, weights: Mapping[str, float] | None = None, needs: Sequence[str] | None = None
) -> Findings:
    """Judge a result and advise on it.

    `weights` (as for `Recipe.weighed`) and `needs` (features) replace those of the run, and the same
    figures are ranked again. Raises UsageError if they make no sense.
    """
    plan = result.plan
    if weights is not None:
        plan = replace(plan, recipe=plan.recipe.weighed(weights))
    if needs is not None:
        plan = replace(plan, needs=_known(plan, needs))
    result = replace(result, plan=plan)
    tables = tables_of(result)
    analysis = analyse(result, tables)
    summaries = summarise(result, tables.by_workload)
    # Each kind of doubt once: a run may have raised what its figures show again.
    raised = (replace(doubt, text=shown(doubt.text)) for doubt in result.doubts)
    every = (*raised, *doubts(result, tables, analysis, summaries))
    doubtful = tuple({doubt.code: doubt for doubt in reversed(every)}.values())[::-1]
    failed, age = result.outcome == "failed", age_ratios(result)
    choice = Choice("failed") if failed else choose(result, analysis)
    more = more_time(result, choice.names, result.trial_s, tables)
    answer = make_answer(result, analysis, choice, doubtful, summaries=summaries, more=more)
    why = () if failed else reasons(result, analysis, choice, age)
    return Findings(result, analysis, doubtful, answer, why, summaries, age, chosen())


def _known(plan: Plan, needs: Sequence[str]) -> tuple[str, ...]:
    known = sorted({feature.name for c in plan.candidates for feature in c.filesystem.features})
    for need in needs:
        if need not in known:
            raise UsageError(
                _("The candidates say nothing about {feature}.", feature=safe(need)),
                _("Known: {features}.", features=", ".join(known)),
            )
    return tuple(dict.fromkeys(needs))


def again(findings: Findings) -> Findings:
    """The same in the language that is spoken now."""
    return findings if findings.language == chosen() else conclude(findings.result)
