"""The state of a run after any of its events: everything displayed of a run is a field or a property of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Literal

from fswizard.errors import FswizardError, RunFailed
from fswizard.language import _
from fswizard.model.analysis import Analysis, MoreTime, Ratio
from fswizard.model.estimates import Outlook, expected, looked_at, outlook, round_bytes
from fswizard.model.events import (
    AmountsChosen,
    CommandFinished,
    CommandStarted,
    DoubtRaised,
    Event,
    RatioUpdated,
    RoundDiscarded,
    RoundFinished,
    RunEnded,
    RunStarted,
    SampleTaken,
    Step,
    StepFailed,
    StepProgressed,
    StepSkipped,
    StepStarted,
    fold,
)
from fswizard.model.frozen import frozen
from fswizard.model.metrics import FIRST_LOOK_RATE
from fswizard.model.plan import Plan
from fswizard.model.race import Measurement, Race, measures
from fswizard.model.result import Environment, Outcome, Result

LOG_ENTRIES = 2000
LOG_OUTPUT = 20_000
"""Number of characters retained of a program's output: its end, which is the most informative part."""


@frozen
class LogNote:
    """A log entry about something other than a program."""

    kind: Literal["step", "doubt", "failed", "skipped", "discarded", "round", "end"]
    text: str
    """Translated for display."""
    details: str = ""
    candidate: str = ""
    """Candidate that it is about; empty for all."""

    @property
    def display_text(self) -> str:
        """The text in the user's language."""
        return f"{self.candidate}: {_(self.text)}" if self.candidate else _(self.text)


LogEntry = CommandFinished | LogNote


@frozen
class RunState:
    """State of a run after the events so far."""

    plan: Plan
    """The plan with limits that count from the start or resumption of the run."""
    result: Result
    """All measured values, including those from before a resumption."""
    outlook: Outlook
    """Estimate of the whole run, updated after each round."""
    race: Race
    at_s: float = 0.0
    began_s: float = 0.0
    """Time of the first event since the run was started or resumed."""
    step: Step | None = None
    progress: StepProgressed | None = None
    """Latest progress of the step; None before any."""
    run_fraction: float = 0.0
    """Completed share of the whole run, 0 to 1, assuming that it takes all its time."""
    analysis: Analysis | None = None
    first_look: Mapping[str, float] = field(default_factory=dict)
    """Bytes per second by candidate in the first look; empty without one."""
    more: MoreTime | None = None
    command: CommandStarted | None = None
    """The program that was started last, while it runs."""
    log: tuple[LogEntry, ...] = ()
    rounds_began_s: float | None = None
    """Time of the first trial since the run was started or resumed; None before it."""
    before_bytes: float = 0.0
    """Bytes written by the devices in rounds before the run was resumed."""
    ended: RunEnded | None = None
    """None while the run continues."""

    @classmethod
    def of(cls, plan: Plan, earlier: Result | None = None) -> RunState:
        """The state before the first event; `earlier` is the run that this one resumes."""
        return cls(plan, earlier or Result(Environment("", ""), plan), expected(plan, earlier), Race.of(plan))

    @property
    def elapsed_s(self) -> float:
        """Time since the run was started or resumed."""
        return self.at_s - self.began_s

    @property
    def left_s(self) -> float:
        """Maximum remaining time of the run, as currently estimated."""
        return 0.0 if self.ended else max(0.0, self.outlook.most_s - self.elapsed_s)

    @property
    def outcome(self) -> Outcome | None:
        """None while the run continues."""
        return self.ended.outcome if self.ended else None

    @property
    def problem(self) -> FswizardError | None:
        """Why the run failed; None unless it did."""
        ended = self.ended
        if ended is None or ended.outcome not in ("failed", "killed"):
            return None
        return RunFailed(_(ended.text), _(ended.hint), ended.details)

    @property
    def fraction(self) -> float | None:
        """Completed share of the step, 0 to 1; None if unknown."""
        if self.progress:
            return self.progress.fraction
        return 0.0 if self.step else None

    @property
    def measuring_step(self) -> Step | None:
        """The current step if it measures a candidate, else None."""
        return self.step if self.step and measures(self.step) else None

    @property
    def measurement(self) -> Measurement:
        """What the current step has measured so far; empty if it does not measure a candidate."""
        step = self.measuring_step
        for lane in self.race.lanes:
            if step and lane.workload.name == step.workload:
                return lane.measurements.get((step.round, step.candidate), Measurement())
        return Measurement()

    @property
    def standing(self) -> tuple[Ratio, ...]:
        """One ratio per candidate, best first; 0 for candidates without figures."""
        judged = self.analysis.standing if self.analysis else ()
        names = {ratio.candidate for ratio in judged}
        failed = {failure.candidate: failure.text for failure in self.result.failures}
        waiting = []
        for name in (candidate.name for candidate in self.plan.candidates if candidate.name not in names):
            ratio = Ratio(name, self.plan.baseline, "", 0.0, text=failed.get(name, ""))
            waiting.append(replace(ratio, verdict="failed") if name in failed else ratio)
        return (*judged, *waiting)

    @property
    def alive(self) -> int:
        """Number of candidates that are still measured."""
        if self.ended:
            return 0
        gone = {failure.candidate for failure in self.result.failures}
        return sum(name not in gone for name in self.result.candidates_left)

    def dropped(self, candidate: str) -> bool:
        """Whether a candidate is no longer measured although it did not fail."""
        failed = any(failure.candidate == candidate for failure in self.result.failures)
        return candidate not in self.result.candidates_left and not failed

    def after(self, event: Event) -> RunState:
        """The state after `event`. Pure."""
        race = self.race.after(event, self.step)
        state = replace(self, at_s=event.at_s, result=fold(self.result, (event,)), race=race)
        match event:
            case RunStarted():
                state = state._started(event)
            case AmountsChosen(amounts=amounts):
                plan = replace(state.plan.with_amounts(amounts), preparation_s=state.elapsed_s)
                state = replace(state, plan=plan, outlook=expected(plan, looked=True))
            case StepStarted(step=step):
                first = state.rounds_began_s is None and step.round and step.candidate
                began_s = event.at_s if first else state.rounds_began_s
                state = replace(state, step=step, progress=None, rounds_began_s=began_s)
            case StepProgressed():
                share = max(state.run_fraction, state.outlook.share(state.elapsed_s))
                text = event.text or (state.progress.text if state.progress else "")
                state = replace(state, progress=replace(event, text=text), run_fraction=share)
            case CommandStarted():
                state = replace(state, command=event)
            case CommandFinished():
                state = replace(state, command=None)
            case SampleTaken(sample=sample) if sample.metric == FIRST_LOOK_RATE.name:
                rates = {**state.first_look, sample.candidate: sample.value}
                ahead = expected(looked_at(state.plan, rates.values()), looked=True)
                state = replace(state, first_look=rates, outlook=ahead)
            case RatioUpdated(analysis=analysis, more=more):
                state = replace(state, analysis=analysis, more=more)
            case RoundFinished():
                state = state._round_over()
            case RunEnded(outcome=outcome):
                share = 1.0 if outcome in ("finished", "time-up", "budget-used") else state.run_fraction
                state = replace(state, ended=event, run_fraction=share)
        entry = _entry(event)
        return replace(state, log=(*state.log[-LOG_ENTRIES + 1 :], entry)) if entry else state

    def _started(self, event: RunStarted) -> RunState:
        """Apply the start or resumption of the run: its limits count from here."""
        resumed = bool(self.result.environment.started)
        result = self.result if resumed else Result(event.environment, event.plan)
        return replace(
            self,
            plan=event.plan,
            result=result,
            outlook=expected(event.plan, result if resumed else None),
            began_s=event.at_s,
            run_fraction=0.0,
            rounds_began_s=None,
            before_bytes=result.counted_bytes,
            ended=None,
        )

    def _round_over(self) -> RunState:
        """Update the estimate of the whole run from its trials so far."""
        began_s, plan, result = self.rounds_began_s, self.plan, self.result
        if began_s is None:
            return self
        samples = (sample for sample in result.samples if sample.candidate and sample.at_s > began_s)
        trials = len({(sample.round, sample.candidate) for sample in samples})
        if not trials:
            return self
        candidates = result.candidates_left
        counted_bytes = result.counted_bytes - self.before_bytes
        ahead = outlook(
            plan,
            result.whole_rounds,
            round_s=len(candidates) * (self.at_s - began_s) / trials,
            round_bytes=round_bytes(plan, result, candidates),
            elapsed_s=self.elapsed_s,
            written_bytes=plan.filled_bytes + (counted_bytes or trials * plan.writes_bytes_per_trial),
        )
        return replace(self, outlook=ahead)


def _entry(event: Event) -> LogEntry | None:
    """The log entry for an event; None for events that are not logged."""
    entry: LogEntry | None = None
    match event:
        case CommandFinished(output=output):
            entry = replace(event, output=output[-LOG_OUTPUT:])
        case StepStarted(step=step):
            entry = LogNote("step", step.title, candidate=step.candidate)
        case RatioUpdated(analysis=analysis):
            entry = LogNote("round", _("round {round} is complete", round=analysis.rounds))
        case DoubtRaised(doubt=doubt):
            entry = LogNote("doubt", doubt.text)
        case StepFailed(failure=failure):
            entry = LogNote("failed", failure.text, failure.details[-LOG_OUTPUT:], failure.candidate)
        case StepSkipped(step=step, reason=reason):
            entry = LogNote("skipped", reason, candidate=step.candidate)
        case RoundDiscarded(round=number, reason=reason):
            text = _("round {round} does not count: {reason}", round=number, reason=_(reason))
            entry = LogNote("discarded", text)
        case RunEnded(text=text):
            entry = LogNote("end", text)
    return entry
