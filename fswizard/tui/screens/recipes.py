"""A window to pick a recipe in: groups, what each takes, search as you type; and to make one of your own."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from fswizard.errors import FswizardError
from fswizard.language import N_, _
from fswizard.model.recipe import YOURS, Recipe, grouped
from fswizard.tui import recipe_list
from fswizard.tui.drawing import bullet, lines, text, wrap
from fswizard.tui.recipe_list import Offered, fitted, with_figures
from fswizard.tui.screens.base import TextBox, Window
from fswizard.tui.screens.dialogs import QuestionScreen
from fswizard.tui.screens.new_recipe import NewRecipeScreen
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow, gap, headline

NEW = "new"
"""Key of the row that makes a recipe of your own."""
ABOUT_NEW = N_(
    "Name a directory of yours. fswizard looks at sizes, depths and how well files compress, and makes a recipe "
    "with files like them. It writes nothing there and keeps no names."
)


class SearchBox(TextBox):
    """Takes what is typed; every other key belongs to the row below that is highlighted."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "screen.move(-1)", N_("choose"), key_display="↑"),
        Binding("down", "screen.move(1)", N_("choose"), key_display="↓"),
        Binding("pageup", "screen.page(-1)", N_("scroll"), key_display="PgUp"),
        Binding("pagedown", "screen.page(1)", N_("scroll"), key_display="PgDn"),
        Binding("delete", "screen.remove", N_("remove"), key_display="del"),
    ]


class RecipesScreen(Window[Recipe | None]):
    """Dismissed with the recipe that was picked, or None."""

    TITLE = N_("Recipes")
    LOOK = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", N_("back")),
    ]

    def body(self) -> ComposeResult:
        yield SearchBox(id="search", placeholder=_("type to search: photos, sqlite, delete …"))
        with Container(id="picker"):
            with Vertical(classes="left"):
                yield Canvas(recipe_list.header, id="columns")
                yield ChoiceList(id="recipes", keeps_highlight=True)
            yield VerticalScroll(Canvas(id="recipe"), classes="panel", can_focus=False)
        yield Static(id="message", markup=False)

    def on_mount(self) -> None:
        self._list = self.query_one("#recipes", ChoiceList)
        self._list.can_focus = False  # what is typed goes to the search
        self._clicked = ""
        self._look()
        if self.choices.recipe is not None:
            self._list.highlight(self.choices.recipe.name)
        self.query_one("#search").focus()

    def _look(self) -> None:
        """Read the recipes again, and what each would take."""
        self.wizard.machine.forget_recipes()
        self._offered = {recipe.name: fitted(self.wizard, recipe) for recipe in self.wizard.machine.recipes}
        self._broken = self.wizard.backend.broken_recipes()
        self._fill()
        backend, choices, items = self.wizard.backend, self.choices, tuple(self._offered.values())
        self.ask(lambda: [with_figures(backend, choices, item) for item in items], self._figured)

    def _figured(self, items: list[Offered]) -> None:
        self._offered = {item.recipe.name: item for item in items}
        self._fill()

    @on(Input.Changed, "#search")
    def _fill(self) -> None:
        typed, used = self.query_one("#search", Input).value.strip(), self.choices.recipe
        matching = [recipe for recipe in self.wizard.machine.recipes if recipe_list.matches(recipe, typed)]
        rows: list[ListRow] = []
        for title, members in grouped(matching):
            rows += [gap(f"before {title}"), headline(title, _(title))]
            for recipe in members:
                chosen = used is not None and used.name == recipe.name
                rows.append(ListRow(recipe.name, partial(recipe_list.row, self._offered[recipe.name], chosen)))
        if not matching:
            rows.append(ListRow("none", partial(_remark, _("No recipe has “{words}” in it.", words=typed)), False))
        if not typed:
            if all(recipe.group != YOURS for recipe in matching):
                rows += [gap("before yours"), headline("yours", _("Yours"))]
            for number, problem in enumerate(self._broken):
                rows.append(ListRow(f"broken {number}", partial(_remark, f"✗ {problem}"), False))
            rows.append(ListRow(NEW, text(f"    {_('New, with files like mine …')}")))
        self._list.rows = tuple(rows[1:] if rows[0].key.startswith("before ") else rows)
        self._explain()

    @on(ChoiceList.Chosen, "#recipes")
    def _explain(self) -> None:
        key = self._list.key
        if key == NEW:
            self.query_one("#recipe", Canvas).show(lambda width: lines(wrap(_(ABOUT_NEW), width)))
        elif key in self._offered:
            item = self._offered[key]
            self.query_one("#recipe", Canvas).show(
                lambda width: recipe_list.words(item, width, brief=self.has_class("-narrow"))
            )
        self.refresh_bindings()

    @property
    def _highlighted(self) -> Offered | None:
        return self._offered.get(self._list.key)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "remove":
            return self.is_mounted and self._highlighted is not None and self._highlighted.recipe.group == YOURS
        return super().check_action(action, parameters)

    def action_move(self, direction: int) -> None:
        self.say()
        if direction < 0:
            self._list.action_cursor_up()
        else:
            self._list.action_cursor_down()

    @on(ChoiceList.Clicked, "#recipes")
    def _click(self, event: ChoiceList.Clicked) -> None:
        """The first click shows what a recipe is, the second picks it."""
        if event.key == self._clicked:
            self._pick()
        self._clicked = event.key

    @on(Input.Submitted, "#search")
    def _pick(self) -> None:
        key, item = self._list.key, self._highlighted
        if key == NEW:
            self.wizard.push_screen(NewRecipeScreen(), self._made)
        elif item is not None and item.refused:
            self.refuse(item.refused)
        elif item is not None:
            self.dismiss(item.recipe)

    def _made(self, recipe: Recipe | None) -> None:
        if recipe is None:
            return
        self._look()
        self._list.highlight(recipe.name)
        self.say(("✓ ", "bold $text-success"), _("Saved as {name} in {file}.", name=recipe.name, file=recipe.source))

    def action_remove(self) -> None:
        if self._highlighted is not None:
            recipe = self._highlighted.recipe
            words = _("{recipe} would be gone for good. Results measured with it stay.", recipe=recipe.title)
            answers = {"keep": _("Keep it"), "delete": _("Delete {file}", file=recipe.source)}
            window = QuestionScreen(_("Remove this recipe?"), words, answers)
            self.wizard.push_screen(window, partial(self._remove, recipe))

    def _remove(self, recipe: Recipe, answer: str | None) -> None:
        if answer != "delete":
            return
        try:
            self.wizard.backend.remove_recipe(recipe)
        except FswizardError as error:
            self.show_error(error)
            return
        self._look()
        self.say(("✓ ", "bold $text-success"), _("Removed {recipe}.", recipe=recipe.title))


def _remark(words: str, width: int, on: bool) -> Content:
    return bullet("    ", (words, "$muted"), width)
