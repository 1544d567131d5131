"""What became of published ratios and conclusions when their experiments were run again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from fswizard.model.analysis import LEVEL, Ratio
from fswizard.model.metrics import RETURNED, Metric
from fswizard.model.recipe import Workload
from fswizard.model.result import Result
from fswizard.model.units import ratio_text
from fswizard.stats import analyse
from fswizard.stats.table import tables_of
from fswizard.stats.unpaired import welch
from tests.long.reproduce.published import Condition, document, experiment, result_of


def compared(name: str) -> Iterator[tuple[str, ...]]:
    """Each ratio of an experiment that was run: work, candidate, the ratio there and here, and how they agree."""
    result = in_their_terms(name)
    theirs = document(experiment(name).published).ratios
    for here in ratios(name, result) if result else ():
        there = theirs.get((here.workload, here.candidate))
        title = result.plan.recipe.workload(here.workload).title if result else ""
        agrees = agreement(there, here) if there else ""
        yield title, here.candidate, cell(there) if there else "–", cell(here), agrees


def judged(name: str) -> Iterator[tuple[str, ...]]:
    """The conclusions that an experiment decides: text, verdict, figures, and what decides it."""
    for conclusion in experiment(name).conclusions:
        held: list[bool | None] = []
        figures = []
        for condition in conclusion.holds:
            ratio = deciding_ratio(condition, condition.rerun or name)
            held.append(holds(condition, ratio))
            if ratio and ratio.verdict == "failed":
                figures.append(f"{ratio.candidate} {ratio.why.rstrip('.')}")
            elif ratio:
                where = f" on {condition.rerun}" if condition.rerun else ""
                figures.append(f"{ratio.candidate} {cell(ratio)} against {ratio.baseline}{where}")
        verdict = "not decidable here"
        if False in held:
            verdict = "not confirmed"
        elif all(held):
            verdict = "confirmed"
        yield conclusion.text, verdict, "; ".join(figures), conclusion.why


@cache
def in_their_terms(name: str) -> Result | None:
    """The result of an experiment with the document's names of candidates and workloads; None before it was run."""
    ours = result_of(name)
    if ours is None:
        return None
    names = {here: there for there, here in experiment(name).candidates.items()}
    pairs = list(_pairs(name, ours))
    plan = replace(
        ours.plan,
        recipe=replace(ours.plan.recipe, workloads=tuple(workload for workload, _ in pairs)),
        candidates=tuple(replace(candidate, name=names[candidate.name]) for candidate in ours.plan.candidates),
        baseline=names[ours.plan.baseline],
    )
    samples = []
    for workload, own in pairs:
        for sample in ours.samples:
            if sample.candidate and sample.workload == own:
                primary = sample.metric == workload.metric.name
                candidate = names[sample.candidate]
                samples.append(replace(sample, candidate=candidate, workload=workload.name, primary=primary))
    theirs = {own: workload.name for workload, own in reversed(pairs)}
    failures = tuple(
        replace(failure, candidate=names[failure.candidate], workload=theirs.get(failure.workload, ""))
        for failure in ours.failures
    )
    return replace(ours, plan=plan, samples=tuple(samples), failures=failures, survivors=None)


def _pairs(name: str, ours: Result) -> Iterator[tuple[Workload, str]]:
    """Workloads in the document's terms, each with our name for it.

    A published workload corresponds to ours of the same name, or to the only one of ours with such a figure next to
    its main one. Our other workloads keep their names, and so do durations where a published clock ended earlier.
    """
    rest = {workload.name: workload for workload in ours.plan.recipe.workloads}
    on_disk = []
    for work in document(experiment(name).published).workload:
        having = {sample.workload for sample in ours.samples if sample.metric == work.metric}
        own = work.name
        if own not in rest and len(having) == 1:
            (own,) = having
        workload = ours.plan.recipe.workload(own) if own in {*rest, *having} else None
        if workload is None or (own != work.name and workload.metric.name == work.metric):
            continue
        metric = Metric(work.metric, work.unit, work.better) if own in having else workload.metric
        yield replace(workload, name=work.name, title=work.title, metric=metric), own
        rest.pop(own, None)
        if metric == RETURNED:
            title = f"{workload.title}, until it is on the disk"
            on_disk.append((replace(workload, name=f"{own}-on-disk", title=title), own))
    yield from on_disk
    yield from ((workload, own) for own, workload in rest.items())


def ratios(name: str, result: Result) -> tuple[Ratio, ...]:
    """The ratios of an experiment by workload.

    What was measured by hand was not measured in rounds, so its figures are compared unpaired.
    """
    if experiment(name).recipe:
        return analyse(result).by_workload
    baseline = result.plan.baseline
    return tuple(
        welch((candidate, baseline), workload, logs.values(), table[baseline].values())
        for workload, table in tables_of(result).scores.items()
        for candidate, logs in table.items()
        if workload and candidate != baseline
    )


def agreement(there: Ratio, here: Ratio) -> str:
    """How a ratio agrees with the published one, in direction and in size."""
    if "failed" in (there.verdict, here.verdict):
        return "agrees: it fails" if there.verdict == here.verdict else "disagrees: it fails on one side"
    within = here.low is not None and here.high is not None and here.low <= there.ratio <= here.high
    if here.verdict == "open":
        return "open here, and compatible" if within else "open here"
    side = "faster" if there.ratio > 1 else "slower"
    if 1 / LEVEL <= there.ratio <= LEVEL:
        side = "alike"
    if here.verdict != side:
        return "disagrees: no difference here" if here.verdict == "alike" else "disagrees in direction"
    if within or side == "alike":
        return "agrees"
    larger = abs(math.log(here.ratio)) > abs(math.log(there.ratio))
    return "agrees in direction, larger here" if larger else "agrees in direction, smaller here"


def deciding_ratio(condition: Condition, name: str) -> Ratio | None:
    """The ratio that a condition is about, or None if there is none yet."""
    result = in_their_terms(name)
    if result is None:
        return None
    baseline = condition.than or result.plan.baseline
    result = replace(result, plan=replace(result.plan, baseline=baseline))
    for ratio in ratios(name, result):
        if (ratio.workload, ratio.candidate) == (condition.workload, condition.candidate):
            return ratio if ratio.verdict == "failed" or ratio.baseline == baseline else None
    return None


def holds(condition: Condition, ratio: Ratio | None) -> bool | None:
    """Whether the condition holds; None if figures leave it open."""
    if ratio and (condition.fails or ratio.verdict == "failed"):
        return condition.fails and ratio.verdict == "failed"
    if ratio is None or ratio.low is None or ratio.high is None:
        return None
    above, below = condition.above, condition.below or math.inf
    if ratio.verdict == "alike" and 1 in (above, below):
        return False  # a difference was claimed
    if above < ratio.low and ratio.high < below:
        return True
    return False if ratio.high < above or ratio.low > below else None


def cell(ratio: Ratio) -> str:
    """`1.41 (1.20–1.66)`."""
    if ratio.verdict == "failed":
        return "failed"
    return f"{ratio_text(ratio.ratio)} ({ratio.interval()})" if ratio.interval() else ratio_text(ratio.ratio)
