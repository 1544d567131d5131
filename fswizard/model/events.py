"""What happens in a run. A result file holds these events, one a line, and everything shown of a run follows from them.

`at_s` is the time since the run started, in seconds, on a clock that never jumps. It goes on where a run is resumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from fswizard.language import N_
from fswizard.model.analysis import Analysis, AnswerKind, MoreTime
from fswizard.model.plan import Plan
from fswizard.model.recipe import Amount
from fswizard.model.result import Doubt, Environment, Failure, Outcome, Result, Sample, ThroughputSeries

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
class Event:
    """Something that happens in a run."""

    at_s: float


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """The first event of a run. Where it comes again, the run is resumed, with limits that count from there."""

    plan: Plan
    environment: Environment


@dataclass(frozen=True, slots=True)
class AmountsChosen(Event):
    """How much of the workloads with a box of time this disk does in it; the plan's recipe has the most of each."""

    amounts: Mapping[str, Amount]
    """By the workload's name."""


@dataclass(frozen=True, slots=True)
class StepStarted(Event):
    step: Step


@dataclass(frozen=True, slots=True)
class StepProgressed(Event):
    """Each one replaces the one before."""

    step: int
    fraction: float | None
    """Share of the step done, 0 to 1; None where nobody can know."""
    text: str = ""
    """What is happening now; empty where that is the same as before."""
    rate: float | None = None
    rate_unit: Literal["B/s", "1/s"] = "B/s"
    latency_s: float | None = None
    """Median of the last interval."""
    worst_latency_s: float | None = None
    """Worst since the step began."""
    preparing: bool = False
    """Of a workload: nothing of it is measured yet."""


@dataclass(frozen=True, slots=True)
class CommandStarted(Event):
    step: int
    argv: tuple[str, ...]
    as_root: bool = False


@dataclass(frozen=True, slots=True)
class CommandFinished(Event):
    step: int
    argv: tuple[str, ...]
    exit_code: int
    seconds: float
    output: str = ""
    as_root: bool = False


@dataclass(frozen=True, slots=True)
class SampleTaken(Event):
    sample: Sample


@dataclass(frozen=True, slots=True)
class SeriesRecorded(Event):
    series: ThroughputSeries


@dataclass(frozen=True, slots=True)
class RatioUpdated(Event):
    """After each round: everything that can be said so far."""

    analysis: Analysis
    more: MoreTime | None = None
    """What more rounds would bring, where the run goes on."""


@dataclass(frozen=True, slots=True)
class DoubtRaised(Event):
    doubt: Doubt


@dataclass(frozen=True, slots=True)
class PauseChanged(Event):
    """The user pauses the run before its next trial, or resumes it."""

    paused: bool


ON_REQUEST = N_("skipped on request")
"""Why a candidate is out of the run that the user skips; any other reason skips a step alone."""


@dataclass(frozen=True, slots=True)
class StepSkipped(Event):
    step: Step
    reason: str


@dataclass(frozen=True, slots=True)
class StepFailed(Event):
    step: Step
    failure: Failure


@dataclass(frozen=True, slots=True)
class RoundDiscarded(Event):
    """A whole round does not count, by a rule stated beforehand."""

    round: int
    reason: str


@dataclass(frozen=True, slots=True)
class RoundFinished(Event):
    """Every candidate that was in the run had its trial; whether the round counts is another event."""

    round: int
    survivors: tuple[str, ...]
    """Who takes part in the next round, should there be one."""


@dataclass(frozen=True, slots=True)
class RunEnded(Event):
    """The last event of a run, unless it was killed or is resumed."""

    outcome: Outcome
    text: str = ""
    """Why it ended, in a sentence."""
    leaders: tuple[str, ...] = ()
    """Candidates that nobody was proven to beat, best first."""
    rounds: int = 0
    """Number of rounds that `leaders` rest on."""
    verdict: str = ""
    """Verdict of the answer, so that a listing says the same words; empty in files of earlier versions."""
    answer: AnswerKind | Literal[""] = ""
    """Its kind; empty in files of earlier versions."""
    hint: str = ""
    """Where it failed: what the user can do, in a sentence."""
    details: str = ""
    """Where it failed: the whole output of a program."""


def fold(result: Result, events: Iterable[Event]) -> Result:
    """The result after `events`. Pure."""
    added: dict[str, list[Any]] = {}
    changes: dict[str, Any] = {}
    elapsed_s, plan = result.elapsed_s, result.plan
    for event in events:
        elapsed_s = max(elapsed_s, event.at_s)
        match event:
            case SampleTaken(sample=sample) if sample.round or not sample.candidate:  # else it is of the first look
                at_s = sample.at_s or event.at_s
                added.setdefault("samples", []).append(replace(sample, at_s=at_s))
            case SeriesRecorded():
                added.setdefault("throughput_series", []).append(event.series)
            case StepFailed():
                added.setdefault("failures", []).append(event.failure)
            case DoubtRaised():
                added.setdefault("doubts", []).append(event.doubt)
            case RoundDiscarded():
                added.setdefault("discarded_rounds", []).append(event.round)
            case AmountsChosen():
                plan = plan.with_amounts(event.amounts)
            case RoundFinished():
                changes |= {"finished_rounds": event.round, "survivors": event.survivors}
            case RunStarted():
                changes |= {"outcome": "killed", "fault": "", "remedy": ""}
            case RunEnded():
                failed = event.outcome == "failed"
                changes |= {"fault": event.text if failed else "", "remedy": event.hint if failed else ""}
                changes["outcome"] = event.outcome
    for name, items in added.items():
        changes[name] = (*getattr(result, name), *items)
    return replace(result, plan=plan, elapsed_s=elapsed_s, **changes)
