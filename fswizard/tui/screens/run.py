"""Sixth step: the measurement, live."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from fswizard.language import N_, _, p_, shown
from fswizard.model.run_state import RunState
from fswizard.report.writes import budget_text
from fswizard.tui import live
from fswizard.tui.drawing import filled, text
from fswizard.tui.monitor import RunMonitor
from fswizard.tui.screens.base import StepScreen
from fswizard.tui.widgets.canvas import CachedVertical, Canvas, LiveCanvas
from fswizard.tui.widgets.lanes import picture

FRAME_S = 0.1
"""Shortest time between two pictures of the progress; fio reports four times a second."""
WITH_RESULT = ("finished", "time-up", "budget-used", "stopped")
FIGURES_S = 0.25
"""Shortest time between two pictures of the race, the leaderboard and the notes."""
SMALL = 22
"""Lines of a terminal below which only what moves is shown."""
SPINNER_S = 0.5
"""Without news the picture moves on so often, to show that it is not frozen."""


class RunScreen(StepScreen):
    """Draws the newest snapshot up to ten times a second, and only what changed."""

    HELP = N_(
        "Each round formats every filesystem and tests it once, in a changing order, which is fair to all. "
        "The leaderboard ranks them over all workloads. Each bar fades over its interval (the range in which the true "
        "speed lies), which narrows with every round. A filesystem that is proven slower is dropped, and the run ends "
        "once the result is clear or the time is up.\n\n"
        "The race shows each workload on one time line. Every trial is a column in its filesystem's colour: the "
        "higher, the closer to the best result of that workload so far. Its shape is the throughput over time. The "
        "dotted line is the disk without a filesystem, where that was measured.\n\n"
        "space pauses before the next filesystem, as a running test can't be halted. s skips the current filesystem "
        "from now on. x stops and keeps the results so far. l shows every program that ran, with its output. "
        "L quits and leaves the run going: `fswizard watch` shows it again.\n\n"
        "Click an earlier step to look around while the run continues."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "forward", N_("result")),
        Binding("space", "pause", N_("pause"), show=False),
        Binding("s", "skip", N_("skip")),
        Binding("l", "log", N_("log"), show=False),
        Binding("x", "stop", N_("stop")),
        Binding("L", "leave_alone", N_("quit, run goes on"), show=False),
        Binding("escape", "back", N_("leave")),
    ]

    def body(self) -> ComposeResult:
        yield LiveCanvas(id="progress")
        with CachedVertical(id="measuring"):
            with CachedVertical(id="side"):
                yield Canvas(id="standing")
                yield LiveCanvas(id="now")
                yield Canvas(id="notes")
            yield LiveCanvas(id="race")

    def on_mount(self) -> None:
        self._drawn_s = self._figures_s = 0.0
        self._shown: RunState | None = None
        self._figures: RunState | None = None
        """What the figures were drawn from."""
        self._lines: dict[str, Content] = {}
        self._ended = False
        self._draw()
        self.set_interval(FRAME_S, self._draw)
        if self._run.state.ended:  # it is returned to
            self._say_the_end()

    @property
    def _run(self) -> RunMonitor:
        assert self.wizard.running is not None
        return self.wizard.running

    def on_resize(self) -> None:
        self._shown = None
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        if not self.display:  # the screen is being taken down
            return
        monitor, state, now_s = self._run, self._run.state, self.wizard.clock()
        before, self._shown = self._shown, state
        if state is before and now_s - self._drawn_s < SPINNER_S:
            return
        self._drawn_s = now_s
        if not self._ended:
            width = max(20, self.query_one("#remark").content_size.width)
            self._show_line("#question", live.title(state), max(20, self.query_one("#question").content_size.width))
            self._show_line("#remark", self._doing(monitor, int(now_s / SPINNER_S), width), width)
        elapsed_s = monitor.elapsed_s
        budget = ""
        if self.size.height >= SMALL and not state.ended:
            budget = budget_text(state.plan, state.outlook, elapsed_s=elapsed_s)
        turns = self.size.height < SMALL  # otherwise the race shows them
        progress = self.query_one("#progress", LiveCanvas)
        progress.show(lambda width: live.progress(state, elapsed_s, width, budget, turns=turns))
        if state is not before or self._figures is not state:
            self._draw_figures(state, before, now_s)

    def _show_line(self, selector: str, words: Content, width: int) -> None:
        """Change a line of the heading, where it differs; make room for another number of lines."""
        before = self._lines.get(selector)
        if before is None or not words.is_same(before):
            self._lines[selector] = words
            other_height = before is None or (before.cell_length - 1) // width != (words.cell_length - 1) // width
            self.query_one(selector, Static).update(words, layout=other_height)

    def _draw_figures(self, state: RunState, before: RunState | None, now_s: float) -> None:
        wide = not self.has_class("-narrow")
        height = (8 if self.size.height >= 50 else 4) if wide else 1
        self.query_one("#now", LiveCanvas).show(lambda width: live.now(state, width, height=height))
        if before is not None and before.step is state.step and now_s - self._figures_s < FIGURES_S:
            return
        self._figures, self._figures_s = state, now_s
        roomy = wide and self.has_class("-tall")
        race, notes = self.query_one("#race", LiveCanvas), self.query_one("#notes", Canvas)
        race.show(lambda width: picture(state, width, race.size.height))
        self.query_one("#standing", Canvas).show(lambda width: live.leaderboard(state, width, tall=roomy))
        notes.show(lambda width: live.notes(state, width, notes.size.height))

    def _doing(self, running: RunMonitor, frame: int, width: int) -> Content:
        if running.stopping:
            stopping = (f"{_('Stopping:')} ", "bold $text-warning")
            words = shown(running.state.step.title) if running.state.step else ""
            return text(stopping, f"{_('removing everything the run made.')} ", (words, "$muted"))
        if running.state.paused:
            return filled(
                _("{paused} before the next filesystem; the current one finishes first. {key} resumes."),
                paused=(p_("of a run", "Paused"), "bold $text-warning"), key=("space", "bold $text-primary"),
            )  # fmt: skip
        return live.doing(running.state, frame, width)

    def run_is_over(self) -> None:
        """The last event has come, and everything is undone: on to the result, where there is one."""
        self._say_the_end()
        shows_result = self._run.problem is None and self._run.state.outcome in WITH_RESULT
        if shows_result and self.wizard.result is not None:
            self.wizard.go_on()

    def _say_the_end(self) -> None:
        self._shown = None
        self._draw()
        self._ended = True
        running, state = self._run, self._run.state
        self.refresh_bindings()
        problem = running.problem
        head = text(("✗ ", "bold $text-error"), shown(problem.message)) if problem else text(_("The run has ended"))
        self.query_one("#question", Static).update(head)
        self.say(shown((problem.hint_without_switches if problem else "") or (state.ended.text if state.ended else "")))

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        over = self._run.state.ended is not None
        if action == "skip" and not self._run.run.outlives:  # of a demo, which is not measured
            return False
        if action in ("pause", "skip", "stop"):
            return not over and not self._run.stopping
        if action == "leave_alone":
            return not over and self._run.run.outlives
        if action == "forward":
            return over and self.wizard.result is not None
        return super().check_action(action, parameters)

    def action_pause(self) -> None:
        self._run.run.order("resume" if self._run.state.paused else "pause")
        self._shown = None

    def action_skip(self) -> None:
        """Ask once, as a skipped filesystem does not come back."""
        from fswizard.tui.screens.dialogs import QuestionScreen

        step = self._run.state.step
        if step is None or not step.candidate:
            return
        name = step.candidate
        words = _("{candidate} is not measured any more in this run. Its figures so far are kept.", candidate=name)
        answers = {
            "stay": _("Leave {candidate} in", candidate=name),
            "skip": _("Skip {candidate} from now on", candidate=name),
        }

        def answered(answer: str | None) -> None:
            now = self._run.state.step
            if answer == "skip" and now is not None and now.candidate == name:
                self._run.run.order("skip")
            elif answer == "skip":
                late = _("{candidate} was done meanwhile; press s when it is measured again.", candidate=name)
                self.notify(late, markup=False)

        self.wizard.push_screen(QuestionScreen(_("Skip it?"), words, answers), answered)

    def action_leave_alone(self) -> None:
        """Quit; the run is a process of its own and goes on, and `fswizard watch` shows it again."""
        self.wizard.leave_now()

    def action_stop(self) -> None:
        self.action_back()

    def action_log(self) -> None:
        from fswizard.tui.screens.log import LogScreen

        self.wizard.push_screen(LogScreen(self._run))

    def action_back(self) -> None:
        """Ask once what becomes of the run. Cleaning up may take minutes: one can look around meanwhile."""
        if self._run.state.ended or self._run.stopping:
            self.wizard.visit("purpose" if self.wizard.resumed else "review")
            return
        from fswizard.tui.screens.dialogs import LeaveScreen

        self.wizard.push_screen(LeaveScreen(outlives=self._run.run.outlives, quitting=False))
