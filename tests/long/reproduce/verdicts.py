"""What became of published ratios and conclusions when their experiments were run again."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from fswizard.model.analysis import LEVEL, Ratio
from fswizard.model.metrics import CPU, DURATION, RETURNED, Metric
from fswizard.model.recipe import Workload
from fswizard.model.result import Result
from fswizard.model.units import ratio_text
from fswizard.stats import analyse, tables_of
from fswizard.stats.unpaired import welch
from tests.long.reproduce.by_hand import BY_HAND
from tests.long.reproduce.published import Conclusion, Condition, Document, Work, document, experiment, result_of


@dataclass(frozen=True, slots=True)
class Compared:
    """A published ratio, and the same two candidates at the same work as they were measured here."""

    work: str
    candidate: str
    there: Ratio | None
    """None where no figures were published."""
    here: Ratio
    note: str
    """Why the two differ, and which one to believe."""
    agreement: str
    """In direction and in size, in a few words; empty where nothing was published."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A conclusion of a document, and whether our figures bear it out."""

    text: str
    verdict: str
    figures: str = ""
    why: str = ""


def compared(name: str) -> Iterator[Compared]:
    """Each ratio of an experiment that was run; nothing before it was."""
    result = in_their_terms(name)
    if result is None:
        return
    this = experiment(name)
    theirs = document(this.published).ratios
    notes = {(note.candidate, note.workload): note.text for note in this.notes}
    for here in ratios(name, result):
        work, candidate = here.workload, here.candidate
        there = theirs.get((work, candidate))
        note = notes.get((candidate, work)) or notes.get((candidate, "")) or notes.get(("", work), "")
        bound = work not in this.by_processor and any(
            processor_bound(result, each, work) for each in (candidate, result.plan.baseline)
        )
        words = agreement(there, here, bound) if there else ""
        yield Compared(result.plan.recipe.workload(work).title, candidate, there, here, note, words)


def judged(name: str) -> Iterator[Judged]:
    """The conclusions that an experiment decides."""
    for conclusion in experiment(name).conclusions:
        yield _judged(name, conclusion)


def _judged(name: str, conclusion: Conclusion) -> Judged:
    held: list[bool | None] = []
    figures = []
    for condition in conclusion.holds:
        where = condition.rerun or name
        result = in_their_terms(where)
        if result is None:
            return Judged(conclusion.text, "not run yet")
        ratio = deciding_ratio(condition, where, result)
        held.append(holds(condition, ratio, result, experiment(name).by_processor))
        if ratio:
            figures.append(ratio_words(ratio) + (f" on {condition.rerun}" if condition.rerun else ""))
    verdict = "not decidable here"
    if False in held:
        verdict = "not confirmed"
    elif all(held):
        verdict = "confirmed"
    return Judged(conclusion.text, verdict, "; ".join(figures), conclusion.why)


# Our results in the names of a document


@cache
def in_their_terms(name: str) -> Result | None:
    """The result of an experiment with the document's names of candidates and workloads; None before it was run.

    A published workload corresponds to ours of the same name, or to the only one of ours with such a figure beside its
    main one. Our other workloads keep their names, and so do durations where a published clock ended earlier.
    """
    ours = result_of(name)
    if ours is None:
        return None
    theirs = document(experiment(name).published)
    names = {here: there for there, here in experiment(name).candidates.items()}
    pairs = list(_pairs(theirs, ours))
    workloads = tuple(workload for workload, _ in pairs)
    plan = replace(
        ours.plan,
        recipe=replace(ours.plan.recipe, workloads=workloads),
        candidates=tuple(replace(c, name=names[c.name]) for c in ours.plan.candidates if c.name in names),
        baseline=names.get(ours.plan.baseline, theirs.baseline),
    )
    samples = (
        replace(
            sample,
            candidate=names[sample.candidate],
            workload=workload.name,
            primary=sample.metric == workload.metric.name,
        )
        for workload, own in pairs
        for sample in ours.samples
        if sample.candidate in names and sample.workload == own
    )
    known = {workload.name for workload in workloads}
    failures = (
        replace(f, candidate=names[f.candidate], workload=f.workload if f.workload in known else "")
        for f in ours.failures
        if f.candidate in names
    )
    return replace(ours, plan=plan, samples=tuple(samples), failures=tuple(failures), survivors=None)


def _pairs(theirs: Document, ours: Result) -> Iterator[tuple[Workload, str]]:
    """Workloads in the document's terms, each with our name for it."""
    own = ours.plan.recipe.workloads
    paired = set()
    until_they_return = []
    for work in theirs.workload:
        for workload, metric in _counterpart(ours, work):
            yield replace(workload, name=work.name, title=work.title, metric=metric), workload.name
            paired.add(workload.name)
            if metric == RETURNED:
                until_they_return.append(workload)
    for workload in until_they_return:
        title = f"{workload.title}, until it is on the disk"
        yield replace(workload, name=f"{workload.name}-on-disk", title=title), workload.name
    for workload in own:
        if workload.name not in paired:
            yield workload, workload.name


def _counterpart(ours: Result, theirs: Work) -> Iterator[tuple[Workload, Metric]]:
    """Our workloads for one of theirs, each with the metric to compare: theirs if we have it, else ours."""
    having = {sample.workload for sample in ours.samples if sample.metric == theirs.metric}
    own = ours.plan.recipe.workloads
    beside = [workload for workload in own if having == {workload.name} and workload.metric != theirs.measured]
    for workload in [workload for workload in own if workload.name == theirs.name] or beside:
        yield workload, theirs.measured if workload.name in having else workload.metric


# Ratios, and what they say


def ratios(name: str, result: Result) -> tuple[Ratio, ...]:
    """The ratios of an experiment by workload.

    What was measured by hand was not measured in rounds, so its figures are compared unpaired.
    """
    if name not in BY_HAND:
        return analyse(result).by_workload
    baseline = result.plan.baseline
    return tuple(
        welch((candidate, baseline), workload, logs.values(), table[baseline].values())
        for workload, table in tables_of(result).scores.items()
        for candidate, logs in table.items()
        if workload and candidate != baseline
    )


def agreement(there: Ratio, here: Ratio, bound: bool) -> str:
    """How a ratio agrees with the published one; `bound` if an emulated processor held it back, not the disk."""
    if here.verdict == "failed":
        return "agrees: it fails" if there.verdict == "failed" else "failed here"
    if there.verdict == "failed":
        return "disagrees: it works here"
    if bound:
        return "not decidable here: the emulated processor is the limit"
    if here.low is None or here.high is None:
        return "too few rounds to tell"
    within = here.low <= there.ratio <= here.high
    if here.verdict == "open":
        return "open here, and compatible" if within else "open here"
    return _agreement_where_decided(there.ratio, here, within=within)


def _agreement_where_decided(there: float, here: Ratio, *, within: bool) -> str:
    if here.verdict != _side(there):
        return "disagrees: no difference here" if here.verdict == "alike" else "disagrees in direction"
    if within or here.verdict == "alike":
        return "agrees"
    larger = abs(math.log(here.ratio)) > abs(math.log(there))
    return "agrees in direction, larger here" if larger else "agrees in direction, smaller here"


def _side(ratio: float) -> str:
    """The verdict on a ratio that is exact."""
    if 1 / LEVEL <= ratio <= LEVEL:
        return "alike"
    return "faster" if ratio > 1 else "slower"


def processor_bound(result: Result, candidate: str, workload: str) -> bool:
    """Whether an emulated processor was busy for most of the time, so that the figure says little about the disk."""
    if not result.environment.processor.startswith("QEMU Virtual CPU"):
        return False
    seconds = result.plan.recipe.workload(workload).job.seconds
    took: dict[str, list[float]] = {CPU.name: [], DURATION.name: [seconds] if seconds else []}
    for sample in result.samples:
        if (sample.candidate, sample.workload) == (candidate, workload) and sample.metric in took:
            took[sample.metric].append(sample.value)
    return all(took.values()) and statistics.median(took[CPU.name]) > 0.5 * statistics.median(took[DURATION.name])


def deciding_ratio(condition: Condition, name: str, result: Result) -> Ratio | None:
    """The ratio that a condition is about, or None if the result has none."""
    baseline = condition.than or result.plan.baseline
    result = replace(result, plan=replace(result.plan, baseline=baseline))
    for ratio in ratios(name, result):
        if (ratio.workload, ratio.candidate) == (condition.workload, condition.candidate):
            return ratio if ratio.verdict == "failed" or ratio.baseline == baseline else None
    return None


def holds(condition: Condition, ratio: Ratio | None, result: Result, by_processor: tuple[str, ...]) -> bool | None:
    """Whether the condition holds; None if figures leave it open.

    Where an emulated processor was the limit that the original did not have (only workloads `by_processor` had it,
    too), a faster one would make the ratio larger or smaller: then only the other limit is known.
    """
    if ratio is None:
        return None
    if condition.fails or ratio.verdict == "failed":
        return condition.fails and ratio.verdict == "failed"
    if ratio.low is None or ratio.high is None:
        return None
    above, below = condition.above, condition.below
    emulated = condition.workload not in by_processor
    candidate = emulated and processor_bound(result, ratio.candidate, condition.workload)
    baseline = emulated and processor_bound(result, ratio.baseline, condition.workload)
    if ratio.verdict == "alike" and 1 in (above, below) and not candidate and not baseline:
        return False  # a difference was claimed
    low = 0.0 if baseline else ratio.low
    high = math.inf if candidate else ratio.high
    if low > above and (not below or high < below):
        return True
    return False if high < above or (below and low > below) else None


# Words


def ratio_words(ratio: Ratio) -> str:
    """`xfs 1.41 (1.20–1.66) against ext4`."""
    if ratio.verdict == "failed":
        return f"{ratio.candidate} {ratio.why.rstrip('.')}"
    return f"{ratio.candidate} {cell(ratio)} against {ratio.baseline}"


def cell(ratio: Ratio | None) -> str:
    """`1.41 (1.20–1.66)`, or a dash."""
    if ratio is None:
        return "–"
    if ratio.verdict == "failed":
        return "failed"
    return f"{ratio_text(ratio.ratio)} ({ratio.interval()})" if ratio.interval() else ratio_text(ratio.ratio)
