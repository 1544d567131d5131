"""Results beside each other: a disk a year later, two disks, or an empty filesystem and a nearly full one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from fswizard.errors import UsageError
from fswizard.language import N_, _, p_, shown
from fswizard.model.comparison import Change, Comparison, Difference
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import Metric
from fswizard.model.plan import Target
from fswizard.model.recipe import Job, Workload
from fswizard.model.result import Result
from fswizard.model.units import binary_size_text, binary_text
from fswizard.stats.discoveries import controlled
from fswizard.stats.summary import summarise
from fswizard.stats.table import Table, overall_table, shares, workload_tables
from fswizard.stats.unpaired import ERROR, welch

Item = TypeVar("Item", Workload, Candidate)


def compare(first: Result, second: Result) -> Comparison:
    """Every candidate and workload that both measured in the same way, second over first.

    The rounds of two runs are not paired, so each ratio has Welch's interval, as wide as the whole table asks for.
    Raises UsageError, with the reasons, where nothing can be compared.
    """
    _check_targets(first.plan.target, second.plan.target)
    second = _of_as_much(second, first)
    left_out: list[str] = []
    one, other = first.plan, second.plan
    another_way = N_("{title}: it was done in another way in the second result.")
    workloads = _shared(one.recipe.workloads, other.recipe.workloads, _work, another_way, left_out)
    another_way = N_("{title}: it was formatted or mounted in another way in the second result.")
    candidates = _shared(one.candidates, other.candidates, made, another_way, left_out)
    weights = {workload.name: workload.weight for workload in workloads if workload.weight > 0}
    tables = (workload_tables(first), workload_tables(second))
    medians = [_medians(run) for run in (first, second)]
    changes: list[Change] = []
    for candidate in candidates:
        overall = _overall(candidate, weights, tables)
        if overall and len(workloads) > 1:
            changes.append(overall)
        for workload in workloads:
            figures = [table[workload.name].get(candidate.name, {}) for table in tables]
            if all(figures):
                both = [values[candidate.name, workload.name] for values in medians]
                changes.append(_change(candidate, workload, both, figures))
            else:
                text = N_("{candidate} at “{test}”: no figures in both.")
                left_out.append(_(text, candidate=candidate.title, test=_(workload.title)))
    if not changes:
        raise UsageError(_("These two results cannot be compared."), " ".join(left_out))
    differences = tuple(_differences(first, second))
    of: Literal["time", "disks"] = "disks" if any(one.what == _("disk") for one in differences) else "time"
    return Comparison(_judged(changes), differences, tuple(left_out), tuple(_doubts(first, second)), of)


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
    return compare_age(result) if result.plan.beside else compare_fill(result)


def compare_age(result: Result) -> Comparison:
    """Candidates when they were new and aged, under the names of the new ones, from one result that measured both."""
    new = replace(result, plan=replace(result.plan, candidates=result.plan.beside, beside=()))
    names = {candidate.name: candidate.as_new for candidate in result.plan.aged}
    old = [replace(s, candidate=names[s.candidate]) for s in result.samples if s.candidate in names]
    return replace(compare(new, replace(new, samples=tuple(old))), of="age")


def compare_fill(result: Result) -> Comparison:
    """The same work on an empty filesystem and on ones that were filled before, from one result.

    Raises UsageError where the result has no such workloads.
    """
    tables, medians = workload_tables(result), _medians(result)
    changes: list[Change] = []
    for pair in filled(result):
        for candidate in result.plan.candidates:
            figures = [tables[workload.name].get(candidate.name, {}) for workload in pair]
            if all(figures):
                both = [medians[candidate.name, workload.name] for workload in pair]
                changes.append(_change(candidate, pair[1], both, figures))
    if not changes:
        hint = _(
            "`fswizard run fill` measures the same work on an empty and on a nearly full filesystem, and --aged on a "
            "new and on an aged one."
        )
        raise UsageError(_("This result has nothing to compare within it: name two results."), hint)
    return Comparison(_judged(changes), (), of="fill")


def filled(result: Result) -> Iterator[tuple[Workload, Workload]]:
    """Pairs of workloads that do the same, on an empty filesystem and on one that was filled before."""
    workloads = result.plan.recipe.workloads
    for full in workloads:
        if full.job.fill_percent:
            emptied = replace(full, job=replace(full.job, fill_percent=0))
            yield from ((empty, full) for empty in workloads if _work(empty) == _work(emptied))


def _medians(result: Result) -> Mapping[tuple[str, str], float]:
    """By candidate and workload, the medians of the figures that ratios are made of."""
    return {(s.candidate, s.workload): s.median for s in summarise(result) if s.primary}


def _change(
    candidate: Candidate, workload: Workload, medians: Sequence[float], figures: Sequence[Mapping[int, float]]
) -> Change:
    """`medians` and `figures` (logarithms by round) are those before and after."""
    name, kind, metric = candidate.name, candidate.filesystem.name, workload.metric
    ratio = welch((name, name), workload.name, figures[1].values(), figures[0].values())
    before, after = medians
    return Change(name, candidate.title, kind, _(workload.title), metric.unit, metric.better, before, after, ratio)


def _judged(changes: Sequence[Change]) -> tuple[Change, ...]:
    """The same changes, with intervals that hold for the whole table."""
    ratios = controlled([change.ratio for change in changes], lambda one: (one.candidate, one.workload), ERROR)
    return tuple(replace(change, ratio=ratio) for change, ratio in zip(changes, ratios))


def _check_targets(first: Target, second: Target) -> None:
    kinds = {
        "image": _("a scratch image"),
        "device": _("a device"),
        "directory": _("directories as they were"),
    }
    if first.kind != second.kind:
        raise UsageError(
            _(
                "One was measured on {target}, the other on {other}: their figures mean different things.",
                target=kinds[first.kind],
                other=kinds[second.kind],
            ),
            _("Compare results of the same kind of target."),
        )
    if len(first.others) != len(second.others):
        raise UsageError(
            _(
                "The targets had {number} and {other} devices: what is spread over them is not the same.",
                number=len(first.members),
                other=len(second.members),
            ),
            _("Compare results of as many devices."),
        )
    if first.size_bytes != second.size_bytes:
        raise UsageError(
            _(
                "The targets had {size} and {other}: a filesystem's speed depends on its size.",
                size=binary_size_text(first.size_bytes),
                other=binary_size_text(second.size_bytes),
            ),
            _("Measure again with --target image:SIZE and the size of the other."),
        )


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


def _work(workload: Workload) -> tuple[Job, Metric]:
    return workload.job, workload.metric


def made(candidate: Candidate) -> tuple[object, ...]:
    """How it is formatted and mounted, whatever the devices."""
    filesystem, members = candidate.filesystem, candidate.array.members if candidate.array else 1
    orders = candidate.orders(scratch=True)
    return filesystem.mkfs_program, orders, members, filesystem.mount_type, candidate.mount_options


def _overall(
    candidate: Candidate, weights: Mapping[str, float], tables: tuple[Mapping[str, Table], ...]
) -> Change | None:
    """All shared workloads together, in the rounds that hold all of them, with the weights of the first result."""
    name = candidate.name
    shared = [{workload: table[workload] for workload in weights} for table in tables]
    if not weights or not all(table.get(name) for run in shared for table in run.values()):
        return None
    before, after = (overall_table(shares(run, weights))[name] for run in shared)
    if not before or not after:
        return None
    ratio = welch((name, name), "", after.values(), before.values())
    return Change(name, candidate.title, candidate.filesystem.name, "", "1", "higher", 0.0, 0.0, ratio)


def _differences(first: Result, second: Result) -> Iterator[Difference]:
    runs = (first, second)
    versions = [_versions(run) for run in runs]
    limits = [run.plan.memory_limit_bytes for run in runs]
    yield from _disks(first, second)
    facts = (
        (_("recipe"), [_(run.plan.recipe.title) for run in runs], True),
        (_("memory limit"), [binary_text(limit) if limit else p_("limit", "none") for limit in limits], True),
        (_("filesystem below the image"), [run.plan.target.host_filesystem for run in runs], True),
        (_("kernel"), [run.environment.kernel for run in runs], False),
        (_("distribution"), [run.environment.distribution for run in runs], False),
        *((name, [tools.get(name, "") for tools in versions], False) for name in versions[0] | versions[1]),
        (_("processor"), [run.environment.processor for run in runs], True),
        (_("memory"), [binary_text(run.environment.memory_bytes) for run in runs], False),
        (
            p_("battery or mains", "power"),
            [_("battery") if "on-battery" in _codes(run) else _("mains") for run in runs],
            False,
        ),
        ("fswizard", [run.environment.version for run in runs], False),
    )
    for what, (before, after), unlike in facts:
        if before != after:
            yield Difference(what, before, after, unlike)


def _disks(first: Result, second: Result) -> Iterator[Difference]:
    """No difference if both runs had the same disk with the same firmware."""
    one, two = first.plan.drive, second.plan.drive
    if one is None or two is None:
        yield Difference(_("disk"), one.model if one else "", two.model if two else "", unlike=True)
    elif one.model != two.model:
        yield Difference(_("disk"), one.model, two.model, unlike=True)
    elif one.serial != two.serial:
        yield Difference(_("disk"), _name_one(one), _name_one(two), unlike=True)
    elif one.firmware != two.firmware:
        yield Difference(_("firmware of the disk"), one.firmware, two.firmware)


def _name_one(drive: Drive) -> str:
    """A name that distinguishes disks of one model: `ST8000AS0002 …4711`."""
    if drive.serial:
        return f"{drive.model} …{drive.serial[-4:]}"
    return _("{model} of unknown serial number", model=drive.model)


def _versions(run: Result) -> dict[str, str]:
    """Versions of the programs, by the names of their packages, which people know."""
    filesystems = {c.filesystem.mkfs_program: c.filesystem for c in reversed(run.plan.candidates)}
    versions: dict[str, str] = {}
    for program, version in sorted(run.environment.tools.items()):
        name = filesystems[program].packages.get("debian", program) if program in filesystems else program
        versions.setdefault(name, version)
    return versions


def _codes(run: Result) -> set[str]:
    return {doubt.code for doubt in run.doubts}


def _doubts(first: Result, second: Result) -> Iterator[str]:
    only = (N_("First result only: {doubt}"), N_("Second result only: {doubt}"))
    for text, run, other in zip(only, (first, second), (second, first)):
        elsewhere = {"on-battery", *_codes(other)}
        yield from (_(text, doubt=shown(doubt.text)) for doubt in run.doubts if doubt.code not in elsewhere)
