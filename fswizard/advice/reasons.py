"""Why, and at what price: the sentences below the headline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fswizard.advice.choice import Choice
from fswizard.advice.headline import reference
from fswizard.advice.words import distinctions, feature_word, has, label, listing, present, span
from fswizard.model.filesystem import Candidate
from fswizard.model.judgement import Judgement, Ratio, Reason, Verdict
from fswizard.model.layout import DEGRADED
from fswizard.model.metrics import is_stall
from fswizard.model.plan import Plan
from fswizard.model.recipe import Workload
from fswizard.model.result import Result
from fswizard.model.units import ratio_text, seconds_text, size_text

FELT_S = 0.1
"""A stall that people notice."""
_NOTEWORTHY = 1.5
"""Stalls that differ by less are not worth a sentence."""


def reasons(result: Result, judgement: Judgement, choice: Choice) -> tuple[Reason, ...]:
    """What speaks for the choice, what it costs, and who is out for what."""
    plan = result.plan
    ratio = reference(judgement, choice) if choice.kind in ("winner", "only") else None
    return (
        *_excluded(plan, judgement, choice),
        *(_by_workload(plan, judgement, ratio) if ratio else ()),
        *(_stall(result, ratio.candidate, ratio.baseline) if ratio else ()),
        *_slower(judgement, choice),
        *_failures(plan, judgement),
        *_redundancy(plan, choice),
        *_features(plan, choice),
    )


def _excluded(plan: Plan, judgement: Judgement, choice: Choice) -> Iterator[Reason]:
    for name, options in choice.unsafe:
        if DEGRADED in options:
            yield Reason("excluded", f"{label(plan.candidate(name))} was measured to see what a failed disk costs.")
            continue
        text = f"{label(plan.candidate(name))} is not recommended: with {listing(options)} a crash may lose data."
        if choice.names and _ahead(judgement, name, choice.names[0]):
            text += f" It was faster; {label(plan.candidate(choice.names[0]))} is the best safe one."
        yield Reason("excluded", text)
    for name, needs in choice.lacking:
        missing = []
        for need in needs:
            feature = plan.candidate(name).filesystem.feature(need)
            partly = f" ({feature.value})" if feature is not None and feature.value != "no" else ""
            missing.append(f"{feature_word(need)}{partly}")
        faster = "was faster but " if choice.names and _ahead(judgement, name, choice.names[0]) else ""
        yield Reason("excluded", f"{label(plan.candidate(name))} {faster}does not offer in full: {listing(missing)}.")


def _by_workload(plan: Plan, judgement: Judgement, ratio: Ratio) -> Iterator[Reason]:
    gains, losses = [], []
    for workload in plan.recipe.workloads:
        part = _part(judgement, ratio, workload.name)
        if part is None or workload.weight <= 0:
            continue
        if part.verdict == "faster":
            gains.append(f"{workload.title} ({ratio_text(part.ratio)} ×)")
        elif part.verdict == "slower":
            losses.append(Reason("cost", f"It loses at {workload.title}: {_loss(workload, part)}."))
    if gains:
        yield Reason("speed", f"Faster than {ratio.baseline} at {listing(gains)}.")
    yield from losses


def _part(judgement: Judgement, ratio: Ratio, workload: str) -> Ratio | None:
    """One workload's share in a ratio, turned round where the winner is the baseline."""
    part = judgement.of(ratio.candidate, workload)
    if part is not None and part.baseline == ratio.baseline:
        return part if part.verdict != "failed" else None
    part = judgement.of(ratio.baseline, workload)
    if part is None or part.baseline != ratio.candidate or part.verdict == "failed":
        return None
    return _turned(part)


def _turned(ratio: Ratio) -> Ratio:
    """The same comparison, told of the other one."""
    turned: dict[Verdict, Verdict] = {"faster": "slower", "slower": "faster"}
    return replace(
        ratio,
        candidate=ratio.baseline,
        baseline=ratio.candidate,
        ratio=1 / ratio.ratio,
        low=1 / ratio.high if ratio.high else None,
        high=1 / ratio.low if ratio.low else None,
        verdict=turned.get(ratio.verdict, ratio.verdict),
    )


def _loss(workload: Workload, part: Ratio) -> str:
    if workload.metric.better == "lower":
        return f"{ratio_text(1 / part.ratio)} × as long as {part.baseline}"
    return f"{ratio_text(part.ratio)} × the speed of {part.baseline}{span(part)}"


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
    if max(own, its) < FELT_S or min(own, its) <= 0 or 1 / _NOTEWORTHY < own / its < _NOTEWORTHY:
        return
    yield Reason(
        "stall", f"Its worst stall was {seconds_text(own)}, {ratio_text(own / its)} × that of {other} "
        f"({seconds_text(its)})."
    )  # fmt: skip


def _slower(judgement: Judgement, choice: Choice) -> Iterator[Reason]:
    """In a tie or an open race: who is out of it, proven, in the words of the table."""
    if choice.kind not in ("tie", "undecided"):
        return
    verdicts = {ratio.candidate: ratio.verdict for ratio in judgement.standing}
    out = [name for name in choice.eligible if name not in choice.names]
    for verdict in ("slower", "beaten"):
        told = [f"{name}{_beaten_by(judgement, name, choice.names)}" for name in out if verdicts.get(name) == verdict]
        if told:
            yield Reason(verdict, f"{verdict.capitalize()}: {listing(told)}.")


def _beaten_by(judgement: Judgement, name: str, leaders: tuple[str, ...]) -> str:
    """The share of the best leader that is proven ahead of `name`, in brackets; empty where none is."""
    for leader in leaders:
        pair = judgement.pair(name, leader)
        if pair is not None and pair.verdict in ("faster", "slower"):
            pair = pair if pair.candidate == name else _turned(pair)
            return f" ({ratio_text(pair.ratio)} × {leader})"
    return ""


def _failures(plan: Plan, judgement: Judgement) -> Iterator[Reason]:
    for ratio in judgement.overall:
        if ratio.verdict == "failed":
            yield Reason("failure", f"{label(plan.candidate(ratio.candidate))} failed: {ratio.text.rstrip('.')}.")
    reference = next((ratio.baseline for ratio in judgement.overall if ratio.verdict != "failed"), plan.baseline)
    if reference != plan.baseline:
        yield Reason("failure", f"The baseline {plan.baseline} has no figures: ratios are to {reference} instead.")


def _redundancy(plan: Plan, choice: Choice) -> Iterator[Reason]:
    """Over several disks: what the choice leaves of them, and who survives more."""
    if not plan.target.others or choice.kind not in ("winner", "only", "tie"):
        return
    survives = {name: _survives(plan.candidate(name)) for name in choice.eligible}
    for name in choice.names:
        room = size_text(plan.target.room_bytes(plan.candidate(name).array))
        lost = f"any {survives[name]} of the disks may fail" if survives[name] else "no disk may fail"
        yield Reason("redundancy", f"{label(plan.candidate(name))} has {room} in all, and {lost}.")
    least = min(survives[name] for name in choice.names)
    if more := [name for name, count in survives.items() if count > least and name not in choice.names]:
        told = listing([f"{label(plan.candidate(name))} ({survives[name]})" for name in more])
        yield Reason("redundancy", f"More disks may fail with {told}.")


def _survives(candidate: Candidate) -> int:
    return candidate.array.survives if candidate.array else 0


def _features(plan: Plan, choice: Choice) -> Iterator[Reason]:
    if choice.kind in ("tie", "undecided"):
        told = distinctions([plan.candidate(name) for name in choice.names], most=99)
        if told:
            yield Reason("feature", f"Features: {told}.")
        return
    if choice.kind != "winner":
        return
    winner = plan.candidate(choice.names[0]).filesystem
    others = {plan.candidate(name).filesystem.name: plan.candidate(name).filesystem for name in choice.eligible}
    more = [f"{f.title} {has(present(f) - present(winner))}" for f in others.values() if present(f) - present(winner)]
    if more:
        yield Reason("feature", f"What {winner.title} does not offer: {'; '.join(more)}.")


def _ahead(judgement: Judgement, one: str, other: str) -> bool:
    pair = judgement.pair(one, other)
    return pair is not None and pair.verdict == ("faster" if pair.candidate == one else "slower")
