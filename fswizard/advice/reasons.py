"""Reasons and costs: the sentences below the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fswizard.advice.choice import Choice, torn_between
from fswizard.advice.commands import fstab_advice
from fswizard.language import N_, _, joined, listing, p_
from fswizard.model.analysis import Reason, Summary
from fswizard.model.layout import LUKS
from fswizard.model.metrics import FSYNC_MEDIAN, FSYNC_WORST
from fswizard.model.needs import feature_noun
from fswizard.model.units import speed_text, stall_text

NOTICED_S = 0.1
"""The shortest wait that users notice."""


def reasons(choice: Choice, summaries: Sequence[Summary]) -> tuple[Reason, ...]:
    """Advantages and costs of the choice, excluded candidates, and how to use the choice."""
    if choice.result.outcome == "failed":
        return ()
    use = fstab_advice(choice.plan, choice.names[0]) if choice.names else ""
    return (
        *_excluded(choice),
        *_torn(choice),
        *_against_rival(choice),
        *_saves(choice, summaries),
        *_encryption(choice),
        *([Reason("use", use)] if use else []),
    )


def _excluded(choice: Choice) -> Iterator[Reason]:
    for name, options in choice.unsafe.items():
        title = choice.title(name)
        text = _(
            "{candidate} is not recommended: with {options} a crash may lose data.",
            candidate=title,
            options=listing(options),
        )
        if _faster(choice, name):
            best = choice.first.title
            text += " " + _("It was faster; {candidate} is the best safe one.", candidate=best)
        yield Reason("excluded", text)
    for name in choice.in_memory:
        text = N_("{candidate} kept direct writes in memory, so its figures can't be compared with the others.")
        yield Reason("excluded", _(text, candidate=choice.title(name)))
    for name, needs in choice.lacking.items():
        missing = []
        for need in needs:
            feature = choice.plan.candidate(name).filesystem.feature(need)
            partly = f" ({_(feature.value)})" if feature and feature.value != "no" else ""
            missing.append(feature_noun(need) + partly)
        text = N_("{candidate} lacks {features}.")
        if _faster(choice, name):
            text = N_("{candidate} was faster but lacks {features}.")
        yield Reason("excluded", _(text, candidate=choice.title(name), features=listing(missing)))


def _faster(choice: Choice, name: str) -> bool:
    """Whether a candidate is proven faster than the first choice."""
    pair = choice.to_first(name)
    return pair is not None and pair.verdict == "faster"


def _torn(choice: Choice) -> Iterator[Reason]:
    """Candidates that are faster or slower than the baseline depending on the shape of the files."""
    baseline = choice.plan.baseline
    for name in choice.eligible:
        if torn := torn_between(choice, name, baseline):
            better, worse = torn
            text = _(
                "{candidate} is faster than {other} at “{test}” and slower at “{other_test}”: it depends on the files.",
                candidate=choice.title(name),
                other=choice.title(baseline),
                test=_(better.title),
                other_test=_(worse.title),
            )
            yield Reason("torn", text)


def _against_rival(choice: Choice) -> Iterator[Reason]:
    """Comparison of a choice with the baseline, or with the next best candidate if it is the baseline."""
    if choice.kind not in ("winner", "depends", "only"):
        return
    name = choice.names[0]
    rivals = choice.others
    overall = choice.analysis.of(name)
    if overall and overall.baseline != name:
        rivals = [overall.baseline]
    if not rivals:
        return
    rival = choice.plan.candidate(rivals[0])

    gains, losses = [], []
    for test, ratio in choice.by_test(rival.name):
        if ratio.verdict == "faster":
            gains.append(joined((_(test.title), " (", speed_text(ratio.ratio), ")"), ""))
        elif ratio.verdict == "slower":
            text = p_(
                "price of a choice",
                "{test}: {speed} than {candidate}.",
                test=_(test.title),
                speed=speed_text(ratio.ratio, test.metric.unit),
                candidate=rival.title,
            )
            if price := choice.first.filesystem.price(test.job.strain):
                text += " " + _(price)
            losses.append(Reason("cost", text))
    if gains:
        text = _("Faster than {candidate}: {tests}.", candidate=rival.title, tests=joined(gains, "; "))
        yield Reason("speed", text)
    yield from losses


def _saves(choice: Choice, summaries: Sequence[Summary]) -> Iterator[Reason]:
    """Duration of a small save while a large file is written, if any is long enough to be noticed."""
    saves = {(summary.candidate, summary.metric): summary for summary in summaries}
    times = []
    longest = 0.0
    for candidate in choice.plan.candidates:
        usual = saves.get((candidate.name, FSYNC_MEDIAN.name))
        worst = saves.get((candidate.name, FSYNC_WORST.name))
        if usual and worst:
            longest = max(longest, worst.worst)
            text = _(
                "{time} on {candidate} (at worst {worst})",
                time=stall_text(usual.median),
                candidate=candidate.title,
                worst=stall_text(worst.worst),
            )
            times.append(text)
    if longest >= NOTICED_S:
        yield Reason("stall", _("Saving while a large file is copied takes {times}.", times=listing(times)))


def _encryption(choice: Choice) -> Iterator[Reason]:
    """Cost of an encrypted volume, if the same filesystem was measured with and without one."""
    for candidate in choice.plan.candidates:
        plain = candidate.name.partition("+")[2]
        encrypted = candidate.below is not None and candidate.below.layout.maker == LUKS
        pair = choice.analysis.pair(candidate.name, plain) if encrypted else None
        if pair and pair.verdict != "open":
            text = N_("On this processor, {candidate} is {speed} than {plain} without.")
            if pair.verdict == "alike":
                text = N_("On this processor, {candidate} is as fast as {plain} without.")
            text = _(text, candidate=candidate.title, speed=choice.speed(pair.ratio), plain=choice.title(plain))
            yield Reason("encryption", text)
