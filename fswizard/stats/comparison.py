"""Results beside each other: a disk a year later, two disks, or an empty filesystem and a nearly full one. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from fswizard.errors import UsageError
from fswizard.model.comparison import Change, Comparison, Difference
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate
from fswizard.model.judgement import Ratio
from fswizard.model.plan import Target
from fswizard.model.recipe import Workload
from fswizard.model.result import Result
from fswizard.model.units import binary_size_text, binary_text
from fswizard.stats.discoveries import controlled
from fswizard.stats.summary import summarise
from fswizard.stats.table import Table, overall_table, workload_tables
from fswizard.stats.unpaired import ERROR, welch


def compare(first: Result, second: Result) -> Comparison:
    """Every candidate and workload that both measured in the same way, second over first.

    The rounds of two runs are not paired, so each ratio has Welch's interval, as wide as the whole table asks for.
    Raises UsageError, with the reasons, where nothing can be compared.
    """
    _check_targets(first.plan.target, second.plan.target)
    left_out: list[str] = []
    workloads = list(_shared_workloads(first, second, left_out))
    candidates = list(_shared_candidates(first, second, left_out))
    weights = {workload.name: workload.weight for workload in workloads if workload.weight > 0}
    tables = (workload_tables(first), workload_tables(second))
    medians = [_medians(run) for run in (first, second)]
    changes: list[Change] = []
    for candidate in candidates:
        overall = _overall(candidate, weights, tables)
        if overall and len(workloads) > 1:
            changes.append(overall)
        for workload in workloads:
            key = candidate.name, workload.name
            before, after = (table[workload.name].get(candidate.name, {}) for table in tables)
            if before and after:
                ratio = welch((candidate.name,) * 2, workload.name, after.values(), before.values())
                changes.append(_change(candidate, workload, medians[0][key], medians[1][key], ratio))
            else:
                left_out.append(f"{candidate.title} at {workload.title}: no figures in both.")
    if not changes:
        raise UsageError("These two results cannot be compared.", " ".join(left_out))
    differences = tuple(_differences(first, second))
    of: Literal["time", "disks"] = "disks" if any(one.what == "disk" for one in differences) else "time"
    return Comparison(_judged(changes), differences, tuple(left_out), tuple(_doubts(first, second)), of)


def compare_fill(result: Result) -> Comparison:
    """The same work on an empty filesystem and on ones that were filled before, from one result.

    Raises UsageError where the result has no such workloads.
    """
    tables, medians = workload_tables(result), _medians(result)
    changes = [
        _change(candidate, full, medians[candidate.name, empty.name], medians[candidate.name, full.name], ratio)
        for empty, full in filled(result)
        for candidate in result.plan.candidates
        if (before := tables[empty.name].get(candidate.name)) and (after := tables[full.name].get(candidate.name))
        for ratio in [welch((candidate.name,) * 2, full.name, after.values(), before.values())]
    ]
    if not changes:
        hint = "`fswizard run fill` measures the same work on an empty and on a nearly full filesystem."
        raise UsageError("This result has nothing to compare within it: name two results.", hint)
    return Comparison(_judged(changes), (), of="fill")


def filled(result: Result) -> Iterator[tuple[Workload, Workload]]:
    """Pairs of workloads that do the same, on an empty filesystem and on one that was filled before."""
    workloads = result.plan.recipe.workloads
    for full in workloads:
        if full.job.fill_percent:
            emptied = replace(full, job=replace(full.job, fill_percent=0))
            yield from ((empty, full) for empty in workloads if _alike(empty, emptied))


def _medians(result: Result) -> Mapping[tuple[str, str], float]:
    """By candidate and workload, the medians of the figures that ratios are made of."""
    return {(s.candidate, s.workload): s.median for s in summarise(result) if s.primary}


def _change(candidate: Candidate, workload: Workload, before: float, after: float, ratio: Ratio) -> Change:
    metric, kind = workload.metric, candidate.filesystem.name
    return Change(
        candidate.name, candidate.title, kind, workload.title, metric.unit, metric.better, before, after, ratio
    )  # fmt: skip


def _judged(changes: Sequence[Change]) -> tuple[Change, ...]:
    """With intervals that are as wide as the whole table asks for."""
    ratios = controlled([change.ratio for change in changes], lambda one: (one.candidate, one.workload), ERROR)
    return tuple(replace(change, ratio=ratio) for change, ratio in zip(changes, ratios))


def _check_targets(first: Target, second: Target) -> None:
    kinds = {"image": "a scratch image", "device": "a device", "directory": "directories as they were"}
    if first.kind != second.kind:
        raise UsageError(
            f"One was measured on {kinds[first.kind]}, the other on {kinds[second.kind]}: their figures mean "
            "different things.",
            "Compare results of the same kind of target.",
        )
    if len(first.others) != len(second.others):
        raise UsageError(
            f"The targets had {len(first.members)} and {len(second.members)} devices: what is spread over them is not "
            "the same.",
            "Compare results of as many devices.",
        )
    if first.size_bytes != second.size_bytes:
        sizes = f"{binary_size_text(first.size_bytes)} and {binary_size_text(second.size_bytes)}"
        raise UsageError(
            f"The targets had {sizes}: a filesystem's speed depends on its size.",
            "Measure again with --target image:SIZE and the size of the other.",
        )


def _shared_workloads(first: Result, second: Result, left_out: list[str]) -> Iterator[Workload]:
    others = {workload.name: workload for workload in second.plan.recipe.workloads}
    for workload in first.plan.recipe.workloads:
        other = others.pop(workload.name, None)
        if other and _alike(other, workload):
            yield workload
        else:
            why = "it was done in another way in the second result" if other else "only the first result has it"
            left_out.append(f"{workload.title}: {why}.")
    left_out += [f"{workload.title}: only the second result has it." for workload in others.values()]


def _alike(one: Workload, other: Workload) -> bool:
    return (one.job, one.metric) == (other.job, other.metric)


def _shared_candidates(first: Result, second: Result, left_out: list[str]) -> Iterator[Candidate]:
    others = {candidate.name: candidate for candidate in second.plan.candidates}
    for candidate in first.plan.candidates:
        other = others.pop(candidate.name, None)
        if other and made(other) == made(candidate):
            yield candidate
        else:
            another = "it was formatted or mounted in another way in the second result"
            left_out.append(f"{candidate.title}: {another if other else 'only the first result has it'}.")
    left_out += [f"{candidate.title}: only the second result has it." for candidate in others.values()]


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
    if not weights or not all(table.get(name) for tables in shared for table in tables.values()):
        return None
    before, after = (overall_table(tables, weights)[name] for tables in shared)
    if not before or not after:
        return None
    ratio = welch((name, name), "", after.values(), before.values())
    return Change(name, candidate.title, candidate.filesystem.name, "", "1", "higher", 0.0, 0.0, ratio)


def _differences(first: Result, second: Result) -> Iterator[Difference]:
    runs = (first, second)
    yield from _disks(first, second)
    facts = (
        ("recipe", [run.plan.recipe.title for run in runs], True),
        ("memory limit", [_limit(run) for run in runs], True),
        ("filesystem below the image", [run.plan.target.host_filesystem for run in runs], True),
        ("kernel", [run.environment.kernel for run in runs], False),
        ("distribution", [run.environment.distribution for run in runs], False),
        *((name, [_tool(run, name) for run in runs], False) for name in _tools(first, second)),
        ("processor", [run.environment.processor for run in runs], True),
        ("memory", [binary_text(run.environment.memory_bytes) for run in runs], False),
        ("power", ["battery" if _has(run, "on-battery") else "mains" for run in runs], False),
        ("fswizard", [run.environment.version for run in runs], False),
    )
    for what, (before, after), unlike in facts:
        if before != after:
            yield Difference(what, before, after, unlike)


def _disks(first: Result, second: Result) -> Iterator[Difference]:
    """Nothing where both are known to be the same one in the same state."""
    one, two = first.plan.drive, second.plan.drive
    if one is None or two is None:
        yield Difference("disk", one.model if one else "", two.model if two else "", unlike=True)
    elif one.model != two.model:
        yield Difference("disk", one.model, two.model, unlike=True)
    elif one.serial != two.serial:
        yield Difference("disk", _one_of(one), _one_of(two), unlike=True)
    elif one.firmware != two.firmware:
        yield Difference("firmware of the disk", one.firmware, two.firmware)


def _one_of(drive: Drive) -> str:
    """Which of several disks of a model: `ST8000AS0002 …4711`."""
    return f"{drive.model} …{drive.serial[-4:]}" if drive.serial else f"{drive.model} of unknown serial number"


def _limit(run: Result) -> str:
    return binary_text(run.plan.memory_limit_bytes) if run.plan.memory_limit_bytes else "none"


def _tools(first: Result, second: Result) -> Mapping[str, None]:
    """Programs by the names of their packages, as people know them by those."""
    return dict.fromkeys(_package(run, program) for run in (first, second) for program in sorted(run.environment.tools))


def _package(run: Result, program: str) -> str:
    filesystem = next((c.filesystem for c in run.plan.candidates if c.filesystem.mkfs_program == program), None)
    return filesystem.packages.get("debian", program) if filesystem else program


def _tool(run: Result, name: str) -> str:
    return next((version for program, version in run.environment.tools.items() if _package(run, program) == name), "")


def _has(run: Result, code: str) -> bool:
    return any(doubt.code == code for doubt in run.doubts)


def _doubts(first: Result, second: Result) -> Iterator[str]:
    for which, run, other in (("First", first, second), ("Second", second, first)):
        for doubt in run.doubts:
            if doubt.code != "on-battery" and not _has(other, doubt.code):
                yield f"{which} result only: {doubt.text}"
