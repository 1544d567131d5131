"""`fswizard history`: earlier results, found by disk, date, recipe or candidate."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from plumbum import cli

from fswizard import results
from fswizard.cli.command import Command
from fswizard.cli.output import deliver
from fswizard.errors import UsageError
from fswizard.filesystems import title_of
from fswizard.model.codec import to_json
from fswizard.model.text import safe
from fswizard.report.comparison import render
from fswizard.report.layout import wrap
from fswizard.report.presentation import run_text
from fswizard.results import Entry
from fswizard.stats.comparison import compare


class History(Command):
    """List earlier results, newest first: all, or those that contain every WORD (disk, date, recipe, candidate)."""

    json = cli.Flag("--json", help="print JSON")
    compare = cli.Flag("--compare", help="compare two results, each a file or part of a name")

    def main(self, *words: str) -> int:
        if self.compare:
            return self._compare(words)
        entries = [entry for entry in results.all_results() if _mentions(entry, words)]
        if self.json:
            print(json.dumps([_document(entry) for entry in entries], indent=2))
        elif entries:
            print("\n".join(line for entry in entries for line in _lines(entry)))
        else:
            print(f"No result matches {safe(' '.join(words))}." if words else "No results yet.", file=sys.stderr)
        return 0

    def _compare(self, words: Sequence[str]) -> int:
        if len(words) != 2:
            raise UsageError("--compare takes two results.", "Name the earlier one, then the later one: --compare A B.")
        first, second = (results.find(word) for word in words)
        comparison = compare(results.load(first), results.load(second))
        if self.json:
            print(json.dumps(to_json(comparison), indent=2))
        else:
            deliver(render(comparison, first.stem, second.stem), None)
        return 0


def _mentions(entry: Entry, words: Sequence[str]) -> bool:
    header = entry.header
    text = " ".join((entry.path.stem, header.started, header.recipe, header.drive, *header.candidates)).casefold()
    return all(word.casefold() in text for word in words)


def _lines(entry: Entry) -> list[str]:
    told = f"{entry.when}  {entry.what}: {'; '.join(map(title_of, entry.header.candidates))}"
    return [entry.path.stem, *(f"    {line}" for text in (entry.verdict, told, _end(entry)) for line in wrap(text, 76))]


def _end(entry: Entry) -> str:
    ending = entry.ending
    return run_text(ending.rounds, ending.at_s, ending.outcome) if ending else "cut off, or still running"


def _document(entry: Entry) -> dict[str, Any]:
    header, ending = entry.header, entry.ending
    return {
        "name": entry.path.stem,
        "path": str(entry.path),
        "started": header.started,
        "recipe": header.recipe,
        "target": header.target,
        "drive": header.drive,
        "candidates": list(header.candidates),
        "outcome": ending.outcome if ending else None,
        "verdict": ending.verdict if ending else "",
        "leaders": list(ending.leaders) if ending else [],
        "rounds": ending.rounds if ending else None,
        "elapsed_s": ending.at_s if ending else None,
    }
