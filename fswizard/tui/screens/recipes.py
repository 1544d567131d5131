"""A window to pick a recipe in: groups, what each takes, search as you type; and to make one of your own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

from rich.table import Table
from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.widgets import Input, Static
from textual.widgets.option_list import Option

from fswizard.errors import FswizardError
from fswizard.language import N_, _, p_
from fswizard.model.recipe import YOURS, Recipe, grouped
from fswizard.model.text import safe
from fswizard.model.units import binary_text
from fswizard.tui.drawing import Piece, lines, text
from fswizard.tui.recipe_list import Offered, fitted, matches, with_figures
from fswizard.tui.screens.base import TextBox, Window
from fswizard.tui.screens.dialogs import QuestionScreen
from fswizard.tui.screens.new_recipe import NewRecipeScreen
from fswizard.tui.widgets.options import Options
from fswizard.tui.widgets.table import Facts, as_rich

FIGURES = (14, 10, 8)
"""Cells for time, bytes and room."""


class SearchBox(TextBox):
    """Takes what is typed; every other key belongs to the list below."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "screen.move('cursor_up')", N_("choose"), show=False),
        Binding("down", "screen.move('cursor_down')", N_("choose"), show=False),
        Binding("pageup", "screen.move('page_up')", N_("scroll"), show=False),
        Binding("pagedown", "screen.move('page_down')", N_("scroll"), show=False),
        Binding("delete", "screen.remove", N_("remove")),
    ]


class RecipesScreen(Window[Recipe | None]):
    """Dismissed with the recipe that was picked, or None."""

    CSS_PATH = "recipes.tcss"
    TITLE = N_("Recipes")
    LOOK = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+n", "new", N_("new, with files like mine")),
        Binding("escape", "dismiss", N_("back")),
    ]

    recipes = getters.query_one("#recipes", Options)
    details = getters.query_one(".details", VerticalScroll)
    search = getters.query_one("#search", SearchBox)

    def body(self) -> ComposeResult:
        yield SearchBox(id="search", placeholder=_("type to search: photos, sqlite, delete …"))
        with Container(id="offered"):
            yield Options(id="recipes")
            with VerticalScroll(classes="details", can_focus=False):
                yield Facts(id="about")
        yield Static(id="message", markup=False)

    def on_mount(self) -> None:
        self._clicked = ""
        self.recipes.can_focus = False  # what is typed goes to the search
        self.app.theme_changed_signal.subscribe(self, lambda _: self._fill())
        self._read()
        if self.choices.recipe is not None:
            self.recipes.highlight(self.choices.recipe.name)
        self.search.focus()

    def _read(self) -> None:
        """Read the recipes again, and ask what each would take."""
        from fswizard import recipes

        self.wizard.machine.forget_recipes()
        self._offered = {recipe.name: fitted(self.wizard, recipe) for recipe in self.wizard.machine.recipes}
        directory = safe(str(recipes.own_directory()))
        broken = () if self.wizard.backend.banner else recipes.broken()
        self._broken = [error.message.removeprefix(f"{directory}/") for error in broken]
        self._fill()
        backend, choices, items = self.wizard.backend, self.choices, tuple(self._offered.values())
        self.ask(lambda: [with_figures(backend, choices, item) for item in items], self._know_figures)

    def _know_figures(self, items: list[Offered]) -> None:
        self._offered = {item.recipe.name: item for item in items}
        self._fill()

    @on(Input.Changed, "#search")
    def _fill(self) -> None:
        self.recipes.show(self._options(self.search.value.strip()))

    def _options(self, typed: str) -> Iterator[Option]:
        matching = [item.recipe for item in self._offered.values() if matches(item.recipe, typed)]
        names = (_("Time"), p_("bytes of a run", "Writes"), p_("space on disks", "Room"))
        for title, members in grouped(matching):
            yield Option(self._line((_(title), "bold $muted"), "$muted", *names), disabled=True)
            for recipe in members:
                item = self._offered[recipe.name]
                ink = "$muted" if item.refused else ""
                figures = (item.time, item.writes, binary_text(recipe.image_bytes))
                yield Option(self._line((f" {_(recipe.title)}", ink or "bold"), ink, *figures), id=recipe.name)
        if not matching:
            yield Option(text((_("No recipe has “{words}” in it.", words=typed), "$muted")), disabled=True)
        for problem in self._broken:
            yield Option(text((f"✗ {problem}", "$muted")), disabled=True)

    def _line(self, name: Piece, ink: str, *figures: str) -> Table:
        grid = Table.grid(expand=True, padding=(0, 2, 0, 0))
        grid.add_column(ratio=1)
        for width in FIGURES:
            grid.add_column(width=width, justify="right", no_wrap=True)
        grid.add_row(as_rich(self, name), *(as_rich(self, (figure, ink)) for figure in figures))
        return grid

    @property
    def _item(self) -> Offered | None:
        """The highlighted recipe."""
        return self._offered.get(self.recipes.key)

    @on(Options.OptionHighlighted, "#recipes")
    def _explain(self) -> None:
        self.refresh_bindings()
        if (item := self._item) is None:
            return
        recipe = item.recipe
        tests = lines(text((_(test.title), "bold"), f"\n{_(test.why)}") for test in recipe.workloads)
        refused: list[tuple[Piece, Piece]] = [(("✗", "$text-error"), item.refused)] if item.refused else []
        pairs: list[tuple[Piece, Piece]] = [
            (p_("purpose", "For"), _(recipe.why)),
            (_("Tests"), tests),
            (p_("recipe", "Name"), recipe.name),
            (p_("recipe", "From"), _(recipe.source)),
        ]
        self.details.border_title = text(_(recipe.title))
        self.query_one("#about", Facts).show([*refused, *pairs])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "remove":
            return self.is_mounted and self._item is not None and self._item.recipe.group == YOURS
        if action == "new":
            return not self.wizard.backend.banner  # a demo writes nothing
        return super().check_action(action, parameters)

    async def action_move(self, movement: str) -> None:
        self.say()
        await self.recipes.run_action(movement)

    @on(Options.OptionSelected, "#recipes")
    def _click(self, event: Options.OptionSelected) -> None:
        """The first click shows what a recipe is, the second picks it."""
        if event.option_id == self._clicked:
            self._pick()
        self._clicked = event.option_id or ""

    @on(Input.Submitted, "#search")
    def _pick(self) -> None:
        item = self._item
        if item is not None and item.refused:
            self.refuse(item.refused)
        elif item is not None:
            self.dismiss(item.recipe)

    def action_new(self) -> None:
        self.wizard.push_screen(NewRecipeScreen(), self._made)

    def _made(self, recipe: Recipe | None) -> None:
        if recipe is not None:
            self._read()
            self.recipes.highlight(recipe.name)
            words = _("Saved as {name} in {file}.", name=recipe.name, file=recipe.source)
            self.say(("✓ ", "bold $text-success"), words)

    def action_remove(self) -> None:
        if self._item is not None:
            recipe = self._item.recipe
            words = _("{recipe} would be gone for good. Results measured with it stay.", recipe=recipe.title)
            answers = {"keep": _("Keep it"), "delete": _("Delete {file}", file=recipe.source)}
            window = QuestionScreen(_("Remove this recipe?"), words, answers)
            self.wizard.push_screen(window, partial(self._remove, recipe))

    def _remove(self, recipe: Recipe, answer: str | None) -> None:
        from fswizard.recipes import own

        if answer != "delete":
            return
        try:
            own.remove(recipe)
        except FswizardError as error:
            self.show_error(error)
            return
        self._read()
        self.say(("✓ ", "bold $text-success"), _("Removed {recipe}.", recipe=recipe.title))
