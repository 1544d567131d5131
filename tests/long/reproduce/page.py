"""The page on what was run again, made of what is shipped: `python -m tests.long.reproduce --page`."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from fswizard.model.metrics import OPERATION_RATE
from fswizard.model.result import Result
from fswizard.model.units import rounds_text, three_digits
from fswizard.report.markup import no_markdown
from tests.long.reproduce.experiments import DOCUMENTS, NOT_RUN, SIMULATED
from tests.long.reproduce.own_figures import SIZE_BYTES, Figure, figures
from tests.long.reproduce.published import PUBLISHED, document, experiment, result_of
from tests.long.reproduce.verdicts import cell, compared, judged
from tests.long.uml.models import Modelled, compiled

PAGE = PUBLISHED / "README.md"
TITLES = {
    "shingled": "Filesystems on a shingled disk",
    "f2fs": "ext4 and F2FS on flash",
    "trees": "Trees on a desktop's SSD",
    "arrays": "Arrays of SSDs",
}
HEAD = """# Published experiments, run again

What the documents concluded, and whether fswizard's figures bear it out. Below are the tables: a published ratio and
the same ratio as fswizard measured it, with its 95 % interval. Above 1 is better than the first candidate, for
durations and latencies too. “Agrees” means in direction and in size; “smaller” and “larger” compare how far the two
ratios are from 1. A claimed difference is not confirmed where both are level within 5 %. The figures as published are
in the files of this directory, how each is run again, with the results, in [reruns](reruns).

“In simulated time” means: by fswizard itself, with real filesystems, on a machine whose clock stands still while it
computes, so that only its simulated disks take time. Their models, with sources, are in
[models.c](../../tests/long/uml/driver/models.c). ZFS is measured in a virtual machine.

`make reproduce` makes this page: it measures what has no result yet. `make reproduce DOCUMENT=NAME` runs one document:
shingled, f2fs, trees or arrays. `fswizard run FILE` runs one experiment on a disk of your own, with its recipe of
[reruns/recipes](reruns/recipes).
"""
OWN = """## The simulated shingled disk

Its own figures beside those of real disks of that family, each within a quarter or with a reason. Like the real disk it
offers no TRIM.
"""
CLEANING = {
    "smr-fileserver": "",
    "smr-fileserver-quick": ", if a band were cleaned in a quarter of a second",
    "smr-fileserver-slow": ", if a band were cleaned in a second",
}
DECIDES = "How long a band takes to clean decides this figure."


def write() -> None:
    PAGE.write_text(text(), "utf-8")


def text() -> str:
    blocks = (HEAD, _conclusions(), *_documents(), OWN, _own_figures())
    return "\n\n".join(block.strip() for block in blocks if block) + "\n"


def _conclusions() -> str:
    """What the documents concluded, in one table."""
    rows = (
        (TITLES[it], one.text, one.verdict, one.figures, one.why)
        for it, names in DOCUMENTS.items()
        for name in names
        for one in judged(name)
    )
    return table(("document", "conclusion", "verdict", "figures here", "why"), rows)


def _documents() -> Iterator[str]:
    for it, names in DOCUMENTS.items():
        sources = dict.fromkeys(document(experiment(name).published).source for name in names)
        yield f"## {TITLES[it]}\n\n" + "\n".join(f"- {source}" for source in sources)
        for name in names:
            yield f"### {experiment(name).title} (`{name}`)"
            yield from _experiment(name)
        for what in NOT_RUN.get(it, ()):
            yield f"Not run yet: {what}"


def _experiment(name: str) -> Iterator[str]:
    yield no_markdown(experiment(name).scale)
    result = result_of(name)
    yield no_markdown(_machine_text(result)) if result else "Not run yet."
    known = list(compared(name))
    rows = ((one.work, one.candidate, cell(one.there), cell(one.here), one.agreement) for one in known)
    yield table(("work", "candidate", "published", "here", "agreement"), rows)
    yield "\n".join(f"- {no_markdown(note)}" for note in dict.fromkeys(one.note for one in known if one.note))


def _machine_text(result: Result) -> str:
    """When and on what it was measured, in a sentence."""
    environment = result.environment
    rounds = len({sample.round for sample in result.samples if sample.round and sample.primary})
    processor = "in simulated time" if environment.processor == SIMULATED else environment.processor
    parts = (f"Linux {environment.kernel}", processor, rounds_text(rounds))
    text = f"Measured {environment.started[:10]}: {', '.join(filter(None, parts))}."
    if any(doubt.code == "busy-machine" for doubt in result.doubts):
        text += " Other programs kept the machine busy."
    return text


def _own_figures() -> str:
    with tempfile.TemporaryDirectory() as directory:
        shingled = partial(Modelled, compiled(Path(directory)), "shingled", SIZE_BYTES)
        rows = [
            (f.title, f"{three_digits(f.published)} {f.unit}", f"{three_digits(f.ours)} {f.unit}", f.source, f.why)
            for f in (*figures(shingled), *_penalty())
        ]
    return table(("property", "real", "simulated", "source", "more than a quarter off, because"), rows, escaped=False)


def _penalty() -> Iterator[Figure]:
    """How many times slower the shingled disk is, in published runs and in ours, by how long it takes to clean."""
    published = _published_rate("pmr-fileserver") / _published_rate("smr-fileserver")
    source = "[joshell](https://github.com/gmatht/joshell/tree/master/benchmarks/SMR)"
    conventional = result_of("pmr-fileserver")
    for name, how in CLEANING.items():
        if conventional and (shingled := result_of(name)):
            title = f"File server on ext4: the conventional disk over the shingled one{how}"
            yield Figure(title, "times", published, _rate(conventional) / _rate(shingled), source, DECIDES)


def _published_rate(name: str) -> float:
    work = next(work for work in document(name).workload if work.metric == OPERATION_RATE.name)
    return statistics.median(work.of("ext4"))


def _rate(result: Result) -> float:
    values = (s.value for s in result.samples if (s.candidate, s.metric) == ("ext4", OPERATION_RATE.name))
    return statistics.median(values)


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]], *, escaped: bool = True) -> str:
    """A table of Markdown; empty where it has no rows."""
    cells = [[no_markdown(text.strip()) if escaped else text.strip() for text in row] for row in rows]
    lines = [list(header), ["---"] * len(header), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) if cells else ""
