"""Comparison of two results: their ratios, and what may explain them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from fswizard.language import N_, _
from fswizard.model.comparison import Comparison, Difference
from fswizard.model.result import Result
from fswizard.report.comparison import document
from fswizard.report.text import paint
from fswizard.results import Entry
from fswizard.stats.comparison import compare
from fswizard.tui.drawing import text
from fswizard.tui.screens.base import SCROLL, Window


class ComparisonScreen(Window[None]):
    """Changes from the first to the second of two results."""

    CSS_PATH = "comparison.tcss"
    TITLE = N_("Two results side by side")
    FRAME_CLASSES = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        *SCROLL,
        Binding("c", "copy", _("copy")),
        Binding("escape", "dismiss", _("back")),
    ]

    def __init__(self, comparison: Comparison, entries: tuple[Entry, Entry], results: tuple[Result, Result]) -> None:
        super().__init__()
        self._comparison = comparison
        self._entries = entries
        self._results = results

    def body(self) -> ComposeResult:
        names = [f"{entry.when}, {entry.what}" for entry in self._entries]
        with VerticalScroll(can_focus=False):
            yield Static(text(paint(document(self._comparison, names))))

    def action_copy(self) -> None:
        def copy(shared: str) -> None:
            self.app.copy_to_clipboard(shared)
            self.notify(_("The comparison is in the clipboard, where the terminal allows it."))

        dates = [entry.when for entry in self._entries]
        self.ask(partial(to_share, self._results, dates), copy, fails=lambda error: self.notify(_(error.message)))


def to_share(results: tuple[Result, Result], dates: Sequence[str]) -> str:
    """The comparison as text, without what names the machine, its owner or a single disk."""
    from fswizard.sharing import shareable

    # Directories are numbered in it, so each must have the same number in both.
    first, second = (frozenset(candidate.name for candidate in result.plan.candidates) for result in results)
    alike = []
    for result in results:
        common = [candidate for candidate in result.plan.candidates if candidate.name in first & second]
        common.sort(key=lambda candidate: candidate.name)
        alike.append(shareable(replace(result, plan=replace(result.plan, candidates=tuple(common)))))
    comparison = compare(*alike)
    serials = {result.plan.drive.serial for result in results if result.plan.drive}
    if len(serials) > 1 and not any(one.what == _("disk") for one in comparison.differences):
        other = Difference(_("disk"), _("first"), _("second"), unlike=True)
        comparison = replace(comparison, differences=(other, *comparison.differences))
    return paint(document(comparison, dates))
