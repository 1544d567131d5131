"""F1: what the screen is about."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from fswizard.tui.widgets.keybar import KeyBar


class HelpScreen(ModalScreen[None]):
    """Text over the screen that it is about."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "close"),
        Binding("enter,f1,q", "dismiss", "close", show=False),
        Binding("up", "scroll(-1)", "scroll", key_display="↑"),
        Binding("down", "scroll(1)", "scroll", key_display="↓"),
    ]

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words

    def compose(self) -> ComposeResult:
        with Vertical(classes="window") as window:
            window.border_title = "Help"
            with VerticalScroll(id="help", can_focus=False):
                yield Static(self._words, markup=False)
        yield KeyBar()

    def action_scroll(self, direction: int) -> None:
        self.query_one("#help").scroll_relative(y=direction, animate=False)
