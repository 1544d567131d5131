"""Emits the events of a run: numbers the steps, and adds timestamps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from fswizard.model import events
from fswizard.model.analysis import Analysis, MoreTime
from fswizard.model.events import Event, Stage, Step
from fswizard.model.metrics import Metric
from fswizard.model.plan import Trial
from fswizard.model.result import Doubt, Failure, Sample, ThroughputSeries
from fswizard.progress.workload_events import Progress
from fswizard.system import clock
from fswizard.system.process import Finished

BEFORE_ROUNDS = Trial(0, "")


class Emitter:
    """Emits events for the actions of a run."""

    def __init__(self, emit: Callable[[Event], None], doubts: Iterable[str] = (), before_s: float = 0.0) -> None:
        """`doubts` are the codes of doubts raised in the `before_s` seconds before the run was resumed."""
        self._emit = emit
        self._started = clock.monotonic()
        self._before_s = before_s
        self._steps = 0
        self._doubts = set(doubts)
        self.step = Step(0, "prepare", "")
        """The current step."""
        self._text = ""
        """Latest text of its progress."""
        self.trial = BEFORE_ROUNDS

    @property
    def now_s(self) -> float:
        """Seconds since the run was started or resumed."""
        return clock.monotonic() - self._started

    @property
    def at_s(self) -> float:
        """Timestamp of an event in seconds, to milliseconds, including the time before a resumption."""
        return round(self._before_s + self.now_s, 3)

    def begin(self, stage: Stage, title: str, *, workload: str = "") -> Step:
        self._steps += 1
        self._text = ""
        self.step = Step(self._steps, stage, title, self.trial.round, self.trial.candidate, workload)
        self._emit(events.StepStarted(self.at_s, self.step))
        return self.step

    def progress(self, text: str, progress: Progress, *, preparing: bool = False) -> None:
        """Emit progress with numbers in three digits, and the text only if it is new, as progress takes most of a
        file."""
        news, self._text = "" if text == self._text else text, text
        latency_s, worst_s = _short(progress.latency_s), _short(progress.worst_latency_s)
        self._emit(
            events.StepProgressed(
                self.at_s, self.step.number, _short(progress.fraction), news, _short(progress.rate), progress.rate_unit,
                latency_s, worst_s, preparing,
            )
        )  # fmt: skip

    def command_begins(self, argv: tuple[str, ...], *, as_root: bool = False) -> None:
        self._emit(events.CommandStarted(self.at_s, self.step.number, argv, as_root))

    def command_ended(self, done: Finished, *, as_root: bool = False) -> None:
        self._emit(
            events.CommandFinished(
                self.at_s, self.step.number, done.argv, done.exit_code, done.wall_s, done.output, as_root
            )
        )

    def sample(self, metric: Metric, value: float, *, workload: str = "", primary: bool = False) -> None:
        trial, name, unit = self.trial, metric.name, metric.unit
        sample = Sample(
            trial.round, trial.candidate, workload, name, value, unit, metric.better, primary,
            predecessor=trial.predecessor,
        )  # fmt: skip
        self._emit(events.SampleTaken(self.at_s, sample))

    def throughput(self, unit: Literal["B/s", "1/s"], rates: tuple[float, ...], *, workload: str) -> None:
        series = ThroughputSeries(self.trial.round, self.trial.candidate, workload, unit, rates)
        self._emit(events.SeriesRecorded(self.at_s, series))

    def failure(self, failure: Failure) -> None:
        self._emit(events.StepFailed(self.at_s, self.step, failure))

    def skipped(self, reason: str) -> None:
        self._emit(events.StepSkipped(self.at_s, self.step, reason))

    def doubt(self, doubt: Doubt) -> None:
        """Raise a doubt, unless it has been raised before."""
        if doubt.code not in self._doubts:
            self._doubts.add(doubt.code)
            self._emit(events.DoubtRaised(self.at_s, doubt))

    def ratios(self, analysis: Analysis, more: MoreTime | None = None) -> None:
        self._emit(events.RatioUpdated(self.at_s, analysis, more))

    def discarded(self, number: int, reason: str) -> None:
        self._emit(events.RoundDiscarded(self.at_s, number, reason))

    def round_finished(self, number: int, survivors: Iterable[str]) -> None:
        self._emit(events.RoundFinished(self.at_s, number, tuple(sorted(survivors))))


def _short(value: float | None) -> float | None:
    return value if value is None else float(f"{value:.3g}")
