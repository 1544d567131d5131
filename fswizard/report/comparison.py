"""Two results side by side, as plain text."""

from __future__ import annotations

from collections.abc import Iterator

from fswizard.model.comparison import Change, Comparison
from fswizard.model.text import safe
from fswizard.report import layout
from fswizard.report.figures import MARKS, figure, interval_text, ratio_text

LEGEND = "+ better  - worse  = the same (within 5 %)  ? not settled"


def render(comparison: Comparison, first: str, second: str) -> str:
    """The comparison in at most 80 columns; `first` and `second` name the results."""
    return "\n\n".join("\n".join(block) for block in _blocks(comparison, first, second) if block) + "\n"


def _blocks(comparison: Comparison, first: str, second: str) -> Iterator[list[str]]:
    yield [*layout.labelled("First", safe(first)), *layout.labelled("Second", safe(second))]
    header = ("candidate", "workload", "first", "second", "ratio", "interval", "")
    rows = [_row(change) for change in comparison.changes]
    yield layout.table(header, rows, text_columns=2, longest=20)
    notes = [f"Ratios are second over first, above 1 is better. {LEGEND}"]
    if any(change.ratio.low is None for change in comparison.changes):
        notes.append("Where no interval stands, one of the two has fewer than three rounds.")
    else:
        notes.append("Each interval holds with 95 % by itself; among twenty, one may be off.")
    yield [line for note in notes for line in layout.wrap(note, layout.WIDTH)]
    for title, items in (("What else differs", comparison.differences), ("Not compared", comparison.left_out)):
        yield [title, *(line for item in items for line in layout.bullet(safe(item)))] if items else []


def _row(change: Change) -> tuple[str, ...]:
    ratio = change.ratio
    figures = ("", "")
    if change.before:
        figures = (figure(change.before, change.unit), figure(change.after, change.unit))
    mark = MARKS[ratio.verdict] if ratio.low is not None else "?"
    title = safe(change.workload) or "all together"
    return (safe(change.candidate), title, *figures, ratio_text(ratio.ratio), interval_text(ratio), mark)
