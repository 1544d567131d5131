"""Comparison of two results: of a disk a year later, or of two disks. Pure functions."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from fswizard.errors import UsageError
from fswizard.language import N_, _, p_
from fswizard.model.comparison import Change, Comparison
from fswizard.model.filesystem import Candidate
from fswizard.model.recipe import Workload
from fswizard.model.result import Result
from fswizard.model.units import binary_text
from fswizard.stats.table import tables_of, weighted_mean
from fswizard.stats.unpaired import welch

Item = TypeVar("Item", Workload, Candidate)


def compare(first: Result, second: Result) -> Comparison:
    """Compare all candidates and workloads that both results measured in the same way, second over first.

    The rounds of two runs are not paired, so each ratio has Welch's interval. Raises UsageError, with the reasons,
    if nothing can be compared.
    """
    target, other = first.plan.target, second.plan.target
    if (target.kind, target.size_bytes, len(target.members)) != (other.kind, other.size_bytes, len(other.members)):
        raise UsageError(
            _("They were measured on targets of different kinds or sizes, so their figures mean different things."),
            _("Compare results of the same kind of target."),
        )
    left_out: list[str] = []
    workloads = _shared(first.plan.recipe.workloads, second.plan.recipe.workloads, _work, left_out)
    candidates = _shared(first.plan.candidates, second.plan.candidates, formatting, left_out)

    before, after = tables_of(first).scores, tables_of(_of_as_much(second, first)).scores
    changes = []
    # All shared workloads together, with the weights of the first result.
    weights = {workload.name: workload.weight for workload in workloads if workload.weight > 0}
    if len(workloads) > 1 and all(before[name] and after[name] for name in weights):
        old, new = weighted_mean(before, weights), weighted_mean(after, weights)
        for candidate in candidates:
            name = candidate.name
            if old.get(name) and new.get(name):
                ratio = welch((name, name), "", new[name].values(), old[name].values())
                changes.append(Change(candidate.title, "", "", 0.0, 0.0, ratio))
    for workload in workloads:
        old, new = before[workload.name], after[workload.name]
        sign = 1 if workload.metric.better == "higher" else -1
        for candidate in candidates:
            name, title = candidate.name, _(workload.title)
            if name not in old or name not in new:
                left_out.append(_("{candidate} in {test}", candidate=candidate.title, test=title))
                continue
            ratio = welch((name, name), workload.name, new[name].values(), old[name].values())
            # Geometric means, of which the ratio is the quotient.
            then = math.exp(sign * statistics.fmean(old[name].values()))
            now = math.exp(sign * statistics.fmean(new[name].values()))
            changes.append(Change(candidate.title, title, workload.metric.unit, then, now, ratio))
    if not changes:
        names = ", ".join(left_out)
        raise UsageError(_("These two results cannot be compared."), _("Not alike in both: {names}.", names=names))

    # A fact that only one of them has, such as a program that it needed, explains no difference.
    facts, later = _facts(first), _facts(second)
    differences = []
    for what, fact in facts.items():
        if fact != later.get(what, fact):
            differences.append((what, fact, later[what]))
    doubts = []
    for text, run, other_run in (
        (N_("First result only: {doubt}"), first, second),
        (N_("Second result only: {doubt}"), second, first),
    ):
        common = [doubt.code for doubt in other_run.doubts]
        doubts += [_(text, doubt=_(doubt.text)) for doubt in run.doubts if doubt.code not in common]
    return Comparison(tuple(changes), tuple(differences), tuple(left_out), tuple(doubts))


def _of_as_much(result: Result, other: Result) -> Result:
    """The result with durations scaled to the amounts of work in `other`: each run chose amounts that fitted into
    its time, so they hardly ever agree."""
    theirs = {workload.name: workload.amount.units for workload in other.plan.recipe.workloads if workload.amount}
    factors = {}
    for workload in result.plan.recipe.workloads:
        if workload.amount and workload.name in theirs and workload.metric.unit == "s":
            factors[workload.name] = theirs[workload.name] / workload.amount.units
    samples = []
    for sample in result.samples:
        factor = factors.get(sample.workload, 1.0) if sample.primary else 1.0
        samples.append(replace(sample, value=sample.value * factor))
    return replace(result, samples=tuple(samples))


def _shared(
    first: Sequence[Item], second: Sequence[Item], work: Callable[[Item], object], left_out: list[str]
) -> list[Item]:  # fmt: skip
    """Items with the same name and `work` in both. The titles of all others are appended to `left_out`."""
    shared = []
    others = {item.name: item for item in second}
    for item in first:
        other = others.get(item.name)
        if other and work(item) == work(other):
            shared.append(item)
    names = [item.name for item in shared]
    left = {item.name: _(item.title) for item in (*first, *second) if item.name not in names}
    left_out += left.values()
    return shared


def _work(workload: Workload) -> object:
    return workload.job, workload.metric


def formatting(candidate: Candidate) -> object:
    """Key of how a candidate is formatted and mounted, on any device; None if its options are invalid."""
    filesystem, array = candidate.filesystem, candidate.array
    try:
        arguments = candidate.mkfs_arguments(scratch=True)
    except ValueError:
        return None
    below = array and (array.name, array.members)
    return filesystem.mkfs_program, arguments, below, filesystem.mount_type, candidate.mount_options


def _facts(run: Result) -> dict[str, str]:
    """Facts about a run by name, most important first."""
    plan, environment = run.plan, run.environment
    facts = {
        _("recipe"): _(plan.recipe.title),
        _("memory limit"): binary_text(plan.memory_limit_bytes) if plan.memory_limit_bytes else p_("limit", "none"),
        _("filesystem below the image"): plan.target.host_filesystem,
        _("kernel"): environment.kernel,
        _("distribution"): environment.distribution,
        _("processor"): environment.processor,
        _("memory"): binary_text(environment.memory_bytes),
        "fswizard": environment.version,
    }
    if plan.drive:
        serial = plan.drive.serial[-4:] or "?"
        facts = {_("disk"): f"{plan.drive.model} …{serial}", _("firmware of the disk"): plan.drive.firmware, **facts}
    return {**facts, **environment.tools}
