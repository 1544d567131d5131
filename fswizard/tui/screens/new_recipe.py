"""A window that makes a recipe of the user's own, with files like those in a directory."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from fswizard.language import N_, _, p_
from fswizard.model.recipe import Recipe
from fswizard.tui.screens.base import TextBox, Window

NAME = N_("My files")
"""What a recipe is called that nobody gives a name."""


class SaveBox(TextBox):
    """For the name of a recipe."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", N_("save"))]


class NewRecipeScreen(Window[Recipe | None]):
    """Dismissed with the recipe that was saved, or None."""

    TITLE = N_("A recipe of your own, with files like yours")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", N_("back")),
        Binding("tab", "app.focus_next", N_("name or directory")),
    ]

    def body(self) -> ComposeResult:
        taken = {recipe.title for recipe in self.wizard.machine.recipes}
        names = (_(NAME), *(f"{_(NAME)} {number}" for number in range(2, len(taken) + 3)))
        free = next(name for name in names if name not in taken)
        words = _("Sizes, depths and compressibility are kept; names are not. Nothing is written there.")
        yield Static(words, markup=False)
        yield SaveBox(id="like", placeholder=_("the directory, such as ~/Pictures"))
        yield SaveBox(id="recipe-name", value=free, max_length=40)
        yield Static(id="message", markup=False)

    def on_mount(self) -> None:
        self.query_one("#like").border_title = _("Files like those in")
        self.query_one("#recipe-name").border_title = p_("of a recipe", "Name")
        self.query_one("#like").focus()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        directory = self.query_one("#like", Input).value.strip()
        name = self.query_one("#recipe-name", Input).value.strip()
        if not directory:
            self.refuse(_("Name a directory that contains files."))
            return
        self.say(_("Looking through {directory} …", directory=directory))

        def make() -> Recipe | None:
            from fswizard.recipes import own, tree_profile

            worker = get_current_worker()  # cancelled by the next one, and with the window
            seen = tree_profile.look(Path(directory).expanduser(), lambda: worker.is_cancelled)
            return None if worker.is_cancelled else own.save(own.like(seen, name))

        self.ask(make, self.dismiss)
