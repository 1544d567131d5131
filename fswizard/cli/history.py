"""`fswizard history`: earlier results, found by disk, date, recipe or candidate."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from plumbum import cli

from fswizard import results
from fswizard.cli.command import Command
from fswizard.errors import UsageError
from fswizard.filesystems import title_of
from fswizard.language import _
from fswizard.model.text import safe
from fswizard.report.comparison import document
from fswizard.report.subject import run_text
from fswizard.report.text import WIDTH, paint, wrap
from fswizard.results import Entry
from fswizard.stats.comparison import compare


class History(Command):
    """List earlier results, newest first: all, or those that contain every WORD (disk, date, recipe)."""

    compare = cli.Flag("--compare", help=_("compare two results, each a file or part of a name"))

    def main(self, *words: str) -> int:
        if self.compare:
            return self._compare(words)
        entries = [entry for entry in results.all_results() if _mentions(entry, words)]
        if not entries:
            none = _("No result matches {words}.", words=safe(" ".join(words))) if words else _("No results yet.")
            print(none, file=sys.stderr)
        for entry in entries:
            what = f"{entry.when}  {entry.what}: {'; '.join(map(title_of, entry.header.candidates))}"
            ending = entry.ending
            end = run_text(ending.rounds, ending.at_s, ending.outcome) if ending else _("cut off, or still running")
            print(safe(entry.path.stem))
            for text in (entry.verdict, what, end):
                for line in wrap(safe(text), WIDTH - 4):
                    print(f"    {line}")
        return 0

    def _compare(self, words: Sequence[str]) -> int:
        if len(words) != 2:
            raise UsageError(_("--compare takes two results."), _("Name two results: --compare A B."))
        named = [(path, results.load(path)) for path in map(results.find, words)]
        named.sort(key=lambda one: one[1].environment.started)
        (before, first), (after, second) = named
        print(paint(document(compare(first, second), (before.stem, after.stem))), end="")
        return 0


def _mentions(entry: Entry, words: Sequence[str]) -> bool:
    header = entry.header
    text = " ".join((entry.path.stem, header.started, header.recipe, header.drive, *header.candidates))
    text = text.casefold()
    return all(word.casefold() in text for word in words)
