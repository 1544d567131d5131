"""The wizard on the machine of a story."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from fswizard.demo.machine import DemoMachine
from fswizard.demo.replay import REAL, TENFOLD
from fswizard.demo.stories import Story, stories
from fswizard.language import N_, _
from fswizard.tui import run_wizard
from fswizard.tui.app import FswizardApp
from fswizard.tui.drawing import Piece, text
from fswizard.tui.machine import MachineCache
from fswizard.tui.screens.dialogs import QuestionScreen


class DemoApp(FswizardApp):
    """Shows one story, or first the gallery of all."""

    BINDINGS: ClassVar[list[Any]] = [("f3", "gallery", N_("demos"))]

    def __init__(
        self, story: Story | None = None, *, straight: bool = False, real_time: bool = False, **arguments: Any
    ) -> None:
        """`straight`: the run at once, without the questions before it."""
        self._story = story or next(iter(stories().values()))
        self._speed = REAL if real_time else TENFOLD
        self._asks = story is None
        self._straight = straight
        machine = DemoMachine(self._story, speed=self._speed)
        super().__init__(machine, choices=machine.choices, **arguments)

    def on_mount(self) -> None:
        if self._asks:
            self.call_after_refresh(self.action_gallery)
        elif self._straight:
            self.call_after_refresh(self._run)

    def action_gallery(self) -> None:
        """Choose a story, whose run is shown at once."""
        answers: dict[str, Piece] = {}
        for name, story in stories().items():
            more = f"  {_(story.disk)}\n {_(story.text)}"
            answers[name] = text((_(story.title), "bold"), (more, "$muted"))
        words = _("Recorded runs, shown again. Nothing on this machine is touched.")
        self.push_screen(QuestionScreen(_("Recorded runs"), words, answers), self._show)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "gallery":
            return not self.measuring and not isinstance(self.screen, QuestionScreen)
        return super().check_action(action, parameters)

    def _show(self, name: str | None) -> None:
        if name is None:
            return
        self._story = stories()[name]
        machine = DemoMachine(self._story, speed=self._speed)
        self.backend, self.machine, self.choices = machine, MachineCache(machine), machine.choices
        self.result = self.result_path = None  # the screen of the run before has that to show until this one begins
        self._run()

    def _run(self) -> None:
        self.run_worker(self.begin(self.backend.make_plan(self.choices)))


def run_demo(story: Story | None, *, straight: bool, real_time: bool) -> int:
    """Show recorded runs until the user has seen enough; UsageError without a terminal."""
    return run_wizard(partial(DemoApp, story, straight=straight, real_time=real_time))
