"""Two results side by side: the same disk a year later, or two disks with the same recipe. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fswizard.errors import UsageError
from fswizard.model.comparison import Change, Comparison
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
    candidates = {candidate.name: candidate.title for candidate in _shared_candidates(first, second, left_out)}
    weights = {workload.name: workload.weight for workload in workloads if workload.weight > 0}
    tables = (workload_tables(first), workload_tables(second))
    medians = [{(s.candidate, s.workload): s.median for s in summarise(run) if s.primary} for run in (first, second)]
    changes: list[Change] = []
    for name, title in candidates.items():
        overall = _overall(name, title, weights, tables)
        changes += [overall] if overall and len(workloads) > 1 else []
        for workload in workloads:
            before, after = (table[workload.name].get(name, {}) for table in tables)
            if before and after:
                one, other = (figures[name, workload.name] for figures in medians)
                ratio = _ratio(name, workload.name, before, after)
                changes.append(Change(name, title, workload.title, workload.metric.unit, one, other, ratio))
            else:
                left_out.append(f"{title} at {workload.title}: no figures in both.")
    if not changes:
        raise UsageError("These two results cannot be compared.", " ".join(left_out))
    ratios = controlled([change.ratio for change in changes], lambda one: (one.candidate, one.workload), ERROR)
    changes = [replace(change, ratio=ratio) for change, ratio in zip(changes, ratios)]
    return Comparison(tuple(changes), tuple(_differences(first, second)), tuple(left_out))


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
        if other and (other.job, other.metric) == (workload.job, workload.metric):
            yield workload
        else:
            why = "it was done in another way in the second result" if other else "only the first result has it"
            left_out.append(f"{workload.title}: {why}.")
    left_out += [f"{workload.title}: only the second result has it." for workload in others.values()]


def _shared_candidates(first: Result, second: Result, left_out: list[str]) -> Iterator[Candidate]:
    others = {candidate.name: candidate for candidate in second.plan.candidates}
    for candidate in first.plan.candidates:
        other = others.pop(candidate.name, None)
        if other and _made(other) == _made(candidate):
            yield candidate
        else:
            another = "it was formatted or mounted in another way in the second result"
            left_out.append(f"{candidate.title}: {another if other else 'only the first result has it'}.")
    left_out += [f"{candidate.title}: only the second result has it." for candidate in others.values()]


def _made(candidate: Candidate) -> tuple[object, ...]:
    devices = [f"DEVICE-{number}" for number in range(candidate.array.members if candidate.array else 1)]
    return candidate.making_commands(*devices, scratch=True), candidate.mount_command(devices[0], "MOUNT")


def _overall(
    name: str, title: str, weights: Mapping[str, float], tables: tuple[Mapping[str, Table], ...]
) -> Change | None:
    """All shared workloads together, in the rounds that hold all of them, with the weights of the first result."""
    shared = [{workload: table[workload] for workload in weights} for table in tables]
    if not weights or not all(table.get(name) for tables in shared for table in tables.values()):
        return None
    before, after = (overall_table(tables, weights)[name] for tables in shared)
    return Change(name, title, "", "1", 0.0, 0.0, _ratio(name, "", before, after)) if before and after else None


def _ratio(name: str, workload: str, first: Mapping[int, float], second: Mapping[int, float]) -> Ratio:
    """Second over first."""
    return welch((name, name), workload, second.values(), first.values())


def _differences(first: Result, second: Result) -> Iterator[str]:
    yield from _disks(first, second)
    one, two = (
        {
            "Host filesystem": result.plan.target.host_filesystem,
            "Kernel": result.environment.kernel,
            "Distribution": result.environment.distribution,
            "Processor": result.environment.processor,
            "Memory": binary_text(result.environment.memory_bytes),
            "fswizard": result.environment.version,
            **dict(sorted(result.environment.tools.items())),
        }
        for result in (first, second)
    )
    for title in {**one, **two}:
        if one.get(title) != two.get(title):
            yield f"{title}: {one.get(title) or 'not told'}, then {two.get(title) or 'not told'}."


def _disks(first: Result, second: Result) -> Iterator[str]:
    one, two = first.plan.drive, second.plan.drive
    if one is None or two is None:
        yield "Whether it was the same disk is unknown."
    elif one.model != two.model:
        yield f"Disk: {one.model or 'not named'}, then {two.model or 'not named'}."
    elif one.serial != two.serial:
        yield f"Disk: two of the model {one.model}."
    elif not one.serial:
        yield f"Disk: the same model {one.model}, perhaps not the same disk."
    elif one.firmware != two.firmware:
        yield f"Firmware of the disk: {one.firmware}, then {two.firmware}."
