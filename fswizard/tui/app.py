"""The wizard: which screen comes next, and what was chosen on the way."""

from __future__ import annotations

import asyncio
import os
import pkgutil
import signal
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import Console
from textual import events
from textual.app import App, SuspendNotSupported, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from fswizard.errors import ExitCode, FswizardError, Missing, Refused, UsageError
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.model.text import safe
from fswizard.system import clock
from fswizard.tui.backend import Backend, RunHandle
from fswizard.tui.choices import StepName, WizardChoices
from fswizard.tui.machine import MachineCache
from fswizard.tui.runstate import RunMonitor
from fswizard.tui.screens.base import StepScreen, WizardScreen
from fswizard.tui.terminal import Terminal
from fswizard.tui.theme import DARK, DARK_16, LIGHT, LIGHT_16

if TYPE_CHECKING:
    from fswizard.targets.privilege import Purpose

SCREENS: dict[StepName, str] = {
    "purpose": "fswizard.tui.screens.purpose:PurposeScreen",
    "drive": "fswizard.tui.screens.drive:DriveScreen",
    "filesystems": "fswizard.tui.screens.filesystems:FilesystemsScreen",
    "workloads": "fswizard.tui.screens.workloads:WorkloadsScreen",
    "review": "fswizard.tui.screens.review:ReviewScreen",
    "run": "fswizard.tui.screens.run:RunScreen",
    "result": "fswizard.tui.screens.result:ResultScreen",
}
"""Imported when they are shown, so that the first picture comes quickly."""
PLACES = "fswizard.tui.screens.locations:LocationsScreen"
"""What the second step is where existing directories are compared."""
INPUT_GRACE_S = 0.6
"""For so long after the program itself changed the screen, keys are taken to be meant for the one before."""


class FswizardApp(App[int]):
    """Which filesystem, with which mount options, for this disk and this use."""

    TITLE = "fswizard"
    CSS_PATH = "fswizard.tcss"
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (160, "-vast")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (22, "-low"), (30, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "leave", "quit", priority=True),
        Binding("ctrl+c", "leave", "quit", show=False),
        Binding("f2", "toggle_dark", "theme"),
    ]

    def __init__(
        self,
        backend: Backend | None = None,
        *,
        choices: WizardChoices | None = None,
        start: StepName = "purpose",
        running: RunMonitor | None = None,
        result: Result | None = None,
        clock: Callable[[], float] = clock.monotonic,
        few_colours: bool = False,
    ) -> None:
        super().__init__(driver_class=Terminal)
        self.register_theme(DARK_16 if few_colours else DARK)
        self.register_theme(LIGHT_16 if few_colours else LIGHT)
        self.theme = DARK.name
        self.backend = backend or Backend()
        self.choices = choices or WizardChoices()
        self.clock = clock
        self.running = running
        self.result = result
        """The result that the last step shows."""
        self.result_path: Path | None = None
        self.taken_up: RunHandle | None = None
        """An earlier run that the review is about, instead of a new one."""
        self.machine = MachineCache(self.backend)
        self._input_grace_until_s = clock()
        self._start: StepName = start
        steps = self.choices.steps
        self._visited: set[StepName] = set(steps[: steps.index(start) + 1])
        self._leaving = False

    def on_mount(self) -> None:
        self.visit(self._start)
        if threading.current_thread() is threading.main_thread():
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGTERM, self.leave_now)

    async def on_event(self, event: events.Event) -> None:
        if not (self.in_input_grace and isinstance(event, (events.Key, events.MouseDown))):
            await super().on_event(event)

    @property
    def in_input_grace(self) -> bool:
        """Keys and clicks are passed over, as the screen has just changed by itself."""
        return self.clock() < self._input_grace_until_s

    def action_hang_up(self) -> None:
        """The terminal is gone."""
        self.leave_now()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return DARK.variables

    @property
    def reachable(self) -> tuple[StepName, ...]:
        """Steps that can be gone to from here."""
        steps = self.choices.steps
        seen = [steps.index(step) for step in self._visited if step in steps and step not in ("run", "result")]
        furthest = max(seen, default=0)
        reached = list(steps[: furthest + 1])
        if self.running is not None:
            reached.append("run")
        if self.result is not None:
            reached.append("result")
        return tuple(dict.fromkeys(reached))

    def choose(self, **changes: Any) -> None:
        """Replace some of the choices."""
        self.choices = replace(self.choices, **changes)

    def visit(self, step: StepName) -> None:
        """Show a step."""
        self._visited.add(step)
        screen = _screen(PLACES if step == "drive" and self.choices.comparing else SCREENS[step])
        if isinstance(self.screen, StepScreen):
            self.switch_screen(screen)
        else:
            self.push_screen(screen)

    def action_visit(self, step: StepName) -> None:
        if step in self.reachable:
            self.visit(step)

    def go_on(self) -> None:
        """To the step after this one."""
        steps = self.choices.steps
        here = self.screen
        if isinstance(here, StepScreen) and steps[-1] != here.STEP:
            self.visit(steps[steps.index(here.STEP) + 1])

    def go_back(self) -> None:
        """To the step before this one; from the first, out."""
        steps = self.choices.steps
        here = self.screen
        if not isinstance(here, StepScreen):
            return
        number = steps.index(here.STEP)
        if number == 0:
            self.action_leave()
        else:
            self.visit(steps[number - 1])

    def action_toggle_dark(self) -> None:
        """Light or dark."""
        light = self.theme == LIGHT.name
        self.theme = DARK.name if light else LIGHT.name

    def action_explain(self) -> None:
        """Help on the screen that is shown."""
        from fswizard.tui.screens.help import HelpScreen

        if isinstance(self.screen, WizardScreen):
            self.push_screen(HelpScreen(self.screen.HELP))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        yield SystemCommand("Light or dark", "Change between the light and the dark theme", self.action_toggle_dark)
        yield SystemCommand("Help", "What this screen is about", self.action_explain)
        yield SystemCommand("Earlier results", "Look at results of earlier runs", self.action_history)
        yield SystemCommand("Start anew", "Back to the first question", lambda: self.visit("purpose"))
        yield SystemCommand("Quit", "Leave the wizard; a run is ended and cleaned up first", self.action_leave)

    def action_history(self) -> None:
        from fswizard.tui.screens.history import HistoryScreen

        self.push_screen(HistoryScreen())

    def take_up(self, run: RunHandle) -> None:
        """Review an earlier run that is to go on."""
        self.taken_up = run
        self._close_windows()
        self.visit("review")

    def show_result(self, result: Result, path: Path) -> None:
        """Show a result, whether it was measured just now or long ago."""
        self.result, self.result_path = result, path
        self._close_windows()
        self.visit("result")

    def _close_windows(self) -> None:
        while not isinstance(self.screen, StepScreen) and len(self.screen_stack) > 1:
            self.pop_screen()

    # A run

    @property
    def measuring(self) -> bool:
        """A run goes on."""
        return self.running is not None and not self.running.state.ended

    async def begin(self, plan: Plan) -> None:
        """Start measuring, or go on with an earlier run. FswizardError where root is needed and cannot be had."""
        if plan.target.kind != "directory":
            from fswizard.targets import privilege

            where = "the scratch image" if plan.target.kind == "image" else plan.target.path
            await self.authorise(privilege.purpose(plan), f"making and mounting filesystems on {where}")
        if self.measuring:
            return
        self.result = None
        run, self.taken_up = self.taken_up or self.backend.open_session(plan), None
        self.running = RunMonitor(run, plan, self.clock)
        self.run_worker(self.running.follow(), name="run", group="run", exclusive=True, exit_on_error=True)
        self.visit("run")

    async def authorise(self, needed: Purpose, text: str) -> None:
        """Have sudo ask for the password on the terminal where it has to, and the helper whether a disk be erased.

        Missing where root cannot be had, Refused where the user says no.
        """
        found = await asyncio.to_thread(self.backend.privilege, needed)
        if found in ("root", "pkexec") or (found == "sudo" and not needed.devices):
            return
        if found in ("sudo-refuses", "unknown-caller", "none"):
            self.backend.authorise(needed)  # says what is missing
        try:
            with self.suspend():
                error = self._ask_on_the_terminal(needed, text)  # not raised: the screen would not come back
        except SuspendNotSupported as unsupported:
            raise Missing(
                f"{text[:1].upper()}{text[1:]} needs root, and the password cannot be asked for here.",
                "Run `sudo -v` in this terminal first, or log in as root.",
            ) from unsupported
        if isinstance(error, Refused):
            raise error
        if error:
            raise Missing(
                "sudo gave no rights: the password was wrong, or it is not for you. Nothing has begun.",
                "⏎ asks again; “Compare what I have” on the first screen needs no root.",
            )

    def _ask_on_the_terminal(self, needed: Purpose, text: str) -> FswizardError | None:
        then = ", and then you are asked once more whether to erase" if needed.devices else ""
        print(f"\nfswizard needs root for {safe(text)}.\nsudo asks for your password{then}.")
        before = signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is meant for sudo alone
        try:
            self.backend.authorise(needed)
        except FswizardError as error:
            return error
        finally:
            signal.signal(signal.SIGINT, before)
        return None

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.worker.group == "run" and event.state in (WorkerState.SUCCESS, WorkerState.CANCELLED):
            self._run_is_over()

    def _run_is_over(self) -> None:
        running = self.running
        if running is None:
            return
        if self._leaving:
            self.exit(int(ExitCode.CANCELLED))
            return
        measured = running.state.judgement is not None
        if measured:
            try:
                self.result = self.backend.load(running.run.path)
                self.result_path = running.run.path
            except FswizardError as error:
                running.problem = running.problem or error
        from fswizard.tui.screens.leave import LeaveScreen
        from fswizard.tui.screens.run import RunScreen

        before = self.screen
        if isinstance(before, LeaveScreen):  # there is nothing to leave any more
            self.pop_screen()
        if isinstance(self.screen, RunScreen):
            self.screen.run_is_over()
        if self.screen is not before:
            self._input_grace_until_s = self.clock() + INPUT_GRACE_S

    def action_leave(self) -> None:
        """Quit; while a run goes on, ask once."""
        if not self.measuring:
            self.exit(int(ExitCode.OK))
            return
        from fswizard.tui.screens.leave import LeaveScreen

        if isinstance(self.screen, LeaveScreen):
            self.leave_now()
        else:
            self.push_screen(LeaveScreen(quitting=True))

    def leave_now(self) -> None:
        """Quit without a question, after a run has cleaned up."""
        self._leaving = True
        if self.measuring and self.running is not None:
            self.running.stop()
            self._close_windows()
            self.visit("run")
        else:
            self.exit(int(ExitCode.OK))


def _screen(name: str) -> StepScreen:
    screen: StepScreen = pkgutil.resolve_name(name)()
    return screen


def run_wizard() -> int:
    """Run the wizard to its end and return an exit code. UsageError where the terminal is dumb."""
    if os.environ.get("TERM", "dumb") == "dumb":
        raise UsageError("This terminal cannot show the wizard.", "`fswizard run quick` measures and prints a report.")
    app = FswizardApp(few_colours=Console().color_system == "standard")
    code = app.run()
    if app.return_code:
        return app.return_code
    return code if code is not None else int(ExitCode.OK)
