"""From what the files tell, each for itself, to one result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import fswizard
from fswizard.errors import UsageError
from fswizard.filesystems import catalogue, parse_candidate
from fswizard.importers.parsed_run import ParsedRun
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.plan import Plan, Target
from fswizard.model.recipe import Recipe, Workload
from fswizard.model.result import Environment, Failure, Result, Sample
from fswizard.model.text import safe
from fswizard.system import clock

DEFAULT_BASELINE = "ext4"
_ALIASES = {"nilfs": "nilfs2", "btr": "btrfs", "ntfs3": "ntfs"}


@dataclass(frozen=True, slots=True)
class Source:
    """Where a parsed run comes from: candidate, disk and run, as far as the file's name tells."""

    file: str
    candidate: str
    group: str
    """What stands before the candidate in the file's name: by habit the disk."""
    run: int


def sources_of(files: Sequence[tuple[str, str]]) -> list[Source]:
    """What the names of files tell, each with the candidate that it was given, if any.

    `SMR.btrfs.0.out` is run 0 of btrfs on the disk SMR; and so `SMR.reiserfs.0.out` beside it is one of reiserfs,
    although nothing else here knows that filesystem.
    """
    split = [re.findall(r"[A-Za-z0-9]+", PurePath(path).name) for _, path in files]
    known = [_place(parts) for parts in split]
    habits = {(len(parts), *parts[:place]): place for parts, place in zip(split, known) if place is not None}
    return [
        _source(path, candidate, parts, _place_by_habit(parts, habits) if place is None else place)
        for (candidate, path), parts, place in zip(files, split, known)
    ]


def _source(path: str, candidate: str, parts: Sequence[str], place: int | None) -> Source:
    name = PurePath(path).name
    if candidate or place is None:
        return Source(name, candidate or safe(PurePath(path).stem), "", 0)
    numbers = [int(text) for text in parts[place + 1 :] if re.fullmatch(r"\d{1,6}", text)]
    known = filesystem_name(parts[place]) or parts[place]
    return Source(name, known, "-".join(parts[:place]), numbers[0] if numbers else 0)


def _place(parts: Sequence[str]) -> int | None:
    """Where in a name its filesystem stands; None where it has none that is known."""
    return next((place for place, part in enumerate(parts) if filesystem_name(part) is not None), None)


def _place_by_habit(parts: Sequence[str], habits: Mapping[tuple[object, ...], int]) -> int | None:
    """Where it stands in a name that is made as others are, by how many parts they have and what they begin with."""
    alike = (place for habit, place in habits.items() if habit == (len(parts), *parts[:place]))
    return next((place for place in alike if not parts[place].isdecimal()), None)


def filesystem_name(text: str) -> str | None:
    """The catalogue's name of a filesystem that people write so; None where it is none."""
    name = _ALIASES.get(text.lower(), text.lower())
    return name if name in catalogue() else None


def candidate_of(name: str) -> Candidate:
    """A candidate by its short name; one that the catalogue does not know stands for itself."""
    name = safe(filesystem_name(name) or name)
    try:
        return replace(parse_candidate(name), name=name)
    except UsageError:
        return Candidate(name, Filesystem(name, name, "", ""))


def by_disk(parsed_runs: Sequence[tuple[Source, ParsedRun]]) -> dict[str, list[tuple[Source, ParsedRun]]]:
    """Parsed runs by disk, where the files' names tell of several disks with several candidates each."""
    groups: dict[str, list[tuple[Source, ParsedRun]]] = {}
    for source, parsed_run in parsed_runs:
        groups.setdefault(source.group, []).append((source, parsed_run))
    comparable = [group for group in groups.values() if len({source.candidate for source, _ in group}) > 1]
    return groups if len(groups) > 1 and comparable else {"": list(parsed_runs)}


def assemble(
    parsed_runs: Iterable[tuple[Source, ParsedRun]], *, baseline: str = "", drive: Drive | None = None
) -> Result:
    """One result from what was parsed of one disk. What files tell of one candidate are its repeats, in their order.

    The n-th figure of each candidate and workload stands in round n, which means nothing but its number.

    Raises UsageError where the baseline is not among the candidates.
    """
    ordered = sorted(parsed_runs, key=lambda item: item[0].run)
    workloads: dict[str, Workload] = {}
    names: dict[str, None] = {}
    repeats: Counter[tuple[str, str]] = Counter()
    samples: list[Sample] = []
    failures: list[Failure] = []
    for source, parsed_run in ordered:
        for workload in parsed_run.workloads:
            workloads.setdefault(workload.name, workload)
        told = _candidates_of(source, parsed_run)
        for name in told.values():
            names.setdefault(name)
        for figure in parsed_run.figures:
            name, metric = told[figure.candidate], figure.metric
            primary = metric.name == workloads[figure.workload].metric.name
            number = repeats[name, figure.workload] + 1
            samples.append(
                Sample(number, name, figure.workload, metric.name, figure.value, metric.unit, metric.better, primary)
            )
        for fault in parsed_run.faults:
            name = told[fault.candidate]
            number = repeats[name, fault.workload] + 1
            failures.append(Failure(number, name, fault.workload, fault.kind, fault.text))
        repeats.update({(told[figure.candidate], figure.workload) for figure in parsed_run.figures})
    chosen = _baseline(baseline, list(names))
    tools = dict.fromkeys(parsed_run.tool for _, parsed_run in ordered)
    files = ", ".join(dict.fromkeys(source.file for source, _ in ordered))
    recipe = Recipe("imported", _title(workloads), "", tuple(workloads.values()), 0, 0.0)
    plan = Plan(recipe, tuple(candidate_of(name) for name in names), chosen, Target("device", ""), drive)
    environment = Environment(
        fswizard.__version__,
        clock.utc().strftime("%Y-%m-%dT%H:%M:%SZ"),
        source=safe(f"{', '.join(tools)}: {files}"),
    )
    return Result(environment, plan, tuple(samples), tuple(failures), outcome="finished")


def _candidates_of(source: Source, parsed_run: ParsedRun) -> dict[str, str]:
    """Candidate as the parsed run names it, to its name in the result."""
    own = [*(figure.candidate for figure in parsed_run.figures), *(fault.candidate for fault in parsed_run.faults)]
    return {name: candidate_of(name or source.candidate).name for name in dict.fromkeys(own)}


def _baseline(asked: str, names: Sequence[str]) -> str:
    asked = candidate_of(asked).name if asked else ""
    if asked and asked not in names:
        raise UsageError(f"The baseline {asked} is not among the candidates.", f"They are: {'; '.join(names)}.")
    return asked or (DEFAULT_BASELINE if DEFAULT_BASELINE in names else names[0])


def _title(workloads: Mapping[str, Workload]) -> str:
    titles = {workload.title.partition(":")[0] for workload in workloads.values()}
    return titles.pop() if len(titles) == 1 else "Figures from elsewhere"
