"""Recorded runs, to choose one that is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from fswizard.language import N_, _
from fswizard.tui.screens.base import Window
from fswizard.tui.widgets.options import Options


class GalleryScreen(Window[tuple[str, bool] | None]):
    """Dismissed with the name of a story, and whether its run is shown at once, without the questions before it."""

    CSS_PATH = "dialogs.tcss"
    TITLE = N_("Recorded runs")
    LOOK = "broad"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "show(True)", N_("play the run")),
        Binding("f", "show(False)", N_("from the first screen")),
        Binding("escape", "dismiss", N_("back")),
    ]
    options = getters.query_one(Options)

    def __init__(self, stories: Mapping[str, Content], current: str) -> None:
        """`stories` has each one's title and summary by its name; `current` is the one that is shown already."""
        super().__init__()
        self._stories = stories
        self._current = current

    def body(self) -> ComposeResult:
        yield Static(_("Recorded runs, shown again. Nothing on this machine is touched."), id="message", markup=False)
        yield Options()

    def on_mount(self) -> None:
        self.options.show(Option(summary, id=name) for name, summary in self._stories.items())
        self.options.highlight(self._current)

    @on(Options.OptionSelected)
    def _clicked(self) -> None:
        self.action_show(True)

    def action_show(self, straight: bool) -> None:
        """Show the highlighted story."""
        self.dismiss((self.options.key, straight))
