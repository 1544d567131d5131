"""Two results side by side: its words and figures, which the wizard draws too, and all of it as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fswizard.model.comparison import Change, Comparison
from fswizard.model.judgement import SIGNS
from fswizard.model.plan import FIRST_LOOK
from fswizard.model.text import safe
from fswizard.model.units import figure_text, ratio_text, rounds_text
from fswizard.report import layout

TOGETHER = "all together"


def by_candidate(comparison: Comparison) -> Mapping[str, list[Change]]:
    """Title of a candidate to what changed of it, in order."""
    titles = dict.fromkeys(change.title for change in comparison.changes)
    return {title: [change for change in comparison.changes if change.title == title] for title in titles}


def figures(change: Change) -> tuple[str, str]:
    """What the two results measured; empty for all workloads together, which have no figure of their own."""
    if not change.workload:
        return "", ""
    return figure_text(change.before, change.unit), figure_text(change.after, change.unit)


def notes(comparison: Comparison) -> Iterator[str]:
    """What the ratios and intervals mean."""
    yield "Ratios are second over first: above 1 the second is better. Within 5 % they tie."
    if any(change.ratio.low is None for change in comparison.changes):
        yield f"Ratios without an interval come from fewer than {rounds_text(FIRST_LOOK)}."
    else:
        yield "Expect at most 5 % of these marks to be wrong."


def lists(comparison: Comparison) -> Mapping[str, tuple[str, ...]]:
    """Title to sentences, of those sections that there is something to say in."""
    sections = {"What else differs": comparison.differences, "Not compared": comparison.left_out}
    return {title: items for title, items in sections.items() if items}


def render(comparison: Comparison, first: str, second: str) -> str:
    """The comparison in at most 80 columns; `first` and `second` name the results."""
    return "\n\n".join("\n".join(block) for block in _blocks(comparison, first, second)) + "\n"


def _blocks(comparison: Comparison, first: str, second: str) -> Iterator[list[str]]:
    yield [*layout.labelled("First", safe(first)), *layout.labelled("Second", safe(second))]
    for title, changes in by_candidate(comparison).items():
        header = (safe(title), "first", "second", "ratio", "interval", "")
        yield layout.table(header, map(_row, changes), longest=20)
    yield [line for note in notes(comparison) for line in layout.wrap(note, layout.WIDTH)]
    for title, items in lists(comparison).items():
        yield [title, *(line for item in items for line in layout.bullet(safe(item)))]


def _row(change: Change) -> tuple[str, ...]:
    ratio = change.ratio
    word = f"{SIGNS[ratio.verdict].glyph} {ratio.verdict}"
    return (safe(change.workload) or TOGETHER, *figures(change), ratio_text(ratio.ratio), ratio.interval(), word)
