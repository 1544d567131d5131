"""The wizard for recorded runs: it shows them and their results, and leaves out the steps before."""

from __future__ import annotations

from typing import Any, ClassVar

from fswizard.demo.replay import SPEED, Replay
from fswizard.demo.stories import Story, stories
from fswizard.errors import ExitCode
from fswizard.language import _
from fswizard.tui.app import FswizardApp
from fswizard.tui.choices import WizardChoices
from fswizard.tui.drawing import Piece, text
from fswizard.tui.screens.dialogs import QuestionScreen
from fswizard.tui.steps import STEPS


class DemoApp(FswizardApp):
    """Shows one story, or first the gallery of all."""

    steps = STEPS[-2:]
    BINDINGS: ClassVar[list[Any]] = [("f3", "gallery", _("demos"))]

    def __init__(self, story: Story | None = None, *, speed: float = SPEED, **arguments: Any) -> None:
        """`speed`: how many times as fast the run is as it was."""
        self._story = story
        self._speed = speed
        super().__init__(start="run", **arguments)

    @property
    def banner(self) -> str:
        if self._story is None:
            return ""
        disk, speed = _(self._story.disk), f"{self._speed:.0f}"
        return _("Demo on {disk}, {speed}× faster. Nothing here is touched.", disk=disk, speed=speed)

    def visit(self, name: str) -> None:
        """Show the run or its result; whatever leads to other steps leads to the gallery."""
        if self.running is not None and name in ("run", "result"):
            super().visit(name)
        elif self.running is None and self._story is not None:
            self._replay(self._story)
        else:
            self.action_gallery()

    def action_gallery(self) -> None:
        """Choose a story; its run begins at once."""
        answers: dict[str, Piece] = {}
        for name, story in stories().items():
            more = f"  {_(story.disk)}\n {_(story.text)}"
            answers[name] = text((_(story.title), "bold"), (more, "$muted"))
        words = _("Recorded runs, shown again. Nothing on this machine is touched.")
        self.close_windows()
        self.push_screen(QuestionScreen(_("Recorded runs"), words, answers), self._chosen)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "gallery":
            return not self.measuring and not isinstance(self.screen, QuestionScreen)
        return action != "history" and super().check_action(action, parameters)

    def _chosen(self, name: str | None) -> None:
        if name is not None:
            self._replay(stories()[name])
        elif self.running is None:
            self.exit(int(ExitCode.OK))

    def _replay(self, story: Story) -> None:
        self._story = story
        run = Replay(story.events, speed=self._speed)
        self.choices = WizardChoices(drive=run.plan.drive)
        self.show_run(run)
