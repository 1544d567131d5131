"""Recorded runs, to choose one that is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from fswizard.tui.drawing import cut, text
from fswizard.tui.screens.base import Window
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow


@dataclass(frozen=True, slots=True)
class Showing:
    """A story and how it is shown."""

    name: str
    straight: bool
    """The run at once, without the questions before it."""
    real_time: bool


class GalleryScreen(Window[Showing | None]):
    """Dismissed with what to show."""

    TITLE = "Recorded runs"
    LOOK = "broad"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "show(False)", "from the first screen"),
        Binding("r", "show(True)", "only the run"),
        Binding("t", "pace", "real time or 10×"),
        Binding("escape", "dismiss", "back"),
    ]

    def __init__(self, stories: Mapping[str, tuple[str, str, str]], shown: str) -> None:
        """`stories` has title, disk and words by name; `shown` is the name of the one that is shown already."""
        super().__init__()
        self._stories = stories
        self._shown = shown
        self._real_time = False

    def body(self) -> ComposeResult:
        yield Static(id="message", markup=False)
        yield ChoiceList(id="stories", keeps_highlight=True)

    def on_mount(self) -> None:
        rows = self.query_one(ChoiceList)
        rows.rows = tuple(ListRow(name, partial(_row, *story)) for name, story in self._stories.items())
        rows.highlight(self._shown)
        rows.focus()
        self._say_pace()

    def _say_pace(self) -> None:
        pace = "in real time" if self._real_time else "10× faster"
        self.say("Real runs, shown again ", (pace, "bold"), ". Nothing on this machine is touched.")

    def action_pace(self) -> None:
        """At the speed of the recording, or ten times as fast."""
        self._real_time = not self._real_time
        self._say_pace()

    @on(ChoiceList.Clicked)
    def _clicked(self) -> None:
        self.action_show(False)

    def action_show(self, straight: bool) -> None:
        """Show the highlighted story."""
        self.dismiss(Showing(self.query_one(ChoiceList).key, straight, self._real_time))


def _row(title: str, disk: str, words: str, width: int, on: bool) -> Content:
    return text(" ", (title, "bold"), (f"  {disk}", "$muted"), (f"\n {cut(words, width - 1)}", "$muted"))
