"""Base classes of screens: access to the wizard, background questions, the frame of steps, and windows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widgets import Footer, Input, Static
from textual.widgets._footer import FooterKey
from textual.worker import Worker

from fswizard.errors import FswizardError
from fswizard.language import _, n_
from fswizard.model.plan import Plan
from fswizard.model.recipe import Recipe
from fswizard.tui.choices import WizardChoices
from fswizard.tui.drawing import Piece, failure, refusal, text
from fswizard.tui.drives import disk_title
from fswizard.tui.planning import draft
from fswizard.tui.steps import WizardStep
from fswizard.tui.widgets.bars import StepBar

if TYPE_CHECKING:
    from fswizard.tui.app import FswizardApp

Answer = TypeVar("Answer")
SHOWS_DISK = ("filesystems", "workloads", "review", "run")
"""Steps after the choice of a disk, except for the result, which names the measured disk itself."""
DIRECTIONS = {"up": "up", "down": "down", "pageup": "page_up", "pagedown": "page_down", "home": "home", "end": "end"}
SCROLL = tuple(Binding(key, f"screen.scroll('{name}')", _("scroll"), show=False) for key, name in DIRECTIONS.items())
"""Keys that scroll everything that does not fit, unless a list handles them."""
SIDEWAYS = tuple(Binding(key, f"scroll('page_{key}')", _("scroll"), show=False) for key in ("left", "right"))
"""Keys that scroll lines that are not wrapped."""


class Keys(Footer):
    """Keys of a screen, as many as fit next to that of the menu, which has them all."""

    def compose(self) -> ComposeResult:
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        room = self.app.size.width
        for key in sorted(keys, key=lambda key: not key.has_class("-command-palette")):
            room -= cell_len(f"{key.key_display} {key.description}") + 2
            if room < 0:
                keys.remove(key)
        yield from keys

    def on_resize(self) -> None:
        self.call_after_refresh(self.recompose)


class TextBox(Input):
    """Textual's input with a steady cursor, and with Enter among the displayed keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", _("take this"))]

    def __init__(self, **arguments: Any) -> None:
        super().__init__(select_on_focus=False, **arguments)
        self.cursor_blink = False


class WizardScreen(Screen[ScreenResultType]):
    """A screen with access to the wizard."""

    HELP: ClassVar[str | None] = ""
    """Text for F1: paragraphs separated by empty lines."""
    MESSAGE: ClassVar[str] = "#message"
    """Selector of the line for messages."""

    @cached_property
    def wizard(self) -> FswizardApp:
        return cast("FswizardApp", self.app)

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The keys with Enter first, so that the footer shows the main one also where a list has keys of its own."""
        return dict(sorted(super().active_bindings.items(), key=lambda item: item[0] != "enter"))

    @property
    def choices(self) -> WizardChoices:
        return self.wizard.choices

    @property
    def recipe(self) -> Recipe:
        """The chosen recipe; there is one from the second step on."""
        assert self.choices.recipe is not None
        return self.choices.recipe

    def body(self) -> ComposeResult:
        """The widgets in the frame of a window, or between the question and the keys of a step."""
        yield from ()

    async def on_event(self, event: events.Event) -> None:
        """Skip the mount event of a screen that is removed before it has all its widgets."""
        if self.display or not isinstance(event, events.Mount):
            await super().on_event(event)

    def say(self, *pieces: Piece, problem: bool = False) -> None:
        """Replace the text of the line for messages; low terminals show it only if it is a `problem`."""
        for line in self.query(self.MESSAGE).results(Static):  # none where the screen is about to go
            line.update(text(*pieces))
            line.set_class(problem, "-problem")

    def refuse(self, message: str) -> None:
        """Show a refusal; keys are in backticks."""
        self.say(refusal(message), problem=True)

    def show_error(self, error: FswizardError) -> None:
        """Show an error with its hint."""
        self.say(failure(error), problem=True)

    def call_in_app(self, function: Callable[..., object], *arguments: Any) -> None:
        """Call `function` in the wizard's thread, unless this screen has been removed or the wizard ends.
        Thread-safe.

        In a thread that Textual did not start, the property `wizard` must have been read before.
        """
        wizard = self.wizard

        def call() -> None:
            if wizard.is_running and self in wizard.screen_stack:
                function(*arguments)

        wizard.call_later(call)

    def ask(
        self,
        question: Callable[[], Answer],
        then: Callable[[Answer], object],
        *,
        fails: Callable[[FswizardError], object] | None = None,
        group: str = "ask",
        exit_on_error: bool = True,
    ) -> None:
        """Call `question` in a thread, and `then` with its answer, unless a newer question of the same group
        replaces it."""

        async def work() -> None:
            try:
                answer = await asyncio.to_thread(question)
            except FswizardError as error:
                self.call_in_app(fails or self.show_error, error)
            else:
                self.call_in_app(then, answer)

        _worker: Worker[None] = self.run_worker(work, group=group, exclusive=True, exit_on_error=exit_on_error)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable Enter as the next step while a box has the focus: it submits the box."""
        return action != "forward" or not isinstance(self.focused, Input)

    def action_scroll(self, name: str) -> None:
        """Scroll everything that does not fit; `name` is that of Textual's method without its prefix."""
        for area in self.query("VerticalScroll, RichLog"):
            getattr(area, f"scroll_{name}")(animate=False)

    def action_back(self) -> None:
        self.dismiss()


class Window(ModalScreen[ScreenResultType], WizardScreen[ScreenResultType]):
    """A window above a step, with its `title`. ModalScreen is the first base because Textual uses only the first
    one's styles."""

    FRAME_CLASSES: ClassVar[str] = ""
    """Additional classes of the frame."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "back", _("back"), show=False),
        Binding("ctrl+c", "app.quit", _("quit"), show=False),
        Binding("f1,question_mark", "app.explain", _("help"), key_display="F1", show=False),
    ]

    def compose(self) -> ComposeResult:
        with Vertical(classes=f"window {self.FRAME_CLASSES}") as window:
            window.border_title = text(_(self.title) if self.title else "")  # a model's name is no markup
            yield from self.body()
        yield Keys(compact=True)


class StepScreen(WizardScreen[None]):
    """A step with one question."""

    QUESTION: ClassVar[str] = ""
    MESSAGE = "#remark"
    AUTO_FOCUS = ""
    problem: FswizardError | None = None
    """Why the wizard cannot proceed with the current choices."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "forward", _("next")),
        Binding("escape", "back", _("back")),
        Binding("f1", "app.explain", _("help"), key_display="F1"),
        *SCROLL,
    ]

    def __init__(self, step: WizardStep) -> None:
        super().__init__()
        self.step = step

    def compose(self) -> ComposeResult:
        app, size = self.app, self.app.size  # Textual chooses the layout only after the first picture
        self.add_class(*self._get_breakpoint_classes(size.width, app.HORIZONTAL_BREAKPOINTS or []))
        self.add_class(*self._get_breakpoint_classes(size.height, app.VERTICAL_BREAKPOINTS or []))
        with Vertical(id="page"):
            if banner := self.wizard.banner:
                yield Static(banner, id="demo", markup=False)
            yield StepBar(self.wizard.steps, self.step)
            with Vertical(id="heading"):
                with Horizontal(id="title"):
                    yield Static(_(self.QUESTION), id="question", markup=False)
                    yield Static(disk_title(self.choices) if self.step.name in SHOWS_DISK else "", id="disk")
                yield Static("", id="remark", markup=False)
            with Vertical(id="body"):
                yield from self.body()
        yield Keys(compact=True)

    def estimated(self) -> Plan | None:
        """Estimate of the run for the current choices; None, after showing the error, if it is impossible."""
        try:
            plan = draft(self.choices)
        except FswizardError as error:
            self.problem = error
            self.show_error(error)
            return None
        self.problem = None
        return plan

    def say_estimate(self, plan: Plan, warning: str = "") -> None:
        """Show the number of candidates, the cost of the run, and a `warning`."""
        from fswizard.report.writes import budget_text

        candidates = n_("{count} candidate", "{count} candidates", len(self.choices.candidates))
        self.say((candidates, "bold"), f" · {budget_text(plan)}", (warning, "$text-warning"))

    def action_forward(self) -> None:
        if self.problem is None:
            self.wizard.go_on()
        else:
            self.show_error(self.problem)

    def action_back(self) -> None:
        self.wizard.go_on(-1)
