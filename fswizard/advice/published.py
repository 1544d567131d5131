"""Which published figures may stand beside a result: the same kind of disk, the same kind of work, two filesystems."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator

from fswizard.model.analysis import Analysis, Beside, Published
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import DURATION, RETURNED
from fswizard.model.recipe import Workload
from fswizard.model.result import Result

WORK = {
    ("smr-fileserver", "operations"): "file server",
    ("pmr-fileserver", "operations"): "file server",
    ("smr-attic", "first-copy"): "backup first",
    ("smr-attic", "second-copy"): "backup second",
    ("trees-ssd", "copy-portage"): "copy small-files",
    ("trees-ssd", "copy-kernel"): "copy source",
    ("trees-ssd", "copy-project"): "copy mixed",
    ("trees-ssd", "delete-portage"): "delete small-files",
    ("trees-ssd", "delete-kernel"): "delete source",
    ("trees-ssd", "delete-project"): "delete mixed",
}
"""Names of published figures and of their workload, to `Job.work`."""
PLAIN = frozenset({"noatime", "nodiratime", "relatime"})
"""Mount options with which a candidate still represents its filesystem."""
CLOCKS = (DURATION, RETURNED)
"""Until the disk has everything, and until programs return."""


def beside(result: Result, analysis: Analysis, published: Iterable[Result]) -> tuple[Published, ...]:
    """Published ratios beside ours, for similar work on a disk of the same kind."""
    kind = _kind(result.plan.drive)
    if not kind or result.environment.source:
        return ()
    fitting = (other for other in published if _kind(other.plan.drive) == kind)
    known = []
    for other in fitting:
        plan, environment = other.plan, other.environment
        if ratios := tuple(_ratios(result, analysis, other)):
            disk, year = plan.drive.model if plan.drive else "", environment.started[:4]
            known.append(Published(plan.recipe.name, plan.recipe.title, disk, year, environment.source, ratios))
    return tuple(known)


def _kind(drive: Drive | None) -> str:
    """Shingled, conventional or solid-state; empty if unknown."""
    if drive is None:
        return ""
    if drive.kind in ("ssd", "nvme"):
        return "solid-state"
    recorded = {"cmr": "conventional", "unknown": "", "not-a-hard-disk": ""}
    return recorded.get(drive.smr.kind, "shingled") if drive.kind == "hdd" else ""


def _ratios(result: Result, analysis: Analysis, other: Result) -> Iterator[Beside]:
    for theirs in other.plan.recipe.workloads:
        alike = _alike(result, other, theirs)
        for here in analysis.by_workload:
            if here.workload not in alike or here.verdict == "failed":
                continue
            pair = [result.plan.candidate(name) for name in (here.candidate, here.baseline)]
            figures = [_figures(other, theirs.name, candidate) for candidate in pair]
            if pair[0].filesystem.name != pair[1].filesystem.name and all(figures):
                there = statistics.median(figures[0]) / statistics.median(figures[1])
                there = there if theirs.metric.better == "higher" else 1 / there
                yield Beside(theirs.title, here.candidate, here, there, min(map(len, figures)))


def _alike(result: Result, other: Result, theirs: Workload) -> set[str]:
    """Names of our workloads that are similar to theirs; only the one of the same name, if there is one.

    A time until programs return is set beside one until the disk has everything, too.
    """
    work = WORK.get((other.plan.recipe.name, theirs.name), "")
    ours = result.plan.recipe.workloads
    metrics = CLOCKS if theirs.metric in CLOCKS else (theirs.metric,)
    alike = {w.name for w in ours if work and w.job.work == work and w.metric in metrics}
    return alike & {theirs.name} or alike


def _figures(other: Result, workload: str, candidate: Candidate) -> list[float]:
    """Their figures for the filesystem of our candidate, unless it has options that matter."""
    if candidate.mkfs_options or not PLAIN.issuperset(candidate.mount_options):
        return []
    name = candidate.filesystem.name
    return [s.value for s in other.samples if s.primary and (s.candidate, s.workload) == (name, workload)]
