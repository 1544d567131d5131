"""The comparison of two results: a table of ratios, and what may explain them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fswizard.language import N_, _
from fswizard.model.comparison import Comparison, Difference
from fswizard.model.text import harmless, safe
from fswizard.model.units import figure_text
from fswizard.report.blocks import Bullets, Document, Facts, Table, legend, ratio_cell


def document(comparison: Comparison, names: Sequence[str]) -> Document:
    """The comparison in blocks; `names` are those of the first and the second result."""
    comparison = harmless(comparison)
    sides = (_("before"), _("after"))
    unlike = ", ".join(_text(one) for one in comparison.differences if one.unlike)
    changed = ", ".join(_text(one) for one in comparison.differences if not one.unlike)
    if not comparison.differences and any(change.ratio.differs for change in comparison.changes):
        changed = _("nothing that fswizard records: consider how full the disk is, its age, and other programs")
    text = N_("Not measured alike: {differences}. That alone may explain a difference.")
    facts = ((_("Changed"), changed), (_("Caution"), unlike and _(text, differences=unlike)))
    return (
        Facts(tuple((side.capitalize(), safe(name)) for side, name in zip(sides, names))),
        Facts(tuple(fact for fact in facts if fact[1])),
        Table(("", *sides, _("ratio")), tuple(_rows(comparison)), tuple(_notes(comparison, sides))),
        Bullets(_("Doubts"), comparison.doubts),
        Bullets(_("Not compared, as not alike in both"), comparison.left_out),
    )


def _text(difference: Difference) -> str:
    """`kernel 6.1.0-18-amd64 → 6.12.1-1`."""
    return f"{difference.what} {difference.before or _('unknown')} → {difference.after or _('unknown')}"


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
