"""Events of a run as lines on stderr; on a terminal with a last line that moves."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import TextIO

from fswizard import results
from fswizard.advice import conclude
from fswizard.errors import ExitCode
from fswizard.importers.published import with_published
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
from fswizard.report import card_lines, render
from fswizard.report.writes import budget_text
from fswizard.system.files import turn_away_from

OPEN = {"undecided": " so far", "behind": ", behind the leader"}
"""What is said of an overall ratio beside its figure."""


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
                self._move(event, _where(state))
        elif isinstance(event, StepStarted):
            if not self._moves or event.step.stage in ("prepare", "fill"):
                self.say(_where(state))
        elif text := _news(event):
            self.say(text)

    def say(self, text: str) -> None:
        """Write a line, for an event or not."""
        end = "\r\x1b[K" if self._moves else ""
        self._print(f"{end}{safe_lines(text)}\n")

    def _move(self, event: StepProgressed, where: str) -> None:
        rate = f"  {figure_text(event.rate, event.rate_unit)}" if event.rate is not None else ""
        left = f"  about {duration_text(event.left_s)} left" if event.left_s is not None else ""
        line = f"{event.run_fraction:4.0%}{left}{rate}  {where}"
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
        return step.title if step else ""
    who = f", {step.candidate}" if step.candidate else ""
    return f"round {step.round}{who}: {step.title}"


async def narrated(
    run: AsyncGenerator[Event, None], state: RunState, until: Callable[[Event], bool] = lambda event: False
) -> RunState:
    """Tell of a run on standard error to its end, or until an event that `until` is true of; its state then."""
    narration = Narration(sys.stderr)
    async with aclosing(run) as events:
        async for event in events:
            before, state = state.outlook, state.after(event)
            narration.show(event, state)
            if isinstance(event, RoundFinished) and event.round == 1 and state.outlook is not before:
                narration.say(f"corrected after round 1: {budget_text(state.plan, state.outlook)}")
            if until(event):
                break
    return state


def print_report(path: str | Path) -> None:
    """The report on a result, and once more what its card says."""
    findings = with_published(conclude(results.load(path)))
    print(render(findings, "text"), flush=True)
    print("\n".join(card_lines(findings)), file=sys.stderr)  # the report has scrolled away by now


def _news(event: Event) -> str:
    text = ""
    if isinstance(event, RunStarted):
        candidates = "; ".join(candidate.name for candidate in event.plan.candidates)
        text = f"{event.plan.recipe.title}: {candidates} (seed {event.plan.seed})"
    elif isinstance(event, RatioUpdated):
        text = _standing(event.analysis)
        if event.forecast:
            text += f". {event.forecast.text}"
    elif isinstance(event, DoubtRaised):
        text = f"note: {event.doubt.text}"
    elif isinstance(event, StepFailed):
        text = f"{event.failure.candidate} failed: {event.failure.text}"
    elif isinstance(event, StepSkipped):
        text = event.reason
    elif isinstance(event, RoundDiscarded):
        text = f"round {event.round} is discarded: {event.reason}"
    elif isinstance(event, RunEnded):
        text = event.text
    return text


def _standing(analysis: Analysis) -> str:
    parts = []
    for ratio in analysis.standing:
        if ratio.candidate == ratio.baseline:
            continue
        if ratio.verdict == "failed":
            parts.append(f"{ratio.candidate} failed")
        else:
            speed = speed_text(ratio.ratio)
            level = ratio.verdict == "tie" or speed == "as fast"
            words = f"level with {ratio.baseline}" if level else speed
            parts.append(f"{ratio.candidate} {words}{OPEN.get(ratio.verdict, '')}")
    return f"after round {analysis.rounds}: {'; '.join(parts)}" if parts else ""
