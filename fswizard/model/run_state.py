"""The state of a run after any of its events: everything displayed of a run is a field or a property of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from fswizard.errors import FswizardError, RunFailed
from fswizard.language import N_, _
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
from fswizard.model.metrics import FIRST_LOOK_RATE
from fswizard.model.plan import Plan
from fswizard.model.race import Race, measures
from fswizard.model.result import Environment, Outcome, Result

SERIES = 600
"""Maximum length of `RunState.rates`."""
LOG_ENTRIES = 2000
LOG_OUTPUT = 20_000
"""Number of characters retained of a program's output: its end, which is the most informative part."""


@dataclass(frozen=True, slots=True)
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


LogEntry = CommandStarted | CommandFinished | LogNote
"""A running program, a finished one, or a note."""


@dataclass(frozen=True, slots=True)
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
    rate_unit: str = "B/s"
    rates: tuple[float, ...] = ()
    """Throughput of the step `measured`, oldest first."""
    measured: int = 0
    """Number of the last step with throughput, which may have ended."""
    run_fraction: float = 0.0
    """Completed share of the whole run, 0 to 1, assuming that it takes all its time."""
    analysis: Analysis | None = None
    first_look: Mapping[str, float] = field(default_factory=dict)
    """Bytes per second by candidate in the first look; empty without one."""
    order_before: tuple[str, ...] = ()
    """Candidates in their order a round earlier, best first."""
    more: MoreTime | None = None
    log: tuple[LogEntry, ...] = ()
    rounds_began_s: float | None = None
    """Time of the first step of a round since the run was started or resumed; None before it."""
    trial: tuple[int, str] = (0, "")
    """Round and candidate of the last trial."""
    trials: int = 0
    """Number of trials begun since the run was started or resumed."""
    before_bytes: float = 0.0
    """Bytes written by the devices in rounds before the run was resumed."""
    ended: RunEnded | None = None
    """None while the run continues."""

    @classmethod
    def of(cls, plan: Plan, earlier: Result | None = None) -> RunState:
        """The state before the first event; `earlier` is the run that this one resumes."""
        result = earlier or Result(Environment("", ""), plan)
        return cls(plan, result, expected(plan, earlier), Race.of(plan, result), before_bytes=result.counted_bytes)

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
        failed = ended is not None and ended.outcome in ("failed", "killed")
        return RunFailed(_(ended.text), _(ended.hint), ended.details) if ended and failed else None

    @property
    def fraction(self) -> float | None:
        """Completed share of the step, 0 to 1; None if unknown."""
        return self.progress.fraction if self.progress else 0.0 if self.step else None

    @property
    def measuring_step(self) -> Step | None:
        """The current step if it measures a candidate, else None."""
        return self.step if measures(self.step) else None

    @property
    def standing(self) -> tuple[Ratio, ...]:
        """One ratio per candidate, best first, including candidates without figures."""
        judged = self.analysis.standing if self.analysis else ()
        names = {ratio.candidate for ratio in judged}
        failed = {failure.candidate: failure.text for failure in self.result.failures}
        baseline = self.plan.baseline
        so_far = {} if judged else self.race.standing(baseline, self.result.discarded_rounds)
        so_far.setdefault(baseline, 1.0)
        waiting = []
        for name in (candidate.name for candidate in self.plan.candidates if candidate.name not in names):
            ratio = Ratio(name, baseline, "", so_far.get(name, 0.0))
            if name in failed:
                ratio = replace(ratio, ratio=0.0, verdict="failed", text=failed[name])
            waiting.append(ratio)
        return (*judged, *sorted(waiting, key=lambda ratio: -ratio.ratio))

    @property
    def alive(self) -> int:
        """Number of candidates that are still measured."""
        if self.ended:
            return 0
        gone = {failure.candidate for failure in self.result.failures}
        return sum(name not in gone for name in self.result.candidates_left)

    def out(self, candidate: str) -> str:
        """Why a candidate is no longer measured, in a word; empty if it still is."""
        failed = any(failure.candidate == candidate for failure in self.result.failures)
        return N_("dropped") if candidate not in self.result.candidates_left and not failed else ""

    def after(self, event: Event) -> RunState:
        """The state after `event`. Pure."""
        race = self.race.after(event, self.step)
        state = replace(self, at_s=event.at_s, result=fold(self.result, (event,)), race=race)
        match event:
            case StepProgressed():
                state = state._progressed(event)
            case RunStarted():
                state = state._started(event)
            case AmountsChosen(amounts=amounts):
                plan = replace(state.plan.with_amounts(amounts), preparation_s=state.elapsed_s)
                state = replace(state, plan=plan, outlook=expected(plan, looked=True))
            case StepStarted():
                state = state._began(event.step)
            case CommandStarted():
                state = state._logged(event)
            case CommandFinished():
                state = state._finished(event)
            case SampleTaken(sample=sample) if sample.metric == FIRST_LOOK_RATE.name:
                rates = {**state.first_look, sample.candidate: sample.value}
                ahead = expected(looked_at(state.plan, rates.values()), looked=True)
                state = replace(state, first_look=rates, outlook=ahead)
            case RatioUpdated(_, analysis, more):
                before = tuple(ratio.candidate for ratio in self.standing) if self.analysis else ()
                state = replace(state, analysis=analysis, more=more, order_before=before)
            case RoundFinished():
                state = state._round_over()
            case RunEnded(outcome=outcome):
                share = 1.0 if outcome in ("finished", "time-up", "budget-used") else state.run_fraction
                state = replace(state, ended=event, run_fraction=share)
        note = _note(event)
        return state._logged(note) if note else state

    def _started(self, event: RunStarted) -> RunState:
        """Apply the start or resumption of the run: its limits count from here."""
        plan, result = event.plan, self.result
        if not result.environment.started:
            return replace(self, plan=plan, result=replace(result, environment=event.environment, plan=plan),
                           outlook=expected(plan), race=Race.of(plan), began_s=event.at_s)  # fmt: skip
        return replace(
            self,
            plan=plan,
            outlook=expected(plan, result),
            began_s=event.at_s,
            run_fraction=0.0,
            rounds_began_s=None,
            trial=(0, ""),
            trials=0,
            before_bytes=result.counted_bytes,
            ended=None,
        )

    def _began(self, step: Step) -> RunState:
        """Apply the beginning of a step, which may begin a trial."""
        state, trial = replace(self, step=step, progress=None), (step.round, step.candidate)
        if not all(trial) or trial == self.trial:
            return state
        began_s = self.at_s if self.rounds_began_s is None else self.rounds_began_s
        return replace(state, trial=trial, rounds_began_s=began_s, trials=self.trials + 1)

    def _progressed(self, event: StepProgressed) -> RunState:
        share = max(self.run_fraction, self.outlook.share(self.elapsed_s))
        text = event.text or (self.progress.text if self.progress else "")
        state = replace(self, progress=replace(event, text=text), run_fraction=share)
        if event.rate is None:
            return state
        goes_on = (self.measured, self.rate_unit) == (event.step, event.rate_unit)
        rates = (*(self.rates[-SERIES + 1 :] if goes_on else ()), event.rate)
        return replace(state, rates=rates, measured=event.step, rate_unit=event.rate_unit)

    def _finished(self, event: CommandFinished) -> RunState:
        """Apply the end of a program: in the log it replaces the start of that program."""
        done = replace(event, output=event.output[-LOG_OUTPUT:])
        for number in reversed(range(len(self.log))):
            entry = self.log[number]
            if isinstance(entry, CommandStarted) and entry.argv == event.argv:
                return replace(self, log=(*self.log[:number], done, *self.log[number + 1 :]))
        return self._logged(done)

    def _round_over(self) -> RunState:
        """Update the estimate of the whole run from its trials so far."""
        if self.rounds_began_s is None or not self.trials:
            return self
        plan, result = self.plan, self.result
        candidates = result.candidates_left
        counted_bytes = result.counted_bytes - self.before_bytes
        ahead = outlook(
            plan,
            result.whole_rounds,
            round_s=len(candidates) * (self.at_s - self.rounds_began_s) / self.trials,
            round_bytes=round_bytes(plan, result, candidates),
            elapsed_s=self.elapsed_s,
            written_bytes=plan.filled_bytes + (counted_bytes or self.trials * plan.writes_bytes_per_trial),
        )
        return replace(self, outlook=ahead)

    def _logged(self, entry: LogEntry) -> RunState:
        return replace(self, log=(*self.log[-LOG_ENTRIES + 1 :], entry))


def _note(event: Event) -> LogNote | None:
    """The log entry for an event, except for events of programs."""
    note = None
    match event:
        case StepStarted(step=step):
            note = LogNote("step", step.title, candidate=step.candidate)
        case RatioUpdated(analysis=analysis):
            note = LogNote("round", _("round {round} is complete", round=analysis.rounds))
        case DoubtRaised(doubt=doubt):
            note = LogNote("doubt", doubt.text)
        case StepFailed(failure=failure):
            note = LogNote("failed", failure.text, failure.details[-LOG_OUTPUT:], failure.candidate)
        case StepSkipped(_, step, reason):
            note = LogNote("skipped", reason, candidate=step.candidate)
        case RoundDiscarded(_, number, reason):
            text = _("round {round} does not count: {reason}", round=number, reason=_(reason))
            note = LogNote("discarded", text)
        case RunEnded(text=text):
            note = LogNote("end", text)
    return note
