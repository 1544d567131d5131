"""Fourth step: what is measured, how much each part counts, and for how long."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content

from fswizard.model.recipe import Recipe, Workload
from fswizard.model.units import duration_text, rounds_text, size_text
from fswizard.report.writes import wear_text
from fswizard.tui.choices import TIME_BUDGETS_S, WEIGHTS, next_value
from fswizard.tui.drawing import arrow, cursor, cut, facts, fit, heading, lines, slider, text, wrap
from fswizard.tui.screens.base import StepScreen
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow, gap, headline

MEANING = {0.0: "left out", 0.5: "half", 1.0: "once", 2.0: "twice", 3.0: "three times", 5.0: "five times"}


class WorkloadsScreen(StepScreen):
    """Recipe, time, and the weight of each workload: left and right change them."""

    QUESTION = "What do you do with it?"
    HELP = (
        "A recipe is a set of workloads that stands for a way of using a disk. Left and right change the highlighted "
        "line: another recipe, more or less time, how much a workload counts.\n\n"
        "A workload of weight 2 counts twice in the overall ratio; one of weight 0 is left out and takes no time. "
        "Weights can be changed again beside the result: what was measured is ranked anew.\n\n"
        "The run ends before its time when everything is settled. No round begins after it."
    )

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
        self.query_one(".panel").border_title = "What it stands for"
        self._fill()
        self.query_one("#weights", ChoiceList).focus()

    @property
    def _recipe(self) -> Recipe:
        assert self.choices.recipe is not None
        return self.choices.recipe

    def _fill(self) -> None:
        recipe = self._recipe
        rows = [
            ListRow("recipe", partial(_dial, "Recipe", recipe.title)),
            ListRow("time", partial(_dial, "Time", f"up to {duration_text(self.choices.budget_s)}")),
            gap("gap"),
            headline("workloads", "Workloads and how much each one counts"),
        ]
        weight = self.choices.weight
        rows += [ListRow(f"w:{w.name}", partial(_weight_row, w, weight(w.name))) for w in recipe.workloads]
        self.query_one("#weights", ChoiceList).rows = tuple(rows)
        workloads = [workload for workload in recipe.workloads if self.choices.weight(workload.name) > 0]
        self.query_one("#share", Canvas).show(partial(_time_shares, workloads))
        self._estimate()
        self._explain()

    def _estimate(self) -> None:
        draft = self.wizard.backend.draft(self.choices)
        budget_s = self.choices.budget_s
        count = len(self.choices.places if self.choices.comparing else self.choices.candidates)
        wear = wear_text(draft.drive, draft.writes_bytes) if draft.drive else ""
        warning = f" · {duration_text(budget_s)} is short for that" if draft.expected_s > budget_s else ""
        self.say(
            f"{count} candidates · about {duration_text(draft.expected_s)} for {rounds_text(draft.minimum_rounds)} · "
            f"writes about {size_text(draft.writes_bytes)}",
            (warning, "$warning"),
            f"\nWear: {wear}." if wear else "",
        )

    @on(ChoiceList.Chosen, "#weights")
    def _explain(self) -> None:
        key = self.query_one("#weights", ChoiceList).key
        recipe = self._recipe
        for canvas in self.query("#about, #below").results(Canvas):
            brief = canvas.id == "below"
            if key.startswith("w:"):
                workload = recipe.workload(key.removeprefix("w:"))
                canvas.show(partial(_workload_words, workload, self.choices.weight(workload.name), brief))
            elif key == "time":
                canvas.show(lambda width: lines(wrap(TIME_WORDS, width)))
            else:
                canvas.show(partial(_recipe_words, recipe, brief, self.choices.comparing))

    @on(ChoiceList.Changed, "#weights")
    def _change(self, event: ChoiceList.Changed) -> None:
        if event.key == "recipe":
            self._turn_recipe(event.direction)
        elif event.key == "time":
            self.wizard.choose(time_limit_s=next_value(TIME_BUDGETS_S, self.choices.budget_s, event.direction))
        else:
            self._turn_weight(event.key.removeprefix("w:"), event.direction)
        self._fill()

    def _turn_recipe(self, direction: int) -> None:
        recipes = self.wizard.machine.recipes
        number = next((i for i, recipe in enumerate(recipes) if recipe.name == self._recipe.name), 0)
        self.wizard.choose(recipe=recipes[(number + direction) % len(recipes)], weights={}, time_limit_s=None)

    def _turn_weight(self, name: str, direction: int) -> None:
        weight = next_value(WEIGHTS, self.choices.weight(name), direction)
        weights = {**self.choices.weights, name: weight}
        if all(weights.get(w.name, w.weight) == 0 for w in self._recipe.workloads):
            self.notify("One workload must count for something.")
            return
        self.wizard.choose(weights=weights)


TIME_WORDS = (
    "Rounds are added until every verdict is settled or this time is up; then the round that runs is finished. "
    "More time makes smaller differences visible. Three rounds are the least that allow a verdict."
)


def _dial(name: str, value: str, width: int, on: bool) -> Content:
    shown = (f" {cut(value, width - 15)} ", "bold")
    return fit(text(cursor(on, 2), fit((name, "$muted"), 8), arrow(-1, active=on), shown, arrow(1, active=on)), width)


def _weight_row(workload: Workload, weight: float, width: int, on: bool) -> Content:
    style = "$faint" if weight == 0 else "bold" if on else ""
    word = 12 if width >= 56 else 0
    title = width - 2 - 12 - 5 - word - 2
    return text(
        cursor(on, 2),
        fit((cut(workload.title, title - 1), style), title),
        slider(WEIGHTS, weight, active=on),
        fit((f"{weight:g}", "bold" if weight else "$faint"), 5, "right"),
        fit((f"  {MEANING.get(weight, '')}", "$muted"), word) if word else "",
    )


def _time_shares(workloads: Sequence[Workload], width: int) -> Content:
    """Where the time of one candidate in one round goes."""
    longest = max((workload.seconds for workload in workloads), default=1.0) or 1.0
    title = min(34, width // 2)
    rows = [heading("Where the time of a candidate goes, in each round", width)]
    for workload in workloads:
        cells = width - 2 - title - 10
        filled = max(1, round(workload.seconds / longest * cells))
        name = fit((cut(workload.title, title - 1), "$muted"), title)
        seconds = fit((duration_text(workload.seconds), "$muted"), 10, "right")
        rows.append(text("  ", name, fit(("▆" * filled, "$primary"), cells), seconds))
    return lines(rows)


def _recipe_words(recipe: Recipe, brief: bool, comparing: bool, width: int) -> Content:
    pairs = [
        ("Room", size_text(recipe.image_bytes)) if comparing else ("Image", f"{size_text(recipe.image_bytes)} of room"),
        ("Time", f"up to {duration_text(recipe.minutes * 60)}"),
        *([] if comparing else [("Candidates", ", ".join(recipe.candidates))]),
        ("From", recipe.source),
    ]
    rows = [text((recipe.title, "bold")), *wrap(recipe.why, width)]
    return lines(rows if brief else [*rows, Content(""), facts(pairs, width, gap=False)])


def _workload_words(workload: Workload, weight: float, brief: bool, width: int) -> Content:
    better = "higher is better" if workload.metric.better == "higher" else "lower is better"
    pairs = [
        ("Does", workload.job.words),
        ("Figure", f"{workload.metric.name.replace('_', ' ')}, {better}"),
        ("Takes", f"about {duration_text(workload.seconds)} for each candidate in each round"),
        ("Writes", f"about {size_text(workload.writes_bytes)}"),
        ("Counts", MEANING.get(weight, f"{weight:g} times") + (": it is not run" if weight == 0 else "")),
    ]
    rows = [text((workload.title, "bold")), *wrap(workload.why, width)]
    if brief:
        return lines([*rows, facts(pairs[:1], width, gap=False)])
    return lines([*rows, Content(""), facts(pairs, width)])
