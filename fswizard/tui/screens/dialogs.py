"""The small windows: help, and the question that is asked once when somebody leaves while a run goes on."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from fswizard.tui.drawing import fit, text
from fswizard.tui.screens.base import SCROLL_LINES, Window
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow


class HelpScreen(Window[None]):
    """What the screen below is about."""

    TITLE = "Help"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "close"),
        Binding("enter,f1,q", "dismiss", "close", show=False),
        *SCROLL_LINES,
    ]

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words

    def body(self) -> ComposeResult:
        with VerticalScroll(id="help", can_focus=False):
            yield Static(self._words, markup=False)


class LeaveScreen(Window[None]):
    """Keep watching, leave the run alone, or stop it and clean up."""

    TITLE = "A run is under way"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "choose this"),
        Binding("escape", "dismiss", "keep watching"),
    ]

    def __init__(self, *, quitting: bool) -> None:
        super().__init__()
        self._quitting = quitting

    def body(self) -> ComposeResult:
        running = self.wizard.running
        outlives = running is not None and running.run.outlives
        alone = "The run goes on without this window, and `fswizard watch` shows it again. " if outlives else ""
        yield Static(
            f"{alone}Stopping takes a few seconds: everything that the run made is removed. "
            "The results so far are kept.",
            markup=False,
        )
        keys = ["continue", "quit", "stop"] if self._quitting and outlives else ["continue", "stop", "quit"]
        words = {
            "continue": "Keep watching",
            "stop": "Stop and show the results so far",
            "quit": "Leave it running and quit" if outlives else "Stop and quit",
        }
        yield ChoiceList([ListRow(key, partial(_row, words[key])) for key in keys])

    @on(ChoiceList.Clicked)
    def action_choose(self) -> None:
        key = self.query_one(ChoiceList).key
        if not self.is_current:  # the run has ended meanwhile
            return
        self.dismiss()
        if key == "stop" and self.wizard.running is not None:
            self.wizard.running.stop()
            self.wizard.visit("run")
        elif key == "quit":
            self.wizard.leave_now()


def _row(words: str, width: int, on: bool) -> Content:
    return fit(text(("❯ " if on else "  ", "bold $primary"), words), width)
