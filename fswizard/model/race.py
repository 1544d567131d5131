"""The race: how every candidate got on at every workload, round after round, gathered from the events of a run."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from fswizard.model.events import (
    Event,
    RoundDiscarded,
    SampleTaken,
    SeriesRecorded,
    Step,
    StepFailed,
    StepProgressed,
    StepStarted,
)
from fswizard.model.metrics import DURATION, RETURNED
from fswizard.model.plan import Plan
from fswizard.model.recipe import Workload
from fswizard.model.result import Failure, Result, Sample, ThroughputSeries

POINTS = 64
"""Of a curve, at most: a run of ten hours takes no more memory than twelve rounds of seconds."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A rate over time as the means of stretches of equal length. Where there are too many, two become one."""

    unit: str = ""
    means: tuple[float, ...] = ()
    each: int = 1
    """Rates in a mean."""
    total: float = 0.0
    """Rates that are not averaged yet."""
    count: int = 0

    def plus(self, rate: float, unit: str) -> Curve:
        """With one rate more. What comes in another unit than the first, as by a sync at the end, is left out."""
        if self.unit not in ("", unit):
            return self
        total, count, means, each = self.total + rate, self.count + 1, self.means, self.each
        if count == each:
            means, total, count = (*means, total / count), 0.0, 0
        if len(means) == POINTS:
            means, each = tuple((a + b) / 2 for a, b in zip(means[::2], means[1::2])), 2 * each
        return Curve(unit, means, each, total, count)

    def or_of(self, series: ThroughputSeries) -> Curve:
        """Itself; where it has nothing, what was recorded second by second."""
        curve = self
        for rate in () if self.means else series.rates:
            curve = curve.plus(rate, series.unit)
        return curve

    @property
    def mean(self) -> float:
        return statistics.fmean(self.means) if self.means else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Lap:
    """One candidate at one workload in one round. Each is unlike any other, so that drawings of it can be kept."""

    round: int
    candidate: str
    curve: Curve = Curve()
    figure: float | None = None
    """Figure of the workload's metric; None while it is measured, and where it failed."""
    failed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """A workload, and every lap at it."""

    workload: Workload
    laps: tuple[Lap, ...] = ()
    """In the order in which they were measured."""
    bare: float | None = None
    """The figure of the bare device, where that was measured."""

    def speed(self, figure: float | None) -> float:
        """Above is better, whatever the metric; 0 where there is no figure."""
        if not figure or figure < 0:
            return 0.0
        return figure if self.workload.metric.better == "higher" else 1 / figure

    @property
    def best(self) -> float:
        """The highest speed so far; 0 before there is one."""
        return max((self.speed(lap.figure) for lap in self.laps), default=0.0)

    @property
    def shaped(self) -> bool:
        """The figure is what the curve amounts to, so that the curve can stand for it."""
        return self.workload.metric.unit != "s" or self.workload.metric in (DURATION, RETURNED)

    def level(self, lap: Lap) -> float:
        """A lap's speed, where 1 is the best figure so far; 0 where nothing can be said.

        While it is measured, the last lap that has both a rate and a figure says what its rate will amount to.
        """
        speed = self.speed(lap.figure) or lap.curve.mean * self._speed_per_rate(lap.curve.unit)
        return 0.0 if lap.failed or not speed else speed / (self.best or speed)

    def _speed_per_rate(self, unit: str) -> float:
        """By the last lap that has both."""
        for lap in reversed(self.laps):
            if lap.figure and lap.curve.unit == unit and lap.curve.mean:
                return self.speed(lap.figure) / lap.curve.mean
        return 1.0 if not self.best else 0.0

    def figures(self, discarded: Iterable[int] = ()) -> dict[str, float]:
        """Each candidate's median over the rounds that count, best first."""
        out = frozenset(discarded)
        figures: dict[str, list[float]] = {}
        for lap in self.laps:
            if lap.figure is not None and not lap.failed and lap.round not in out:
                figures.setdefault(lap.candidate, []).append(lap.figure)
        medians = {name: statistics.median(values) for name, values in figures.items()}
        return dict(sorted(medians.items(), key=lambda item: -self.speed(item[1])))

    def with_lap(self, number: int, candidate: str, change: Callable[[Lap], Lap]) -> Lane:
        """With a lap changed that is new, or that candidate's in that round."""
        laps = list(self.laps)
        place = next((n for n, lap in enumerate(laps) if (lap.round, lap.candidate) == (number, candidate)), len(laps))
        laps[place:] = [change(laps[place] if place < len(laps) else Lap(number, candidate)), *laps[place + 1 :]]
        return replace(self, laps=tuple(laps))


@dataclass(frozen=True, slots=True, eq=False)
class Race:
    """A lane for each workload, in the order of the plan."""

    lanes: tuple[Lane, ...] = ()
    trials: tuple[tuple[int, str], ...] = ()
    """Round and candidate of each trial so far, in the order in which they were measured."""
    discarded: tuple[int, ...] = ()
    """Rounds that do not count."""
    step: Step | None = None
    """The one that goes on."""

    @classmethod
    def of(cls, plan: Plan, earlier: Result | None = None) -> Race:
        """Before the first event; `earlier` is the run that this one resumes."""
        race = cls(tuple(Lane(workload) for workload in plan.recipe.workloads))
        if earlier is not None:
            own = {"", *(candidate.name for candidate in plan.candidates)}
            for sample in earlier.samples:
                race = race.after(SampleTaken(0.0, sample)) if sample.candidate in own else race
            for series in earlier.throughput_series:
                race = race.after(SeriesRecorded(0.0, series)) if series.candidate in own else race
            race = replace(race, discarded=earlier.discarded_rounds)
        return race

    def after(self, event: Event) -> Race:
        """After `event`; itself where that says nothing of the race."""
        race = self
        match event:
            case StepStarted(step=step):
                race = replace(self, step=step)._in_step(step.number, lambda lap: replace(lap, curve=Curve()))
            case StepProgressed(step=number, rate=float(rate), rate_unit=unit, preparing=False):
                race = self._in_step(number, lambda lap: replace(lap, curve=lap.curve.plus(rate, unit)))
            case SampleTaken(sample=sample) if sample.primary and sample.status == "ok" and sample.candidate:
                race = self._changed(sample, lambda lap: replace(lap, figure=sample.value))
            case SampleTaken(sample=sample) if sample.primary and sample.status == "ok":
                race = self._in_lane(sample.workload, lambda lane: replace(lane, bare=sample.value))
            case SeriesRecorded(series=series) if series.candidate:
                race = self._changed(series, lambda lap: replace(lap, curve=lap.curve.or_of(series)))
            case StepFailed(failure=failure) if failure.round and failure.workload:
                race = self._changed(failure, lambda lap: replace(lap, failed=True))
            case RoundDiscarded(round=number):
                race = replace(self, discarded=(*self.discarded, number))
        return race

    def standing(self, baseline: str) -> dict[str, float]:
        """Candidates to their speed over the baseline's, best first, by what both were measured at in the same rounds.

        The weighted geometric mean of medians, as long as nobody has judged the figures: a round is not over yet.
        """
        weighed: dict[str, list[tuple[float, float]]] = {}
        for lane in self.lanes:
            figures = lane.figures(self.discarded)
            own = lane.speed(figures.get(baseline))
            for name, figure in figures.items() if own else ():
                weighed.setdefault(name, []).append((lane.workload.weight, math.log(lane.speed(figure) / own)))
        means = {
            name: math.exp(sum(weight * value for weight, value in logs) / total)
            for name, logs in weighed.items()
            if (total := sum(weight for weight, _ in logs))
        }
        return dict(sorted(means.items(), key=lambda item: -item[1]))

    def _in_step(self, number: int, change: Callable[[Lap], Lap]) -> Race:
        """With the lap changed that is measured, if that is done by the step of this number."""
        step = self.lap_step
        return self._changed(step, change) if step is not None and step.number == number else self

    @property
    def lap_step(self) -> Step | None:
        """The one that goes on, where it measures a lap."""
        step = self.step
        return step if step is not None and step.stage == "workload" and step.round and step.candidate else None

    def _changed(self, news: Step | Sample | ThroughputSeries | Failure, change: Callable[[Lap], Lap]) -> Race:
        trial = (news.round, news.candidate)
        trials = self.trials if trial in self.trials else (*self.trials, trial)
        race = self._in_lane(news.workload, lambda lane: lane.with_lap(*trial, change))
        return replace(race, trials=trials)

    def _in_lane(self, workload: str, change: Callable[[Lane], Lane]) -> Race:
        return replace(
            self, lanes=tuple(change(lane) if lane.workload.name == workload else lane for lane in self.lanes)
        )
