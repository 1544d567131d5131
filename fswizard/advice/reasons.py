"""Reasons and costs: the sentences below the headline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fswizard.advice.choice import Choice, torn_between
from fswizard.advice.commands import how_to_use
from fswizard.advice.words import distinctions, feature_word, has, listing, present
from fswizard.model.analysis import Analysis, Ratio, Reason
from fswizard.model.forecast import Forecast
from fswizard.model.layout import DEGRADED
from fswizard.model.metrics import is_stall
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.model.text import mid_sentence
from fswizard.model.units import rounds_text, size_text, speed_text, stall_text, times_text


def reasons(
    result: Result, analysis: Analysis, choice: Choice, forecast: Forecast | None, age: Sequence[Ratio] = ()
) -> tuple[Reason, ...]:
    """What speaks for the choice, what it costs, who is excluded and why, what more rounds would bring, and how to use
    it."""
    plan = result.plan
    ratio = reference(analysis, choice) if choice.kind in ("winner", "only") else None
    return (
        *_excluded(plan, analysis, choice),
        *_torn(plan, analysis, choice),
        *(_by_workload(plan, analysis, ratio) if ratio else ()),
        *(_stall(result, ratio.candidate, ratio.baseline) if ratio else ()),
        *_age(plan, age),
        *_encryption(result, analysis),
        *_noise(result, analysis, choice, forecast),
        *_slower(plan, analysis, choice),
        *_failures(plan, analysis),
        *_redundancy(plan, choice),
        *_features(plan, choice),
        *(how_to_use(plan, choice.names[0]) if choice.names else ()),
    )


def _age(plan: Plan, age: Sequence[Ratio]) -> Iterator[Reason]:
    """`What age costs: ext4 is 17 % slower than new.`"""
    slower = [ratio for ratio in age if not ratio.workload and ratio.verdict == "slower"]
    if slower:
        names = [f"{plan.candidate(r.baseline).title} is {speed_text(r.ratio)} than when it was new" for r in slower]
        yield Reason("age", f"Aged, {listing(names)}.")


def _encryption(result: Result, analysis: Analysis) -> Iterator[Reason]:
    """What an encrypted volume costs, where the same filesystem was measured on one and without."""
    plan = result.plan
    names = {candidate.name for candidate in plan.candidates}
    for candidate in plan.candidates:
        plain = candidate.name.partition("+")[2]
        pair = analysis.pair(candidate.name, plain) if candidate.encryption and plain in names else None
        if pair and pair.verdict in ("faster", "slower", "tie"):
            speed = "as fast as" if pair.verdict == "tie" else f"{speed_text(pair.ratio)} than"
            where = f" ({result.environment.processor})" if result.environment.processor else ""
            text = f"On this processor{where}, {candidate.title} is {speed} {plan.candidate(plain).title} without."
            yield Reason("encryption", text)


def _excluded(plan: Plan, analysis: Analysis, choice: Choice) -> Iterator[Reason]:
    for name, options in choice.unsafe:
        if DEGRADED in options:
            yield Reason("excluded", f"{plan.candidate(name).title} was measured to see what a failed disk costs.")
            continue
        text = f"{plan.candidate(name).title} is not recommended: with {listing(options)} a crash may lose data."
        if choice.names and _ahead(analysis, name, choice.names[0]):
            text += f" It was faster; {plan.candidate(choice.names[0]).title} is the best safe one."
        yield Reason("excluded", text)
    for name in choice.in_memory:
        title = plan.candidate(name).title
        yield Reason(
            "excluded", f"{title} kept direct writes in memory, so its figures can't be compared with the others."
        )
    for name, needs in choice.lacking:
        missing = []
        for need in needs:
            feature = plan.candidate(name).filesystem.feature(need)
            partly = f" ({feature.value})" if feature is not None and feature.value != "no" else ""
            missing.append(f"{feature_word(need)}{partly}")
        faster = "was faster but " if choice.names and _ahead(analysis, name, choice.names[0]) else ""
        yield Reason("excluded", f"{plan.candidate(name).title} {faster}lacks {listing(missing)}.")


def _torn(plan: Plan, analysis: Analysis, choice: Choice) -> Iterator[Reason]:
    """Work at which another shape of the files turns who is faster."""
    for name in choice.eligible:
        if tests := torn_between(plan, analysis, name, plan.baseline):
            titles, words = [mid_sentence(test.title) for test in tests], plan.candidate(plan.baseline).title
            text = f"{plan.candidate(name).title} is faster than {words} at {titles[0]} and slower at {titles[1]}"
            yield Reason("torn", f"{text}: it depends on the files.")


def _by_workload(plan: Plan, analysis: Analysis, ratio: Ratio) -> Iterator[Reason]:
    gains, losses = [], []
    baseline = plan.candidate(ratio.baseline).title
    for workload in plan.recipe.workloads:
        part = analysis.part(ratio.candidate, ratio.baseline, workload.name)
        if part is None or workload.weight <= 0:
            continue
        if part.verdict == "faster":
            gains.append(f"{mid_sentence(workload.title)} ({speed_text(part.ratio)})")
        elif part.verdict == "slower":
            price = plan.candidate(part.candidate).filesystem.price(workload.job.strain)
            text = f"{workload.title}: {speed_text(part.ratio, workload.metric.unit)} than {baseline}. {price}"
            losses.append(Reason("cost", text.rstrip()))
    if gains:
        yield Reason("speed", f"Faster than {baseline} at {listing(gains)}.")
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
    # Users do not notice stalls under 0.1 s, nor small differences.
    if max(own, its) < 0.1 or min(own, its) <= 0 or 1 / 1.5 < own / its < 1.5:
        return
    yield Reason(
        "stall", f"Its worst stall was {stall_text(own)}, {times_text(max(own / its, its / own))} "
        f"{'longer' if own > its else 'shorter'} than that of {title} ({stall_text(its)})."
    )  # fmt: skip


def _noise(result: Result, analysis: Analysis, choice: Choice, forecast: Forecast | None) -> Iterator[Reason]:
    """In an open race, whether more time may end it."""
    if choice.kind != "undecided" or result.environment.source or not analysis.rounds:
        return
    if analysis.rounds >= result.plan.maximum_rounds:
        yield Reason("noise", "The difference is smaller than this machine's noise: more rounds won't settle it.")
    elif forecast:
        yield Reason("noise", forecast.text)
    else:
        yield Reason("noise", f"More rounds may settle it: this was {rounds_text(analysis.rounds)}.")


def _slower(plan: Plan, analysis: Analysis, choice: Choice) -> Iterator[Reason]:
    """In a tie or an open race, candidates that are proven slower than a leader."""
    if choice.kind not in ("tie", "undecided"):
        return
    verdicts = {ratio.candidate: ratio.verdict for ratio in analysis.standing}
    out = [name for name in choice.eligible if name not in choice.names]
    for verdict in ("slower", "beaten"):
        names = [name for name in out if verdicts.get(name) == verdict]
        if names:
            texts = [f"{plan.candidate(name).title}{_beaten_by(plan, analysis, name, choice.names)}" for name in names]
            yield Reason(verdict, f"{verdict.capitalize()}: {listing(texts)}.")


def _beaten_by(plan: Plan, analysis: Analysis, name: str, leaders: tuple[str, ...]) -> str:
    """The best leader that is proven ahead of `name`, and by how much, in brackets; empty if there is none."""
    for leader in leaders:
        pair = analysis.pair(name, leader)
        if pair is not None and pair.verdict in ("faster", "slower"):
            return f" ({speed_text(pair.ratio)} than {plan.candidate(leader).title})"
    return ""


def _failures(plan: Plan, analysis: Analysis) -> Iterator[Reason]:
    for ratio in analysis.overall:
        if ratio.verdict == "failed":
            yield Reason("failure", f"{plan.candidate(ratio.candidate).title} failed: {ratio.text.rstrip('.')}.")
    reference = next((ratio.baseline for ratio in analysis.overall if ratio.verdict != "failed"), plan.baseline)
    if reference != plan.baseline:
        yield Reason("failure", f"The baseline {plan.baseline} has no figures: ratios are to {reference} instead.")


def _redundancy(plan: Plan, choice: Choice) -> Iterator[Reason]:
    """With several disks, how much space and redundancy the choice has, and which others have more redundancy."""
    if not plan.target.others or choice.kind not in ("winner", "only", "tie"):
        return
    survives = {name: plan.candidate(name).survives for name in choice.eligible}
    for name in choice.names:
        room = size_text(plan.target.room_bytes(plan.candidate(name).array))
        count = "one" if survives[name] == 1 else survives[name]
        lost = f"any {count} of the disks may fail" if survives[name] else "no disk may fail"
        yield Reason("redundancy", f"{plan.candidate(name).title} has {room} in all, and {lost}.")
    least = min(survives[name] for name in choice.names)
    if more := [name for name, count in survives.items() if count > least and name not in choice.names]:
        others = listing([f"{plan.candidate(name).title} ({survives[name]})" for name in more])
        yield Reason("redundancy", f"More disks may fail with {others}.")


def _features(plan: Plan, choice: Choice) -> Iterator[Reason]:
    if choice.kind in ("tie", "undecided"):
        if differences := distinctions([plan.candidate(name) for name in choice.names], most=99):
            yield Reason("feature", f"Features: {differences}.")
        return
    if choice.kind != "winner":
        return
    winner = plan.candidate(choice.names[0]).filesystem
    others = {plan.candidate(name).filesystem.name: plan.candidate(name).filesystem for name in choice.eligible}
    more = [f"{f.title} {has(present(f) - present(winner))}" for f in others.values() if present(f) - present(winner)]
    if more:
        yield Reason("feature", f"{winner.title} lacks what others have: {'; '.join(more)}.")


def _ahead(analysis: Analysis, one: str, other: str) -> bool:
    pair = analysis.pair(one, other)
    return pair is not None and pair.verdict == "faster"
