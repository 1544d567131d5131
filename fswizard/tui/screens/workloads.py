"""Fourth step: the recipe, and the limits of the run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets.option_list import Option

from fswizard.errors import UsageError
from fswizard.language import N_, _, n_, number, p_
from fswizard.model.recipe import Recipe, Workload, grouped
from fswizard.model.units import binary_text, duration_text, size_text
from fswizard.tui.choices import TIME_BUDGETS_S, WRITE_BUDGETS_BYTES, next_value
from fswizard.tui.drawing import Piece, keyed, lines, text
from fswizard.tui.drives import too_large
from fswizard.tui.screens.base import StepScreen
from fswizard.tui.widgets.options import Options
from fswizard.tui.widgets.table import Facts

AGES = {False: N_("new filesystems"), True: N_("aged ones")}


class WorkloadsScreen(StepScreen):
    """List of recipes, and limits of the run. The highlighted recipe is used."""

    CSS_PATH = "workloads.tcss"
    QUESTION = N_("What do you use it for?")
    HELP = _(
        "A recipe is a set of tests that represents one way of using a disk. The highlighted one is used. The "
        "list has your own, too: `fswizard recipes --from DIR --output ~/.config/fswizard/recipes/mine.toml` makes "
        "one with files like those in DIR: sizes, depths and compressibility are kept, names are not.\n\n"
        "How much each test counts is up to the recipe. You can change that with the result, without measuring "
        "again.\n\n"
        "The run adds rounds until the result is clear or its time is up, and finishes the round it is in. Left and "
        "right change the time: more shows smaller differences. A verdict takes two rounds or more.\n\n"
        "w changes the cap on writes, before which the run ends. By default SSDs get 50 GB, cards and sticks less, "
        "and hard disks no cap, as they do not wear.\n\n"
        "a measures aged filesystems: each is first used for years in minutes. It takes about twice as long, and "
        "another image for each filesystem."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "time(-1)", _("less time"), show=False),
        Binding("right", "time(1)", _("more time")),
        Binding("w", "writes", _("writes")),
        Binding("a", "age", _("age"), show=False),
        Binding("x", "leave_out", _("leave out")),
    ]

    recipes = getters.query_one("#recipes", Options)
    details = getters.query_one(".details", VerticalScroll)

    def body(self) -> ComposeResult:
        with Horizontal(id="parts"):
            with Vertical():
                yield Facts(id="limits")
                yield Options(id="recipes")
            with VerticalScroll(classes="details"):
                yield Facts(id="about")

    def on_mount(self) -> None:
        self.absent: Mapping[str, Sequence[str]] = {}
        """Programs that are not installed, by the name of the test that needs them."""
        self._cap_bytes = math.inf
        """Write budget of the run."""
        if self.choices.recipe is None:
            self.wizard.choose(recipe=self.wizard.machine.recipe_for(self.choices.purpose))
        self.app.theme_changed_signal.subscribe(self, lambda _: self._list())
        self._list()
        self._show()
        self.recipes.focus()

    @property
    def recipe(self) -> Recipe:
        assert self.choices.recipe is not None
        return self.choices.recipe

    def _list(self) -> None:
        options = []
        for title, members in grouped(self.wizard.machine.recipes):
            options.append(self.recipes.heading(_(title)))
            options += [Option(text(f" {_(recipe.title)}"), id=recipe.name) for recipe in members]
        self.recipes.show(options)
        self.recipes.highlight(self.recipe.name)

    @on(Options.OptionHighlighted, "#recipes")
    def _use_highlighted(self) -> None:
        name = self.recipes.key
        if name and name != self.recipe.name:  # else it may have another image, or fewer tests
            recipe = next(recipe for recipe in self.wizard.machine.recipes if recipe.name == name)
            self.wizard.choose(recipe=recipe.on(self.choices.drive), time_limit_s=None)
            self._show()

    # What the run takes, and whether it can be done

    def _show(self) -> None:
        """Show the recipe, the limits, and the cost of the run or the objections to it."""
        from fswizard.session import absent_programs

        self.absent = absent_programs(self.recipe)
        draft = self.estimated()
        if self.choices.write_budget_bytes is not None:
            self._cap_bytes = self.choices.write_budget_bytes
        elif draft is not None:
            self._cap_bytes = draft.write_budget_bytes or math.inf
        if refused := self._too_large():
            self.problem = UsageError(refused, _("Choose another recipe, or go back and choose another place."))
            self.show_error(self.problem)
        elif self.absent and draft is not None:
            self._say_absent()
        elif draft is not None:
            budget_s = self.choices.budget_s
            count = len(self.choices.candidates)
            warning = ""
            if draft.expected_s > budget_s:
                message = n_(
                    "{duration} may be too short for {count} round: more time gives a clearer result",
                    "{duration} may be too short for {count} rounds: more time gives a clearer result",
                    draft.minimum_rounds,
                    duration=duration_text(budget_s),
                )
                warning = f"\n! {message}"
            self.say_estimate(count, draft, warning)
        self.set_class(bool(self.problem or self.absent), "-problem")
        self._show_limits()
        self._show_recipe()
        self.refresh_bindings()

    def _too_large(self) -> str:
        """Why there is not enough space for the recipe, in a sentence; empty if there is."""
        choices, location = self.choices, self.wizard.machine.location_for(self.choices)
        if choices.devices and choices.device_bytes < self.recipe.image_bytes:
            size, room = binary_text(self.recipe.image_bytes), binary_text(choices.device_bytes)
            return _("It needs {size}, and there are {room}.", size=size, room=room)
        return too_large(self.recipe, location) if location else ""

    def _say_absent(self) -> None:
        from fswizard.session import packages_of
        from fswizard.system.programs import install_hint

        programs = sorted({program for names in self.absent.values() for program in names})
        message = n_(
            "{programs} is not installed. These tests need it: {tests}.",
            "{programs} are not installed. These tests need them: {tests}.",
            len(programs),
            programs=", ".join(programs),
            tests=", ".join(_(self.recipe.workload(name).title) for name in self.absent),
        )
        mend = keyed(_("`x` leaves them out.")) if self._present else ""
        hint = f"\n{install_hint(*packages_of(programs))}\n"
        self.say(("✗ ", "bold $text-error"), (message, "$text-error"), hint, mend, problem=True)

    @property
    def _present(self) -> tuple[Workload, ...]:
        """The tests that can run here."""
        return tuple(workload for workload in self.recipe.measured if workload.name not in self.absent)

    def _show_limits(self) -> None:
        cap = _("no cap")
        if not math.isinf(self._cap_bytes):
            cap = _("at most {size}", size=size_text(self._cap_bytes))
        time = _("up to {duration}", duration=duration_text(self.choices.budget_s))
        pairs: list[tuple[Piece, Piece]] = [
            (_("Time"), _limit(time, "`←` `→`")),
            (p_("limit", "Writes"), _limit(cap, "`w`")),
        ]
        if self.choices.can_age:
            pairs.append((p_("of a filesystem", "Age"), _limit(_(AGES[self.choices.age]), "`a`")))
        self.query_one("#limits", Facts).show(pairs)

    def _show_recipe(self) -> None:
        recipe = self.recipe
        pairs: list[tuple[Piece, Piece]] = [(p_("purpose", "For"), _(recipe.why))]
        tests = []
        for test in recipe.measured:
            mark = ("✗ ", "bold $text-error") if test.name in self.absent else ""
            figures = f"  {duration_text(test.seconds)}  " + number(f"×{test.weight:g}")
            tests += [text(mark, (_(test.title), "bold"), (figures, "$muted")), text(_(test.why))]
        pairs.append((_("Tests"), lines(tests)))
        pairs.append((p_("scratch image", "Image"), binary_text(recipe.image_bytes)))
        pairs.append((_("Candidates"), ", ".join(recipe.candidates)))
        pairs.append((p_("source", "From"), _(recipe.source)))
        self.details.border_title = text(_(recipe.title))
        self.query_one("#about", Facts).show(pairs)

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "leave_out":
                return self.is_mounted and bool(self.absent and self._present)
            case "age":
                return self.choices.can_age
        return super().check_action(action, parameters)

    def action_time(self, direction: int) -> None:
        """Increase or decrease the time limit."""
        self.wizard.choose(time_limit_s=next_value(TIME_BUDGETS_S, self.choices.budget_s, direction))
        self._show()

    def action_writes(self) -> None:
        """Select the next write budget; after “none” the smallest one."""
        larger = (value for value in WRITE_BUDGETS_BYTES if value > self._cap_bytes)
        self.wizard.choose(write_budget_bytes=next(larger, WRITE_BUDGETS_BYTES[0]))
        self._show()

    def action_age(self) -> None:
        self.wizard.choose(age=not self.choices.age)
        self._show()

    def action_leave_out(self) -> None:
        """Keep only the tests that can run here."""
        self.wizard.choose(recipe=replace(self.recipe, workloads=self._present))
        self._show()

    def action_forward(self) -> None:
        self._show()  # what was absent may have been installed meanwhile
        if not self.absent:
            super().action_forward()


def _limit(value: str, keys: str) -> Content:
    """A value, and the keys that change it."""
    return text((value, "bold"), "  ", keyed(keys))
