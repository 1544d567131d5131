"""Results beside each other: a disk a year later, two disks, or an empty filesystem and a nearly full one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from fswizard.errors import UsageError
from fswizard.language import N_, _, p_, shown
from fswizard.model.comparison import Change, Comparison, Difference
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Target
from fswizard.model.recipe import Workload
from fswizard.model.result import Result
from fswizard.model.units import binary_size_text, binary_text
from fswizard.stats.summary import summarise
from fswizard.stats.table import Table, overall_table, shares, workload_tables
from fswizard.stats.unpaired import welch

Item = TypeVar("Item", Workload, Candidate)


def compare(first: Result, second: Result) -> Comparison:
    """Every candidate and workload that both measured in the same way, second over first.

    The rounds of two runs are not paired, so each ratio has Welch's interval.
    Raises UsageError, with the reasons, where nothing can be compared.
    """
    targets = [_target_text(run.plan.target) for run in (first, second)]
    if targets[0] != targets[1]:
        text = N_("One was measured on {target}, the other on {other}: their figures mean different things.")
        hint = _("Compare results of the same kind of target.")
        raise UsageError(_(text, target=targets[0], other=targets[1]), hint)
    second = _of_as_much(second, first)
    one, other, left_out = first.plan, second.plan, list[str]()
    another_way = N_("{title}: it was done in another way in the second result.")
    workloads = _shared(one.recipe.workloads, other.recipe.workloads, _work, another_way, left_out)
    another_way = N_("{title}: it was formatted or mounted in another way in the second result.")
    candidates = _shared(one.candidates, other.candidates, made, another_way, left_out)
    before, after = _Figures(first), _Figures(second)
    changes: list[Change] = []
    for candidate in candidates:
        if len(workloads) > 1:
            changes += _overall(candidate, workloads, before, after)
        for workload in workloads:
            if found := _change(candidate, before, workload, after, workload):
                changes.append(found)
            else:
                text = N_("{candidate} at “{test}”: no figures in both.")
                left_out.append(_(text, candidate=candidate.title, test=_(workload.title)))
    if not changes:
        raise UsageError(_("These two results cannot be compared."), " ".join(left_out))
    differences = tuple(_differences(first, second))
    other_disk = any(difference.what == _("disk") for difference in differences)
    doubts = tuple(_doubts(first, second))
    return Comparison(tuple(changes), differences, tuple(left_out), doubts, "disks" if other_disk else "time")


def _of_as_much(result: Result, other: Result) -> Result:
    """The result with the durations of as much work as another one did, where each disk got what fits its time."""
    own, theirs = ({w.name: w.task.units for w in run.plan.recipe.workloads if w.amount} for run in (result, other))
    shares = {name: (theirs[name] or 1) / (own[name] or 1) for name in own.keys() & theirs.keys()}
    samples = (
        replace(s, value=s.value * shares[s.workload]) if s.primary and s.unit == "s" and s.workload in shares else s
        for s in result.samples
    )
    return replace(result, samples=tuple(samples))


def compare_within(result: Result) -> Comparison:
    """What one result has to compare: aged candidates with new ones, or nearly full filesystems with empty ones.

    Raises UsageError where it has neither.
    """
    if result.plan.beside:
        # The aged ones under the names of the new ones, as if two runs had measured them.
        new = replace(result, plan=replace(result.plan, candidates=result.plan.beside, beside=()))
        names = {candidate.name: candidate.as_new for candidate in result.plan.aged}
        old = [replace(s, candidate=names[s.candidate]) for s in result.samples if s.candidate in names]
        return replace(compare(new, replace(new, samples=tuple(old))), of="age")
    figures = _Figures(result)
    changes = [
        change
        for empty, full in filled(result)
        for candidate in result.plan.candidates
        if (change := _change(candidate, figures, empty, figures, full))
    ]
    if not changes:
        hint = _(
            "`fswizard run fill` measures the same work on an empty and on a nearly full filesystem, and --aged on a "
            "new and on an aged one."
        )
        raise UsageError(_("This result has nothing to compare within it: name two results."), hint)
    return Comparison(tuple(changes), (), of="fill")


def filled(result: Result) -> Iterator[tuple[Workload, Workload]]:
    """Pairs of workloads that do the same, on an empty filesystem and on one that was filled before."""
    workloads = result.plan.recipe.workloads
    for full in workloads:
        if full.job.fill_percent:
            emptied = replace(full, job=replace(full.job, fill_percent=0))
            yield from ((empty, full) for empty in workloads if _work(empty) == _work(emptied))


class _Figures:
    """Of one result: what changes are made of."""

    def __init__(self, result: Result) -> None:
        self.tables = workload_tables(result)
        self.medians = {(s.candidate, s.workload): s.median for s in summarise(result) if s.primary}

    def overall(self, name: str, weights: Mapping[str, float]) -> Mapping[int, float]:
        """The scores of a candidate in the rounds that have all workloads of `weights`."""
        tables: dict[str, Table] = {workload: self.tables[workload] for workload in weights}
        if not weights or not all(table.get(name) for table in tables.values()):
            return {}
        return overall_table(shares(tables, weights))[name]


def _change(
    candidate: Candidate, before: _Figures, workload: Workload, after: _Figures, then: Workload
) -> Change | None:
    """From `workload` before to `then` after; None without figures of both."""
    name, metric = candidate.name, then.metric
    old, new = before.tables[workload.name].get(name), after.tables[then.name].get(name)
    if not old or not new:
        return None
    ratio = welch((name, name), then.name, new.values(), old.values())
    medians = before.medians[name, workload.name], after.medians[name, then.name]
    kind, title = candidate.filesystem.name, _(then.title)
    return Change(name, candidate.title, kind, title, metric.unit, metric.better, *medians, ratio)


def _overall(
    candidate: Candidate, workloads: Sequence[Workload], before: _Figures, after: _Figures
) -> Iterator[Change]:
    """All shared workloads together, with the weights of the first result."""
    name, kind = candidate.name, candidate.filesystem.name
    weights = {workload.name: workload.weight for workload in workloads if workload.weight > 0}
    old, new = before.overall(name, weights), after.overall(name, weights)
    if old and new:
        ratio = welch((name, name), "", new.values(), old.values())
        yield Change(name, candidate.title, kind, "", "1", "higher", 0.0, 0.0, ratio)


def _target_text(target: Target) -> str:
    """What figures depend on: kind, number and size."""
    kinds = {"image": _("a scratch image"), "device": _("a device"), "directory": _("directories as they were")}
    text = kinds[target.kind]
    if target.size_bytes:
        number = f"{len(target.members)} × " if target.others else ""
        text = f"{text} ({number}{binary_size_text(target.size_bytes)})"
    return text


def _shared(
    first: Sequence[Item], second: Sequence[Item], work: Callable[[Item], object], another_way: str, left_out: list[str]
) -> list[Item]:
    """Items of one name and the same `work`; `left_out` gets a sentence for each of the others, and `another_way` says
    that the work of both differs."""
    shared, others = [], {item.name: item for item in second}
    for item in first:
        other = others.pop(item.name, None)
        if other and work(item) == work(other):
            shared.append(item)
        else:
            why = another_way if other else N_("{title}: only the first result has it.")
            left_out.append(_(why, title=_(item.title)))
    left_out += [_("{title}: only the second result has it.", title=_(item.title)) for item in others.values()]
    return shared


def _work(workload: Workload) -> object:
    return workload.job, workload.metric


def made(candidate: Candidate) -> object:
    """How it is formatted and mounted, whatever the devices; None where nobody can make what a file has."""
    filesystem, members = candidate.filesystem, candidate.array.members if candidate.array else 1
    try:
        orders = candidate.orders(scratch=True)
    except ValueError:
        return None
    return filesystem.mkfs_program, orders, members, filesystem.mount_type, candidate.mount_options


def _differences(first: Result, second: Result) -> Iterator[Difference]:
    yield from _disks(first.plan.drive, second.plan.drive)
    before, after = _facts(first), _facts(second)
    unlike = {_("recipe"), _("memory limit"), _("filesystem below the image"), _("processor")}
    for what in {**before, **after}:
        if before.get(what, "") != after.get(what, ""):
            yield Difference(what, before.get(what, ""), after.get(what, ""), what in unlike)


def _facts(run: Result) -> dict[str, str]:
    """What may be why figures differ, by what it is called; what matters most first."""
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


def _disks(one: Drive | None, two: Drive | None) -> Iterator[Difference]:
    """No difference if both runs had the same disk with the same firmware."""
    if one is None or two is None or one.model != two.model:
        yield Difference(_("disk"), one.model if one else "", two.model if two else "", unlike=True)
    elif one.serial != two.serial:
        before, after = (f"{drive.model} …{drive.serial[-4:] or '?'}" for drive in (one, two))
        yield Difference(_("disk"), before, after, unlike=True)
    elif one.firmware != two.firmware:
        yield Difference(_("firmware of the disk"), one.firmware, two.firmware)


def _doubts(first: Result, second: Result) -> Iterator[str]:
    only = (N_("First result only: {doubt}"), N_("Second result only: {doubt}"))
    for text, run, other in zip(only, (first, second), (second, first)):
        elsewhere = {"on-battery", *(doubt.code for doubt in other.doubts)}
        yield from (_(text, doubt=shown(doubt.text)) for doubt in run.doubts if doubt.code not in elsewhere)
