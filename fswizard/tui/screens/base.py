"""What all steps of the wizard share: the way on top, one question, the keys below."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from fswizard.errors import FswizardError
from fswizard.tui.choices import StepName, WizardChoices
from fswizard.tui.drawing import Piece, text
from fswizard.tui.widgets.canvas import Cached, CachedStatic, CachedVertical
from fswizard.tui.widgets.keybar import KeyBar
from fswizard.tui.widgets.stepbar import TITLES, StepBar

if TYPE_CHECKING:
    from fswizard.tui.app import FswizardApp


class WizardScreen(Screen[None]):
    """A screen that knows the wizard."""

    HELP: ClassVar[str] = ""
    """What F1 shows: paragraphs separated by empty lines."""

    @property
    def wizard(self) -> FswizardApp:
        return cast("FswizardApp", self.app)

    @property
    def choices(self) -> WizardChoices:
        return self.wizard.choices


class StepScreen(Cached, WizardScreen):
    """One step: one question."""

    STEP: ClassVar[StepName]
    QUESTION: ClassVar[str] = ""
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "forward", "next"),
        Binding("escape", "back", "back"),
        Binding("f1", "app.explain", "help"),
        Binding("pageup", "page(-1)", "scroll", key_display="PgUp"),
        Binding("pagedown", "page(1)", "scroll", key_display="PgDn"),
    ]

    def compose(self) -> ComposeResult:
        with CachedVertical(id="page"):
            titles = {**TITLES, "drive": "Places"} if self.choices.comparing else TITLES
            yield StepBar(self.choices.steps, self.STEP, self.wizard.reachable, titles)
            with CachedVertical(id="heading"):
                yield CachedStatic(self.question(), id="question", markup=False)
                yield CachedStatic("", id="remark", markup=False)
            with CachedVertical(id="body"):
                yield from self.body()
        yield KeyBar()

    def question(self) -> str:
        """What this screen asks."""
        return self.QUESTION

    def body(self) -> ComposeResult:
        """The widgets between the question and the keys."""
        yield from ()

    def say(self, *pieces: Piece) -> None:
        """The line below the question: what the choice means."""
        self.query_one("#remark", Static).update(text(*pieces))

    def show_error(self, error: FswizardError) -> None:
        """Tell what went wrong, and what can be done, in the line below the question."""
        self.say(("✗ ", "bold $error"), (error.message, "$error"), f" {error.hint}" if error.hint else "")

    def on_mount(self) -> None:
        for area in self.query(VerticalScroll):
            self.watch(area, "show_vertical_scrollbar", self._scrolling_changed, init=False)

    def _scrolling_changed(self) -> None:
        self.refresh_bindings()

    @property
    def _scrolls(self) -> bool:
        return any(area.max_scroll_y > 0 for area in self.query(VerticalScroll))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._scrolls if action == "page" else True

    def action_page(self, direction: int) -> None:
        """Scroll what does not fit."""
        for area in self.query(VerticalScroll):
            if area.display and area.max_scroll_y > 0:
                area.scroll_relative(y=direction * max(1, area.size.height - 2), animate=False)

    def action_forward(self) -> None:
        self.wizard.go_on()

    def action_back(self) -> None:
        self.wizard.go_back()
