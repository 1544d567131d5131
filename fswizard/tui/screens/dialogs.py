"""Small windows: help, questions, and the question on leaving while a run is in progress."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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


class HelpScreen(Window[None]):
    """Help on the screen below."""

    CSS_PATH = "dialogs.tcss"
    TITLE = N_("Help")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", _("close")),
        Binding("enter,f1,q,question_mark", "dismiss", _("close"), show=False),
        *(replace(binding, show=binding.key == "pagedown") for binding in SCROLL),
    ]

    def __init__(self, message: str) -> None:
        super().__init__()
        self._message = message

    def body(self) -> ComposeResult:
        with VerticalScroll(id="help", can_focus=False):
            yield Static(self._message, markup=False)


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
        yield Static(keyed(self._message), markup=False)
        yield Options()

    def on_mount(self) -> None:
        self.options.show(Option(text(" ", message), id=key) for key, message in self._answers.items())

    @on(Options.OptionSelected)
    def _clicked(self) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        self.dismiss(self.options.key)


class QuitScreen(QuestionScreen):
    """Confirmation before the choices are lost."""

    def __init__(self) -> None:
        answers = {"stay": _("Stay"), "quit": _("Quit")}
        super().__init__(_("Quit?"), _("Nothing runs. What you chose is not kept."), answers)


class LeaveScreen(QuestionScreen):
    """Keep watching, leave the run alone, or stop it and clean up."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", _("keep watching"))]

    def __init__(self, *, outlives: bool, quitting: bool) -> None:
        """`outlives`: the run continues without a viewer; `quitting` lists that before stopping it."""
        message = _(
            "Stopping takes a few seconds: everything that the run made is removed. The results so far are kept."
        )
        if outlives:
            message = f"{_('The run goes on without this window, and `fswizard watch` shows it again.')} {message}"
        answers = {
            "continue": _("Keep watching"),
            "stop": _("Stop and show the results so far"),
            "quit": _("Leave it running and quit") if outlives else _("Stop and quit"),
        }
        if quitting and outlives:
            answers = {key: answers[key] for key in ("continue", "quit", "stop")}
        super().__init__(_("A run is under way"), message, answers)

    def action_choose(self) -> None:
        if not self.is_current:  # the run has ended meanwhile
            return
        key = self.options.key
        super().action_choose()
        if key == "stop" and self.wizard.running is not None:
            self.wizard.running.stop()
            self.wizard.visit("run")
        elif key == "quit":
            self.wizard.leave_now()
