"""The comparison of two results: a table of ratios, and what may explain them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fswizard.language import _
from fswizard.model.comparison import Comparison
from fswizard.model.text import harmless, safe
from fswizard.model.units import figure_text
from fswizard.report.blocks import Bullets, Document, Facts, Table, legend, ratio_cell


def document(comparison: Comparison, names: Sequence[str]) -> Document:
    """The comparison in blocks; `names` are those of the first and the second result."""
    comparison = harmless(comparison)
    sides = (_("before"), _("after"))
    changed = [(what, f"{before or '?'} → {after or '?'}") for what, before, after in comparison.differences]
    return (
        Facts(tuple((side.capitalize(), safe(name)) for side, name in zip(sides, names))),
        Facts(tuple(changed), _("What else changed")),
        Table(("", *sides, _("ratio")), tuple(_rows(comparison)), tuple(_notes(comparison, sides))),
        Bullets(_("Doubts"), comparison.doubts),
        Bullets(_("Not compared, as not alike in both"), comparison.left_out),
    )


def _rows(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    """The title of each workload, and its candidates below it."""
    for workload in dict.fromkeys(change.workload for change in comparison.changes):
        yield workload or _("all together"), "", "", ""
        for change in comparison.changes:
            if change.workload == workload:
                figures = ("", "")
                if workload:
                    figures = (figure_text(change.before, change.unit), figure_text(change.after, change.unit))
                yield f"- {change.candidate}", *figures, ratio_cell(change.ratio)


def _notes(comparison: Comparison, sides: tuple[str, str]) -> Iterator[str]:
    """Explanations of ratios, intervals and signs."""
    before, after = sides
    ratios = [change.ratio for change in comparison.changes]
    yield _(
        "Ratios are {after} over {before}: above 1 is better. Within 5 % they are alike.", after=after, before=before
    )
    if any(ratio.verdict != "open" for ratio in ratios):
        yield _("Each difference has a chance of 1 % of being none.")
    yield legend(ratios)
