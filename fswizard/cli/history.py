"""`fswizard history`: earlier results, found by disk, date, recipe or candidate."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from plumbum import cli

from fswizard import results
from fswizard.cli.command import Command
from fswizard.errors import FswizardError, UsageError
from fswizard.filesystems import title_of
from fswizard.language import _
from fswizard.model.text import safe
from fswizard.report.comparison import render, summary
from fswizard.report.layout import WIDTH, wrap
from fswizard.report.subject import run_text
from fswizard.results import Entry
from fswizard.stats.comparison import compare, compare_within


class History(Command):
    """List earlier results by disk, newest first: all, or those that contain every WORD (disk, date, recipe)."""

    compare = cli.Flag(
        "--compare", help=_("compare two results, each a file or part of a name; or fresh and filled in one")
    )

    def main(self, *words: str) -> int:
        if self.compare:
            return self._compare(words)
        entries = [entry for entry in results.all_results() if _mentions(entry, words)]
        if entries:
            disks = results.by_disk(entries)
            print("\n\n".join("\n".join(_of_disk(title, those)) for title, those in disks.items()))
        else:
            none = _("No result matches {words}.", words=safe(" ".join(words))) if words else _("No results yet.")
            print(none, file=sys.stderr)
        return 0

    def _compare(self, words: Sequence[str]) -> int:
        if len(words) not in (1, 2):
            raise UsageError(_("--compare takes one or two results."), _("Name two results: --compare A B."))
        named = [(path, results.load(path)) for path in map(results.find, words)]
        named.sort(key=lambda one: one[1].environment.started)
        runs = [run for __, run in named]
        comparison = compare(*runs) if len(runs) == 2 else compare_within(*runs)
        print(render(comparison, *(path.stem for path, __ in named)), end="")
        return 0


def _mentions(entry: Entry, words: Sequence[str]) -> bool:
    header = entry.header
    text = " ".join((entry.path.stem, header.started, header.recipe, header.drive, *header.candidates))
    text = text.casefold()
    return all(word.casefold() in text for word in words)


def _of_disk(title: str, entries: Sequence[Entry]) -> Iterator[str]:
    """The results of a disk, newest first. The newest result of each recipe is compared with the one before."""
    yield safe(title)
    compared: set[tuple[str, ...]] = set()
    for entry in entries:
        earlier = next(
            (e for e in entries if e.series == entry.series and e.header.started < entry.header.started), None
        )
        since = _since(earlier, entry) if earlier and entry.series not in compared else ""
        compared.add(entry.series)
        what = f"{entry.when}  {entry.header.recipe}: {'; '.join(map(title_of, entry.header.candidates))}"
        ending = entry.ending
        end = run_text(ending.rounds, ending.at_s, ending.outcome) if ending else _("cut off, or still running")
        yield f"  {safe(entry.path.stem)}"
        for text in filter(None, (entry.verdict, what, end, since)):
            yield from (f"      {line}" for line in wrap(text, WIDTH - 6))


def _since(earlier: Entry, later: Entry) -> str:
    try:
        comparison = compare(results.load(earlier.path), results.load(later.path))
    except FswizardError:
        return ""
    return _("Since {date}: {changes}.", date=earlier.when[:10], changes=summary(comparison))
