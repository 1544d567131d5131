"""Small windows: texts to read, and questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static
from textual.widgets.option_list import Option

from fswizard.language import N_, _
from fswizard.tui.drawing import Piece, keyed, text
from fswizard.tui.screens.base import SCROLL, Window
from fswizard.tui.widgets.options import Options


class TextScreen(Window[None]):
    """A text to read, such as help on the screen below."""

    TITLE = N_("Help")
    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", _("close")),
        Binding("enter,f1,l,q,question_mark", "dismiss", _("close"), show=False),
        *SCROLL,
    ]

    def __init__(self, message: Piece) -> None:
        super().__init__()
        self._message = message

    def body(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            yield Static(text(self._message))


class QuestionScreen(Window[str | None]):
    """A question; dismissed with the key of the chosen answer, or None."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", _("choose this")),
        Binding("escape", "dismiss", _("back")),
    ]
    options = getters.query_one(Options)

    def __init__(self, title: str, message: str, answers: Mapping[str, Piece]) -> None:
        """`answers` maps keys to texts, the harmless one first."""
        super().__init__()
        self.title = title
        self._message = message
        self._answers = answers

    def body(self) -> ComposeResult:
        yield Static(keyed(self._message))
        yield Options()

    def on_mount(self) -> None:
        self.options.show(Option(text(" ", message), id=key) for key, message in self._answers.items())

    @on(Options.OptionSelected)
    def action_choose(self) -> None:
        self.dismiss(self.options.key)
