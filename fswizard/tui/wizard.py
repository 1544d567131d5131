"""What the screens see of the wizard: what was chosen, the step it is at, the machine, and the run."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App, SuspendNotSupported
from textual.screen import ModalScreen

from fswizard.errors import ExitCode, FswizardError, Missing
from fswizard.language import _
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.system import clock
from fswizard.tui.backend import Backend, RunHandle
from fswizard.tui.choices import WizardChoices
from fswizard.tui.machine import MachineCache
from fswizard.tui.monitor import RunMonitor
from fswizard.tui.steps import WizardStep, steps_for

if TYPE_CHECKING:
    from fswizard.tui.backend import OngoingRun, Resumption


class Wizard(App[int]):
    """Goes from step to step, and starts the run."""

    def __init__(
        self,
        backend: Backend,
        *,
        choices: WizardChoices | None = None,
        start: str = "purpose",
        running: RunMonitor | None = None,
        result: Result | None = None,
        clock: Callable[[], float] = clock.monotonic,
        **arguments: Any,
    ) -> None:
        super().__init__(**arguments)
        self.backend = backend
        self.choices = choices or WizardChoices()
        self.clock = clock
        self.running = running
        self.result = result
        """The result that the last step shows."""
        self.result_path: Path | None = None
        self.taken_up: Resumption | None = None
        """An earlier run that the review is about, instead of a new one."""
        self.resumed = False
        """The run that is shown resumes an earlier one."""
        self._beginning = False
        self.machine = MachineCache(backend)
        self.step = start
        """Name of the step that is shown, maybe below a window."""
        names = [step.name for step in self.steps]
        self._visited = set(names[: names.index(start) + 1])
        self.leaving = False
        """The program ends as soon as the run has cleaned up."""

    def choose(self, **changes: Any) -> None:
        """Replace some of the choices; a hard disk after another disk may ask for another image and more time."""
        before, self.choices = self.choices.drive, replace(self.choices, **changes)
        drive, recipe = self.choices.drive, self.choices.recipe
        if recipe is not None and drive is not None and (before is None or before.turns != drive.turns):
            usual = self.machine.usual(recipe).on(drive)
            fitting = replace(recipe.on(drive), image_bytes=usual.image_bytes, minutes=usual.minutes)
            self.choices = replace(self.choices, recipe=fitting)

    # Steps

    @property
    def steps(self) -> tuple[WizardStep, ...]:
        """The way through the wizard for what was chosen."""
        return steps_for(self.choices)

    @property
    def reachable(self) -> tuple[str, ...]:
        """Steps that can be gone to from here."""
        names = [step.name for step in self.steps]
        furthest = max((names.index(name) for name in self._visited - {"run", "result"} if name in names), default=0)
        ended = (("run", self.running), ("result", self.result))
        return (*names[: furthest + 1], *(name for name, value in ended if value is not None))

    def visit(self, name: str) -> None:
        """Show a step."""
        screen = next(step for step in self.steps if step.name == name).open()
        self.step = name
        self._visited.add(name)
        if isinstance(self.screen, ModalScreen) or len(self.screen_stack) == 1:
            self.push_screen(screen)
        else:
            self.switch_screen(screen)

    def action_visit(self, name: str) -> None:
        if name in self.reachable:
            self.visit(name)

    def go_on(self, direction: int = 1) -> None:
        """To the step after this one, or before it with a `direction` of -1; not below a window."""
        names = [step.name for step in self.steps]
        number = names.index(self.step) + direction
        if 0 <= number < len(names) and not isinstance(self.screen, ModalScreen):
            self.visit(names[number])

    def close_windows(self) -> None:
        """Nothing stands over the step any more."""
        while isinstance(self.screen, ModalScreen):
            self.pop_screen()

    # Runs and results

    def take_up(self, run: Resumption) -> None:
        """Review an earlier run that is to go on."""
        self.taken_up = run
        self.close_windows()
        self.visit("review")

    def show_result(self, result: Result, path: Path) -> None:
        """Show a result, whether it was measured just now or long ago."""
        self.result, self.result_path = result, path
        self.close_windows()
        self.visit("result")

    @property
    def measuring(self) -> bool:
        """A run goes on."""
        return self.running is not None and not self.running.state.ended

    async def begin(self, plan: Plan) -> None:
        """Start measuring, or resume an earlier run; once, however often it is asked.

        Raises FswizardError if root is needed but not available, or if the run cannot begin.
        """
        if self._beginning or self.measuring:
            return
        self._beginning = True
        try:
            if plan.needs_root:
                task = _("making and mounting filesystems on {device}", device=plan.target.path)
                if plan.target.kind == "image":
                    task = _("making and mounting filesystems on the scratch image")
                await self.authorise(task)
            path = self.taken_up.path if self.taken_up else None
            run = await asyncio.to_thread(self.backend.start, plan, path)
        finally:
            self._beginning = False
        self.resumed, self.taken_up = path is not None, None
        self._show_run(run)

    async def follow(self, run: OngoingRun) -> None:
        """Show a run that goes on in another process; where it is over, the first screen."""
        try:
            handle = await asyncio.to_thread(self.backend.follow, run)
        except FswizardError as error:
            self.notify(f"{error.message} {error.hint_without_switches}".rstrip(), markup=False)
            self.visit("purpose")
        else:
            self._show_run(handle)

    def _show_run(self, run: RunHandle) -> None:
        self.result = None
        self.running = RunMonitor(run, self.clock)
        self.run_worker(self.running.follow(), name="run", group="run", exclusive=True, exit_on_error=True)
        self.visit("run")

    async def authorise(self, task: str) -> None:
        """Have sudo or doas ask for the password on the terminal where it has to; Missing where root cannot be had."""
        state = await asyncio.to_thread(self.backend.rights)
        if not state.endswith("asks"):
            if state == "none":
                self.backend.authorise()  # says what is missing
            return
        program = state.partition("-")[0]
        try:
            with self.suspend():
                error = self._ask_on_the_terminal()  # not raised: the screen would not come back
        except SuspendNotSupported as unsupported:
            raise Missing(
                _("This needs root, and the password cannot be asked for here: {task}.", task=task),
                _("Run `{program} true` in this terminal first, or log in as root.", program=program),
            ) from unsupported
        if error:
            raise Missing(
                _(
                    "{program} refused: the password was wrong, or your account may not use it. Nothing has started.",
                    program=program,
                ),
                _("⏎ asks again; “Compare what I have” on the first screen needs no root."),
            )

    def _ask_on_the_terminal(self) -> FswizardError | None:
        print(flush=True)
        before = signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is meant for sudo alone
        try:
            self.backend.authorise()
        except FswizardError as error:
            return error
        finally:
            signal.signal(signal.SIGINT, before)
        return None

    def leave_now(self) -> None:
        """Quit without a question; a run goes on by itself, but for that of a demo, which is stopped."""
        self.leaving = True
        if self.measuring and self.running is not None and not self.running.run.outlives:
            self.running.stop()
            self.close_windows()
            self.visit("run")
        else:
            self.exit(int(ExitCode.OK))
