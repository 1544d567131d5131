"""The answer and its sentences: what to choose or keep, why, and when not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

from fswizard.advice.choice import Choice
from fswizard.language import N_, _, listing, n_, number, p_
from fswizard.model.analysis import Answer, MoreTime, Reason
from fswizard.model.needs import NEEDS, feature_nouns
from fswizard.model.result import Doubt
from fswizard.model.units import duration_text, speed_text
from fswizard.stats import more_time

CACHE = "cache-not-exceeded"
WARNINGS = (
    "busy-machine",
    CACHE,
    "fits-in-memory",
    "figures-left-out",
    "uneven-noise",
    "on-battery",
    "governor",
)
"""Doubts that may change the ranking, most important first."""
MOST_PAIRS = 3
"""Maximum number of comparisons of open candidates in the answer."""
MOST_FEATURES = 3
"""Maximum number of features named for another candidate."""
RARELY_DECIDE = {"repair", "grow", "quotas", "case-insensitive"}

Doubts = Mapping[str, Doubt]


def make_answer(choice: Choice, doubts: Doubts) -> Answer:
    """The answer for any result; `doubts` are by code."""
    if not choice.names:
        return _nothing(choice)
    match choice.kind:
        case "winner":
            answer = _winner(choice, doubts)
        case "depends":
            answer = _depends(choice)
        case "alike":
            answer = _alike(choice)
        case "only":
            answer = _only(choice)
        case _:
            answer = _open(choice)

    bound = answer.bound
    if answer.kind in ("winner", "depends") and answer.ratio and answer.ratio.low:
        bound = max(0.0, answer.ratio.low - 1)
    certainty = ""
    if answer.kind == "winner" and bound >= 0.005:
        certainty = _("by at least {percent} %", percent=f"{bound * 100:.0f}")
    failed = [ratio.candidate for ratio in choice.analysis.overall if ratio.verdict == "failed"]
    warning = next((code for code in WARNINGS if code in doubts), "")
    lines = [
        doubts[warning].text if warning else "",
        *answer.lines,
        _behind(choice, answer),
        _("Failed: {candidates}.", candidates=choice.titles(failed)) if failed else "",
        _alternative(choice),
        more_text(answer.more) if answer.more else "",
    ]
    return replace(
        answer,
        choice=choice.names,
        bound=bound,
        certainty=certainty,
        behind=tuple(name for name in choice.eligible if name not in choice.names),
        warning=warning,
        lines=tuple(line for line in lines if line),
    )


def more_text(more: MoreTime) -> str:
    """The benefit of more time."""
    return _(
        "{time} more would narrow it to about ±{share}.", time=duration_text(more.seconds), share=_percent(more.bound)
    )


def _percent(share: float) -> str:
    """A share of 1 in whole percent, at least one: `4 %`."""
    return _("{percent} %", percent=number(f"{max(1.0, share * 100):.0f}"))


def _nothing(choice: Choice) -> Answer:
    """The answer if the run or every candidate failed, is excluded or has no figures."""
    result = choice.result
    failed = _(result.failures[0].text) if result.failures else ""
    if result.outcome == "failed":
        verdict = _("Check this disk first: a fault ended the run")
        if result.fault:
            verdict = _("No result: an error ended the run")
        remedy = _(result.remedy) or _("Fix the fault, then run it again.")
        lines = [_(result.fault), _("Don't trust the figures from before it."), remedy]
    elif choice.kind == "failed":
        verdict = _("Nothing to choose: every filesystem failed here")
        lines = [failed or _("See what failed below.")]
    elif choice.kind == "nothing":
        verdict = _("Run it again: it ended before there was a result")
        lines = [failed or _("No filesystem was measured long enough.")]
    else:
        verdict = _("Nothing fits: each lacks a must-have or may lose data in a crash")
        lines = [*choice.excluded(), _("Compare other filesystems, or drop a must-have.")]
    return Answer(choice.kind, verdict, lines=tuple(line for line in lines if line))


def _use(choice: Choice, reason: str) -> str:
    """`Use XFS: 11 % faster than ext4 here`; `Keep …` for a directory that is the baseline."""
    text = N_("Use {candidate}: {reason}")
    if choice.first.directory and choice.first.name == choice.plan.baseline:
        text = N_("Keep {candidate}: {reason}")
    return _(text, candidate=replace(choice.first, aged=False).title, reason=reason)


def _winner(choice: Choice, doubts: Doubts) -> Answer:
    rival = choice.plan.baseline if choice.plan.baseline in choice.others else choice.others[0]
    ratio = choice.analysis.pair(choice.first.name, rival)
    assert ratio is not None  # who wins was compared with everybody
    reason = _("{comparison} here", comparison=choice.comparison(ratio))
    if CACHE in doubts:
        reason = _("{statement} while the disk's cache lasts", statement=choice.comparison(ratio))

    verdicts = [part.verdict for _test, part in choice.by_test(rival)]
    faster, slower = verdicts.count("faster"), verdicts.count("slower")
    gains = ""
    if len(verdicts) > 1:  # the verdict has the figure of one alone
        gains = _("Ahead in all tests together; each alone is too close to call.")
        if faster and not slower:
            gains = n_(
                "Faster in {faster} of {count} test.",
                "Faster in {faster} of {count} tests.",
                len(verdicts),
                faster=faster,
            )
        elif faster or slower:
            gains = n_(
                "Faster in {faster}, slower in {slower} of {count} test.",
                "Faster in {faster}, slower in {slower} of {count} tests.",
                len(verdicts),
                faster=faster,
                slower=slower,
            )
    return Answer("winner", _use(choice, reason), ratio=ratio, lines=(gains,))


def _depends(choice: Choice) -> Answer:
    name, *rivals = choice.names
    ratios = [ratio for rival in rivals if (ratio := choice.analysis.pair(name, rival))]
    ratio = min(ratios, key=lambda ratio: (ratio.baseline != choice.plan.baseline, ratio.ratio))
    rival = ratio.baseline
    dependence = choice.analysis.dependence(name, rival)
    assert dependence is not None  # its lead over each of them rests on a test
    test = next(test for test in choice.tests if test.name in dependence.tests)

    factor = 1.0
    for ratio_of, power in ((name, 1), (rival, -1)):  # neither need be the baseline, which has no ratio itself
        known = choice.analysis.of(ratio_of, test.name)
        if known and known.ratio:
            factor *= known.ratio**power
    text = N_("Use {candidate} if you do “{test}” a lot ({speed}); the rest is not settled")
    if dependence.rest.verdict == "alike":
        text = N_("Use {candidate} if you do “{test}” a lot ({speed}); otherwise it and {other} are alike on the whole")
    elif dependence.rest.verdict == "slower":
        text = N_("Use {candidate} if you do “{test}” a lot ({speed}); otherwise use {other}")
    verdict = _(
        text,
        candidate=choice.title(name),
        other=choice.title(rival),
        test=_(test.title),
        speed=speed_text(factor, test.metric.unit),
    )
    return Answer("depends", verdict, ratio=ratio, depends_on=dependence.tests)


def _alike(choice: Choice) -> Answer:
    pairs = [choice.analysis.pair(*names) for names in combinations(choice.names, 2)]
    ratio = max(filter(None, pairs), key=lambda pair: pair.reach)
    verdict = _(
        "{candidates} are alike here, within {share}",
        candidates=choice.titles(choice.names),
        share=_percent(ratio.reach),
    )
    why = N_("Keep {candidate}.") if choice.first.directory else N_("Use {candidate}, or choose by features.")
    return Answer("alike", verdict, ratio=ratio, bound=ratio.reach, lines=(_(why, candidate=choice.first.title),))


def _only(choice: Choice) -> Answer:
    reason = _("the others failed")
    if choice.lacking:
        reason = _("the only safe one here that has {features}", features=listing(feature_nouns(choice.plan.needs)))
    elif choice.unsafe:
        reason = _("the only safe one here")
    elif choice.in_memory:
        reason = _("the others can't be compared")
    return Answer("only", _use(choice, reason))


def _open(choice: Choice) -> Answer:
    """The answer if the fastest is not settled, or if only one candidate was measured."""
    name, *rivals = choice.names
    if not rivals:
        verdict = _("Only {candidate} was measured: nothing to compare", candidate=choice.title(name))
        return Answer("open", verdict)
    pairs = [pair for rival in rivals if (pair := choice.analysis.pair(rival, name))]
    slower = {pair.candidate for pair in pairs if pair.verdict == "slower"}
    fastest = choice.titles([each for each in choice.names if each not in slower])
    verdict = _("Not settled: the fastest of {candidates} is not proven", candidates=fastest)
    lines = []
    for pair in pairs[:MOST_PAIRS]:
        text = N_("{candidate} looks {speed}, which may be chance.")
        low = high = ""
        if pair.differs:
            text = N_("{candidate} is {speed}, which rests on one test.")
        elif pair.low and pair.high and pair.reach < 1:
            text = N_("{candidate} looks {speed}: from {low} to {high}.")
            low, high = choice.speed(pair.low), choice.speed(pair.high)
        fields = {"candidate": choice.title(pair.candidate), "speed": choice.comparison(pair)}
        lines.append(_(text, low=low, high=high, **fields))
    more = more_time(choice.result, choice.names)
    return Answer("open", verdict, ratio=pairs[0].inverted() if pairs else None, lines=tuple(lines), more=more)


def reasons(choice: Choice) -> Iterator[Reason]:
    """Excluded candidates, and what a choice costs in comparison with the baseline or the next best candidate."""
    if not choice.names:
        return
    for text in choice.excluded():
        yield Reason("excluded", text)
    rival = choice.plan.baseline
    if choice.kind not in ("winner", "depends", "only") or not choice.others:
        return
    if rival == choice.first.name:
        rival = choice.others[0]
    for test, ratio in choice.by_test(rival):
        if ratio.verdict == "slower":
            text = p_(
                "price of a choice",
                "{test}: {speed} than {candidate}.",
                test=_(test.title),
                speed=speed_text(ratio.ratio, test.metric.unit),
                candidate=choice.title(rival),
            )
            if price := choice.first.filesystem.price(test.job.strain):
                text += " " + _(price)
            yield Reason("cost", text)


def _behind(choice: Choice, answer: Answer) -> str:
    """Candidates proven slower than the choice, and by how much, except for the rival named in a winner's verdict."""
    rival = answer.ratio.baseline if answer.ratio and answer.kind == "winner" else ""
    behind = []
    for name in choice.others:
        pair = choice.analysis.pair(name, choice.first.name)
        if pair and name != rival and name not in choice.names:
            behind.append(_("{candidate} ({speed})", candidate=choice.title(name), speed=choice.speed(pair.ratio)))
    if not behind:
        return ""
    return _("Behind {candidate}: {candidates}.", candidate=choice.first.title, candidates=listing(behind))


def _alternative(choice: Choice) -> str:
    """When another candidate is the better choice; empty if there is no such case."""
    first = choice.first
    for name, needs in choice.lacking.items():
        pair = choice.analysis.pair(name, choice.first.name)
        if pair and pair.verdict == "faster":
            features = listing(feature_nouns(needs))
            text = N_("{candidate} is {speed}, if you don't need {features}.")
            return _(text, candidate=choice.title(name), speed=choice.speed(pair.ratio), features=features)
    if choice.kind == "open" or first.directory:  # another directory may be on another disk
        return ""
    others = [choice.plan.candidate(name) for name in choice.others]
    for other in others:
        if other.survives > first.survives:
            return n_(
                "Choose {candidate} instead if a disk must be able to fail.",
                "Choose {candidate} instead if {count} disks must be able to fail.",
                other.survives,
                candidate=other.title,
            )
    decisive = {}
    for candidate in (first, *others):
        present = {feature.name for feature in candidate.filesystem.features if feature.present}
        decisive[candidate.name] = present & NEEDS.keys() - RARELY_DECIDE
    offers: list[str] = []
    title = ""
    for other in others:
        more = decisive[other.name] - decisive[first.name]
        if len(more) > len(offers):
            offers, title = feature_nouns(more)[:MOST_FEATURES], other.filesystem.title
    if not offers:
        return ""
    return _("Choose {candidate} instead if you want {features}.", candidate=title, features=listing(offers))
