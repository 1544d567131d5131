"""A step in which a directory can be named, in a box that opens above its list."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.widgets import Input

from fswizard.errors import FswizardError
from fswizard.tui.backend import Place
from fswizard.tui.screens.base import StepScreen
from fswizard.tui.threads import tell


class NamingScreen(StepScreen):
    """Has an input `#directory`, and a list that gets the focus back when the box closes."""

    LIST: ClassVar[str]
    """Selector of that list."""

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#directory").display = False

    def open_box(self, placeholder: str, value: str = "") -> None:
        """Have something typed."""
        box = self.query_one("#directory", Input)
        box.placeholder = placeholder
        box.value = value
        box.display = True
        box.focus()

    def close_box(self) -> None:
        self.query_one("#directory").display = False
        self.query_one(self.LIST).focus()

    @on(Input.Submitted, "#directory")
    def _typed(self, event: Input.Submitted) -> None:
        typed = event.value.strip()
        if typed:
            self.was_typed(typed)
        else:
            self.close_box()

    def was_typed(self, typed: str) -> None:
        """A directory, unless the box was opened for something else."""
        self._check_directory(typed)

    @work(thread=True, exclusive=True, group="type")
    def _check_directory(self, directory: str) -> None:
        try:
            place = self.wizard.backend.named_place(directory)
        except FswizardError as error:
            tell(self, self.show_error, error)
            return
        tell(self, self._named, place)

    def _named(self, place: Place) -> None:
        self.directory_is(place)
        self.close_box()

    def directory_is(self, place: Place) -> None:
        """A directory was named that can be measured in."""

    def action_back(self) -> None:
        if self.query_one("#directory").display:
            self.close_box()
        else:
            super().action_back()
