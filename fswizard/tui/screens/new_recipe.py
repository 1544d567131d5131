"""A window that makes a recipe of the user's own, with files like those in a directory."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from fswizard.model.recipe import Recipe
from fswizard.tui.screens.base import TextBox, Window

NAME = "My files"
"""What a recipe is called that nobody gives a name."""


class SaveBox(TextBox):
    """For the name of a recipe."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", "save")]


class NewRecipeScreen(Window[Recipe | None]):
    """Dismissed with the recipe that was saved, or None."""

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
        self.query_one("#like").border_title = "Files like those in"
        self.query_one("#recipe-name").border_title = "Name"
        self.query_one("#like").focus()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        directory = self.query_one("#like", Input).value.strip()
        name = self.query_one("#recipe-name", Input).value.strip()
        if not directory:
            self.refuse("Name a directory that contains files.")
            return
        self.say(f"Looking through {directory} …")
        recipe_like = self.wizard.backend.recipe_like

        def look() -> Recipe | None:
            worker = get_current_worker()  # cancelled by the next one, and with the window
            return recipe_like(directory, name, lambda: worker.is_cancelled)

        self.ask(look, self.dismiss)
