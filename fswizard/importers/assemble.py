"""From the runs of several files to one result."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import fswizard
from fswizard.errors import UsageError
from fswizard.filesystems import mounted_as, parse_candidate
from fswizard.importers.parsed_run import ParsedRun, slug
from fswizard.language import N_, _
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.plan import Plan, Target
from fswizard.model.recipe import Recipe, Workload
from fswizard.model.result import Environment, Failure, Result, Sample
from fswizard.model.text import safe
from fswizard.system import clock

DEFAULT_BASELINE = "ext4"
_ALIASES = {"nilfs": "nilfs2", "btr": "btrfs"}
_RUN = re.compile(r"(?:run|round|rep|repeat|repetition|iter|iteration|pass|try|trial)(\d{1,6})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """Origin of a parsed run: candidate, disk and run, as far as the file's name contains them."""

    file: str
    candidate: str
    group: str
    """Words before the candidate in the file's name, usually the disk."""
    run: int
    alike: str = ""
    """The file's name without the number of its run, as other runs have it; empty where the user named the candidate,
    who knows which files belong together."""


def sources_of(files: Sequence[tuple[str, str]]) -> list[Source]:
    """The sources of (candidate or empty, path) pairs, by the files' names, or else by their directories'.

    `SMR.btrfs.0.out` is run 0 of btrfs on the disk SMR. `SMR.reiserfs.0.out` beside it has as many words and begins
    alike, so it is one of reiserfs, although the catalogue does not have that filesystem.
    """
    split = [_words(PurePath(path).name) for _, path in files]
    known = [next((at for at, word in enumerate(words) if filesystem_name(word)), None) for words in split]
    habits = {(len(words), *words[:at]): at for words, at in zip(split, known) if at is not None}
    sources = []
    for (candidate, path), words, at_word in zip(files, split, known):
        file, directories = PurePath(path).name, PurePath(path).parts[-2:-4:-1]
        neighbours = (at for habit, at in habits.items() if habit == (len(words), *words[:at]))
        place = at_word if at_word is not None else next((at for at in neighbours if not words[at].isdecimal()), None)
        run_at, run = _run(words, place)
        before = "-".join(word for at, word in enumerate(words[:place]) if at != run_at)
        alike = "-".join((str(PurePath(path).parent), *words[:run_at], *words[run_at + 1 :]))
        if candidate:
            source = Source(file, candidate, "", 0)
        elif place is not None:
            source = Source(file, filesystem_name(words[place]) or words[place], before, run, alike)
        else:
            above = (filesystem_name(word) for directory in directories for word in _words(directory))
            source = Source(file, next(filter(None, above), safe(PurePath(path).stem)), "", run, alike)
        sources.append(source)
    return sources


def named_by_job(source: Source, run: ParsedRun) -> tuple[Source, ParsedRun]:
    """A run with the candidate that its job is named after, if nothing else names one, and its work without that name:
    `xfs-randread` is `randread` on XFS."""
    if len(run.workloads) != 1 or any(
        (*(one.candidate for one in run.figures), *(one.candidate for one in run.faults))
    ):
        return source, run
    mine, work = filesystem_name(candidate_of(source.candidate).filesystem.name), run.workloads[0]
    job, __, rest = work.name.partition("\n")
    words = _words(job)
    at = next((at for at, word in enumerate(words) if filesystem_name(word)), len(words))
    own = filesystem_name(words[at]) if at < len(words) else None
    if not own or own != (mine or (own if source.alike else "")):
        return source, run
    short = "-".join((*words[:at], *words[at + 1 :])) or "fio"
    named = replace(work, name=f"{short}\n{rest}", title=work.title.replace(job, short, 1))
    figures = tuple(replace(figure, workload=named.name) for figure in run.figures)
    faults = tuple(replace(fault, workload=named.name) for fault in run.faults)
    return (
        source if mine else replace(source, candidate=own),
        replace(run, workloads=(named,), figures=figures, faults=faults),
    )


def _words(name: str) -> list[str]:
    return re.findall(r"[A-Za-z0-9]+", name)


def _run(words: Sequence[str], place: int | None) -> tuple[int, int]:
    """Which word has the number of the run, and that number; behind all words, and 0, if none has.

    It stands behind the candidate, or with a word for it: other numbers may be a depth or a level.
    """
    for at, word in enumerate(words):
        called = words[at - 1] + word if at and _RUN.fullmatch(words[at - 1] + word) else word
        behind = re.fullmatch(r"\d{1,6}", word) if place is not None and at == place + 1 else None
        if number := _RUN.fullmatch(called) or behind:
            return at, int(number[number.lastindex or 0])
    return len(words), 0


def filesystem_name(text: str) -> str | None:
    """The catalogue's name of a filesystem by a usual spelling, or None if there is none."""
    known = mounted_as(_ALIASES.get(text.lower(), text.lower()))
    return known.name if known else None


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
    UsageError if the baseline is not among the candidates, or if files that aren't repeats would fall together.
    """
    ordered = sorted(parsed_runs, key=lambda item: item[0].run)
    _check_repeats(ordered)
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
    tools = dict.fromkeys(parsed_run.tool for __, parsed_run in ordered)
    files = ", ".join(dict.fromkeys(source.file for source, __ in ordered))
    named = _named(workloads)
    samples = [replace(sample, workload=named[sample.workload].name) for sample in samples]
    failures = [replace(failure, workload=named[failure.workload].name) for failure in failures]
    titles = {workload.title.partition(":")[0] for workload in workloads.values()}
    title = titles.pop() if len(titles) == 1 else N_("Figures from elsewhere")
    recipe = Recipe("imported", title, "", tuple(named.values()), 0, 0.0)
    candidates = tuple(map(candidate_of, names))
    plan = Plan(recipe, candidates, _baseline(baseline, names), Target("device", ""), drive)
    environment = Environment(
        fswizard.__version__,
        clock.utc().strftime("%Y-%m-%dT%H:%M:%SZ"),
        source=safe(f"{', '.join(tools)}: {files}"),
    )
    return Result(environment, plan, tuple(samples), tuple(failures), outcome="finished")


def _baseline(asked: str, names: Mapping[str, None]) -> str:
    if not asked:
        return DEFAULT_BASELINE if DEFAULT_BASELINE in names else next(iter(names))
    if (baseline := candidate_of(asked).name) not in names:
        raise UsageError(
            _("The baseline {candidate} is not among the candidates.", candidate=baseline),
            _("They are: {candidates}.", candidates="; ".join(names)),
        )
    return baseline


def _check_repeats(parsed_runs: Sequence[tuple[Source, ParsedRun]]) -> None:
    """UsageError if files whose names differ in more than the number of a run are of one candidate's same work."""
    sources: dict[tuple[str, str], dict[Source, None]] = {}
    for source, parsed_run in parsed_runs:
        own = [(one.candidate, one.workload) for one in parsed_run.figures]
        own += [(one.candidate, one.workload) for one in parsed_run.faults]
        for candidate, work in own:
            if source.alike and not candidate:
                sources.setdefault((candidate_of(source.candidate).name, work), {})[source] = None
    for (candidate, __), several in sources.items():
        if len({source.alike for source in several}) > 1 or len({source.run for source in several}) < len(several):
            files = ", ".join(safe(source.file) for source in several)
            raise UsageError(
                _(
                    "These files would all be {candidate}, with figures for the same work: {files}.",
                    candidate=candidate,
                    files=files,
                ),
                _(
                    "Name each file's candidate, such as `btrfs:compress=zstd=FILE`; "
                    "files of the same name are repeats."
                ),
            )


def _named(workloads: Mapping[str, Workload]) -> dict[str, Workload]:
    """The workloads with short names and with titles that tell them apart.

    The first line of a name is kept, and of the others those that not all have whose first line is alike.
    """
    lines = {name: name.split("\n") for name in workloads}
    alike: dict[str, list[set[str]]] = {}
    for first, *more in lines.values():
        alike.setdefault(slug(first), []).append(set(more))
    named: dict[str, Workload] = {}
    taken: set[str] = set()
    for name, workload in workloads.items():
        first, *more = lines[name]
        own = [line for line in more if line not in set.intersection(*alike[slug(first)])]
        short = slug(" ".join((first, *own)))
        free = itertools.chain([short], (f"{short}-{number}" for number in itertools.count(2)))
        short = next(each for each in free if each not in taken)
        taken.add(short)
        title = ", ".join((workload.title, *(line for line in own if "=" in line)))
        named[name] = replace(workload, name=short, title=safe(title))
    return named
