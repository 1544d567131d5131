"""Progress and figures of all candidates at all workloads, round by round, collected from the events of a run."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from fswizard.model.events import Event, SampleTaken, SeriesRecorded, Step, StepFailed, StepProgressed, StepStarted
from fswizard.model.frozen import frozen
from fswizard.model.metrics import DURATION, RETURNED
from fswizard.model.plan import Plan
from fswizard.model.recipe import Workload
from fswizard.model.result import Failure, Sample, ThroughputSeries

POINTS = 64
"""Maximum length of a curve: a run of ten hours takes no more memory than twelve rounds of seconds."""


@frozen
class Curve:
    """A rate over time as means of intervals of equal length. When it gets too long, pairs of intervals are merged."""

    unit: str = ""
    means: tuple[float, ...] = ()
    each: int = 1
    """Number of rates per mean."""
    total: float = 0.0
    """Sum of the rates since the last complete mean."""
    count: int = 0

    def plus(self, rate: float, unit: str) -> Curve:
        """The curve with another rate. A rate in a different unit, as from a final sync, is ignored."""
        if self.unit not in ("", unit):
            return self
        total, count, means, each = self.total + rate, self.count + 1, self.means, self.each
        if count == each:
            means, total, count = (*means, total / count), 0.0, 0
        if len(means) == POINTS:
            means = tuple((a + b) / 2 for a, b in zip(means[::2], means[1::2]))
            each *= 2
        return Curve(unit, means, each, total, count)

    @property
    def mean(self) -> float:
        return statistics.fmean(self.means) if self.means else 0.0


@frozen
class Measurement:
    """One candidate at one workload in one round."""

    curve: Curve = Curve()
    figure: float | None = None
    """Figure of the workload's metric; None while it is being measured, or if it failed."""
    failed: bool = False

    def recorded(self, series: ThroughputSeries) -> Measurement:
        """The measurement with the curve of `series`, unless its progress has given a finer one."""
        curve = self.curve
        for rate in () if curve.means else series.rates:
            curve = curve.plus(rate, series.unit)
        return replace(self, curve=curve)


Trial = tuple[int, str]
"""Round and candidate."""


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """A workload with all measurements of it. Compared by identity, so that drawings of it can be cached."""

    workload: Workload
    measurements: Mapping[Trial, Measurement] = field(default_factory=dict)
    """In order of measurement."""
    bare: float | None = None
    """Figure of the bare device, if measured."""

    def speed(self, figure: float | None) -> float:
        """The figure converted so that higher is better, whatever the metric; 0 without a figure."""
        if not figure or figure < 0:
            return 0.0
        return figure if self.workload.metric.better == "higher" else 1 / figure

    @property
    def best(self) -> float:
        """The highest speed so far; 0 before there is one."""
        return max((self.speed(measurement.figure) for measurement in self.measurements.values()), default=0.0)

    @property
    def shaped(self) -> bool:
        """Whether the figure is the result of the curve, so that the curve can represent it."""
        return self.workload.metric.unit != "s" or self.workload.metric in (DURATION, RETURNED)

    def level(self, measurement: Measurement) -> float:
        """Speed of a measurement relative to the best so far; 0 if unknown.

        While it is in progress, the rate is converted by the ratio of figure to rate of the latest complete
        measurement.
        """
        best = self.best
        if measurement.failed:
            return 0.0
        if speed := self.speed(measurement.figure):
            return speed / best
        if not best:
            return 1.0 if measurement.curve.mean else 0.0
        for other in reversed(list(self.measurements.values())):
            if other.figure and other.curve.unit == measurement.curve.unit and other.curve.mean:
                return measurement.curve.mean * self.speed(other.figure) / other.curve.mean / best
        return 0.0

    def figures(self, discarded: Collection[int] = ()) -> dict[str, float]:
        """Median by candidate over the rounds that count, best first."""
        figures: dict[str, list[float]] = {}
        for (number, candidate), measurement in self.measurements.items():
            if measurement.figure is not None and not measurement.failed and number not in discarded:
                figures.setdefault(candidate, []).append(measurement.figure)
        medians = {name: statistics.median(values) for name, values in figures.items()}
        return dict(sorted(medians.items(), key=lambda item: -self.speed(item[1])))


@dataclass(frozen=True, slots=True, eq=False)
class Race:
    """A lane per workload, in the order of the plan."""

    lanes: tuple[Lane, ...] = ()

    @classmethod
    def of(cls, plan: Plan) -> Race:
        """The state before the first event."""
        return cls(tuple(Lane(workload) for workload in plan.recipe.workloads))

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials so far, in order of measurement within each round."""
        return tuple(dict.fromkeys(trial for lane in self.lanes for trial in lane.measurements))

    def after(self, event: Event, step: Step | None = None) -> Race:
        """The race after `event`, which belongs to `step`; unchanged by events that do not concern it."""
        race = self
        match event:
            case StepStarted(step=new) if measures(new):
                race = self._with(new, lambda known: replace(known, curve=Curve()))
            case StepProgressed(step=number, rate=float(rate), rate_unit=unit, preparing=False):
                if step is not None and step.number == number and measures(step):
                    race = self._with(step, lambda known: replace(known, curve=known.curve.plus(rate, unit)))
            case SampleTaken(sample=sample) if sample.primary:
                if sample.candidate:
                    return self._with(sample, lambda known: replace(known, figure=sample.value))
                lanes = (replace(x, bare=sample.value) if x.workload.name == sample.workload else x for x in self.lanes)
                race = Race(tuple(lanes))
            case SeriesRecorded(series=series) if series.candidate:
                race = self._with(series, lambda known: known.recorded(series))
            case StepFailed(failure=failure) if failure.round and failure.workload:
                race = self._with(failure, lambda known: replace(known, failed=True))
        return race

    def _with(
        self, news: Step | Sample | ThroughputSeries | Failure, change: Callable[[Measurement], Measurement]
    ) -> Race:
        """The race with a change to the measurement of `news`, which is created if necessary."""
        trial, lanes = (news.round, news.candidate), list(self.lanes)
        for number, lane in enumerate(lanes):
            if lane.workload.name == news.workload:
                changed = change(lane.measurements.get(trial, Measurement()))
                lanes[number] = replace(lane, measurements={**lane.measurements, trial: changed})
        return Race(tuple(lanes))


def measures(step: Step) -> bool:
    """Whether the step measures a candidate at a workload."""
    return step.stage == "workload" and bool(step.round and step.candidate)
