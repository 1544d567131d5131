"""A window that makes a recipe of the user's own, with files like those in a directory."""

from __future__ import annotations

import threading
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from fswizard.errors import FswizardError
from fswizard.model.recipe import Recipe
from fswizard.tui.backend import Backend
from fswizard.tui.machine import in_background
from fswizard.tui.screens.base import TextBox, Window

NAME = "My files"
"""What a recipe is called that nobody gives a name."""


class SaveBox(TextBox):
    """For the name of a recipe."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", "save")]


class NewRecipeScreen(Window[Recipe | None]):
    """Dismissed with the recipe that was saved, or None.

    A directory is looked through in the background, as that may take long.
    """

    TITLE = "A recipe of your own, with files like yours"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "back"),
        Binding("tab", "app.focus_next", "name or directory"),
    ]

    def body(self) -> ComposeResult:
        taken = {recipe.title for recipe in self.wizard.machine.recipes}
        names = (NAME, *(f"{NAME} {number}" for number in range(2, len(taken) + 3)))
        free = next(name for name in names if name not in taken)
        yield Static(
            "Sizes, depths and compressibility are kept; names are not. Nothing is written there.", markup=False
        )
        yield SaveBox(id="like", placeholder="the directory, such as ~/Pictures")
        yield SaveBox(id="recipe-name", value=free, max_length=40)
        yield Static(id="message", markup=False)

    def on_mount(self) -> None:
        self._stopped = threading.Event()
        self.query_one("#like").border_title = "Files like those in"
        self.query_one("#recipe-name").border_title = "Name"
        self.query_one("#like").focus()

    def on_unmount(self) -> None:
        self._stopped.set()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        directory = self.query_one("#like", Input).value.strip()
        name = self.query_one("#recipe-name", Input).value.strip()
        if not directory:
            self.refuse("Name a directory that contains files.")
            return
        self._stopped.set()
        self._stopped = threading.Event()
        self.say(f"Looking through {directory} …")
        in_background(self._look, self.wizard.backend, directory, name, self._stopped)

    def _look(self, backend: Backend, directory: str, name: str, stopped: threading.Event) -> None:
        try:
            recipe = backend.recipe_like(directory, name, stopped.is_set)
        except FswizardError as error:
            if not stopped.is_set():
                self.call_in_app(self.show_error, error)
        else:
            if recipe is not None:
                self.call_in_app(self.dismiss, recipe)
