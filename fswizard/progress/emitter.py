"""Turns what happens into events: numbers the steps, keeps the clock, estimates what is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from fswizard.model.events import (
    CommandFinished,
    CommandStarted,
    DoubtRaised,
    Event,
    RatioUpdated,
    RoundDiscarded,
    RoundFinished,
    SeriesRecorded,
    Stage,
    Step,
    StepFailed,
    StepProgressed,
    StepSkipped,
    StepStarted,
)
from fswizard.model.events import SampleTaken as _SampleTaken
from fswizard.model.judgement import Judgement
from fswizard.model.metrics import Metric
from fswizard.model.plan import Trial
from fswizard.model.result import Doubt, Failure, Sample, ThroughputSeries
from fswizard.progress.eta import Eta
from fswizard.progress.workload_events import Progress
from fswizard.system import clock
from fswizard.system.process import Finished

BEFORE_ROUNDS = Trial(0, "")


class Emitter:
    """Tells what a run does, one event at a time."""

    def __init__(self, tell: Callable[[Event], None], eta: Eta, doubts: Iterable[str] = ()) -> None:
        """`doubts` are the codes of those that were raised before."""
        self._emit = tell
        self._eta = eta
        self._started = clock.monotonic()
        self._steps = 0
        self._doubts = set(doubts)
        self.step = Step(0, "prepare", "")
        """The current one."""
        self.trial = BEFORE_ROUNDS

    @property
    def now_s(self) -> float:
        """Time since the run started, in seconds."""
        return clock.monotonic() - self._started

    def begin(self, stage: Stage, title: str, *, workload: str = "", expected_s: float = 0.0) -> Step:
        self._steps += 1
        self.step = Step(self._steps, stage, title, self.trial.round, self.trial.candidate, workload, expected_s)
        self._eta.step_begins(self.now_s, expected_s, workload)
        self._emit(StepStarted(self.now_s, self.step))
        return self.step

    def progress(self, text: str, told: Progress) -> None:
        fraction, left_s = self._eta.outlook(self.now_s, told.fraction)
        self._emit(
            StepProgressed(
                self.now_s,
                self.step.number,
                told.fraction,
                text,
                told.rate,
                told.rate_unit,
                told.latency_s,
                told.worst_latency_s,
                fraction,
                left_s,
            )
        )

    def command_begins(self, argv: tuple[str, ...], *, as_root: bool = False) -> None:
        self._emit(CommandStarted(self.now_s, self.step.number, argv, as_root))

    def command_ended(self, finished: Finished, *, as_root: bool = False) -> None:
        step, now = self.step.number, self.now_s
        self._emit(
            CommandFinished(now, step, finished.argv, finished.exit_code, finished.wall_s, finished.output, as_root)
        )
        for argv in finished.further if finished.exit_code == 0 else ():  # of a failure, which one it was is not known
            self._emit(CommandFinished(now, step, argv, 0, 0.0, "", as_root))

    def sample(self, metric: Metric, value: float, *, workload: str = "", primary: bool = False) -> None:
        self._emit(
            _SampleTaken(
                self.now_s,
                Sample(
                    self.trial.round,
                    self.trial.candidate,
                    workload,
                    metric.name,
                    value,
                    metric.unit,
                    metric.better,
                    primary,
                ),
            )
        )

    def throughput(self, unit: Literal["B/s", "1/s"], rates: tuple[float, ...], *, workload: str) -> None:
        self._emit(
            SeriesRecorded(self.now_s, ThroughputSeries(self.trial.round, self.trial.candidate, workload, unit, rates))
        )

    def failure(self, failure: Failure) -> None:
        self._emit(StepFailed(self.now_s, self.step, failure))

    def skipped(self, reason: str) -> None:
        self._emit(StepSkipped(self.now_s, self.step, reason))

    def doubt(self, doubt: Doubt) -> None:
        """Raise a doubt, once."""
        if doubt.code not in self._doubts:
            self._doubts.add(doubt.code)
            self._emit(DoubtRaised(self.now_s, doubt))

    def ratios(self, judgement: Judgement) -> None:
        self._emit(RatioUpdated(self.now_s, judgement))

    def discarded(self, number: int, reason: str) -> None:
        self._emit(RoundDiscarded(self.now_s, number, reason))

    def round_finished(self, number: int, survivors: Iterable[str]) -> None:
        self._emit(RoundFinished(self.now_s, number, tuple(sorted(survivors))))
