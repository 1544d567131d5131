"""The answer that several machines give together, at a glance."""

from __future__ import annotations

import math
from collections.abc import Iterator

from fswizard.advice.card import VERDICT_WIDTH
from fswizard.advice.words import fitting, listing, speed_against
from fswizard.model.analysis import Card, Ratio
from fswizard.model.pool import Group, Heterogeneity
from fswizard.model.units import machines_text, speed_text

FEW, MANY = 2, 5
"""Numbers of machines that say hardly anything about others, and that a verdict can rest on."""


def pooled_card(group: Group) -> Card:
    """The card of results that belong together."""
    analysis, baseline = group.analysis, group.setting.baseline.name
    if not analysis.leaders:
        return Card("Nothing to compare: no two filesystems share figures")
    first = baseline if baseline in analysis.leaders and not _alone(group) else analysis.leaders[0]
    rival = baseline if first != baseline else next((r.candidate for r in analysis.overall if r.candidate != first), "")
    ratio = analysis.pair(first, rival)
    if group.machines < 2 or ratio is None:
        return Card(
            "Pool two machines or more: these results come from one",
            "Days on one machine say nothing about another.",
            confidence=0,
        )
    about = next((a for a in group.heterogeneity if a.candidate == (first if first != baseline else rival)), None)
    why, otherwise, wear = (*(_lines(group, about) if about else ()), "", "", "")[:3]
    return Card(_verdict(group, first, ratio), why, otherwise, wear, _sure(group, about))


def _alone(group: Group) -> bool:
    return len(group.analysis.leaders) == 1


def _verdict(group: Group, first: str, ratio: Ratio) -> str:
    titles = group.titles
    head = f"Use {titles[first]}"
    rival, on = titles[ratio.baseline], f" on {machines_text(ratio.rounds)}"
    if not _alone(group):
        if group.analysis.tied:
            others = listing([titles[name] for name in group.analysis.leaders if name != first])
            return fitting(VERDICT_WIDTH, f"{head}: {others} no faster{on}", f"{head}: no real difference{on}")
        return f"{head}: no clear winner{on}"
    speed, than = speed_text(ratio.ratio), speed_against(ratio.ratio, rival)
    return fitting(VERDICT_WIDTH, f"{head}: {than}{on}", f"{head}: {speed}{on}", f"{head}: the fastest{on}")


def _lines(group: Group, about: Heterogeneity) -> Iterator[str]:
    title = group.titles[about.candidate]
    yield agreement_text(title, group.titles[group.setting.baseline.name], about)
    ratio = group.analysis.of(about.candidate)
    if ratio is not None and about.between > 0.02 and about.machines > FEW:
        low, high = (speed_text(ratio.ratio * math.exp(sign * about.between)) for sign in (-1, 1))
        yield f"It varies: on two of three such machines between {low} and {high}."
    elif about.machines > FEW:
        yield "The machines hardly differ beyond what chance explains."
    if about.failed:
        yield f"It failed on {machines_text(about.failed)}, which no ratio shows."


def agreement_text(title: str, baseline: str, about: Heterogeneity) -> str:
    """On how many machines a candidate is ahead."""
    if about.ahead in (0, about.machines):
        every = "both" if about.machines == 2 else f"all {about.machines}"
        return f"{title if about.ahead else baseline} is ahead on {every} machines."
    mostly = about.ahead >= about.machines - about.ahead
    ahead, count = (title, about.ahead) if mostly else (baseline, about.machines - about.ahead)
    return f"{ahead} is ahead on {count} of {about.machines} machines."


def _sure(group: Group, about: Heterogeneity | None) -> int:
    if about is None:
        return 0
    if not _alone(group) and not group.analysis.tied:
        return 1
    agree = max(about.ahead, about.machines - about.ahead) >= 0.9 * about.machines or group.analysis.tied
    return 1 + (about.machines > FEW) + (about.machines >= MANY) + agree - (about.failed > 0)
