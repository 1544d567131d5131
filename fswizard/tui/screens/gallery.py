"""Recorded runs, to choose one that is shown."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from fswizard.language import N_, _
from fswizard.tui.drawing import lines, text, wrap
from fswizard.tui.screens.base import Window
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow


class GalleryScreen(Window[tuple[str, bool] | None]):
    """Dismissed with the name of a story, and whether its run is shown at once, without the questions before it."""

    TITLE = N_("Recorded runs")
    LOOK = "broad"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "show(False)", N_("from the first screen")),
        Binding("r", "show(True)", N_("only the run")),
        Binding("escape", "dismiss", N_("back")),
    ]

    def __init__(self, stories: Mapping[str, tuple[str, str, str]], shown: str) -> None:
        """`stories` has title, disk and words by name; `shown` is the name of the one that is shown already."""
        super().__init__()
        self._stories = stories
        self._shown = shown

    def body(self) -> ComposeResult:
        words = _("Recorded runs, shown again. Nothing on this machine is touched.")
        yield Static(words, id="message", markup=False)
        yield ChoiceList(id="stories", keeps_highlight=True)

    def on_mount(self) -> None:
        rows = self.query_one(ChoiceList)
        rows.rows = tuple(ListRow(name, partial(_row, *story)) for name, story in self._stories.items())
        rows.highlight(self._shown)
        rows.focus()

    @on(ChoiceList.Clicked)
    def _clicked(self) -> None:
        self.action_show(False)

    def action_show(self, straight: bool) -> None:
        """Show the highlighted story."""
        self.dismiss((self.query_one(ChoiceList).key, straight))


def _row(title: str, disk: str, words: str, width: int, on: bool) -> Content:
    head = text(" ", (_(title), "bold"), (f"  {_(disk)}", "$muted"))
    return lines((head, *(Content(" ") + line for line in wrap((_(words), "$muted"), width - 2))))
