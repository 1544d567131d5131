"""Turns what happens into events: numbers the steps, and keeps the clock."""

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
    """Emits what a run does, one event at a time."""

    def __init__(self, emit: Callable[[Event], None], doubts: Iterable[str] = (), before_s: float = 0.0) -> None:
        """`doubts` are the codes of those that were raised before, in the `before_s` of the run that is resumed."""
        self._emit = emit
        self._started = clock.monotonic()
        self._before_s = before_s
        self._steps = 0
        self._doubts = set(doubts)
        self.step = Step(0, "prepare", "")
        """The current one."""
        self._text = ""
        """What was said last of its progress."""
        self.trial = BEFORE_ROUNDS

    @property
    def now_s(self) -> float:
        """Time since the run started, or was resumed, in seconds."""
        return clock.monotonic() - self._started

    @property
    def at_s(self) -> float:
        """Time of an event: as `now_s`, in milliseconds, after what the run had taken before it was resumed."""
        return round(self._before_s + self.now_s, 3)

    def begin(self, stage: Stage, title: str, *, workload: str = "", expected_s: float = 0.0) -> Step:
        self._steps += 1
        self._text = ""
        self.step = Step(self._steps, stage, title, self.trial.round, self.trial.candidate, workload, expected_s)
        self._emit(events.StepStarted(self.at_s, self.step))
        return self.step

    def progress(self, text: str, progress: Progress, *, preparing: bool = False) -> None:
        """In three digits, which is more than a screen shows, and with a new text only: most of a file is progress."""
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
        """Raise a doubt, once."""
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
