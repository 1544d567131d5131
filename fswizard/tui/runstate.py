"""A run that goes on: its newest snapshot, how each event changes it, and who follows the session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Literal

from fswizard.errors import FswizardError
from fswizard.model.events import (
    ON_REQUEST,
    CommandFinished,
    CommandStarted,
    DoubtRaised,
    Event,
    RatioUpdated,
    RoundDiscarded,
    RoundFinished,
    RunEnded,
    RunStarted,
    Stage,
    Step,
    StepFailed,
    StepProgressed,
    StepSkipped,
    StepStarted,
)
from fswizard.model.forecast import Forecast
from fswizard.model.judgement import Judgement, Ratio
from fswizard.model.outlook import Budget
from fswizard.model.plan import Plan
from fswizard.model.result import Failure, Outcome
from fswizard.system import clock
from fswizard.tui.backend import RunHandle
from fswizard.tui.race import Race

SERIES = 600
"""Points of throughput that are kept."""
LOG_ENTRIES = 2000
LOG_OUTPUT = 20_000
"""Characters of one program's output that are kept for the screen; the end is what tells."""

STAGES: dict[Stage, str] = {
    "prepare": "preparing",
    "raw": "bare device",
    "wait": "waiting",
    "format": "formatting",
    "mount": "mounting",
    "fill": "preparing test files",
    "workload": "measuring",
    "check": "checking",
    "clean": "cleaning up",
}

YIELD_EVERY_S = 0.01
"""Handling events is interrupted so often, that keys and drawing never wait longer."""


@dataclass(frozen=True, slots=True)
class LogCommand:
    """A program that ran, or runs."""

    at_s: float
    argv: tuple[str, ...]
    as_root: bool = False
    exit_code: int | None = None
    """None while it runs."""
    seconds: float = 0.0
    output: str = ""


@dataclass(frozen=True, slots=True)
class LogNote:
    """Something worth a line in the log that is no program."""

    at_s: float
    kind: Literal["step", "doubt", "failed", "skipped", "discarded", "round", "end"]
    text: str
    details: str = ""


LogEntry = LogCommand | LogNote


@dataclass(frozen=True, slots=True)
class RunState:
    """Everything the run screen draws."""

    plan: Plan
    at_s: float = 0.0
    began_s: float = 0.0
    """Time of the first event since the run was started, or resumed."""
    step: Step | None = None
    fraction: float | None = None
    """Of the step."""
    text: str = ""
    rate: float | None = None
    rate_unit: str = "B/s"
    latency_s: float | None = None
    worst_latency_s: float | None = None
    rates: tuple[float, ...] = ()
    """Throughput of the step `measured`, oldest first."""
    measured: int = 0
    """Number of the step that throughput was told of last; it may be over."""
    race: Race = field(default_factory=Race)
    run_fraction: float = 0.0
    left_s: float | None = None
    judgement: Judgement | None = None
    order_before: tuple[str, ...] = ()
    """Candidates as they stood a round earlier, best first."""
    forecast: Forecast | None = None
    round: int = 0
    tried: tuple[str, ...] = ()
    """Candidates whose turn in this round has come, in order; the last one is being measured."""
    done: tuple[str, ...] = ()
    """Workloads that the current candidate has finished in this round."""
    log: tuple[LogEntry, ...] = ()
    failures: tuple[Failure, ...] = ()
    survivors: tuple[str, ...] | None = None
    """Who takes part in the next round; None before the end of the first."""
    skipped: tuple[str, ...] = ()
    """Candidates that the user left out."""
    outcome: Outcome | None = None
    """None while the run goes on."""
    ending: str = ""

    @property
    def elapsed_s(self) -> float:
        """Time since the run was started, or resumed."""
        return self.at_s - self.began_s

    @property
    def ended(self) -> bool:
        return self.outcome is not None

    @property
    def standing(self) -> tuple[Ratio, ...]:
        """One ratio for each candidate, best first, also for those that have no figures yet."""
        judged = self.judgement.standing if self.judgement else ()
        names = {ratio.candidate for ratio in judged}
        failed = {failure.candidate: failure.text for failure in self.failures}
        baseline, missing = self.plan.baseline, (c.name for c in self.plan.candidates if c.name not in names)
        so_far = {} if judged else self.race.standing(baseline)
        waiting = (
            Ratio(name, baseline, "", 0.0, verdict="failed", text=failed[name])
            if name in failed
            else Ratio(name, baseline, "", so_far.get(name, 1.0 if name == baseline else 0.0))
            for name in missing
        )
        return (*judged, *sorted(waiting, key=lambda ratio: -ratio.ratio))

    @property
    def alive(self) -> int:
        """How many candidates take part in what is to come."""
        if self.ended:
            return 0
        gone = {*self.skipped, *(failure.candidate for failure in self.failures)}
        known = (candidate.name for candidate in self.plan.candidates)
        return sum(name not in gone for name in (known if self.survivors is None else self.survivors))

    def out(self, candidate: str) -> str:
        """Why a candidate is no longer measured, in a word; empty while it is."""
        if candidate in self.skipped:
            return "skipped"
        failed = any(failure.candidate == candidate for failure in self.failures)
        gone = self.survivors is not None and candidate not in self.survivors
        return "dropped" if gone and not failed else ""


def advance(state: RunState, event: Event) -> RunState:
    """The snapshot after `event`. Pure."""
    race = state.race.after(event)
    if isinstance(event, StepProgressed):  # nearly all are
        return _progressed(state, event, race)
    state = replace(state, at_s=event.at_s, race=race)
    match event:
        case StepStarted():
            return _began(state, event.step)
        case CommandStarted():
            return _log(state, LogCommand(event.at_s, event.argv, event.as_root))
        case CommandFinished():
            return _finished(state, event)
        case RunStarted():
            return replace(state, plan=event.plan, began_s=event.at_s, race=race if race.lanes else Race.of(event.plan))
    return _noted(state, event)


def _began(state: RunState, step: Step) -> RunState:
    note = LogNote(state.at_s, "step", f"{step.candidate}: {step.title}" if step.candidate else step.title)
    state = replace(
        _turn(state, step), step=step, fraction=0.0, text="", rate=None, latency_s=None, worst_latency_s=None
    )
    return _log(state, note)


def _turn(state: RunState, step: Step) -> RunState:
    """Whose turn it is, and which of its workloads are done."""
    if step.round == 0 or not step.candidate:
        return state
    tried = state.tried if step.round == state.round else ()
    same = bool(tried) and tried[-1] == step.candidate
    done = state.done if same else ()
    before = state.step.workload if state.step and same else ""
    if before and before != step.workload and before not in done:
        done = (*done, before)
    return replace(state, round=step.round, tried=tried if same else (*tried, step.candidate), done=done)


def _progressed(state: RunState, event: StepProgressed, race: Race) -> RunState:
    rates, measured = state.rates, state.measured
    if event.rate is not None:
        goes_on = measured == event.step and event.rate_unit == state.rate_unit
        rates, measured = (*(rates[-SERIES + 1 :] if goes_on else ()), event.rate), event.step
    return replace(
        state,
        at_s=event.at_s,
        fraction=event.fraction,
        text=event.text,
        rate=event.rate,
        rate_unit=state.rate_unit if event.rate is None else event.rate_unit,
        latency_s=event.latency_s,
        worst_latency_s=event.worst_latency_s,
        rates=rates,
        measured=measured,
        race=race,
        run_fraction=max(state.run_fraction, event.run_fraction),
        left_s=event.left_s,
    )


def _finished(state: RunState, event: CommandFinished) -> RunState:
    done = LogCommand(event.at_s, event.argv, event.as_root, event.exit_code, event.seconds, event.output[-LOG_OUTPUT:])
    for back, entry in enumerate(reversed(state.log), 1):
        if isinstance(entry, LogCommand) and entry.exit_code is None and entry.argv == event.argv:
            done = replace(done, at_s=entry.at_s)
            position = len(state.log) - back
            return replace(state, log=(*state.log[:position], done, *state.log[position + 1 :]))
    return _log(state, done)


def _noted(state: RunState, event: Event) -> RunState:
    """Events that leave a line in the log."""
    note: LogNote | None = None
    match event:
        case RatioUpdated(at_s, judgement, forecast):
            note = LogNote(at_s, "round", f"round {judgement.rounds} is complete")
            before = tuple(ratio.candidate for ratio in state.standing) if state.judgement else ()
            state = replace(state, judgement=judgement, forecast=forecast, order_before=before)
        case RoundFinished(survivors=survivors):
            state = replace(state, survivors=survivors)
        case DoubtRaised(at_s, doubt):
            note = LogNote(at_s, "doubt", doubt.text)
        case StepFailed(at_s, _, failure):
            note = LogNote(at_s, "failed", f"{failure.candidate}: {failure.text}", failure.details[-LOG_OUTPUT:])
            state = replace(state, failures=(*state.failures, failure))
        case StepSkipped(at_s, step, reason):
            note = LogNote(at_s, "skipped", f"{step.candidate}: {reason}" if step.candidate else reason)
            if step.candidate and reason == ON_REQUEST:
                state = replace(state, skipped=(*state.skipped, step.candidate))
        case RoundDiscarded(at_s, number, reason):
            note = LogNote(at_s, "discarded", f"round {number} does not count: {reason}")
        case RunEnded(at_s, outcome, text):
            note = LogNote(at_s, "end", text)
            share = 1.0 if outcome in ("finished", "time-up", "budget-used") else state.run_fraction
            state = replace(state, outcome=outcome, ending=text, left_s=0.0, run_fraction=share)
    return state if note is None else _log(state, note)


def _log(state: RunState, entry: LogEntry) -> RunState:
    return replace(state, log=(*state.log[-LOG_ENTRIES + 1 :], entry))


class RunMonitor:
    """Follows a session. `state` is replaced with every event; screens look at it whenever they draw."""

    def __init__(self, run: RunHandle, plan: Plan, clock: Callable[[], float]) -> None:
        self.run = run
        self.state = RunState(plan, race=Race.of(plan, run.result))
        self.budget = Budget(plan, run.result)
        """What the run takes in all, corrected by each round."""
        self.stopping = False
        self.problem: FswizardError | None = None
        """Why the run failed, where it did."""
        self._clock = clock
        self._began_s = clock()

    @property
    def elapsed_s(self) -> float:
        """Time since the start, also while no event comes."""
        return self.state.elapsed_s if self.state.ended else max(self.state.elapsed_s, self._clock() - self._began_s)

    @property
    def paused(self) -> bool:
        return self.run.paused

    def take(self, event: Event) -> None:
        """What an event changes."""
        self.state = advance(self.state, event)
        self._began_s = min(self._began_s, self._clock() - self.state.elapsed_s)  # of a run that is watched, long ago
        self.budget.corrects(event)

    async def follow(self) -> None:
        """Follow the run to its end; cancelling this undoes everything first."""
        yielded_s = clock.monotonic()
        try:
            async with aclosing(self.run.events()) as events:
                async for event in events:
                    self.take(event)
                    if clock.monotonic() - yielded_s > YIELD_EVERY_S:
                        await asyncio.sleep(0)
                        yielded_s = clock.monotonic()
        except FswizardError as error:
            self.problem = error
        finally:
            self.problem = self.problem or self.run.error
            if not self.state.ended:
                words = self.problem.message if self.problem else "It stopped unexpectedly."
                self.state = replace(self.state, outcome="failed", ending=words)

    def toggle_pause(self) -> None:
        """Pause, or go on."""
        if self.paused:
            self.run.resume()
        else:
            self.run.pause()

    def skip(self) -> None:
        """Leave the candidate that is being measured out of the rest."""
        self.run.skip()

    def stop(self) -> None:
        """End it now; what it made is undone, what was measured is kept."""
        self.stopping = True
        self.run.stop()
