"""From the runs of several files to one result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
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
    """Origin of a parsed run: candidate, disk and run, as far as the file's name contains them."""

    file: str
    candidate: str
    group: str
    """Words before the candidate in the file's name, usually the disk."""
    run: int


def sources_of(files: Sequence[tuple[str, str]]) -> list[Source]:
    """The sources of (candidate or empty, path) pairs, by the files' names.

    `SMR.btrfs.0.out` is run 0 of btrfs on the disk SMR. `SMR.reiserfs.0.out` beside it has as many words and begins
    alike, so it is one of reiserfs, although the catalogue does not have that filesystem.
    """
    split = [re.findall(r"[A-Za-z0-9]+", PurePath(path).name) for _, path in files]
    known = [next((at for at, word in enumerate(words) if filesystem_name(word)), None) for words in split]
    habits = {(len(words), *words[:at]): at for words, at in zip(split, known) if at is not None}
    sources = []
    for (candidate, path), words, at_word in zip(files, split, known):
        alike = (at for habit, at in habits.items() if habit == (len(words), *words[:at]))
        place = at_word if at_word is not None else next((at for at in alike if not words[at].isdecimal()), None)
        if candidate or place is None:
            source = Source(PurePath(path).name, candidate or safe(PurePath(path).stem), "", 0)
        else:
            run = next((int(word) for word in words[place + 1 :] if re.fullmatch(r"\d{1,6}", word)), 0)
            name = filesystem_name(words[place]) or words[place]
            source = Source(PurePath(path).name, name, "-".join(words[:place]), run)
        sources.append(source)
    return sources


def filesystem_name(text: str) -> str | None:
    """The catalogue's name of a filesystem by a usual spelling, or None if there is none."""
    name = _ALIASES.get(text.lower(), text.lower())
    return name if name in catalogue() else None


def candidate_of(name: str) -> Candidate:
    """A candidate by its short name, which may be unknown to the catalogue."""
    name = safe(filesystem_name(name) or name)
    try:
        return replace(parse_candidate(name), name=name)
    except UsageError:
        return Candidate(name, Filesystem(name, name, "", ""))


def by_disk(parsed_runs: Sequence[tuple[Source, ParsedRun]]) -> dict[str, list[tuple[Source, ParsedRun]]]:
    """Parsed runs by disk, if files' names contain several disks, one of them with several candidates."""
    groups: dict[str, list[tuple[Source, ParsedRun]]] = {}
    for source, parsed_run in parsed_runs:
        groups.setdefault(source.group, []).append((source, parsed_run))
    comparable = [group for group in groups.values() if len({source.candidate for source, _ in group}) > 1]
    return groups if len(groups) > 1 and comparable else {"": list(parsed_runs)}


def assemble(
    parsed_runs: Iterable[tuple[Source, ParsedRun]], *, baseline: str = "", drive: Drive | None = None
) -> Result:
    """One result from the runs of one disk; several runs of one candidate are repeats.

    The n-th figure of each candidate and workload gets round n, though rounds were not measured together. Raises
    UsageError if the baseline is not among the candidates.
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
        own = [*(one.candidate for one in parsed_run.figures), *(one.candidate for one in parsed_run.faults)]
        called = {name: candidate_of(name or source.candidate).name for name in own}
        names |= dict.fromkeys(called.values())
        for figure in parsed_run.figures:
            name, metric = called[figure.candidate], figure.metric
            primary = metric.name == workloads[figure.workload].metric.name
            number = repeats[name, figure.workload] + 1
            samples.append(
                Sample(number, name, figure.workload, metric.name, figure.value, metric.unit, metric.better, primary)
            )
        for fault in parsed_run.faults:
            name = called[fault.candidate]
            number = repeats[name, fault.workload] + 1
            failures.append(Failure(number, name, fault.workload, fault.kind, fault.text))
        repeats.update({(called[figure.candidate], figure.workload) for figure in parsed_run.figures})
    baseline = candidate_of(baseline).name if baseline else ""
    if baseline and baseline not in names:
        raise UsageError(f"The baseline {baseline} is not among the candidates.", f"They are: {'; '.join(names)}.")
    baseline = baseline or (DEFAULT_BASELINE if DEFAULT_BASELINE in names else next(iter(names)))
    titles = {workload.title.partition(":")[0] for workload in workloads.values()}
    title = titles.pop() if len(titles) == 1 else "Figures from elsewhere"
    tools = dict.fromkeys(parsed_run.tool for _, parsed_run in ordered)
    files = ", ".join(dict.fromkeys(source.file for source, _ in ordered))
    recipe = Recipe("imported", title, "", tuple(workloads.values()), 0, 0.0)
    plan = Plan(recipe, tuple(map(candidate_of, names)), baseline, Target("device", ""), drive)
    environment = Environment(
        fswizard.__version__,
        clock.utc().strftime("%Y-%m-%dT%H:%M:%SZ"),
        source=safe(f"{', '.join(tools)}: {files}"),
    )
    return Result(environment, plan, tuple(samples), tuple(failures), outcome="finished")
