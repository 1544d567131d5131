"""The recommendation in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from fswizard.advice.choice import Choice
from fswizard.advice.words import distinctions, has, label, listing, span
from fswizard.model.forecast import Forecast
from fswizard.model.judgement import Judgement, Ratio
from fswizard.model.layout import DEGRADED
from fswizard.model.plan import FIRST_LOOK, Plan
from fswizard.model.result import Doubt, Result
from fswizard.model.units import ratio_text, rounds_text

_PROVISOS = {"cache-not-exceeded": "as long as the disk's cache lasts"}
"""Doubts so grave that the headline has to carry them."""
_WITHOUT_FIGURES = {
    "nothing": "Nothing was measured that could be judged: the run ended too early.",
    "failed": "No candidate could do this work here; the failures say why.",
}

_NOTHING_IN_COMMON = "Nothing can be compared: no two candidates have figures for the same work."


def headline(
    result: Result,
    judgement: Judgement,
    choice: Choice,
    doubts: Sequence[Doubt],
    forecast: Forecast | None = None,
) -> str:
    """What to take, by how much it is ahead, and how sure that is; or why nobody can say."""
    plan = result.plan
    if choice.kind in _WITHOUT_FIGURES:
        elsewhere = choice.kind == "nothing" and result.environment.source
        return _NOTHING_IN_COMMON if elsewhere else _WITHOUT_FIGURES[choice.kind]
    if choice.kind == "excluded":
        return _nobody_fits(plan, choice)
    if choice.kind == "only":
        return _only_one(plan, judgement, choice)
    if choice.kind == "tie":
        return _tie(plan, choice)
    if choice.kind == "undecided":
        return _undecided(result, judgement, choice, forecast)
    return _winner(plan, judgement, choice, doubts)


def after_fault(judgement: Judgement) -> str:
    """Of a run whose disk or machine failed: its figures may be those of the fault."""
    rounds = f"after {rounds_text(judgement.rounds)}" if judgement.rounds else "before the first round was complete"
    return f"A fault ended the run {rounds}, so nothing is recommended. See to the fault first."


def _winner(plan: Plan, judgement: Judgement, choice: Choice, doubts: Sequence[Doubt]) -> str:
    provisos = [text for code, text in _PROVISOS.items() if any(doubt.code == code for doubt in doubts)]
    if plan.needs and choice.lacking:
        provisos.append(f"the fastest that {has(plan.needs)}")
    scope = "".join(f", {proviso}" for proviso in provisos)
    place = "this use" if plan.candidate(choice.names[0]).directory else "this disk and this use"
    return f"{label(plan.candidate(choice.names[0]))} for {place}{scope}: {_lead(judgement, choice)}."


def reference(judgement: Judgement, choice: Choice) -> Ratio | None:
    """The ratio that a winner is told with: over the baseline, or over the next best where it is the baseline."""
    winner = choice.names[0]
    own = judgement.of(winner)
    if own is not None and own.baseline != winner:
        return own
    others = [name for name in choice.eligible if name != winner]
    return judgement.pair(winner, others[0]) if others else None


def _lead(judgement: Judgement, choice: Choice) -> str:
    ratio = reference(judgement, choice)
    assert ratio is not None  # a winner has somebody to win against
    next_best = ", the next best" if ratio is not judgement.of(choice.names[0]) else ""
    return f"{ratio_text(ratio.shrunk)} × {ratio.baseline}{next_best}{span(ratio)}, {rounds_text(ratio.rounds)}"


def _tie(plan: Plan, choice: Choice) -> str:
    tied = [plan.candidate(name) for name in choice.names]
    everybody = set(choice.names) == {candidate.name for candidate in plan.candidates}
    whom = "here (all within 5 %)" if everybody else f"between {listing(choice.names)} (within 5 %)"
    features = distinctions(tied, most=2)
    advice = f"Choose by features: {features}." if features else f"Keep it plain: {label(tied[0])}."
    return f"No difference that matters {whom}. {advice}"


def _undecided(result: Result, judgement: Judgement, choice: Choice, forecast: Forecast | None) -> str:
    first, second = choice.names[:2]
    pair = judgement.pair(first, second)
    if pair is None:
        return f"Nothing can be said yet about {listing(choice.names)}: they have no round in common."
    alike = ratio_text(pair.ratio) == "1.00"
    if pair.low is None:
        lead = f"{first} looks best ({ratio_text(pair.ratio)} × {second}), which chance alone can do."
        if alike:
            lead = f"{first} and {second} do not differ."
        if result.environment.source:
            return f"{rounds_text(pair.rounds).capitalize()} to compare: {lead}"
        return f"Too early to tell: {rounds_text(pair.rounds)}, and a judgement takes {FIRST_LOOK}. So far {lead}"
    if judgement.all_near(choice.names):
        alone = span(pair) if len(choice.names) == 2 else ""
        return f"No difference above 10 %, so it does not matter here: {listing(choice.names)}{alone}."
    lead = f"{first} looks {ratio_text(pair.ratio)} × {second}{span(pair)}"
    if alike:
        lead = f"{first} looks level with {second}{span(pair)}"
    if judgement.rounds >= result.plan.maximum_rounds:
        end = " The difference is too small for the noise of this machine."
    else:
        end = f" {forecast.text}" if forecast else ""
    return f"No clear winner after {rounds_text(judgement.rounds)} between {listing(choice.names)}: {lead}.{end}"


def _only_one(plan: Plan, judgement: Judgement, choice: Choice) -> str:
    name = label(plan.candidate(choice.names[0]))
    if len(plan.candidates) == 1:
        return f"Only {name} was measured: there is nothing to compare it with. Add a candidate."
    if not choice.beyond_speed:
        return f"{name} for want of others: no other candidate has figures to compare."
    own = judgement.of(choice.names[0])
    whole = "the only one measured with all its disks" if _lack_a_disk(choice) else "the only safe one measured"
    why = f"the only one measured that {has(plan.needs)}" if choice.lacking else whole
    compared = ""
    if own is not None and own.baseline != own.candidate:
        compared = f", {ratio_text(own.ratio)} × {own.baseline}{span(own)}, {rounds_text(own.rounds)}"
    return f"{name}: {why}{compared}."


def _nobody_fits(plan: Plan, choice: Choice) -> str:
    if choice.lacking:
        safely = " and is safe" if choice.unsafe else ""
        return f"No candidate that was measured {has(plan.needs)}{safely}. Compare others, or ask for less."
    if _lack_a_disk(choice):
        return "Every layout was measured with a disk missing, to see what a failure costs: none is recommended."
    return "Every candidate that was measured has an option by which a crash may lose data: none is recommended."


def _lack_a_disk(choice: Choice) -> bool:
    """Whoever is ruled out as unsafe is so for a disk that was taken away."""
    return all(DEGRADED in options for _, options in choice.unsafe)
