"""Progress of a run as lines on standard error, followed by the report. On a terminal the last line is updated."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import TextIO

from fswizard import results
from fswizard.advice.answer import more_text
from fswizard.errors import ExitCode
from fswizard.language import _
from fswizard.model.analysis import SIGNS, Analysis
from fswizard.model.events import Event, RatioUpdated, RoundFinished, RunStarted, StepProgressed
from fswizard.model.result import Outcome
from fswizard.model.run_state import LogNote, RunState
from fswizard.model.text import safe, safe_lines
from fswizard.model.units import duration_text, figure_text, speed_text
from fswizard.report.writes import budget_text
from fswizard.session import FollowedRun, why_not
from fswizard.sharing import export
from fswizard.system.files import redirect_to_null

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
    """Writes a run's log as lines for people."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._moves = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._latest: object = None
        """Last entry of the log so far."""
        self._step = ""

    def show(self, event: Event, state: RunState) -> None:
        """Write a line for an event, if it has one; `state` is the state of the run after it."""
        entry = state.log[-1] if state.log else None
        news, self._latest = entry is not self._latest, entry
        if isinstance(event, StepProgressed):
            if self._moves:
                self._move(event, state)
        elif isinstance(event, RunStarted):
            plan = event.plan
            candidates = "; ".join(candidate.name for candidate in plan.candidates)
            fields = {"recipe": _(plan.recipe.title), "candidates": candidates, "seed": plan.seed}
            self.say(_("{recipe}: {candidates} (seed {seed})", **fields))
        elif isinstance(event, RatioUpdated):
            standing, more = _standing(event.analysis), more_text(event.more) if event.more else ""
            self.say(f"{standing}  {more}".rstrip())
        elif isinstance(entry, LogNote) and news:
            text = entry.display_text
            if entry.kind == "step":
                text = self._step = _step_text(state)
            if entry.kind != "step" or not self._moves:
                self.say(text)

    def say(self, text: str) -> None:
        """Write a line."""
        end = "\r\x1b[K" if self._moves else ""
        self._print(f"{end}{safe_lines(text)}\n")

    def _move(self, event: StepProgressed, state: RunState) -> None:
        rate = f"  {figure_text(event.rate, event.rate_unit)}" if event.rate is not None else ""
        left = _("at most {time} to go", time=duration_text(state.left_s))
        line = f"{state.run_fraction:4.0%}  {left}{rate}  {self._step}"
        self._print(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")

    def _print(self, text: str) -> None:
        """Write without a line end. If the terminal is gone, redirect the stream to /dev/null, so that nothing
        fails."""
        try:
            print(text, end="", file=self._stream, flush=True)
        except OSError:
            redirect_to_null([self._stream.fileno()])


def _step_text(state: RunState) -> str:
    """The current step with its place in the run: `round 2, xfs: writing large files`."""
    step = state.step
    if step is None:
        return ""
    title = _(step.title)
    if step.candidate:
        return _("round {round}, {candidate}: {step}", round=step.round, candidate=step.candidate, step=title)
    if step.round:
        return _("round {round}: {step}", round=step.round, step=title)
    return title


def _standing(analysis: Analysis) -> str:
    parts = []
    for ratio in analysis.standing:
        if ratio.candidate != ratio.baseline:
            speed = "" if ratio.verdict == "failed" else f" {speed_text(ratio.ratio)}"
            parts.append(f"{SIGNS[ratio.verdict].glyph} {ratio.candidate}{speed}")
    standings = "; ".join(parts)
    return _("after round {round}: {standings}", round=analysis.rounds, standings=standings) if parts else ""


async def narrated(run: FollowedRun, state: RunState, until: Callable[[Event], bool] = lambda event: False) -> RunState:
    """Write a run on standard error to its end, or until an event for which `until` is true; returns the latest
    state."""
    narration = Narration(sys.stderr)
    async with aclosing(run.events()) as events:
        async for event in events:
            before, state = state.outlook, state.after(event)
            narration.show(event, state)
            if isinstance(event, RoundFinished) and event.round == 1 and state.outlook is not before:
                narration.say(_("corrected after round 1: {budget}", budget=budget_text(state.plan, state.outlook)))
            if until(event):
                break
    return state


def ended(path: Path, state: RunState) -> int:
    """Report a run that has ended, and return the exit code. Raises the error of a failed run."""
    name = safe(str(path))
    print(_("The result is in {path}.", path=name), file=sys.stderr)
    if not why_not(path):
        command = f"fswizard run --resume {shlex.quote(name)}"
        print(_("To resume it: {command}", command=command), file=sys.stderr)
    problem = state.problem
    if problem is None or any(sample.round for sample in state.result.samples if sample.primary):
        print(export(results.load(path), "text"), flush=True)
    if problem is not None:
        raise problem
    return EXIT_CODES[state.outcome or "killed"]
