"""The answer that several machines give together, at a glance."""

from __future__ import annotations

import math
from collections.abc import Iterator

from fswizard.advice.card import verdict
from fswizard.advice.words import speed_against
from fswizard.language import _, listing, n_
from fswizard.model.analysis import Card, Ratio
from fswizard.model.pool import Group, Heterogeneity
from fswizard.model.units import speed_text

FEW, MANY = 2, 5
"""Numbers of machines that say hardly anything about others, and that a verdict can rest on."""


def pooled_card(group: Group) -> Card:
    """The card of results that belong together."""
    analysis, baseline = group.analysis, group.setting.baseline.name
    if not analysis.leaders:
        return Card(_("Nothing to compare: no two filesystems share figures"))
    first = baseline if baseline in analysis.leaders and not _alone(group) else analysis.leaders[0]
    rival = baseline if first != baseline else next((r.candidate for r in analysis.overall if r.candidate != first), "")
    ratio = analysis.pair(first, rival)
    if group.machines < 2 or ratio is None:
        return Card(
            _("Pool two machines or more: these results come from one"),
            _("Days on one machine say nothing about another."),
            confidence=0,
        )
    about = next((a for a in group.heterogeneity if a.candidate == (first if first != baseline else rival)), None)
    why, otherwise, wear = (*(_lines(group, about) if about else ()), "", "", "")[:3]
    text = verdict(group.titles[first], tuple(_reasons(group, first, ratio)), keep=False)
    return Card(text, why, otherwise, wear, _sure(group, about))


def _alone(group: Group) -> bool:
    return len(group.analysis.leaders) == 1


def _reasons(group: Group, first: str, ratio: Ratio) -> Iterator[str]:
    """Of the verdict, the longest first."""
    count = ratio.rounds
    if _alone(group):
        against = speed_against(ratio.ratio, group.titles[ratio.baseline])
        for comparison in (against, speed_text(ratio.ratio), _("the fastest")):
            yield n_(
                "{comparison} on {count} machine", "{comparison} on {count} machines", count, comparison=comparison
            )
    elif group.analysis.tied:
        others = listing([group.titles[name] for name in group.analysis.leaders if name != first])
        yield n_(
            "{candidates} no faster on {count} machine",
            "{candidates} no faster on {count} machines",
            count,
            candidates=others,
        )
        yield n_("no real difference on {count} machine", "no real difference on {count} machines", count)
    else:
        yield n_("no clear winner on {count} machine", "no clear winner on {count} machines", count)


def _lines(group: Group, about: Heterogeneity) -> Iterator[str]:
    title = group.titles[about.candidate]
    yield agreement_text(title, group.titles[group.setting.baseline.name], about)
    ratio = group.analysis.of(about.candidate)
    if ratio is not None and about.between > 0.02 and about.machines > FEW:
        low, high = (speed_text(ratio.ratio * math.exp(sign * about.between)) for sign in (-1, 1))
        yield _("It varies: on two of three such machines between {low} and {high}.", low=low, high=high)
    elif about.machines > FEW:
        yield _("The machines hardly differ beyond what chance explains.")
    if about.failed:
        yield n_(
            "It failed on {count} machine, which no ratio shows.",
            "It failed on {count} machines, which no ratio shows.",
            about.failed,
        )


def agreement_text(title: str, baseline: str, about: Heterogeneity) -> str:
    """On how many machines a candidate is ahead."""
    if about.ahead in (0, about.machines):
        ahead = title if about.ahead else baseline
        if about.machines == 2:
            return _("{candidate} is ahead on both machines.", candidate=ahead)
        return n_(
            "{candidate} is ahead on all {count} machine.",
            "{candidate} is ahead on all {count} machines.",
            about.machines,
            candidate=ahead,
        )
    mostly = about.ahead >= about.machines - about.ahead
    ahead, count = (title, about.ahead) if mostly else (baseline, about.machines - about.ahead)
    return n_(
        "{candidate} is ahead on {ahead} of {count} machine.",
        "{candidate} is ahead on {ahead} of {count} machines.",
        about.machines,
        candidate=ahead,
        ahead=count,
    )


def _sure(group: Group, about: Heterogeneity | None) -> int:
    if about is None:
        return 0
    if not _alone(group) and not group.analysis.tied:
        return 1
    agree = max(about.ahead, about.machines - about.ahead) >= 0.9 * about.machines or group.analysis.tied
    return 1 + (about.machines > FEW) + (about.machines >= MANY) + agree - (about.failed > 0)
