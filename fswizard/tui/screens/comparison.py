"""Two results side by side: what changed in plain words, figures as bars, and what else differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content

from fswizard.language import N_, _
from fswizard.model.comparison import Change, Comparison
from fswizard.report.colours import key_of
from fswizard.report.comparison import (
    NAMES,
    TOGETHER,
    both_figures,
    by_candidate,
    by_workload,
    causes,
    cautions,
    effect,
    lengths,
    lists,
    notes,
    render,
    sentences,
)
from fswizard.tui.drawing import (
    WIDEST,
    bullet,
    facts,
    filesystem_ink,
    heading,
    ink,
    lines,
    paragraphs,
    text,
    wrap,
)
from fswizard.tui.screens.base import SCROLL_LINES, SCROLL_PAGES, Window
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.charts import ChartRow, charts
from fswizard.tui.widgets.ratios import ratio_table

BESIDE = 90
"""Columns from which on a workload's title stands beside its bars."""


class ComparisonScreen(Window[None]):
    """What the second of two results says beside the first one, or a filled filesystem beside an empty one."""

    TITLE = N_("Two results side by side")
    LOOK = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        *SCROLL_LINES,
        *SCROLL_PAGES,
        Binding("c", "copy", N_("copy")),
        Binding("escape", "dismiss", N_("back")),
    ]

    def __init__(self, comparison: Comparison, *names: str) -> None:
        """`names` tell the results in a few words each."""
        super().__init__()
        self._comparison = comparison
        self._names = names

    def body(self) -> ComposeResult:
        draw = partial(drawing, self._comparison, self._names)
        yield VerticalScroll(Canvas(draw, id="comparison"), id="compared", can_focus=False)

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(render(self._comparison, *self._names))
        self.notify(_("The comparison is in the clipboard, where the terminal allows it."))


def drawing(comparison: Comparison, names: Sequence[str], width: int) -> Content:
    """The whole comparison: the answer, bars by workload, ratios, and what was left out."""
    headline, *more = sentences(comparison)
    labels = NAMES[comparison.of] if len(names) > 1 else (N_("result"),)
    translated = map(_, labels)
    known = [(label[:1].upper() + label[1:], name) for label, name in zip(translated, names)]
    if why := causes(comparison):
        known.append((_("Changed"), why))
    head = (
        *(line.stylize("bold") for line in wrap(headline, width)),
        paragraphs([*more, ""], width),
        facts(known, width, label=9, gap=False),
        *(bullet(("!", "bold $text-warning"), caution, width) for caution in cautions(comparison)),
    )
    ratios = {
        title: [replace(change.ratio, candidate=change.workload or _(TOGETHER)) for change in changes]
        for title, changes in by_candidate(comparison).items()
    }
    blocks = [lines(head), _bars(comparison, min(width, WIDEST))]
    if ratios:
        blocks.append(ratio_table(ratios, min(width, WIDEST), "1"))
    blocks.append(paragraphs([(note, "$muted") for note in notes(comparison)], width))
    for title, items in lists(comparison).items():
        blocks.append(lines([heading(title, width), *(bullet(("·", "$muted"), it, width) for it in items)]))
    return Content("\n\n").join(filter(None, blocks))


def _bars(comparison: Comparison, width: int) -> Content:
    """By workload two half-high bars a candidate, what came first above; the longest is the best of the workload."""
    if not (groups := by_workload(comparison)):
        return Content("")
    before, after = map(_, NAMES[comparison.of])
    legend = text(heading(_("Figures, longer is faster")), "   ", ("▀", "$muted"), f" {before}   ", "▄", f" {after}")
    rows = {
        title: [
            ChartRow(
                change.title, partial(_pair, change, pair), both_figures(change),
                (effect(change), ink(change.ratio.verdict)),
            )
            for change, pair in zip(changes, lengths(changes))
        ]
        for title, changes in groups.items()
    }  # fmt: skip
    return Content("\n\n").join([legend, *charts([*rows.items()], width, beside=width >= BESIDE)])


def _pair(change: Change, pair: tuple[float, float], room: int) -> Content:
    before, after = (max(1, round(length * room)) for length in pair)
    both, style = min(before, after), filesystem_ink(key_of(change.kind))
    return text(("▀" * both, f"$muted on {style}"), ("▀" * (before - both), "$muted"), ("▄" * (after - both), style))
