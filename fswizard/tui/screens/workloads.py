"""Fourth step: what is measured, how much each part counts, and for how long."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content

from fswizard.errors import UsageError
from fswizard.language import N_, _, n_, number, p_, shown
from fswizard.model.recipe import Recipe, Workload
from fswizard.model.units import binary_text, duration_text, size_text
from fswizard.tui.choices import TIME_BUDGETS_S, WEIGHTS, WRITE_BUDGETS_BYTES, next_value
from fswizard.tui.drawing import arrow, cut, cut_among, facts, fit, heading, lines, slider, text, wrap
from fswizard.tui.preferences import weight_row
from fswizard.tui.recipe_list import fitted, with_recipe
from fswizard.tui.screens.base import StepScreen
from fswizard.tui.screens.recipes import RecipesScreen
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow, gap, headline

AGES = {False: N_("new filesystems"), True: N_("aged ones, too")}
MEANING = {0.0: N_("skipped"), 0.5: "×½", 1.0: "×1", 2.0: "×2", 3.0: "×3", 5.0: "×5"}


class WorkloadsScreen(StepScreen):
    """Recipe, time, and the weight of each workload: left and right change them."""

    QUESTION = N_("What do you use it for?")
    HELP = N_(
        "A recipe is a set of tests that represents one way of using a disk. Left and right change the highlighted "
        "line: the recipe, the time, the cap on writes, how much a test counts.\n\n"
        "A test of weight 2 counts twice in the overall result; one of weight 0 is skipped and takes no time. "
        "You can change weights again beside the result, without measuring again.\n\n"
        "r shows all recipes in groups, with what each takes, and makes one of your own.\n\n"
        "The run stops early once the result is clear. No new round starts after its time."
    )
    BINDINGS: ClassVar[list[BindingType]] = [Binding("r", "recipes", N_("recipes"))]

    def body(self) -> ComposeResult:
        with Horizontal(classes="split"):
            with Vertical(classes="left"):
                yield ChoiceList(id="weights", changes=True, keeps_highlight=True)
                yield Canvas(id="share", classes="wide-only")
                yield Canvas(id="below", classes="panel brief")
            yield VerticalScroll(Canvas(id="about"), classes="panel", can_focus=False)

    def on_mount(self) -> None:
        if self.choices.recipe is None:
            self.wizard.choose(recipe=self.wizard.machine.recipe_for(self.choices.purpose))
        self.query_one(".panel").border_title = _("About this test")
        self._fill()
        self.query_one("#weights", ChoiceList).focus()

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
            headline("workloads", _("Tests and how much each one counts")),
        ]
        weight = self.choices.weight
        titles = [_(workload.title) for workload in recipe.workloads]
        rows += [ListRow(f"w:{w.name}", partial(_weight_row, w, titles, weight(w.name))) for w in recipe.workloads]
        self.query_one("#weights", ChoiceList).rows = tuple(rows)
        workloads = [workload for workload in recipe.workloads if self.choices.weight(workload.name) > 0]
        self.query_one("#share", Canvas).show(partial(_time_shares, workloads))
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

    @on(ChoiceList.Chosen, "#weights")
    def _explain(self) -> None:
        key = self.query_one("#weights", ChoiceList).key
        recipe = self._recipe
        for canvas in self.query("#about, #below").results(Canvas):
            brief = canvas.id == "below"
            if key.startswith("w:"):
                workload = recipe.workload(key.removeprefix("w:"))
                canvas.show(partial(_workload_words, workload, self.choices.weight(workload.name), brief))
            elif key in LIMIT_WORDS:
                canvas.show(lambda width: lines(wrap(_(LIMIT_WORDS[key]), width)))
            else:
                canvas.show(partial(_recipe_words, recipe, brief, self.choices.comparing))

    @on(ChoiceList.Changed, "#weights")
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
        else:
            name = event.key.removeprefix("w:")
            weight = next_value(WEIGHTS, self.choices.weight(name), direction)
            weights = {**self.choices.weights, name: weight}
            if all(weights.get(w.name, w.weight) == 0 for w in recipe.workloads):
                self.refuse(_("At least one workload must count."))
                return
            self.wizard.choose(weights=weights)
        self._fill()

    def _take(self, recipe: Recipe | None) -> None:
        if recipe is not None:
            self.wizard.choices = with_recipe(self.choices, recipe)
        elif all(known.name != self._recipe.name for known in self.wizard.machine.recipes):  # it was removed
            self.wizard.choices = with_recipe(self.choices, self.wizard.machine.recipe_for(self.choices.purpose))
        self._fill()

    @on(ChoiceList.Clicked, "#weights")
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


def _weight_row(workload: Workload, titles: Sequence[str], weight: float, width: int, on: bool) -> Content:
    words = set_cell_size(f"  {_(MEANING.get(weight, number(f'×{weight:g}')))}", 14)
    return text(" ", weight_row(_(workload.title), titles, weight, width - 1, words=words, on=on))


def _time_shares(workloads: Sequence[Workload], width: int) -> Content:
    """Where the time of one candidate in one round goes."""
    longest = max((workload.seconds for workload in workloads), default=1.0) or 1.0
    titles = [_(workload.title) for workload in workloads]
    title = min(1 + max(map(cell_len, titles), default=0), 3 * width // 5)
    rows = [heading(_("Time per filesystem and round"), width)]
    for workload in workloads:
        cells = width - 2 - title - 10
        filled = max(1, round(workload.seconds / longest * cells))
        name = fit((cut_among(_(workload.title), titles, title - 1), "$muted"), title)
        seconds = fit((duration_text(workload.seconds), "$muted"), 10, "right")
        rows.append(text("  ", name, fit(("▆" * filled, "$primary"), cells), seconds))
    return lines(rows)


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


def _workload_words(workload: Workload, weight: float, brief: bool, width: int) -> Content:
    metric = _(workload.metric.name.replace("_", " "))
    if workload.metric.better == "higher":
        measures = _("{figure}, higher is better", figure=metric)
    else:
        measures = _("{figure}, lower is better", figure=metric)
    counts = _("skipped: it doesn't run") if weight == 0 else MEANING.get(weight, "")
    pairs = [
        (_("Does"), shown(workload.job.words)),
        (_("Measures"), measures),
        (_("Takes"), _("about {duration} per filesystem and round", duration=duration_text(workload.seconds))),
        (_("Writes"), _("about {size}", size=size_text(workload.writes_bytes))),
        (_("Counts"), counts or _("{factor} times", factor=number(f"{weight:g}"))),
    ]
    rows = [text((_(workload.title), "bold")), *wrap(_(workload.why), width)]
    if brief:
        return lines([*rows, facts(pairs[:1], width, gap=False)])
    return lines([*rows, Content(""), facts(pairs, width)])
