"""Events of a run. A result file holds one per line, and every view of a run is derived from them.

`at_s` is the time since the start of the run in seconds, from a monotonic clock. A resumed run continues it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from fswizard.model.analysis import Analysis, AnswerKind, MoreTime
from fswizard.model.frozen import frozen
from fswizard.model.plan import Plan
from fswizard.model.recipe import Amount
from fswizard.model.result import Doubt, Environment, Failure, Outcome, Result, Sample, ThroughputSeries

Stage = Literal["prepare", "raw", "wait", "format", "mount", "fill", "workload", "check", "clean"]


@frozen
class Step:
    """The smallest unit of a run for which progress is shown."""

    number: int
    stage: Stage
    title: str
    """Current activity: `formatting with mkfs.xfs`."""
    round: int = 0
    candidate: str = ""
    workload: str = ""


@frozen
class Event:
    at_s: float


@frozen
class RunStarted(Event):
    """The first event of a run. A repeated one means that the run was resumed, with limits that count from there."""

    plan: Plan
    environment: Environment


@frozen
class AmountsChosen(Event):
    """How much work of the time-boxed workloads this disk completes in their box; the plan's recipe has the maximum."""

    amounts: Mapping[str, Amount]
    """By name of the workload."""


@frozen
class StepStarted(Event):
    step: Step


@frozen
class StepProgressed(Event):
    """Progress of a step; replaces the previous one."""

    step: int
    fraction: float | None
    """Completed share of the step, 0 to 1; None if unknown."""
    text: str = ""
    """Current activity; empty if unchanged."""
    rate: float | None = None
    rate_unit: Literal["B/s", "1/s"] = "B/s"
    latency_s: float | None = None
    """Median of the last interval."""
    worst_latency_s: float | None = None
    """Maximum since the step began."""
    preparing: bool = False
    """The workload is still preparing: nothing of it is measured yet."""


@frozen
class CommandStarted(Event):
    step: int
    argv: tuple[str, ...]
    as_root: bool = False


@frozen
class CommandFinished(Event):
    step: int
    argv: tuple[str, ...]
    exit_code: int
    seconds: float
    output: str = ""
    as_root: bool = False


@frozen
class SampleTaken(Event):
    sample: Sample


@frozen
class SeriesRecorded(Event):
    series: ThroughputSeries


@frozen
class RatioUpdated(Event):
    """Analysis after each round."""

    analysis: Analysis
    more: MoreTime | None = None
    """What more rounds would bring, if the run continues."""


@frozen
class DoubtRaised(Event):
    doubt: Doubt


@frozen
class StepSkipped(Event):
    step: Step
    reason: str


@frozen
class StepFailed(Event):
    step: Step
    failure: Failure


@frozen
class RoundDiscarded(Event):
    """A whole round does not count, by a predefined rule."""

    round: int
    reason: str


@frozen
class RoundFinished(Event):
    """Every active candidate had its trial. Whether the round counts is a separate event."""

    round: int
    survivors: tuple[str, ...]
    """Candidates of the next round, if there is one."""


@frozen
class RunEnded(Event):
    """The last event of a run, unless it was killed or is resumed."""

    outcome: Outcome
    text: str = ""
    """Why it ended, in a sentence."""
    leaders: tuple[str, ...] = ()
    """Candidates that no other was proven to beat, best first."""
    rounds: int = 0
    """Number of rounds on which `leaders` are based."""
    verdict: str = ""
    """Verdict of the answer, so that a listing shows the same sentence; empty in files of earlier versions."""
    answer: AnswerKind | Literal[""] = ""
    """Kind of the answer; empty in files of earlier versions."""
    hint: str = ""
    """For a failed run: what the user can do, in a sentence."""
    details: str = ""
    """For a failed run: the complete output of a program."""


def fold(result: Result, events: Iterable[Event]) -> Result:
    """The result after `events`. Pure."""
    added = defaultdict[str, list[Any]](list)
    changes: dict[str, Any] = {}
    elapsed_s, plan = result.elapsed_s, result.plan
    for event in events:
        elapsed_s = max(elapsed_s, event.at_s)
        match event:
            case SampleTaken(sample=sample) if sample.round or not sample.candidate:  # else it is of the first look
                added["samples"].append(replace(sample, at_s=sample.at_s or event.at_s))
            case SeriesRecorded(series=series):
                added["throughput_series"].append(series)
            case StepFailed(failure=failure):
                added["failures"].append(failure)
            case DoubtRaised(doubt=doubt):
                added["doubts"].append(doubt)
            case RoundDiscarded(round=number):
                added["discarded_rounds"].append(number)
            case AmountsChosen(amounts=amounts):
                plan = plan.with_amounts(amounts)
            case RoundFinished(round=number, survivors=survivors):
                changes |= {"finished_rounds": number, "survivors": survivors}
            case RunStarted():
                changes |= {"outcome": "killed", "fault": "", "remedy": ""}
            case RunEnded(outcome=outcome):
                fault, remedy = (event.text, event.hint) if outcome == "failed" else ("", "")
                changes |= {"outcome": outcome, "fault": fault, "remedy": remedy}
    for name, items in added.items():
        changes[name] = (*getattr(result, name), *items)
    return replace(result, plan=plan, elapsed_s=elapsed_s, **changes)
