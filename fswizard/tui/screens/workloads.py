"""Fourth step: what is measured, and for how long."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import DataTable, Static

from fswizard.errors import UsageError
from fswizard.language import N_, _, n_, number, p_, shown
from fswizard.model.recipe import Recipe, Workload
from fswizard.model.units import binary_text, duration_text, size_text
from fswizard.tui.choices import TIME_BUDGETS_S, WRITE_BUDGETS_BYTES, next_value
from fswizard.tui.drawing import Piece, keyed, text
from fswizard.tui.recipe_list import fitted, with_recipe
from fswizard.tui.screens.base import StepScreen
from fswizard.tui.screens.recipes import RecipesScreen
from fswizard.tui.widgets.table import Column, Facts, Row, Table

AGES = {False: N_("new filesystems"), True: N_("aged ones, too")}
ABOUT = {
    "time": N_(
        "The run adds rounds until the result is clear or this time is up, and finishes the round it is in. "
        "More time shows smaller differences. A verdict takes two rounds or more."
    ),
    "writes": N_(
        "The run ends before it has written more than this. By default SSDs get 50 GB, cards and sticks less, "
        "and hard disks no cap, as they do not wear."
    ),
    "age": N_(
        "Filesystems are usually measured new. With aged ones, each is first used for years in minutes: files are "
        "made, changed and deleted at 80 % full. Then it is measured beside a new one, and the answer is that of the "
        "aged ones. It takes about three times as long, and another image for each filesystem."
    ),
}
"""What a setting means."""


class Part(Table):
    """One of two tables, one below the other: up and down lead from one to the other."""

    def action_cursor_up(self) -> None:
        if self.cursor_row == 0:
            self.screen.focus_previous()
        else:
            super().action_cursor_up()

    def action_cursor_down(self) -> None:
        if self.cursor_row == self.row_count - 1:
            self.screen.focus_next()
        else:
            super().action_cursor_down()


class Settings(Part):
    """Values that left and right change, and clicks on the arrows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "screen.change(-1)", N_("change"), show=False),
        Binding("right", "screen.change(1)", N_("change")),
    ]
    DIRECTIONS: ClassVar[Mapping[int, int]] = {1: -1, 3: 1}
    """Of the columns with arrows."""

    async def on_click(self, event: events.Click) -> None:
        meta = event.style.meta
        if direction := self.DIRECTIONS.get(meta.get("column", 0)):
            self.move_cursor(row=meta["row"])
            await self.run_action(f"screen.change({direction})")


class WorkloadsScreen(StepScreen):
    """Recipe, time, and what may be written: left and right change them. Below are the recipe's tests."""

    CSS_PATH = "workloads.tcss"
    QUESTION = N_("What do you use it for?")
    HELP = N_(
        "A recipe is a set of tests that represents one way of using a disk. Left and right change the highlighted "
        "line: the recipe, the time, the cap on writes.\n\n"
        "How much each test counts is up to the recipe. You can change that with the result, without measuring "
        "again.\n\n"
        "r shows all recipes in groups, with what each takes, and makes one of your own.\n\n"
        "The run stops early once the result is clear. No new round starts after its time."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "recipes", N_("recipes")),
        Binding("x", "leave_out", N_("leave out")),
    ]

    settings = getters.query_one("#settings", Settings)
    tests = getters.query_one("#tests", Part)
    details = getters.query_one(".details", VerticalScroll)

    def body(self) -> ComposeResult:
        time = Column(p_("of a run", "Time"), right=True)
        with Horizontal(id="parts"):
            with Vertical():
                yield Settings(Column(), Column(), Column(), Column(), Column(flexible=True), id="settings")
                yield Part(Column(_("Test"), flexible=True), time, Column(_("Counts"), right=True), id="tests")
            with VerticalScroll(classes="details", can_focus=False):
                yield Static(id="why", markup=False)
                yield Facts(id="about")

    def on_mount(self) -> None:
        self.absent: Mapping[str, Sequence[str]] = {}
        """Programs that are not installed, by the name of the test that needs them."""
        if self.choices.recipe is None:
            self.wizard.choose(recipe=self.wizard.machine.recipe_for(self.choices.purpose))
        self._take(self.recipe)
        self.settings.focus()

    @property
    def recipe(self) -> Recipe:
        assert self.choices.recipe is not None
        return self.choices.recipe

    def _take(self, recipe: Recipe | None) -> None:
        """Use a recipe; None where none was picked, and the one in use may have been removed."""
        known = [known.name for known in self.wizard.machine.recipes]
        if recipe is None:
            usual = self.wizard.machine.recipe_for(self.choices.purpose)
            recipe = self.recipe if self.recipe.name in known else usual
        self.wizard.choices = with_recipe(self.choices, recipe)
        self.absent = {}
        self._fill()
        self._look_for_programs()

    def _fill(self) -> None:
        many = len(self.wizard.machine.recipes)
        cap = _("no cap")
        if not math.isinf(self._cap_bytes):
            cap = _("at most {size}", size=size_text(self._cap_bytes))
        rows = [
            _setting("recipe", _("Recipe"), _(self.recipe.title), _("r shows all {count}", count=many)),
            _setting("time", _("Time"), _("up to {duration}", duration=duration_text(self.choices.budget_s))),
            _setting("writes", p_("limit", "Writes"), cap),
        ]
        if self.choices.can_age:
            rows.append(_setting("age", p_("of a filesystem", "Age"), _(AGES[self.choices.age])))
        self.settings.show(rows)
        self.tests.show(map(self._test, self.recipe.measured))
        self._estimate()

    def _test(self, workload: Workload) -> Row:
        mark = ("✗ ", "bold $text-error") if workload.name in self.absent else ""
        weight = number(f"×{workload.weight:g}")
        return Row(workload.name, (text(mark, _(workload.title)), duration_text(workload.seconds), weight))

    @property
    def _cap_bytes(self) -> float:
        """What the run may write, in bytes; infinite for no limit."""
        chosen = self.choices.write_budget_bytes
        if chosen is not None:
            return chosen
        return self.wizard.backend.draft(self.choices).write_budget_bytes or math.inf

    # What the run takes, and whether it can be done

    def _estimate(self) -> None:
        if refused := fitted(self.wizard, self.recipe).refused:
            self.problem = UsageError(refused, _("Choose another recipe, or go back and choose another place."))
            self.show_error(self.problem)
        elif (draft := self.estimated()) is not None:
            budget_s = self.choices.budget_s
            count = len(self.choices.places if self.choices.comparing else self.choices.candidates)
            warning = ""
            if draft.expected_s > budget_s:
                words = n_(
                    "{duration} may be too short for {count} round: more time gives a clearer result",
                    "{duration} may be too short for {count} rounds: more time gives a clearer result",
                    draft.minimum_rounds,
                    duration=duration_text(budget_s),
                )
                warning = f"\n! {words}"
            self.say_estimate(count, draft, warning)
            if self.absent:
                self._say_absent()
        self.set_class(bool(self.problem or self.absent), "-problem")
        self.refresh_bindings()

    def _look_for_programs(self) -> None:
        from fswizard.session import absent_programs

        recipe = self.recipe
        if not self.wizard.backend.banner:  # a demo has measured already
            self.ask(lambda: absent_programs(recipe), self._know_absent, group="programs")

    def _know_absent(self, absent: Mapping[str, Sequence[str]]) -> None:
        if absent != self.absent:
            self.absent = absent
            self._fill()

    def _say_absent(self) -> None:
        from fswizard.session import packages_of
        from fswizard.system.programs import install_hint

        programs = sorted({program for names in self.absent.values() for program in names})
        words = n_(
            "{programs} is not installed. These tests need it: {tests}.",
            "{programs} are not installed. These tests need them: {tests}.",
            len(programs),
            programs=", ".join(programs),
            tests=", ".join(_(self.recipe.workload(name).title) for name in self.absent),
        )
        mend = keyed(_("`x` leaves them out.")) if self._others else ""
        self.say(
            ("✗ ", "bold $text-error"), (words, "$text-error"), f"\n{install_hint(*packages_of(programs))}\n", mend
        )

    @property
    def _others(self) -> tuple[Workload, ...]:
        """The tests that can run here."""
        return tuple(workload for workload in self.recipe.measured if workload.name not in self.absent)

    # Details

    @on(DataTable.RowHighlighted)
    @on(events.DescendantFocus)
    def _explain(self) -> None:
        title, why, pairs = self.recipe.title, self.recipe.why, self._about_recipe()
        key = self.settings.key
        if self.tests.has_focus:
            test = self.recipe.workload(self.tests.key)
            title, why, pairs = test.title, test.why, _about_test(test)
        elif key in ABOUT:
            title, why, pairs = "", ABOUT[key], ()
        self.details.border_title = text(_(title)) if title else None
        self.query_one("#why", Static).update(text(_(why)))
        self.query_one("#about", Facts).show(pairs)

    def _about_recipe(self) -> Sequence[tuple[Piece, Piece]]:
        recipe = self.recipe
        size = (p_("scratch image", "Image"), binary_text(recipe.image_bytes))
        candidates = [(_("Candidates"), ", ".join(recipe.candidates))]
        if self.choices.comparing:  # what is there
            size, candidates = (_("Free space"), size_text(recipe.image_bytes)), []
        time = (_("Time"), _("up to {duration}", duration=duration_text(recipe.minutes * 60)))
        return [size, time, *candidates, (p_("source", "From"), _(recipe.source))]

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "leave_out":
            return self.is_mounted and bool(self.absent and self._others)
        return super().check_action(action, parameters)

    def action_change(self, direction: int) -> None:
        key, choices = self.settings.key, self.choices
        if key == "recipe":
            recipes = self.wizard.machine.recipes
            names = [known.name for known in recipes]
            place = names.index(self.recipe.name) if self.recipe.name in names else 0
            self._take(fitted(self.wizard, recipes[(place + direction) % len(recipes)]).recipe)
            return
        if key == "time":
            self.wizard.choose(time_limit_s=next_value(TIME_BUDGETS_S, choices.budget_s, direction))
        elif key == "writes":
            self.wizard.choose(write_budget_bytes=next_value(WRITE_BUDGETS_BYTES, self._cap_bytes, direction))
        else:
            self.wizard.choose(age=not choices.age)
        self._fill()

    def action_leave_out(self) -> None:
        """Measure only the tests that can run here."""
        self.wizard.choose(recipe=replace(self.recipe, workloads=self._others))
        self.absent = {}
        self._fill()

    def action_recipes(self) -> None:
        self.wizard.push_screen(RecipesScreen(), self._take)

    def action_forward(self) -> None:
        if self.absent:  # unless they have been installed meanwhile
            self._look_for_programs()
        else:
            super().action_forward()


def _setting(key: str, name: str, value: str, hint: str = "") -> Row:
    arrow = "bold $text-primary"
    return Row(key, ((name, "$muted"), ("◂", arrow), (value, "bold"), ("▸", arrow), (hint, "$muted")))


def _about_test(workload: Workload) -> Sequence[tuple[Piece, Piece]]:
    metric = _(workload.metric.name.replace("_", " "))
    measures = _("{figure}, lower is better", figure=metric)
    if workload.metric.better == "higher":
        measures = _("{figure}, higher is better", figure=metric)
    return (
        (_("Does"), shown(workload.job.words)),
        (_("Measures"), measures),
        (_("Takes"), _("about {duration} per filesystem and round", duration=duration_text(workload.seconds))),
        (_("Writes"), _("about {size}", size=size_text(workload.writes_bytes))),
    )
