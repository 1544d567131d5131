"""The program around the wizard: the terminal, its keys, themes, the windows over the steps, and the end."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from fswizard import language
from fswizard.errors import ExitCode, FswizardError
from fswizard.language import N_, _
from fswizard.tui.backend import Backend
from fswizard.tui.screens.base import StepScreen, WizardScreen
from fswizard.tui.terminal import Terminal
from fswizard.tui.theme import TERMINAL, THEMES, variables
from fswizard.tui.widgets.bars import OF_TEXTUAL, all_keys, display, keys
from fswizard.tui.widgets.choice_list import ChoiceList
from fswizard.tui.widgets.table import Table
from fswizard.tui.wizard import Wizard

if TYPE_CHECKING:
    from fswizard.tui.backend import OngoingRun
    from fswizard.tui.screens.run import RunScreen

THEME = "theme"
"""Name of the setting."""
INPUT_GRACE_S = 0.6
"""For so long after the program itself changed the screen, keys are taken to be meant for the one before."""


class FswizardApp(Wizard):
    """Which filesystem, with which mount options, for this disk and this use."""

    TITLE = "fswizard"
    CSS_PATH = Path(__file__).with_name("fswizard.tcss")
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (160, "-vast")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (22, "-low"), (30, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+p", "command_palette", N_("all keys"), priority=True),
        Binding("ctrl+q", "leave", N_("quit"), priority=True, show=False),
        Binding("ctrl+c,q", "leave", N_("quit"), show=False),
        Binding("question_mark", "explain", N_("help"), show=False),
        Binding("f2", "next_theme", N_("theme"), show=False),
        Binding("f4", "next_language", N_("language"), show=False),
    ]

    def __init__(
        self,
        backend: Backend | None = None,
        *,
        watching: OngoingRun | None = None,
        few_colours: bool = False,
        **arguments: Any,
    ) -> None:
        """`watching` is a run to show at once; `few_colours`: the terminal has sixteen. The others are the wizard's."""
        super().__init__(backend or Backend(), driver_class=Terminal, **arguments)
        self.themes = TERMINAL if few_colours else THEMES
        chosen = self.backend.setting(THEME)
        self.theme = chosen if chosen in self.themes else self.themes[0]
        self._input_grace_until_s = self.clock()
        self._watching = watching

    def on_mount(self) -> None:
        if self._watching:
            self.run_worker(self.follow(self._watching))
        else:
            self.visit(self.step)
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
        return variables(self.current_theme)

    def action_next_theme(self) -> None:
        """The next one of those that this terminal can show; the choice outlives the program."""
        self.theme = self.themes[(self.themes.index(self.theme) + 1) % len(self.themes)]
        self.backend.keep_setting(THEME, self.theme)

    @property
    def _other_languages(self) -> tuple[str, ...]:
        """Codes of those that the program speaks, but for the chosen one; the next one first."""
        codes = language.languages()
        place = codes.index(language.chosen())
        return (*codes[place + 1 :], *codes[:place])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "next_language" or bool(self._other_languages)

    def action_next_language(self) -> None:
        self._speak(self._other_languages[0])

    def _speak(self, code: str) -> None:
        """Show the step again in another language, at the same place; the choice outlives the program."""
        language.choose(code)
        self.backend.keep_setting(language.SETTING, code)
        self.machine.forget_words()
        before = self.screen
        if isinstance(before, StepScreen):
            place = before.place()
            self.visit(self.step)
            self.screen.call_after_refresh(place, self.screen)

    def action_explain(self) -> None:
        """Help on the screen that is shown, and all its keys."""
        from fswizard.tui.screens.dialogs import HelpScreen

        if isinstance(self.screen, WizardScreen):
            self.push_screen(HelpScreen(f"{_(self.screen.HELP)}\n\n{all_keys(self.screen)}".lstrip()))

    def action_find(self) -> None:
        """Ask for words, and go to the row of the list on this screen in which they stand."""
        from fswizard.tui.screens.dialogs import FindScreen

        screen = self.screen
        if not isinstance(screen, WizardScreen):
            return
        rows = next((rows for rows in screen.walk_children() if isinstance(rows, (ChoiceList, Table))), None)
        if rows is None:
            screen.refuse(_("There is no list to search here."))
            return

        def found(words: str | None) -> None:
            if words and not rows.find(words):
                screen.refuse(_("“{words}” is in no row of this list.", words=words))

        self.push_screen(FindScreen(), found)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every key that works on the screen below, and what has none."""
        for active in keys(screen, hidden=True):
            action = partial(self.run_action, active.binding.action, active.node)
            title = _(OF_TEXTUAL.get(active.binding.description, active.binding.description))
            yield SystemCommand(title.capitalize(), _("Key: {key}", key=display(active.binding.key)), action)
        yield SystemCommand(_("Start over"), _("Back to the first question"), lambda: self.visit("purpose"))
        for code in self._other_languages:
            yield SystemCommand(language.name_of(code), _("The wizard in this language"), partial(self._speak, code))

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette(placeholder=_("Search for commands…"), id="--command-palette"))

    def action_history(self) -> None:
        from fswizard.tui.screens.history import HistoryScreen

        self.push_screen(HistoryScreen())

    async def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.worker.group == "run" and event.state in (WorkerState.SUCCESS, WorkerState.CANCELLED):
            await self._run_is_over()

    async def _run_is_over(self) -> None:
        running = self.running
        if running is None:
            return
        if self.leaving:
            self.exit(int(ExitCode.CANCELLED))
            return
        if running.state.analysis is not None:
            try:
                path = running.run.path
                self.result, self.result_path = await asyncio.to_thread(self.backend.load, path), path
            except FswizardError as error:
                running.problem = running.problem or error
        if not self.screen_stack:  # the program has ended meanwhile
            return
        from fswizard.tui.screens.dialogs import LeaveScreen
        from fswizard.tui.screens.run import RunScreen

        before = self.screen
        if isinstance(before, LeaveScreen):  # there is nothing to leave any more
            self.pop_screen()
        if isinstance(self.screen, RunScreen):  # which may not have all its widgets yet
            self.screen.call_later(self._show_the_end, self.screen)
        if self.screen is not before:
            self._input_grace_until_s = self.clock() + INPUT_GRACE_S

    def _show_the_end(self, screen: RunScreen) -> None:
        if self.screen is screen:
            screen.run_is_over()
        if self.screen is not screen:
            self._input_grace_until_s = self.clock() + INPUT_GRACE_S

    def action_leave(self) -> None:
        """Quit; while a run goes on, or choices would be lost, ask once."""
        from fswizard.tui.screens.dialogs import LeaveScreen, QuitScreen

        if isinstance(self.screen, (LeaveScreen, QuitScreen)):
            self.leave_now()
        elif self.running and self.measuring:
            self.push_screen(LeaveScreen(outlives=self.running.run.outlives, quitting=True))
        elif self.step not in ("purpose", "run", "result"):
            self.push_screen(QuitScreen(), lambda answer: self.leave_now() if answer == "quit" else None)
        else:
            self.leave_now()
