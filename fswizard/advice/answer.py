"""The answer and its sentences: what to choose or keep, why, when not, and the corresponding commands."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from fswizard.advice.choice import Choice, options, torn_between
from fswizard.advice.phrasing import distance, more_text, percent, present
from fswizard.language import N_, _, listing, n_, p_
from fswizard.model.analysis import Answer, Dependence, Ratio, Summary, write_amplification
from fswizard.model.filesystem import Candidate
from fswizard.model.needs import feature_nouns
from fswizard.model.plan import INTERVAL_ROUNDS
from fswizard.model.recipe import Workload
from fswizard.model.result import Doubt
from fswizard.model.units import speed_text, three_digits
from fswizard.stats import more_time
from fswizard.stats.table import Tables

BUSY, CACHE = "busy-machine", "cache-not-exceeded"
WARNINGS = (
    BUSY,
    CACHE,
    "fits-in-memory",
    "changed-meanwhile",
    "workloads-missing",
    "figures-left-out",
    "uneven-noise",
    "on-battery",
    "governor",
)
"""Doubts that may change the ranking, most important first."""
ENDED = {
    "cancelled": N_("The run was cancelled before there was more to compare."),
    "killed": N_("The run was killed, or the machine went down, before there was more."),
    "running": N_("The run is still in progress: `fswizard watch` shows it."),
}
"""Why a run has few figures, by its outcome."""
MOST_NAMED = 3
"""Maximum number of equivalent candidates that the verdict names individually."""
MOST_PAIRS = 3
"""Maximum number of comparisons of open candidates in the answer."""
MOST_FEATURES = 3
"""Maximum number of features named for another candidate."""
MORE_WEAR = 2.0
"""Ratio of bytes written to flash, compared with another candidate, that is worth a line."""

Doubts = Mapping[str, Doubt]


def make_answer(choice: Choice, doubts: Doubts, tables: Tables, summaries: Sequence[Summary]) -> Answer:
    """The answer for any result; `doubts` are by code."""
    if choice.result.outcome == "failed":
        return _fault(choice)
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
            answer = _open(choice, doubts, tables)

    bound = answer.bound
    if answer.kind in ("winner", "depends") and answer.ratio and answer.ratio.low:
        bound = max(0.0, answer.ratio.low - 1)
    failed = [ratio.candidate for ratio in choice.analysis.overall if ratio.verdict == "failed"]
    if choice.kind == "only":  # the verdict of which says it
        failed = []
    warning = next((code for code in WARNINGS if code in doubts), "")
    lines = [
        doubts[warning].text if warning else "",
        *answer.lines,
        _behind(choice, answer),
        _("Failed: {candidates}.", candidates=choice.titles(failed)) if failed else "",
        next(_alternatives(choice), ""),
        _wear(choice, summaries),
        more_text(answer.more, busy=BUSY in doubts) if answer.more else "",
    ]
    return replace(
        answer,
        choice=choice.names,
        bound=bound,
        behind=tuple(name for name in choice.eligible if name not in choice.names),
        warning=warning,
        lines=tuple(line for line in lines if line),
    )


# Without a choice


def _fault(choice: Choice) -> Answer:
    """The answer after a failed run, which may have invalid figures."""
    result = choice.result
    distrust = _("It failed in the first round, so don't trust its figures.")
    if rounds := choice.analysis.rounds:
        distrust = n_(
            "It failed after {count} round, so don't trust its figures.",
            "It failed after {count} rounds, so don't trust its figures.",
            rounds,
        )
    remedy = _(result.remedy) or _("Fix the fault, then run it again.")
    if result.fault:
        verdict = _("No result: an error ended the run")
        return Answer("failed", verdict, lines=(_(result.fault), distrust, remedy))
    return Answer("failed", _("Check this disk first: a fault ended the run"), lines=(distrust, remedy))


def _nothing(choice: Choice) -> Answer:
    """The answer if every candidate failed, is excluded or has no figures."""
    failures = choice.result.failures
    failed = _(failures[0].text) if failures else ""
    if choice.kind == "failed":
        verdict = _("Nothing to choose: every filesystem failed here")
        why = failed or _("See what failed below.")
    elif choice.kind == "nothing":
        verdict = _("Run it again: it ended before there was a result")
        why = failed or _(ENDED.get(choice.result.outcome, N_("No filesystem was measured long enough.")))
    elif choice.lacking:
        text = N_("Nothing fits: none here has {features}")
        if choice.unsafe:
            text = N_("Nothing fits: none here safely has {features}")
        verdict = _(text, features=_needs(choice))
        why = _("Compare other filesystems, or drop a must-have.")
    else:
        verdict = _("Nothing safe to choose: each may lose data in a crash")
        why = _("Every candidate has an option that risks data. Add one that has none.")
    return Answer(choice.kind, verdict, lines=(why,))


# With a choice, by kind


def _winner(choice: Choice, doubts: Doubts) -> Answer:
    plan = choice.plan
    rival = plan.baseline if plan.baseline in choice.others else choice.others[0]
    ratio = choice.analysis.pair(choice.names[0], rival)
    assert ratio is not None  # who wins was compared with everybody
    speed = choice.comparison(ratio)
    if CACHE in doubts:
        reason = _("{statement} while the disk's cache lasts", statement=speed)
    elif plan.needs and choice.lacking:
        reason = _("{comparison}, the fastest with {features}", comparison=speed, features=_needs(choice))
    else:
        reason = _("{comparison} here", comparison=speed)
    return Answer("winner", _use(choice, reason), ratio=ratio, lines=(_gains(choice, rival),))


def _depends(choice: Choice) -> Answer:
    name, *rivals = choice.names
    ratios = [ratio for rival in rivals if (ratio := choice.analysis.pair(name, rival))]
    ratio = min(ratios, key=lambda ratio: (ratio.baseline != choice.plan.baseline, ratio.ratio))
    rival = ratio.baseline
    dependence = choice.analysis.dependence(name, rival)
    assert dependence is not None  # its lead over each of them rests on a test

    test = _first_test(choice, dependence)
    factor = 1.0
    # Neither need be the baseline, which single tests are compared with, and which has no ratio itself.
    if (over := choice.analysis.of(name, test.name)) and over.ratio:
        factor = over.ratio
    if (over := choice.analysis.of(rival, test.name)) and over.ratio:
        factor /= over.ratio
    fields = {
        "candidate": choice.title(name),
        "other": choice.title(rival),
        "test": _(test.title),
        "speed": speed_text(factor, test.metric.unit),
    }
    match dependence.rest.verdict:
        case "alike":
            text = N_("Use {candidate} if you do “{test}” a lot ({speed}); otherwise they are alike")
        case "slower":
            text = N_("Use {candidate} if you do “{test}” a lot ({speed}); otherwise use {other}")
        case _:
            text = N_("Use {candidate} if you do “{test}” a lot ({speed}); the rest is not settled")
    if torn := torn_between(choice, name, rival):
        better, worse = torn
        text = N_("It depends on the files: {candidate} for “{test}”, {other} for “{other_test}”")
        fields |= {"test": _(better.title), "other_test": _(worse.title)}
    return Answer(
        "depends",
        _(text, **fields),
        ratio=ratio,
        depends_on=dependence.tests,
        lines=tuple(_comparisons(choice)) if len(rivals) > 1 else (),
    )


def _alike(choice: Choice) -> Answer:
    ratio = _least_known(choice)
    assert ratio is not None  # alike are those that were compared
    first, names, share = choice.first, choice.titles(choice.names), percent(ratio.reach)
    verdict = _("{candidates} are alike here, within {share}", candidates=names, share=share)
    every = ""
    if len(choice.names) > MOST_NAMED:
        verdict = n_(
            "{candidate} and {count} other are alike here, within {share}",
            "{candidate} and {count} others are alike here, within {share}",
            len(choice.names) - 1,
            candidate=first.title,
            share=share,
        )
        every = _("Alike: {candidates}.", candidates=names)
    if first.directory:
        why = N_("Keep {candidate}.")
    elif all(_is_plainer(first, choice.plan.candidate(name)) for name in choice.names[1:]):
        why = N_("Use {candidate}, the plainer one.")
    else:
        why = N_("Use {candidate}, or choose by features.")
    lines = (_(why, candidate=first.title), every)
    return Answer("alike", verdict, ratio=ratio, bound=ratio.reach, lines=lines)


def _only(choice: Choice) -> Answer:
    if choice.lacking:
        text = N_("the only one here that has {features}")
        if any(name not in choice.lacking for name in choice.unsafe):
            text = N_("the only safe one here that has {features}")
        reason = _(text, features=_needs(choice))
        why = _excluded(choice)
    elif choice.unsafe:
        reason = _("the only safe one here")
        why = _excluded(choice)
    elif choice.in_memory:
        reason = _("the others can't be compared")
        why = _("They kept in memory what was written to the disk.")
    else:
        reason = _("the others failed")
        why = _("No other filesystem could do all of this work.")
    return Answer("only", _use(choice, reason), lines=(why,))


def _open(choice: Choice, doubts: Doubts, tables: Tables) -> Answer:
    """The answer if the fastest is not settled, or if only one candidate was measured."""
    name, *rivals = choice.names
    if not rivals:
        why = _(ENDED.get(choice.result.outcome, N_("No other has figures to compare.")))
        if len(choice.plan.candidates) == 1:
            why = _("Add a filesystem to compare it with.")
        verdict = _("Only {candidate} was measured: nothing to compare", candidate=choice.title(name))
        return Answer("open", verdict, lines=(why,))

    # The user asks first of all whether another one is better than the first choice.
    compared = [choice.analysis.pair(name, rival) for rival in rivals]
    ratio = next((pair for pair in compared if pair and not pair.differs), None) or _least_known(choice)
    if ratio is None:
        return Answer("open", _("Not settled: they have no round in common"))
    if ratio.rounds < INTERVAL_ROUNDS:
        text = N_("Not settled: proof takes at least {rounds} rounds, and there was one")
        verdict = _(text, rounds=INTERVAL_ROUNDS)
    elif BUSY in doubts:
        text = N_("Not settled: something else used the machine, so figures vary by {share}")
        verdict = _(text, share=distance(_spread(choice, tables)))
    elif ratio.low is None:
        verdict = _("Not settled: figures vary too much from round to round")
    else:
        # A rate is slower by other percents than it is faster, so the direction is that of the comparisons below.
        pair = ratio.inverted() if ratio.candidate == name else ratio
        share = pair.reach
        if choice.unit == "1/s" and share < 0.995 and pair.low and pair.high:
            share = max(pair.high - 1, 1 - pair.low)
        verdict = _(
            "Not settled: {candidates} may be up to {share} apart",
            candidates=choice.titles((pair.baseline, pair.candidate)),
            share=distance(share),
        )
    more = more_time(choice.result, choice.names, choice.result.trial_s, tables)
    return Answer("open", verdict, ratio=ratio, lines=tuple(_comparisons(choice)), more=more)


def _use(choice: Choice, reason: str) -> str:
    """`Use XFS: 11 % faster than ext4 here`; `Keep …` for a directory that is the baseline."""
    candidate = choice.first
    text = N_("Use {candidate}: {reason}")
    if candidate.directory and candidate.name == choice.plan.baseline:
        text = N_("Keep {candidate}: {reason}")
    return _(text, candidate=replace(candidate, aged=False).title, reason=reason)


def _needs(choice: Choice) -> str:
    return listing(feature_nouns(choice.plan.needs))


def _least_known(choice: Choice) -> Ratio | None:
    """Of pairs of chosen candidates, preferably without a proven difference, the ratio with the widest interval, if
    any."""
    pairs = [choice.analysis.pair(*names) for names in combinations(choice.names, 2)]
    return max(filter(None, pairs), key=lambda pair: (not pair.differs, pair.reach), default=None)


def _spread(choice: Choice, tables: Tables) -> float:
    """Typical variation of a candidate's figures in a test from round to round, as a share."""
    variances = []
    for test in choice.tests:
        for name, scores in tables.scores[test.name].items():
            if name in choice.names and len(scores) > 1:
                variances.append(statistics.variance(scores.values()))
    return math.expm1(math.sqrt(statistics.mean(variances))) if variances else 0.0


def _is_plainer(one: Candidate, other: Candidate) -> bool:
    """Whether a candidate has no more options than another, and no additional features."""
    return options(one) <= options(other) and present(one.filesystem) <= present(other.filesystem)


def _first_test(choice: Choice, dependence: Dependence) -> Workload:
    """The test on which a lead depends; its first workload if it has several."""
    return next(test for test in choice.tests if test.name in dependence.tests)


# Lines below the verdict


def _comparisons(choice: Choice) -> Iterator[str]:
    """Comparisons of the best other chosen candidates with the first one."""
    first, *rivals = choice.names
    for rival in rivals[:MOST_PAIRS]:
        pair = choice.to_first(rival)
        if pair is None:
            continue
        fields = {"candidate": choice.title(rival), "speed": choice.comparison(pair)}
        dependence = choice.analysis.dependence(rival, first) or choice.analysis.dependence(first, rival)
        if pair.differs and dependence:
            test = _first_test(choice, dependence)
            yield _("{candidate} is {speed}, which rests on “{test}”.", test=_(test.title), **fields)
        elif pair.low and pair.high and pair.reach < 1:
            low, high = choice.speed(pair.low), choice.speed(pair.high)
            yield _("{candidate} looks {speed}: from {low} to {high}.", low=low, high=high, **fields)
        else:
            yield _("{candidate} looks {speed}, which may be chance.", **fields)


def _excluded(choice: Choice) -> str:
    """Comparison of the only eligible candidate with the excluded ones."""
    first = choice.names[0]
    pairs = [pair for name in {**choice.lacking, **choice.unsafe} if (pair := choice.analysis.pair(first, name))]
    if not pairs:
        return ""
    comparisons = listing([choice.comparison(pair) for pair in pairs])
    if all(pair.differs or pair.verdict == "alike" for pair in pairs):
        return p_("comparison", "It is {comparisons}.", comparisons=comparisons)
    return p_("comparison", "It looks {comparisons}.", comparisons=comparisons)


def _gains(choice: Choice, rival: str) -> str:
    """Number of tests in which the choice is faster and slower than a rival, with the largest difference of each
    kind."""
    parts = choice.by_test(rival)
    parts.sort(key=lambda part: max(part[1].ratio, 1 / part[1].ratio), reverse=True)
    gains = [part for part in parts if part[1].verdict == "faster"]
    losses = [part for part in parts if part[1].verdict == "slower"]
    counts = {"faster": len(gains), "slower": len(losses)}
    if len(parts) == 1:  # the verdict has its figure
        return _("One test counts: {test}.", test=_(parts[0][0].title))
    if not gains and not losses:
        return _("Ahead in all tests together; each alone is too close to call.")
    text = n_("Faster in {faster} of {count} test.", "Faster in {faster} of {count} tests.", len(parts), **counts)
    if losses:
        text = n_(
            "Faster in {faster}, slower in {slower} of {count} test.",
            "Faster in {faster}, slower in {slower} of {count} tests.",
            len(parts),
            **counts,
        )
    for test, ratio in gains[:1] + losses[:1]:
        text += " " + _("{test}: {speed}.", test=_(test.title), speed=speed_text(ratio.ratio, test.metric.unit))
    return text


def _behind(choice: Choice, answer: Answer) -> str:
    """Candidates proven slower than the choice, and by how much, except for the rival named in a winner's verdict."""
    rival = answer.ratio.baseline if answer.ratio and answer.kind == "winner" else ""
    behind = []
    for name in choice.others:
        pair = choice.to_first(name)
        if pair and name != rival and name not in choice.names:
            behind.append(_("{candidate} ({speed})", candidate=choice.title(name), speed=choice.speed(pair.ratio)))
    if not behind:
        return ""
    return _("Behind {candidate}: {candidates}.", candidate=choice.first.title, candidates=listing(behind))


def _alternatives(choice: Choice) -> Iterator[str]:
    """When another candidate is the better choice, most important first."""
    first = choice.first
    for name, needs in choice.lacking.items():
        pair = choice.to_first(name)
        if pair and pair.verdict == "faster" and choice.kind != "only":  # the verdict of which says it
            yield _(
                "{candidate} is {speed}, if you don't need {features}.",
                candidate=choice.title(name),
                speed=choice.speed(pair.ratio),
                features=listing(feature_nouns(needs)),
            )
    if choice.kind == "open":
        return
    others = [choice.plan.candidate(name) for name in choice.others]
    if not first.directory:  # another directory may be on another disk
        for other in others:
            if other.survives > first.survives:
                yield n_(
                    "Choose {candidate} instead if a disk must be able to fail.",
                    "Choose {candidate} instead if {count} disks must be able to fail.",
                    other.survives,
                    candidate=other.title,
                )
        offers: list[str] = []
        title = ""
        for other in others:
            features = feature_nouns(present(other.filesystem) - present(first.filesystem))[:MOST_FEATURES]
            if len(features) > len(offers):
                offers, title = features, other.filesystem.title
        if offers:
            yield _("Choose {candidate} instead if you want {features}.", candidate=title, features=listing(offers))
    for other in others:
        for test, ratio in choice.by_test(other.name):
            if ratio.verdict == "slower":
                yield _(
                    "{candidate} suits “{test}” better: {comparison}.",
                    candidate=other.title,
                    test=_(test.title),
                    comparison=speed_text(1 / ratio.ratio, test.metric.unit),
                )


def _wear(choice: Choice, summaries: Sequence[Summary]) -> str:
    """Large differences in the bytes that eligible candidates write to flash; empty on other disks."""
    drive = choice.plan.drive
    if drive is None or not drive.flash:
        return ""
    amplification = write_amplification(summaries)
    writers = [(amplification[name], name) for name in choice.eligible if name in amplification]
    little, least = min(writers, default=(0.0, ""))
    much, most = max(writers, default=(0.0, ""))
    if not writers or much < MORE_WEAR * little:
        return ""
    return _(
        "Wear: {candidate} writes {much} bytes to flash for each byte saved, {other} {little}.",
        candidate=choice.title(most),
        other=choice.title(least),
        much=three_digits(much),
        little=three_digits(little),
    )
