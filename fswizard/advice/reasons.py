"""Reasons and costs: the sentences below the headline."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from fswizard.advice.choice import Choice, torn_between
from fswizard.advice.commands import how_to_use
from fswizard.advice.words import distinctions, feature_word, features_of, present
from fswizard.language import N_, _, listing, n_, p_, shown
from fswizard.model.analysis import Analysis, Ratio, Reason
from fswizard.model.layout import DEGRADED
from fswizard.model.metrics import FSYNC_MEDIAN, FSYNC_WORST, is_stall
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.model.units import size_text, speed_text, stall_text, times_text

NOTICED_S = 0.1
"""Users notice no shorter waits, nor small differences."""


def reasons(result: Result, analysis: Analysis, choice: Choice, age: Sequence[Ratio] = ()) -> tuple[Reason, ...]:
    """What speaks for the choice, what it costs, who is excluded and why, and how to use it."""
    plan = result.plan
    ratio = reference(analysis, choice) if choice.kind in ("winner", "depends", "only") else None
    return (
        *_excluded(plan, analysis, choice),
        *_torn(plan, analysis, choice),
        *(_by_workload(plan, analysis, ratio) if ratio else ()),
        *(_stall(result, ratio.candidate, ratio.baseline) if ratio else ()),
        *_wait(result),
        *_age(plan, age),
        *_encryption(result, analysis),
        *_failures(plan, analysis),
        *_redundancy(plan, choice),
        *_features(plan, choice),
        *(how_to_use(plan, choice.names[0]) if choice.names else ()),
    )


def _age(plan: Plan, age: Sequence[Ratio]) -> Iterator[Reason]:
    """`Aged, ext4 is 17 % slower than when it was new.`"""
    text = N_("Aged, {candidate} is {speed} than when it was new.")
    for ratio in age:
        if not ratio.workload and ratio.verdict == "slower":
            title, speed = plan.candidate(ratio.baseline).title, speed_text(ratio.ratio)
            yield Reason("age", _(text, candidate=title, speed=speed))


def _encryption(result: Result, analysis: Analysis) -> Iterator[Reason]:
    """What an encrypted volume costs, where the same filesystem was measured on one and without."""
    plan = result.plan
    names = {candidate.name for candidate in plan.candidates}
    for candidate in plan.candidates:
        plain = candidate.name.partition("+")[2]
        pair = analysis.pair(candidate.name, plain) if candidate.encryption and plain in names else None
        if pair and pair.verdict != "open":
            text = N_("On this processor, {candidate} is {speed} than {plain} without.")
            if pair.verdict == "alike":
                text = N_("On this processor, {candidate} is as fast as {plain} without.")
            titles = {"candidate": candidate.title, "plain": plan.candidate(plain).title}
            yield Reason("encryption", _(text, speed=speed_text(pair.ratio), **titles))


def _excluded(plan: Plan, analysis: Analysis, choice: Choice) -> Iterator[Reason]:
    for name, options in choice.unsafe:
        yield Reason("excluded", _unsafe(plan, analysis, choice, name, options))
    for name in choice.in_memory:
        text = N_("{candidate} kept direct writes in memory, so its figures can't be compared with the others.")
        yield Reason("excluded", _(text, candidate=plan.candidate(name).title))
    for name, needs in choice.lacking:
        missing = []
        for need in needs:
            feature = plan.candidate(name).filesystem.feature(need)
            partly = f" ({_(feature.value)})" if feature is not None and feature.value != "no" else ""
            missing.append(f"{feature_word(need)}{partly}")
        text = N_("{candidate} lacks {features}.")
        if choice.names and _ahead(analysis, name, choice.names[0]):
            text = N_("{candidate} was faster but lacks {features}.")
        yield Reason("excluded", _(text, candidate=plan.candidate(name).title, features=listing(missing)))


def _unsafe(plan: Plan, analysis: Analysis, choice: Choice, name: str, options: Sequence[str]) -> str:
    title = plan.candidate(name).title
    if DEGRADED in options:
        return _("{candidate} was measured to see what a failed disk costs.", candidate=title)
    text = _(
        "{candidate} is not recommended: with {options} a crash may lose data.",
        candidate=title,
        options=listing(options),
    )
    if choice.names and _ahead(analysis, name, choice.names[0]):
        best = plan.candidate(choice.names[0]).title
        text += " " + _("It was faster; {candidate} is the best safe one.", candidate=best)
    return text


def _torn(plan: Plan, analysis: Analysis, choice: Choice) -> Iterator[Reason]:
    """Work at which another shape of the files turns who is faster."""
    for name in choice.eligible:
        if tests := torn_between(plan, analysis, name, plan.baseline):
            better, worse = (_(test.title) for test in tests)
            text = _(
                "{candidate} is faster than {other} at “{test}” and slower at “{other_test}”: it depends on the files.",
                candidate=plan.candidate(name).title,
                other=plan.candidate(plan.baseline).title,
                test=better,
                other_test=worse,
            )
            yield Reason("torn", text)


def _by_workload(plan: Plan, analysis: Analysis, ratio: Ratio) -> Iterator[Reason]:
    gains, losses = [], []
    baseline = plan.candidate(ratio.baseline).title
    for workload in plan.recipe.workloads:
        part = analysis.part(ratio.candidate, ratio.baseline, workload.name)
        if part is None or workload.weight <= 0:
            continue
        if part.verdict == "faster":
            gains.append(f"{_(workload.title)} ({speed_text(part.ratio)})")
        elif part.verdict == "slower":
            price = plan.candidate(part.candidate).filesystem.price(workload.job.strain)
            text = p_(
                "price of a choice",
                "{test}: {speed} than {candidate}.",
                test=_(workload.title),
                speed=speed_text(part.ratio, workload.metric.unit),
                candidate=baseline,
            )
            losses.append(Reason("cost", f"{text} {_(price)}".rstrip()))
    if gains:
        yield Reason("speed", _("Faster than {candidate}: {tests}.", candidate=baseline, tests="; ".join(gains)))
    yield from losses


def reference(analysis: Analysis, choice: Choice) -> Ratio | None:
    """The ratio of a winner that reports show: over the baseline, or over the next best if it is the baseline."""
    winner = choice.names[0]
    own = analysis.of(winner)
    if own is not None and own.baseline != winner:
        return own
    others = [name for name in choice.eligible if name != winner]
    return analysis.pair(winner, others[0]) if others else None


def _stall(result: Result, one: str, other: str) -> Iterator[Reason]:
    """The longest single wait of both, over the rounds and workloads that both have."""
    waits: dict[str, dict[tuple[int, str, str], float]] = {one: {}, other: {}}
    for s in result.samples:
        counts = s.status == "ok" and s.round not in result.discarded_rounds
        if is_stall(s.metric) and s.candidate in waits and counts:
            waits[s.candidate][s.round, s.workload, s.metric] = s.value
    shared = waits[one].keys() & waits[other].keys()
    if not shared:
        return
    own, its = (max(waits[name][key] for key in shared) for name in (one, other))
    title = result.plan.candidate(other).title
    if max(own, its) < NOTICED_S or min(own, its) <= 0 or 1 / 1.5 < own / its < 1.5:
        return
    longer = N_("Its worst stall was {stall}, {times} longer than that of {candidate} ({other}).")
    shorter = N_("Its worst stall was {stall}, {times} shorter than that of {candidate} ({other}).")
    times = times_text(max(own / its, its / own))
    text = longer if own > its else shorter
    yield Reason("stall", _(text, stall=stall_text(own), times=times, candidate=title, other=stall_text(its)))


def _wait(result: Result) -> Iterator[Reason]:
    """How long a small save takes while a large file is written, where anybody would notice."""
    waits: dict[str, dict[str, list[float]]] = {}
    for s in result.samples:
        if s.metric in (FSYNC_MEDIAN.name, FSYNC_WORST.name) and s.round not in result.discarded_rounds:
            waits.setdefault(s.candidate, {}).setdefault(s.metric, []).append(s.value)
    words = [
        _(
            "{time} on {candidate} (at worst {worst})",
            time=stall_text(statistics.median(own[FSYNC_MEDIAN.name])),
            candidate=candidate.title,
            worst=stall_text(max(own[FSYNC_WORST.name])),
        )
        for candidate in result.plan.candidates
        if len(own := waits.get(candidate.name, {})) == 2
    ]
    longest = max((max(own.get(FSYNC_WORST.name, [0.0])) for own in waits.values()), default=0.0)
    if words and longest >= NOTICED_S:
        yield Reason("stall", _("Saving while a large file is copied takes {times}.", times=listing(words)))


def _failures(plan: Plan, analysis: Analysis) -> Iterator[Reason]:
    for ratio in analysis.overall:
        if ratio.verdict == "failed":
            title, why = plan.candidate(ratio.candidate).title, shown(ratio.text).rstrip(".\u3002")
            yield Reason("failure", _("{candidate} failed: {reason}.", candidate=title, reason=why))
    reference = next((ratio.baseline for ratio in analysis.overall if ratio.verdict != "failed"), plan.baseline)
    if reference != plan.baseline:
        text = N_("The baseline {baseline} has no figures: ratios are to {candidate} instead.")
        yield Reason("failure", _(text, baseline=plan.baseline, candidate=reference))


def _redundancy(plan: Plan, choice: Choice) -> Iterator[Reason]:
    """With several disks, how much space and redundancy the choice has, and which others have more redundancy."""
    if not plan.target.others or choice.kind not in ("winner", "depends", "only", "alike"):
        return
    survives = {name: plan.candidate(name).survives for name in choice.eligible}
    for name in choice.names:
        room = size_text(plan.target.room_bytes(plan.candidate(name).array))
        title, count = plan.candidate(name).title, survives[name]
        text = _("{candidate} has {size} in all, and no disk may fail.", candidate=title, size=room)
        if count:
            text = n_(
                "{candidate} has {size} in all, and any one of the disks may fail.",
                "{candidate} has {size} in all, and any {count} of the disks may fail.",
                count,
                candidate=title,
                size=room,
            )
        yield Reason("redundancy", text)
    least = min(survives[name] for name in choice.names)
    if more := [name for name, count in survives.items() if count > least and name not in choice.names]:
        others = listing([f"{plan.candidate(name).title} ({survives[name]})" for name in more])
        yield Reason("redundancy", _("More disks may fail with {candidates}.", candidates=others))


def _features(plan: Plan, choice: Choice) -> Iterator[Reason]:
    if choice.kind in ("alike", "open"):
        if differences := distinctions([plan.candidate(name) for name in choice.names]):
            yield Reason("feature", _("Features: {features}.", features=differences))
        return
    if choice.kind not in ("winner", "depends"):
        return
    winner = plan.candidate(choice.names[0]).filesystem
    others = {plan.candidate(name).filesystem.name: plan.candidate(name).filesystem for name in choice.eligible}
    more = features_of((each.title, present(each) - present(winner)) for each in others.values())
    if more:
        text = N_("{filesystem} lacks what others have: {features}.")
        yield Reason("feature", _(text, filesystem=winner.title, features=more))


def _ahead(analysis: Analysis, one: str, other: str) -> bool:
    pair = analysis.pair(one, other)
    return pair is not None and pair.verdict == "faster"
