"""Fourth step: what is measured, and for how long."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content

from fswizard.errors import UsageError
from fswizard.language import N_, _, n_, number, p_, shown
from fswizard.model.recipe import Recipe, Workload
from fswizard.model.units import binary_text, duration_text, size_text
from fswizard.tui.choices import TIME_BUDGETS_S, WRITE_BUDGETS_BYTES, next_value
from fswizard.tui.drawing import arrow, cut, cut_among, facts, fit, lines, slider, text, wrap
from fswizard.tui.recipe_list import fitted, with_recipe
from fswizard.tui.screens.base import StepScreen
from fswizard.tui.screens.recipes import RecipesScreen
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow, gap, headline

AGES = {False: N_("new filesystems"), True: N_("aged ones, too")}


class WorkloadsScreen(StepScreen):
    """Recipe, time, and what may be written: left and right change them. Below are the recipe's tests."""

    QUESTION = N_("What do you use it for?")
    HELP = N_(
        "A recipe is a set of tests that represents one way of using a disk. Left and right change the highlighted "
        "line: the recipe, the time, the cap on writes.\n\n"
        "How much each test counts is up to the recipe. You can change that with the result, without measuring "
        "again.\n\n"
        "r shows all recipes in groups, with what each takes, and makes one of your own.\n\n"
        "The run stops early once the result is clear. No new round starts after its time."
    )
    BINDINGS: ClassVar[list[BindingType]] = [Binding("r", "recipes", N_("recipes"))]

    def body(self) -> ComposeResult:
        with Horizontal(classes="split"):
            with Vertical(classes="left"):
                yield ChoiceList(id="tests", changes=True, keeps_highlight=True)
                yield Canvas(id="below", classes="panel brief")
            yield VerticalScroll(Canvas(id="about"), classes="panel", can_focus=False)

    def on_mount(self) -> None:
        if self.choices.recipe is None:
            self.wizard.choose(recipe=self.wizard.machine.recipe_for(self.choices.purpose))
        self.query_one(".panel").border_title = _("About this test")
        self._fill()
        self.query_one("#tests", ChoiceList).focus()

    @property
    def _recipe(self) -> Recipe:
        assert self.choices.recipe is not None
        return self.choices.recipe

    def _fill(self) -> None:
        recipe, time = self._recipe, _("up to {duration}", duration=duration_text(self.choices.budget_s))
        cap = _("no cap")
        if not math.isinf(self._cap_bytes):
            cap = _("at most {size}", size=size_text(self._cap_bytes))
        many = len(self.wizard.machine.recipes)
        hint = _("r shows all {count}", count=many) if many > 1 else ""
        names = (_("Recipe"), _("Time"), p_("limit", "Writes"), p_("of a filesystem", "Age"))
        label = max(8, *(cell_len(name) + 1 for name in names))
        first, second, third, fourth = (fit((name, "$muted"), label) for name in names)
        rows = [
            ListRow("recipe", partial(_dial, first, _(recipe.title), hint)),
            ListRow("time", partial(_limit, second, TIME_BUDGETS_S, (self.choices.budget_s, time))),
            ListRow("writes", partial(_limit, third, WRITE_BUDGETS_BYTES, (self._cap_bytes, cap))),
            *([ListRow("age", partial(_dial, fourth, _(AGES[self.choices.age]), ""))] if self.choices.can_age else []),
            gap("gap"),
            headline("workloads", _("Time per filesystem and round")),
        ]
        workloads = recipe.measured
        rows += [ListRow(f"w:{workload.name}", partial(_test_row, workload, workloads)) for workload in workloads]
        self.query_one("#tests", ChoiceList).rows = tuple(rows)
        self._estimate()
        self._explain()

    def _estimate(self) -> None:
        if refused := fitted(self.wizard, self._recipe).refused:
            self.problem = UsageError(refused, _("Choose another recipe, or go back and choose another place."))
            self.show_error(self.problem)
            return
        if (draft := self.estimated()) is None:
            return
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

    @property
    def _cap_bytes(self) -> float:
        """What the run may write, in bytes; infinite for no limit."""
        chosen = self.choices.write_budget_bytes
        if chosen is not None:
            return chosen
        return self.wizard.backend.draft(self.choices).write_budget_bytes or math.inf

    @on(ChoiceList.Chosen, "#tests")
    def _explain(self) -> None:
        key = self.query_one("#tests", ChoiceList).key
        recipe = self._recipe
        for canvas in self.query("#about, #below").results(Canvas):
            brief = canvas.id == "below"
            if key.startswith("w:"):
                canvas.show(partial(_workload_words, recipe.workload(key.removeprefix("w:")), brief))
            elif key in LIMIT_WORDS:
                canvas.show(lambda width: lines(wrap(_(LIMIT_WORDS[key]), width)))
            else:
                canvas.show(partial(_recipe_words, recipe, brief, self.choices.comparing))

    @on(ChoiceList.Changed, "#tests")
    def _change(self, event: ChoiceList.Changed) -> None:
        recipe, direction = self._recipe, event.direction
        if event.key == "recipe":
            recipes = self.wizard.machine.recipes
            number = next((i for i, known in enumerate(recipes) if known.name == recipe.name), 0)
            self._take(fitted(self.wizard, recipes[(number + direction) % len(recipes)]).recipe)
            return
        if event.key == "time":
            self.wizard.choose(time_limit_s=next_value(TIME_BUDGETS_S, self.choices.budget_s, direction))
        elif event.key == "age":
            self.wizard.choose(age=not self.choices.age)
        elif event.key == "writes":
            self.wizard.choose(write_budget_bytes=next_value(WRITE_BUDGETS_BYTES, self._cap_bytes, direction))
        self._fill()

    def _take(self, recipe: Recipe | None) -> None:
        if recipe is not None:
            self.wizard.choices = with_recipe(self.choices, recipe)
        elif all(known.name != self._recipe.name for known in self.wizard.machine.recipes):  # it was removed
            self.wizard.choices = with_recipe(self.choices, self.wizard.machine.recipe_for(self.choices.purpose))
        self._fill()

    @on(ChoiceList.Clicked, "#tests")
    def _click(self, event: ChoiceList.Clicked) -> None:
        if event.key == "recipe":
            self.action_recipes()

    def action_recipes(self) -> None:
        self.wizard.push_screen(RecipesScreen(), self._take)


LIMIT_WORDS = {
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


def _dial(label: Content, value: str, hint: str, width: int, on: bool) -> Content:
    chosen = (f" {cut(value, width - label.cell_length - 6)} ", "bold")
    dial = text(" ", label, arrow(-1, active=on), chosen, arrow(1, active=on))
    room = width - dial.cell_length - cell_len(hint) - 3
    return text(dial, "   ", (hint, "$muted")) if room >= 0 else dial


def _limit(label: Content, values: tuple[float, ...], limit: tuple[float, str], width: int, on: bool) -> Content:
    """A slider at the place of a limit, and the limit in words."""
    value, words = limit
    places = tuple(map(float, range(len(values))))
    place = min(sum(other < value for other in values), len(values) - 1)
    knob = slider(places, place, active=on)
    return text(" ", label, knob, (f"  {words}", "bold"))


def _test_row(workload: Workload, among: Sequence[Workload], width: int, on: bool) -> Content:
    """A test, and its time in a round of one filesystem: as a bar, the longest of all tests at full length."""
    titles = [_(other.title) for other in among]
    longest_s = max(other.seconds for other in among) or 1.0
    title = min(2 + max(map(cell_len, titles)), 3 * width // 5)
    name = fit((cut_among(_(workload.title), titles, title - 2), "bold" if on else ""), title)
    room = width - 1 - title - 10
    bar = "▆" * max(1, round(workload.seconds / longest_s * room))
    duration = fit((duration_text(workload.seconds), "$muted"), 10, "right")
    return text(" ", name, fit((bar, "$text-primary"), room), duration)


def _recipe_words(recipe: Recipe, brief: bool, comparing: bool, width: int) -> Content:
    pairs = [
        (_("Free space"), size_text(recipe.image_bytes))
        if comparing
        else (p_("scratch image", "Image"), binary_text(recipe.image_bytes)),
        (_("Time"), _("up to {duration}", duration=duration_text(recipe.minutes * 60))),
        *([] if comparing else [(_("Candidates"), ", ".join(recipe.candidates))]),
        (p_("source", "From"), _(recipe.source)),
    ]
    rows = [text((_(recipe.title), "bold")), *wrap(_(recipe.why), width)]
    return lines(rows if brief else [*rows, Content(""), facts(pairs, width, gap=False)])


def _workload_words(workload: Workload, brief: bool, width: int) -> Content:
    metric = _(workload.metric.name.replace("_", " "))
    if workload.metric.better == "higher":
        measures = _("{figure}, higher is better", figure=metric)
    else:
        measures = _("{figure}, lower is better", figure=metric)
    pairs = [
        (_("Does"), shown(workload.job.words)),
        (_("Measures"), measures),
        (_("Takes"), _("about {duration} per filesystem and round", duration=duration_text(workload.seconds))),
        (_("Writes"), _("about {size}", size=size_text(workload.writes_bytes))),
        (_("Counts"), number(f"×{workload.weight:g}")),
    ]
    rows = [text((_(workload.title), "bold")), *wrap(_(workload.why), width)]
    if brief:
        return lines([*rows, facts(pairs[:1], width, gap=False)])
    return lines([*rows, Content(""), facts(pairs, width)])
