"""Two windows that make a recipe of the user's own: of tests from all recipes, or like a directory."""

from __future__ import annotations

import threading
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from fswizard.errors import FswizardError
from fswizard.model.recipe import Recipe, Workload, grouped
from fswizard.model.units import duration_text, size_text
from fswizard.tui.backend import Backend
from fswizard.tui.choices import toggled
from fswizard.tui.drawing import columns, cursor, cut, fit, lines, text, tick, wrap
from fswizard.tui.machine import in_background
from fswizard.tui.screens.base import TextBox, Window
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow, gap, headline


class SaveBox(TextBox):
    """For the name of a recipe."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", "save")]


class NewRecipeScreen(Window[Recipe | None]):
    """Dismissed with the recipe that was saved, or None."""

    NAME: ClassVar[str]
    """What a recipe is called that nobody gives a name."""
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "back")]

    def free_name(self) -> str:
        """`NAME`, with a number where there is one already."""
        taken = {recipe.title for recipe in self.wizard.machine.recipes}
        names = (self.NAME, *(f"{self.NAME} {number}" for number in range(2, len(taken) + 3)))
        return next(name for name in names if name not in taken)

    @property
    def name_typed(self) -> str:
        return self.query_one("#recipe-name", Input).value.strip()


class OfTestsScreen(NewRecipeScreen):
    """Each test once, in the recipes' groups, to tick."""

    TITLE = "A recipe of your own, from tests"
    NAME = "My tests"
    LOOK = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "save", "save"),
        Binding("tab", "app.focus_next", "name or tests"),
    ]

    def body(self) -> ComposeResult:
        yield Static("Name it, and tick the tests that stand for what you do.", markup=False)
        yield SaveBox(id="recipe-name", value=self.free_name(), max_length=40)
        yield ChoiceList(id="tests", ticks=True, keeps_highlight=True)
        yield Canvas(id="words")
        yield Static(id="message", markup=False)

    def on_mount(self) -> None:
        self.query_one("#recipe-name").border_title = "Name"
        self._ticked: tuple[str, ...] = ()
        self._tests: dict[str, Workload] = {}
        seen: set[object] = set()
        rows: list[ListRow] = []
        for _, members in grouped(self.wizard.machine.recipes):
            for recipe in members:
                new = [w for w in recipe.workloads if (w.job, w.metric.name) not in seen]
                seen |= {(workload.job, workload.metric.name) for workload in new}
                rows += [gap(f"before {recipe.name}"), headline(recipe.name, recipe.title)] if new else []
                rows += [self._row(f"{recipe.name}/{workload.name}", workload) for workload in new]
        rows_of = self.query_one(ChoiceList)
        rows_of.rows = tuple(rows[1:])
        rows_of.focus()
        self._total()

    def _row(self, key: str, workload: Workload) -> ListRow:
        self._tests[key] = workload
        return ListRow(key, partial(self._draw, key, workload))

    def _draw(self, key: str, workload: Workload, width: int, on: bool) -> Content:
        widths = (max(8, width - 5 - 2 * 12), 10, 10)
        written = size_text(workload.writes_bytes) if workload.writes_bytes else "–"
        figures = (duration_text(workload.seconds), written)
        cells = [text(cut(workload.title, widths[0])), *(text((words, "$muted")) for words in figures)]
        return fit(text(cursor(on), tick(key in self._ticked), " ", columns(cells, widths, right=(1, 2))), width)

    def _total(self) -> None:
        tests = [self._tests[key] for key in self._ticked]
        if not tests:
            self.say("Tick at least one: ", ("space", "bold $primary"), ".")
            return
        seconds, written = sum(t.seconds for t in tests), sum(t.writes_bytes for t in tests)
        count = f"{len(tests)} test{'s' * (len(tests) != 1)}"
        self.say((count, "bold"), f" · {duration_text(seconds)} and {size_text(written)} per filesystem and round")

    @on(ChoiceList.Ticked)
    def _tick(self, event: ChoiceList.Ticked) -> None:
        self._ticked = toggled(self._ticked, event.key)
        self.query_one(ChoiceList).redraw()
        self._total()

    @on(ChoiceList.Chosen)
    def _explain(self, event: ChoiceList.Chosen) -> None:
        workload = self._tests[event.key]
        self.query_one("#words", Canvas).show(lambda width: lines(wrap(workload.why or workload.title, width)))

    @on(Input.Submitted)
    def action_save(self) -> None:
        try:
            tests = [self._tests[key] for key in self._ticked]
            self.dismiss(self.wizard.backend.combined_recipe(self.name_typed, tests))
        except FswizardError as error:
            self.show_error(error)


class LikeDirectoryScreen(NewRecipeScreen):
    """A directory is looked through in the background, as that may take long."""

    TITLE = "A recipe of your own, with files like yours"
    NAME = "My files"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "app.focus_next", "name or directory")]

    def body(self) -> ComposeResult:
        yield Static(
            "Sizes, depths and compressibility are kept; names are not. Nothing is written there.", markup=False
        )
        yield SaveBox(id="like", placeholder="the directory, such as ~/Pictures")
        yield SaveBox(id="recipe-name", value=self.free_name(), max_length=40)
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
        if not directory:
            self.say(("✗ ", "bold $error"), "Name a directory that contains files.")
            return
        self._stopped.set()
        self._stopped = threading.Event()
        self.say(f"Looking through {directory} …")
        in_background(self._look, self.wizard.backend, directory, self.name_typed, self._stopped)

    def _look(self, backend: Backend, directory: str, name: str, stopped: threading.Event) -> None:
        try:
            recipe = backend.recipe_like(directory, name, stopped.is_set)
        except FswizardError as error:
            if not stopped.is_set():
                self.call_in_app(self.show_error, error)
        else:
            if recipe is not None:
                self.call_in_app(self.dismiss, recipe)
