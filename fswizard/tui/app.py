"""The wizard application: choices, current step, current run, and global keys."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen

from fswizard.errors import ExitCode, FswizardError
from fswizard.language import _, p_
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.system.files import save_setting, setting
from fswizard.tui.choices import WizardChoices
from fswizard.tui.machine import MachineCache
from fswizard.tui.monitor import RunMonitor, start_run
from fswizard.tui.steps import STEPS, WizardStep
from fswizard.tui.terminal import Console
from fswizard.tui.theme import TERMINAL, THEMES, variables

if TYPE_CHECKING:
    from fswizard.session import FollowedRun, Resumption

THEME = "theme"
"""Name of the setting."""
NO_COMMANDS = ("app.focus", "command_palette", "screen.", "scroll")
"""Beginnings of actions that nobody looks for in the menu."""


class FswizardApp(App[int]):
    """Which filesystem, with which mount options, for this disk and this use."""

    TITLE = "fswizard"
    steps: ClassVar[tuple[WizardStep, ...]] = STEPS
    CSS_PATH = Path(__file__).with_name("fswizard.tcss")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (160, "-vast")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (22, "-low"), (30, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+p", "command_palette", p_("key", "more"), priority=True, show=False),
        Binding("ctrl+q", "quit", _("quit"), priority=True, show=False),
        Binding("ctrl+c,q", "quit", _("quit"), show=False),
        Binding("f1,question_mark", "explain", _("help"), show=False),
    ]

    def __init__(
        self,
        *,
        machine: MachineCache | None = None,
        choices: WizardChoices | None = None,
        start: str = "purpose",
        watching: FollowedRun | None = None,
        start_run: Callable[[Plan, Path | None], FollowedRun] = start_run,
        few_colours: bool = False,
    ) -> None:
        """`watching`: a run to show at once; `few_colours`: the terminal has only sixteen colours."""
        super().__init__(driver_class=Console if os.environ.get("TERM") == "linux" else None)
        self.machine = machine or MachineCache()
        self.choices = choices or WizardChoices()
        self.running: RunMonitor | None = None
        self.result: Result | None = None
        """The result shown by the last step."""
        self.result_path: Path | None = None
        self.taken_up: Resumption | None = None
        """An earlier run to be resumed, which is under review instead of a new one."""
        self.start_run = start_run
        self.step = start
        """Name of the current step, which may be below a window."""
        self._beginning = False
        self._watching = watching
        chosen, themes = setting(THEME), TERMINAL if few_colours else THEMES
        self.theme = chosen if chosen in themes else themes[0]
        for name in self.available_themes.keys() - set(themes):
            self.unregister_theme(name)

    def on_mount(self) -> None:
        self.theme_changed_signal.subscribe(self, lambda theme: save_setting(THEME, theme.name))
        if self._watching:
            self.show_run(self._watching)
        else:
            self.visit(self.step)
        if threading.current_thread() is threading.main_thread():
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.leave_now)

    @property
    def banner(self) -> str:
        """Notice above every screen if this is a demo; empty otherwise."""
        return ""

    def choose(self, **changes: Any) -> None:
        """Replace some of the choices."""
        self.choices = replace(self.choices, **changes)

    # Steps

    def visit(self, name: str) -> None:
        """Show a step, and no window over it."""
        screen = next(step for step in self.steps if step.name == name).open()
        self.step = name
        if name != "review":
            self.taken_up = None
        self.close_windows()
        if len(self.screen_stack) == 1:
            self.push_screen(screen)
        else:
            self.switch_screen(screen)

    def go_on(self, direction: int = 1) -> None:
        """Visit the next step, or the previous one with a `direction` of -1; does nothing below a window."""
        names = [step.name for step in self.steps]
        number = names.index(self.step) + direction
        if 0 <= number < len(names) and not isinstance(self.screen, ModalScreen):
            self.visit(names[number])

    def close_windows(self) -> None:
        """Close all windows above the step."""
        while isinstance(self.screen, ModalScreen):
            self.pop_screen()

    # Runs and results

    def take_up(self, run: Resumption) -> None:
        """Review an earlier run that is to be resumed."""
        self.taken_up = run
        self.visit("review")

    @property
    def measuring(self) -> bool:
        """Whether a run is in progress."""
        return self.running is not None and not self.running.state.ended

    async def begin(self, plan: Plan) -> None:
        """Start measuring, or resume an earlier run; repeated calls are ignored.

        Raises FswizardError if root is needed but not available, or if the run cannot begin.
        """
        if self._beginning or self.measuring:
            return
        self._beginning = True
        path = self.taken_up.path if self.taken_up else None
        try:
            if plan.needs_root:
                await self.authorise()
            run = await asyncio.to_thread(self.start_run, plan, path)
        finally:
            self._beginning = False
        self.taken_up = None
        self.show_run(run)

    def show_run(self, run: FollowedRun) -> None:
        """Follow a run, and show it in place of the one before."""
        self.result = None
        self.running = RunMonitor(run)
        self.run_worker(self._follow(self.running), name="run", group="run", exclusive=True)
        self.visit("run")

    async def _follow(self, running: RunMonitor) -> None:
        """Follow a run to its end, and read its result, which the run's screen then leads to."""
        await running.follow()
        if running.state.analysis is not None:
            try:
                result = await asyncio.to_thread(running.run.result)
            except FswizardError as error:
                running.problem = running.problem or error
            else:
                self.result = result
                self.result_path = running.run.path if running.run.outlives else None  # a replay has no file

    async def authorise(self) -> None:
        """Let sudo or doas ask for the password on the terminal if necessary.

        Raises Missing if it is refused; other ways to become root are tried when the run starts.
        """
        from fswizard.disks import rights

        state = await asyncio.to_thread(rights.state)
        if not state.endswith("asks"):
            return
        error = None
        with self.suspend():
            print(flush=True)
            before = signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is meant for sudo alone
            try:
                rights.authorise()
            except FswizardError as refused:  # an error that left `suspend` would leave the screen dark
                error = refused
            finally:
                signal.signal(signal.SIGINT, before)
        if error:
            raise error

    # Leaving

    async def action_quit(self) -> None:
        """Quit; asks once if a run is in progress."""
        from fswizard.tui.screens.dialogs import QuestionScreen

        if self.measuring and not isinstance(self.screen, QuestionScreen):
            self.ask_to_leave()
        else:
            self.leave_now()

    def ask_to_leave(self) -> None:
        """Ask whether to keep watching the run, to stop it, or to quit."""
        from fswizard.tui.screens.dialogs import QuestionScreen

        assert self.running is not None
        running = self.running
        message = _(
            "Stopping takes a few seconds: everything that the run made is removed. The results so far are kept."
        )
        leaving = _("Stop and quit")
        if running.run.outlives:
            message = f"{_('The run goes on without this window, and `fswizard watch` shows it again.')} {message}"
            leaving = _("Leave it running and quit")
        answers = {"continue": _("Keep watching"), "stop": _("Stop and show the results so far"), "quit": leaving}

        def leave(answer: str | None) -> None:
            if answer == "quit":
                self.leave_now()
            elif answer == "stop" and not running.state.ended:
                running.stop()
                self.visit("run")

        self.push_screen(QuestionScreen(_("A run is under way"), message, answers), leave)

    def leave_now(self) -> None:
        """Quit without asking. A run continues by itself, except for that of a demo."""
        self.exit(int(ExitCode.OK))

    # Themes

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return variables(self.current_theme)

    # Help

    def action_explain(self) -> None:
        """Explain the current screen, or list its keys if they say all."""
        from fswizard.tui.screens.dialogs import TextScreen

        if self.screen.HELP:
            self.push_screen(TextScreen(self.screen.HELP))
        else:
            self.action_command_palette()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The keys of screen and wizard, as the footer leaves some out, and what has no key."""
        commands = dict[str, SystemCommand]()
        for node, binding, enabled, _tooltip in screen.active_bindings.values():
            listed = binding.show or node in (screen, self)
            if enabled and listed and not binding.action.startswith(NO_COMMANDS):
                title = binding.description[:1].upper() + binding.description[1:]
                action = partial(self.run_action, binding.action, node)
                commands.setdefault(title, SystemCommand(title, self.get_key_display(binding), action))
        yield from commands.values()
        if not self.measuring:
            yield SystemCommand(_("Start over"), _("Back to the first question"), lambda: self.visit("purpose"))
        yield SystemCommand(_("Theme"), _("Colours of the wizard"), self.action_change_theme)

    def action_history(self) -> None:
        from fswizard.tui.screens.history import HistoryScreen

        self.push_screen(HistoryScreen())
