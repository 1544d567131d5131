"""Events of a run as lines on stderr; on a terminal with a last line that moves."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from contextvars import Context, copy_context
from pathlib import Path
from typing import TextIO

from fswizard import results
from fswizard.advice import conclude
from fswizard.advice.words import more_text
from fswizard.errors import ExitCode
from fswizard.language import N_, _, shown
from fswizard.model.analysis import Analysis
from fswizard.model.events import (
    DoubtRaised,
    Event,
    RatioUpdated,
    RoundDiscarded,
    RoundFinished,
    RunEnded,
    RunStarted,
    StepFailed,
    StepProgressed,
    StepSkipped,
    StepStarted,
)
from fswizard.model.result import Outcome
from fswizard.model.run_state import RunState
from fswizard.model.text import safe_lines
from fswizard.model.units import duration_text, figure_text, speed_text
from fswizard.report import render
from fswizard.report.writes import budget_text
from fswizard.system.files import turn_away_from

OPEN = {"open": N_("{standing} so far"), "behind": N_("{standing}, behind the leader")}
"""What is said of an overall ratio beside its figure, such as `xfs 11 % faster`."""


EXIT_CODES: dict[Outcome, ExitCode] = {
    "finished": ExitCode.OK,
    "time-up": ExitCode.OK,
    "budget-used": ExitCode.OK,
    "stopped": ExitCode.PARTIAL,
    "cancelled": ExitCode.CANCELLED,
    "failed": ExitCode.RUN_FAILED,
    "killed": ExitCode.RUN_FAILED,
}


class Narration:
    """Writes events as lines for people."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._moves = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"

    def show(self, event: Event, state: RunState) -> None:
        """Write what an event says; `state` is that of the run after it."""
        if isinstance(event, StepProgressed):
            if self._moves:
                self._move(event, state)
        elif isinstance(event, StepStarted):
            if not self._moves or event.step.stage in ("prepare", "fill"):
                self.say(_where(state))
        elif text := _news(event):
            self.say(text)

    def correct(self, state: RunState) -> None:
        """Say what a round takes now that one was measured."""
        self.say(_("corrected after round 1: {budget}", budget=budget_text(state.plan, state.outlook)))

    def say(self, text: str) -> None:
        """Write a line, for an event or not."""
        end = "\r\x1b[K" if self._moves else ""
        self._print(f"{end}{safe_lines(text)}\n")

    def _move(self, event: StepProgressed, state: RunState) -> None:
        rate = f"  {figure_text(event.rate, event.rate_unit)}" if event.rate is not None else ""
        left = _("at most {time} to go", time=duration_text(state.left_s))
        line = f"{state.run_fraction:4.0%}  {left}{rate}  {_where(state)}"
        self._print(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")

    def _print(self, text: str) -> None:
        """Whether or not somebody still reads it: a run does not fail because a terminal is gone."""
        try:
            print(text, end="", file=self._stream, flush=True)
        except OSError:
            turn_away_from([self._stream.fileno()])


def _where(state: RunState) -> str:
    """The step that goes on: `round 2, xfs: writing large files`."""
    step = state.step
    if step is None or not step.round:
        return shown(step.title) if step else ""
    title = shown(step.title)
    if step.candidate:
        return _("round {round}, {candidate}: {step}", round=step.round, candidate=step.candidate, step=title)
    return _("round {round}: {step}", round=step.round, step=title)


async def narrated(
    run: AsyncGenerator[Event, None],
    state: RunState,
    until: Callable[[Event], bool] = lambda event: False,
    readers: Context | None = None,
) -> RunState:
    """Tell of a run on standard error to its end, or until an event that `until` is true of; its state then.

    `readers` is the context with the reader's language, where the run itself speaks English.
    """
    narration = Narration(sys.stderr)
    readers = copy_context() if readers is None else readers  # one without variables is false
    async with aclosing(run) as events:
        async for event in events:
            before, state = state.outlook, state.after(event)
            readers.run(narration.show, event, state)
            if isinstance(event, RoundFinished) and event.round == 1 and state.outlook is not before:
                readers.run(narration.correct, state)
            if until(event):
                break
    return state


def print_report(path: str | Path) -> None:
    """The report on a result in short."""
    print(render(conclude(results.load(path)), "text"), flush=True)


def _news(event: Event) -> str:
    text = ""
    if isinstance(event, RunStarted):
        candidates = "; ".join(candidate.name for candidate in event.plan.candidates)
        text = _(
            "{recipe}: {candidates} (seed {seed})",
            recipe=_(event.plan.recipe.title), candidates=candidates, seed=event.plan.seed,
        )  # fmt: skip
    elif isinstance(event, RatioUpdated):
        text = _standing(event.analysis)
        if event.more:
            text = f"{_('{finding}.', finding=text)} {more_text(event.more)}"
    elif isinstance(event, DoubtRaised):
        text = _("note: {doubt}", doubt=shown(event.doubt.text))
    elif isinstance(event, StepFailed):
        text = _("{candidate} failed: {reason}", candidate=event.failure.candidate, reason=shown(event.failure.text))
    elif isinstance(event, StepSkipped):
        text = shown(event.reason)
    elif isinstance(event, RoundDiscarded):
        text = _("round {round} is discarded: {reason}", round=event.round, reason=shown(event.reason))
    elif isinstance(event, RunEnded):
        text = shown(event.text)
    return text


def _standing(analysis: Analysis) -> str:
    parts = []
    for ratio in analysis.standing:
        if ratio.candidate == ratio.baseline:
            continue
        if ratio.verdict == "failed":
            parts.append(_("{candidate} failed", candidate=ratio.candidate))
            continue
        speed = speed_text(ratio.ratio)
        if ratio.verdict == "alike" or speed == speed_text(1.0):
            standing = _("{candidate} level with {baseline}", candidate=ratio.candidate, baseline=ratio.baseline)
        else:
            standing = f"{ratio.candidate} {speed}"
        parts.append(_(OPEN.get(ratio.verdict, ""), standing=standing) or standing)
    return _("after round {round}: {standings}", round=analysis.rounds, standings="; ".join(parts)) if parts else ""
