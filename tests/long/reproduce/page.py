"""The page on what was run again, made of what is shipped: `python -m tests.long.reproduce.page`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fswizard.model.result import Result
from fswizard.model.units import rounds_text
from fswizard.report.markup import no_markdown
from tests.long.reproduce.experiments import DOCUMENTS, NOT_RUN, SIMULATED
from tests.long.reproduce.published import PUBLISHED, document, experiment, result_of
from tests.long.reproduce.verdicts import compared, judged

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
[models.c](../../tests/long/uml/driver/models.c); a test holds the shingled disk to the figures of real ones, give or
take a quarter. ZFS is measured in a virtual machine.

`make reproduce` makes this page: it measures what has no result yet, but for two experiments that were done by hand.
`make reproduce DOCUMENT=NAME` runs one document: shingled, f2fs, trees or arrays. `fswizard run FILE` runs one
experiment on a disk of your own, with its recipe of [reruns/recipes](reruns/recipes).
"""


def write() -> None:
    PAGE.write_text("\n\n".join(block.strip() for block in _blocks() if block) + "\n", "utf-8")


def _blocks() -> Iterator[str]:
    yield HEAD
    rows = [(TITLES[it], *row) for it, names in DOCUMENTS.items() for name in names for row in judged(name)]
    yield table(("document", "conclusion", "verdict", "figures here", "why"), rows)
    for it, names in DOCUMENTS.items():
        sources = dict.fromkeys(document(experiment(name).published).source for name in names)
        yield f"## {TITLES[it]}\n\n" + "\n".join(f"- {source}" for source in sources)
        for name in names:
            result = result_of(name)
            yield f"### {experiment(name).title} (`{name}`)"
            yield no_markdown(experiment(name).scale)
            yield no_markdown(_machine_text(result)) if result else "Not run yet."
            yield table(("work", "candidate", "published", "here", "agreement"), compared(name))
            yield "\n".join(f"- {no_markdown(note)}" for note in experiment(name).notes)
        yield NOT_RUN.get(it, "")


def _machine_text(result: Result) -> str:
    """When and on what it was measured, in a sentence."""
    environment = result.environment
    rounds = len({sample.round for sample in result.samples if sample.round and sample.primary})
    processor = "in simulated time" if environment.processor == SIMULATED else environment.processor
    parts = (f"Linux {environment.kernel}", processor, rounds_text(rounds))
    return f"Measured {environment.started[:10]}: {', '.join(filter(None, parts))}."


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of Markdown; empty where it has no rows."""
    lines = [f"| {' | '.join(header)} |", f"| {' | '.join('---' for _ in header)} |"]
    lines += [f"| {' | '.join(no_markdown(text.strip()) for text in row)} |" for row in rows]
    return "\n".join(lines) if len(lines) > 2 else ""


if __name__ == "__main__":
    write()
