"""Fourth step: the recipe, and the limits of the run."""

from __future__ import annotations

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
from fswizard.language import N_, _, n_, p_
from fswizard.model.recipe import Workload, grouped
from fswizard.model.units import duration_text
from fswizard.tui.choices import TIME_BUDGETS_S
from fswizard.tui.drawing import Piece, keyed, text
from fswizard.tui.drives import image_room, too_large
from fswizard.tui.screens.base import StepScreen
from fswizard.tui.widgets.options import Options, heading
from fswizard.tui.widgets.table import Facts


class WorkloadsScreen(StepScreen):
    """List of recipes, and limits of the run. The highlighted recipe is used."""

    CSS_PATH = "workloads.tcss"
    QUESTION = N_("What do you use it for?")
    HELP = _(
        "A recipe is a set of tests that represents one way of using a disk. The highlighted one is used. The "
        "list has your own, too: `fswizard recipes --from DIR --output ~/.config/fswizard/recipes/mine.toml` makes "
        "one with files like those in DIR: sizes, depths and compressibility are kept, names are not.\n\n"
        "How much each test counts is up to the recipe; `fswizard report --what-if` ranks a result by other "
        "weights.\n\n"
        "The run adds rounds until the result is clear or its time is up, and finishes the round it is in. Left and "
        "right change the time: more shows smaller differences. A verdict takes two rounds or more.\n\n"
        "A run on an SSD ends before it has written 50 GB, on a card or stick earlier; hard disks do not wear.\n\n"
        "a measures aged filesystems: each is first used for years in minutes. It takes about twice as long, and "
        "another image for each filesystem."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "time(-1)", _("less time"), show=False),
        Binding("right", "time(1)", _("more time")),
        Binding("a", "age", _("age")),
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
        options = []
        for title, members in grouped(self.wizard.machine.recipes):
            options.append(heading(_(title)))
            options += [Option(text(f" {_(recipe.title)}"), id=recipe.name) for recipe in members]
        self.recipes.show(options)
        self.recipes.highlight(self.recipe.name)
        self._show()
        self.recipes.focus()

    @on(Options.OptionHighlighted, "#recipes")
    def _use_highlighted(self) -> None:
        name = self.recipes.key
        if name and name != self.recipe.name:  # else it may have another image, or fewer tests
            recipe = self.wizard.machine.recipe(name)
            self.wizard.choose(recipe=recipe.on(self.choices.drive), time_limit_s=None)
            self._show()

    # What the run takes, and whether it can be done

    def _show(self) -> None:
        """Show the recipe, the limits, and the cost of the run or the objections to it."""
        from fswizard.session import absent_programs

        self.absent = absent_programs(self.recipe)
        draft = self.estimated()
        if refused := self._too_large():
            self.problem = UsageError(refused, _("Choose another recipe, or go back and choose another place."))
            self.show_error(self.problem)
        elif draft is not None and self.absent:
            self._say_absent()
        elif draft is not None:
            warning = ""
            if draft.expected_s > self.choices.budget_s:
                message = _("That may be too short: more time gives a clearer result")
                warning = f"\n! {message}"
            self.say_estimate(draft, warning)
        self.set_class(bool(self.problem or self.absent), "-problem")
        time = _("up to {duration}", duration=duration_text(self.choices.budget_s))
        pairs: list[tuple[Piece, Piece]] = [(_("Time"), text((time, "bold"), "  ", keyed("`←` `→`")))]
        if not self.choices.devices:
            age = _("aged ones") if self.choices.age else _("new filesystems")
            pairs.append((p_("of a filesystem", "Age"), text((age, "bold"), "  ", keyed("`a`"))))
        self.query_one("#limits", Facts).show(pairs)
        self._show_recipe()
        self.refresh_bindings()

    def _too_large(self) -> str:
        """Why there is not enough space for the recipe, in a sentence; empty if there is."""
        choices = self.choices
        if choices.devices:
            return too_large(self.recipe, choices.device_bytes)
        return too_large(self.recipe, image_room(self.recipe, choices.location)) if choices.location else ""

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

    def _show_recipe(self) -> None:
        tests = []
        for test in self.recipe.measured:
            mark = ("✗ ", "bold $text-error") if test.name in self.absent else ""
            seconds = f"  {duration_text(test.seconds)}"
            tests += [text(mark, (_(test.title), "bold"), (seconds, "$muted")), text(_(test.why))]
        self.details.border_title = text(_(self.recipe.title))
        pairs: list[tuple[Piece, Piece]] = [
            (p_("purpose", "For"), _(self.recipe.why)),
            (_("Tests"), Content("\n").join(tests)),
            (p_("source", "From"), _(self.recipe.source)),
        ]
        self.query_one("#about", Facts).show(pairs)

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "leave_out":
                return self.is_mounted and bool(self.absent and self._present)
            case "age":
                return not self.choices.devices
        return super().check_action(action, parameters)

    def action_time(self, direction: int) -> None:
        """Increase or decrease the time limit."""
        now_s = self.choices.budget_s
        others = [seconds for seconds in TIME_BUDGETS_S if (seconds - now_s) * direction > 0]
        self.wizard.choose(time_limit_s=min(others, key=lambda seconds: abs(seconds - now_s), default=now_s))
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
