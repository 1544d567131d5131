"""Sixth step: the measurement, live."""

from __future__ import annotations

from typing import ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import ProgressBar, Static

from fswizard.advice.answer import more_text
from fswizard.language import _, p_
from fswizard.model.plan import INTERVAL_ROUNDS
from fswizard.model.run_state import LogNote
from fswizard.model.units import duration_text
from fswizard.report.writes import budget_text
from fswizard.tui.drawing import keyed, text
from fswizard.tui.monitor import RunMonitor
from fswizard.tui.screens.base import StepScreen
from fswizard.tui.screens.log import MARKS, LogScreen
from fswizard.tui.widgets.leaderboard import Leaderboard
from fswizard.tui.widgets.lines import Lines
from fswizard.tui.widgets.race import Race, appearances_of
from fswizard.tui.widgets.rates import Rates
from fswizard.tui.widgets.table import Facts

FRAME_S = 0.5
"""Interval of drawing: twice as often would take 4 % of a processor from the measurement."""
MOST_NOTES = 20


class RunScreen(StepScreen):
    """Draws the newest state twice a second, but only what has changed."""

    CSS_PATH = "run.tcss"
    HELP = _(
        "Each round formats every filesystem and tests it once, in a changing order, which is fair to all. "
        "The leaderboard ranks them over all workloads. Each bar fades over its interval (the range in which the true "
        "speed lies), which narrows with every round. A filesystem that is proven slower is dropped, and the run ends "
        "once the result is clear or the time is up.\n\n"
        "The race shows each workload on one time line. Every trial is a column in its filesystem's colour: the "
        "higher, the closer to the best result of that workload so far. Its shape is the throughput over time. The "
        "dotted line is the disk without a filesystem, where that was measured.\n\n"
        "x asks whether to stop and keep the results so far. l shows every program that ran, with its output. "
        "Quitting leaves the run going: `fswizard watch` shows it again."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "forward", _("result")),
        Binding("l", "log", _("log"), show=False),
        Binding("x", "stop", _("stop")),
        Binding("escape", "back", _("leave")),
    ]

    notes = getters.query_one("#happened", Facts)

    over = reactive((False, False), init=False, bindings=True)
    """Whether the run has ended, and whether its result has been read."""

    def body(self) -> ComposeResult:
        with Horizontal(id="step"):
            yield Static(id="doing")
            yield ProgressBar(1.0, show_eta=False, id="step-meter")
        yield ProgressBar(1.0, show_eta=False, id="run-meter")
        yield Static(id="time")
        with Horizontal(id="live"):
            with Vertical(id="figures"):
                yield Leaderboard()
                yield Static(id="verdict")
                yield Rates()
                yield Facts(id="happened")
            yield Race()

    def on_mount(self) -> None:
        self.notes.border_title = _("What happened")
        self._leads_on = self._run.state.ended is None
        """The result is shown once the run has ended, but not if that was before this screen was opened."""
        self._draw()
        self.set_interval(FRAME_S, self._draw)

    @property
    def _run(self) -> RunMonitor:
        assert self.wizard.running is not None
        return self.wizard.running

    def _draw(self) -> None:
        if not self.display:  # the screen is being taken down
            return
        state, remark = self._run.state, self._remark()
        self._write("#question", self._title())
        self._write("#remark", remark)
        self.set_class(bool(remark), "-remark")
        news = state.progress.text if state.progress else ""
        title = state.step.title if state.step else ""
        self._write("#doing", text(_(news or title) or _("starting the run")))
        self._write("#time", text((self._times(), "$muted")))
        self._write("#verdict", text((self._outlook(), "$muted")))
        for selector, share in (("#step-meter", state.fraction), ("#run-meter", state.run_fraction)):
            meter = self.query_one(selector, ProgressBar)
            meter.visible = share is not None
            meter.update(progress=share or 0.0)
        for drawing in self.query(Lines):
            drawing.show(state)
        notes = [entry for entry in state.log if isinstance(entry, LogNote) and entry.kind != "step"]
        newest = tuple((MARKS[note.kind], keyed(note.display_text, "$muted")) for note in reversed(notes[-MOST_NOTES:]))
        if newest != self.notes.pairs:
            self.notes.show(newest)
            self.notes.set_class(not notes, "-none")
        self.over = (state.ended is not None, self.wizard.result is not None)
        if self._leads_on and all(self.over) and self._run.problem is None and self.is_current:
            self.wizard.go_on()

    def _write(self, selector: str, content: Content) -> None:
        """Update a text only if it differs: the terminal may be remote."""
        static = self.query_one(selector, Static)
        if not isinstance(static.content, Content) or not content.is_same(static.content):
            static.update(content)

    def _title(self) -> Content:
        """Round, candidate and test; after the run, how it ended."""
        state, problem = self._run.state, self._run.problem
        step, plan = state.step, state.plan
        if problem:
            return text(("✗ ", "bold $text-error"), _(problem.message))
        if state.ended:
            return text(_("The run has ended"))
        if step is None:
            return text(_("Starting"))
        parts = [text(_(plan.recipe.title))]
        if step.round:
            parts = [text(_("Round {round}", round=step.round))]
        if 0 < step.round <= plan.minimum_rounds:
            least = p_("round", "of at least {rounds}", rounds=plan.minimum_rounds)
            parts = [text(parts[0], (f" {least}", "$muted"))]
        if step.candidate:
            parts.append(text((step.candidate, appearances_of(plan)[step.candidate].ink)))
        if step.workload:
            parts.append(text(_(step.title)))
        return text((" · ", "$muted")).join(parts)

    def _remark(self) -> Content:
        """Remark on a run that is being stopped, or over; otherwise empty."""
        monitor = self._run
        state, problem = monitor.state, monitor.problem
        if state.ended:
            return keyed(_(problem.hint_without_switches if problem else state.ended.text))
        if monitor.stopping:
            stopping = (f"{_('Stopping:')} ", "bold $text-warning")
            step = _(state.step.title) if state.step else ""
            return text(stopping, f"{_('removing everything the run made.')} ", (step, "$muted"))
        return Content("")

    def _times(self) -> str:
        """Elapsed time, maximum remaining time, and total cost."""
        state, elapsed_s = self._run.state, self._run.elapsed_s
        message = _("{time} elapsed", time=duration_text(elapsed_s))
        if state.left_s:
            message += " · " + _("at most {time} to go", time=duration_text(state.left_s))
        if not state.ended:
            message += f"   {budget_text(state.plan, state.outlook, elapsed_s=elapsed_s)}"
        return message

    def _outlook(self) -> str:
        """When a verdict, or a narrower one, is expected."""
        state = self._run.state
        if state.first_look and not state.race.trials:
            return _(
                "A small copy each, for a first impression. "
                "It does not count; round 1 begins once the disk is prepared."
            )
        if state.more:
            return more_text(state.more)
        rounds = state.analysis.rounds if state.analysis else 0
        if rounds < INTERVAL_ROUNDS and not state.ended:
            return _("first verdict after round {round}", round=INTERVAL_ROUNDS)
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        over = self._run.state.ended is not None
        if action in ("back", "stop"):
            return (over and action == "back") or not (over or self._run.stopping)
        if action == "forward":
            return over and self.wizard.result is not None
        return super().check_action(action, parameters)

    def action_stop(self) -> None:
        self.wizard.ask_to_leave()

    def action_log(self) -> None:
        self.wizard.push_screen(LogScreen(self._run.state.log))

    def action_back(self) -> None:
        """Ask whether to stop the run; after it, go back to the review, or to the first step without choices."""
        if not self._run.state.ended:
            self.wizard.ask_to_leave()
        else:
            self.wizard.visit("review" if self.choices.recipe else "purpose")
