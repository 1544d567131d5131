"""What a run tells while it goes on. `Session.events()` is the only way a run is watched.

`at_s` is the time since the run started, in seconds, on a clock that never jumps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fswizard.model.judgement import Judgement
from fswizard.model.plan import Plan
from fswizard.model.result import Doubt, Environment, Failure, Outcome, Sample, ThroughputSeries

Stage = Literal["prepare", "raw", "wait", "format", "mount", "fill", "workload", "check", "clean"]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that the run does, small enough to be waited for."""

    number: int
    stage: Stage
    title: str
    """What is happening, in words: `formatting with mkfs.xfs`."""
    round: int = 0
    candidate: str = ""
    workload: str = ""
    expected_s: float = 0.0


@dataclass(frozen=True, slots=True)
class RunStarted:
    at_s: float
    plan: Plan
    environment: Environment


@dataclass(frozen=True, slots=True)
class StepStarted:
    at_s: float
    step: Step


@dataclass(frozen=True, slots=True)
class StepProgressed:
    """Each one replaces the one before."""

    at_s: float
    step: int
    fraction: float | None
    """Share of the step done, 0 to 1; None where nobody can know."""
    text: str
    """What is happening now, in words."""
    rate: float | None = None
    rate_unit: Literal["B/s", "1/s"] = "B/s"
    latency_s: float | None = None
    """Median of the last interval."""
    worst_latency_s: float | None = None
    """Worst since the step began."""
    run_fraction: float = 0.0
    """Share of the whole run done, 0 to 1."""
    left_s: float | None = None
    """Time left of the whole run as it looks now."""


@dataclass(frozen=True, slots=True)
class CommandStarted:
    at_s: float
    step: int
    argv: tuple[str, ...]
    as_root: bool = False


@dataclass(frozen=True, slots=True)
class CommandFinished:
    at_s: float
    step: int
    argv: tuple[str, ...]
    exit_code: int
    seconds: float
    output: str = ""
    as_root: bool = False


@dataclass(frozen=True, slots=True)
class SampleTaken:
    at_s: float
    sample: Sample


@dataclass(frozen=True, slots=True)
class SeriesRecorded:
    at_s: float
    series: ThroughputSeries


@dataclass(frozen=True, slots=True)
class RatioUpdated:
    """After each round: everything that can be said so far."""

    at_s: float
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class DoubtRaised:
    at_s: float
    doubt: Doubt


@dataclass(frozen=True, slots=True)
class StepSkipped:
    at_s: float
    step: Step
    reason: str


@dataclass(frozen=True, slots=True)
class StepFailed:
    at_s: float
    step: Step
    failure: Failure


@dataclass(frozen=True, slots=True)
class RoundDiscarded:
    """A whole round does not count, by a rule stated beforehand."""

    at_s: float
    round: int
    reason: str


@dataclass(frozen=True, slots=True)
class RoundFinished:
    """Every candidate that was in the run had its trial; whether the round counts is told apart from this."""

    at_s: float
    round: int
    survivors: tuple[str, ...]
    """Who takes part in the next round, should there be one."""


@dataclass(frozen=True, slots=True)
class RunEnded:
    at_s: float
    outcome: Outcome
    text: str
    """Why it ended, in a sentence."""


Event = (
    RunStarted
    | StepStarted
    | StepProgressed
    | CommandStarted
    | CommandFinished
    | SampleTaken
    | SeriesRecorded
    | RatioUpdated
    | DoubtRaised
    | StepSkipped
    | StepFailed
    | RoundDiscarded
    | RoundFinished
    | RunEnded
)
