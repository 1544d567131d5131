"""Comparison of two results: changes as text, figures as bars, and other differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll

from fswizard.language import N_, _
from fswizard.model.comparison import Comparison
from fswizard.report.blocks import Figures
from fswizard.report.comparison import document
from fswizard.tui.screens.base import SCROLL, Window
from fswizard.tui.widgets.chart import Bars
from fswizard.tui.widgets.report import Report


class ComparisonScreen(Window[None]):
    """Changes from the first to the second of two results."""

    CSS_PATH = "comparison.tcss"
    TITLE = N_("Two results side by side")
    FRAME_CLASSES = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        *SCROLL,
        Binding("c", "copy", N_("copy")),
        Binding("escape", "dismiss", N_("back")),
    ]

    def __init__(self, comparison: Comparison, names: Sequence[str], to_copy: str) -> None:
        """`names` describe the results in a few words each; `to_copy` leaves out what may not be shared."""
        super().__init__()
        self._comparison = comparison
        self._names = names
        self._to_copy = to_copy

    def body(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            for block in document(self._comparison, self._names):
                yield Bars(block.charts) if isinstance(block, Figures) else Report([block])

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._to_copy)
        self.notify(_("The comparison is in the clipboard, where the terminal allows it."))
