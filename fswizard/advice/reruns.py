"""A published experiment beside the same one run by this program: ratio by ratio, and claim by claim."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fswizard.language import N_
from fswizard.model.analysis import Ratio, Repeated
from fswizard.model.metrics import CPU, DURATION, RETURNED, Metric
from fswizard.model.recipe import Workload
from fswizard.model.result import Result
from fswizard.stats import analyse


def in_their_terms(theirs: Result, ours: Result, names: Mapping[str, str]) -> Result:
    """Our result with their names of candidates and workloads; `names` maps our candidates to theirs.

    A published workload corresponds to ours of the same name, or to the only one of ours with such a figure beside its
    main one. Our other workloads keep their names, and so do durations where a published clock ended earlier.
    """
    pairs = [(w, own, metric) for w in theirs.plan.recipe.workloads for own, metric in _counterpart(ours, w)]
    pairs += [(_on_disk(own), own, own.metric) for _, own, metric in pairs if metric == RETURNED]
    paired = {own.name for _, own, _ in pairs}
    pairs += [(own, own, own.metric) for own in ours.plan.recipe.workloads if own.name not in paired]
    workloads = tuple(replace(own, name=w.name, title=w.title, metric=metric) for w, own, metric in pairs)
    known = {workload.name for workload in workloads}
    plan = replace(
        ours.plan,
        recipe=replace(ours.plan.recipe, workloads=workloads),
        candidates=tuple(replace(c, name=names[c.name]) for c in ours.plan.candidates if c.name in names),
        baseline=names.get(ours.plan.baseline, theirs.plan.baseline),
    )
    samples = (
        replace(
            sample,
            candidate=names[sample.candidate],
            predecessor=names.get(sample.predecessor, ""),
            workload=workload.name,
            primary=sample.metric == workload.metric.name,
        )
        for workload, (_, own, _) in zip(workloads, pairs)
        for sample in ours.samples
        if sample.candidate in names and sample.workload == own.name
    )
    failures = (
        replace(f, candidate=names[f.candidate], workload=f.workload if f.workload in known else "")
        for f in ours.failures
        if f.candidate in names
    )
    return replace(ours, plan=plan, samples=tuple(samples), failures=tuple(failures), survivors=None)


def _on_disk(workload: Workload) -> Workload:
    title = N_("{test}, until it is on the disk").format(test=workload.title)
    return replace(workload, name=f"{workload.name}-on-disk", title=title)


def _counterpart(ours: Result, theirs: Workload) -> Sequence[tuple[Workload, Metric]]:
    """Our workloads for one of theirs, each with the metric to compare: theirs if we have it, else ours."""
    having = {sample.workload for sample in ours.samples if sample.metric == theirs.metric.name}
    own = ours.plan.recipe.workloads
    beside = [w for w in own if having == {w.name} and w.metric != theirs.metric]
    ours_for_it = [w for w in own if w.name == theirs.name] or beside
    return [(workload, theirs.metric if workload.name in having else workload.metric) for workload in ours_for_it]


def repeated(
    theirs: Result,
    ours: Result | None,
    candidates: tuple[str, ...],
    notes: Mapping[tuple[str, str], str],
    by_processor: Collection[str] = (),
) -> Iterator[Repeated]:
    """Each published ratio of `candidates` beside ours, which is in their terms; `notes` by candidate and workload,
    `by_processor` those workloads whose original a processor limited as well.

    Ratios that we did not measure are left out, unless nothing has been measured yet.
    """
    there = {(ratio.workload, ratio.candidate): ratio for ratio in analyse(theirs).by_workload}
    here = {(ratio.workload, ratio.candidate): ratio for ratio in analyse(ours).by_workload} if ours else {}
    titles = {w.name: w.title for result in (ours, theirs) if result for w in result.plan.recipe.workloads}
    for workload, candidate in here if ours else there:
        if candidate in candidates:
            note = notes.get((candidate, workload)) or notes.get((candidate, "")) or notes.get(("", workload), "")
            pair = (candidate, ours.plan.baseline) if ours and workload not in by_processor else ()
            bound = ours is not None and any(processor_bound(ours, name, workload) for name in pair)
            key = (workload, candidate)
            yield Repeated(titles[workload], candidate, there.get(key), here.get(key), note, bound)


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


@dataclass(frozen=True, slots=True)
class Condition:
    """A claim about one candidate at one workload."""

    candidate: str
    workload: str
    than: str = ""
    """The candidate to compare with; empty for the baseline."""
    above: float = 0.0
    """Lower limit of the ratio, or 0 for none."""
    below: float = 0.0
    """Upper limit of the ratio, or 0 for none."""
    fails: bool = False
    """Whether the candidate fails at this workload."""
    rerun: str = ""
    """Name of another rerun that shows it; empty for the same one."""

    def ratio(self, result: Result) -> Ratio | None:
        """The ratio that decides, or None if the result has none."""
        result = replace(result, plan=replace(result.plan, baseline=self.than or result.plan.baseline))
        for ratio in analyse(result).by_workload:
            if (ratio.workload, ratio.candidate) == (self.workload, self.candidate):
                return ratio if ratio.verdict == "failed" or ratio.baseline == result.plan.baseline else None
        return None

    def holds(self, ratio: Ratio | None, result: Result, by_processor: Collection[str] = ()) -> bool | None:
        """Whether the condition holds; None if figures leave it open.

        Where an emulated processor was the limit that the original did not have (only workloads `by_processor` had it,
        too), a faster one would make the ratio larger or smaller: then only the other limit is known.
        """
        if ratio is None:
            return None
        if self.fails or ratio.verdict == "failed":
            return self.fails and ratio.verdict == "failed"
        candidate, baseline = (
            self.workload not in by_processor and processor_bound(result, name, self.workload)
            for name in (ratio.candidate, ratio.baseline)
        )
        if not ratio.low or not ratio.high:
            return None
        low, high = 0.0 if baseline else ratio.low, math.inf if candidate else ratio.high
        if ratio.verdict == "tie" and 1 in (self.above, self.below) and not candidate and not baseline:
            return False  # a difference was claimed
        if low > self.above and (not self.below or high < self.below):
            return True
        return False if high < self.above or (self.below and low > self.below) else None
