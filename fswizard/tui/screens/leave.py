"""Asked once when somebody leaves while a run goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from fswizard.tui.drawing import fit, text
from fswizard.tui.widgets.choice_list import ChoiceList, Draw, ListRow
from fswizard.tui.widgets.keybar import KeyBar

if TYPE_CHECKING:
    from fswizard.tui.app import FswizardApp


class LeaveScreen(ModalScreen[None]):
    """Go on, or stop and clean up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "choose this"),
        Binding("escape", "dismiss", "keep measuring"),
    ]

    def __init__(self, *, quitting: bool) -> None:
        super().__init__()
        self._quitting = quitting

    def compose(self) -> ComposeResult:
        with Vertical(classes="window") as window:
            window.border_title = "The run goes on"
            yield Static(
                "Stopping takes a few seconds: everything that the run made is removed. "
                "What was measured so far is kept and can be looked at later.",
                markup=False,
            )
            words = {"continue": "Keep measuring", "stop": "Stop and show what there is so far"}
            words |= {"quit": "Stop, clean up and quit"} if self._quitting else {}
            yield ChoiceList([ListRow(key, _row(text)) for key, text in words.items()])
        yield KeyBar()

    @on(ChoiceList.Clicked)
    def action_choose(self) -> None:
        app = cast("FswizardApp", self.app)
        key = self.query_one(ChoiceList).key
        if not self.is_current:  # the run has ended meanwhile
            return
        self.dismiss()
        if key == "stop" and app.running is not None:
            app.running.stop()
            app.visit("run")
        elif key == "quit":
            app.leave_now()


def _row(words: str) -> Draw:
    def draw(width: int, on: bool) -> Content:
        return fit(text(("❯ " if on else "  ", "bold $primary"), words), width)

    return draw
