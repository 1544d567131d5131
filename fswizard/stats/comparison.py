"""Comparison of two results: of a disk a year later, or of two disks. Pure functions."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from fswizard.errors import UsageError
from fswizard.language import N_, _, joined, p_
from fswizard.model.comparison import Change, Comparison, Difference
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import Better
from fswizard.model.plan import Target
from fswizard.model.recipe import Workload
from fswizard.model.result import Result
from fswizard.model.units import binary_size_text, binary_text
from fswizard.stats.table import tables_of, weighted_mean
from fswizard.stats.unpaired import welch

Item = TypeVar("Item", Workload, Candidate)


def compare(first: Result, second: Result) -> Comparison:
    """Compare all candidates and workloads that both results measured in the same way, second over first.

    The rounds of two runs are not paired, so each ratio has Welch's interval. Raises UsageError, with the reasons,
    if nothing can be compared.
    """
    target, other = _target_text(first.plan.target), _target_text(second.plan.target)
    if target != other:
        text = N_("One was measured on {target}, the other on {other}: their figures mean different things.")
        raise UsageError(_(text, target=target, other=other), _("Compare results of the same kind of target."))
    left_out: list[str] = []
    unequal = N_("{title}: it was done in another way in the second result.")
    workloads = _shared(first.plan.recipe.workloads, second.plan.recipe.workloads, _work, unequal, left_out)
    unequal = N_("{title}: it was formatted or mounted in another way in the second result.")
    candidates = _shared(first.plan.candidates, second.plan.candidates, formatting, unequal, left_out)

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
        for candidate in candidates:
            name, title = candidate.name, _(workload.title)
            if name not in old or name not in new:
                text = N_("{candidate} at “{test}”: no figures in both.")
                left_out.append(_(text, candidate=candidate.title, test=title))
                continue
            ratio = welch((name, name), workload.name, new[name].values(), old[name].values())
            better = workload.metric.better
            medians = _median(old[name].values(), better), _median(new[name].values(), better)
            changes.append(Change(candidate.title, title, workload.metric.unit, *medians, ratio))
    if not changes:
        raise UsageError(_("These two results cannot be compared."), joined(left_out))
    return Comparison(
        tuple(changes), tuple(_differences(first, second)), tuple(left_out), tuple(_doubts(first, second))
    )


def _median(scores: Collection[float], better: Better) -> float:
    """Median of the figures behind scores."""
    sign = 1 if better == "higher" else -1
    return statistics.median(math.exp(sign * score) for score in scores)


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


def _target_text(target: Target) -> str:
    """Properties of the target that figures depend on: kind, number and size."""
    kinds = {"image": _("a scratch image"), "device": _("a device"), "directory": _("directories as they were")}
    text = kinds[target.kind]
    if target.size_bytes:
        number = f"{len(target.members)} × " if target.others else ""
        text = f"{text} ({number}{binary_size_text(target.size_bytes)})"
    return text


def _shared(
    first: Sequence[Item], second: Sequence[Item], work: Callable[[Item], object], unequal: str, left_out: list[str]
) -> list[Item]:
    """Items with the same name and `work` in both. For each other item, a sentence is appended to `left_out`:
    `unequal` if the work differs."""
    shared = []
    others = {item.name: item for item in second}
    for item in first:
        other = others.pop(item.name, None)
        if other and work(item) == work(other):
            shared.append(item)
        else:
            why = unequal if other else N_("{title}: only the first result has it.")
            left_out.append(_(why, title=_(item.title)))
    for item in others.values():
        left_out.append(_("{title}: only the second result has it.", title=_(item.title)))
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


def _differences(first: Result, second: Result) -> Iterator[Difference]:
    """Possible causes of different figures: the disk or its firmware, then all other facts."""
    one, two = first.plan.drive, second.plan.drive
    if one is None or two is None or one.model != two.model:
        yield Difference(_("disk"), one.model if one else "", two.model if two else "", unlike=True)
    elif one.serial != two.serial:
        old, new = (f"{drive.model} …{drive.serial[-4:] or '?'}" for drive in (one, two))
        yield Difference(_("disk"), old, new, unlike=True)
    elif one.firmware != two.firmware:
        yield Difference(_("firmware of the disk"), one.firmware, two.firmware)
    before, after = _facts(first), _facts(second)
    unlike = {_("recipe"), _("memory limit"), _("filesystem below the image"), _("processor")}
    for what in before:
        if before[what] != after.get(what, before[what]):  # a program that only one of them needed changes nothing
            yield Difference(what, before[what], after[what], what in unlike)


def _facts(run: Result) -> dict[str, str]:
    """Facts about a run by name, most important first."""
    plan, environment = run.plan, run.environment
    limit = binary_text(plan.memory_limit_bytes) if plan.memory_limit_bytes else p_("limit", "none")
    on_battery = any(doubt.code == "on-battery" for doubt in run.doubts)
    facts = {
        _("recipe"): _(plan.recipe.title),
        _("memory limit"): limit,
        _("filesystem below the image"): plan.target.host_filesystem,
        _("kernel"): environment.kernel,
        _("distribution"): environment.distribution,
        _("processor"): environment.processor,
        _("memory"): binary_text(environment.memory_bytes),
        p_("battery or mains", "power"): _("battery") if on_battery else _("mains"),
        "fswizard": environment.version,
    }
    # Programs by the names of their packages, which people know.
    filesystems = {c.filesystem.mkfs_program: c.filesystem for c in reversed(plan.candidates)}
    for program, version in sorted(environment.tools.items()):
        name = filesystems[program].packages.get("debian", program) if program in filesystems else program
        facts.setdefault(name, version)
    return facts


def _doubts(first: Result, second: Result) -> Iterator[str]:
    """Doubts about one of the results that the other does not have; the power supply is among the differences."""
    only = (N_("First result only: {doubt}"), N_("Second result only: {doubt}"))
    for text, run, other in zip(only, (first, second), (second, first)):
        elsewhere = {"on-battery", *(doubt.code for doubt in other.doubts)}
        for doubt in run.doubts:
            if doubt.code not in elsewhere:
                yield _(text, doubt=_(doubt.text))
