"""A recorded run that goes on again, as far as the screens can tell."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from pathlib import Path

from fswizard.demo.stories import Story
from fswizard.errors import FswizardError
from fswizard.model.events import (
    ON_REQUEST,
    CommandFinished,
    CommandStarted,
    Event,
    RatioUpdated,
    RoundFinished,
    RunEnded,
    RunStarted,
    SampleTaken,
    SeriesRecorded,
    Step,
    StepFailed,
    StepProgressed,
    StepSkipped,
    StepStarted,
    fold,
)
from fswizard.model.plan import Plan
from fswizard.session import ended_text
from fswizard.stats import judge
from fswizard.system import timeouts

TENFOLD, REAL = 10.0, 1.0
OF_A_TRIAL = (
    StepStarted, StepProgressed, CommandStarted, CommandFinished, SampleTaken, SeriesRecorded, StepFailed,
)  # fmt: skip
"""What is told of the candidate whose turn it is."""


class Replay:
    """Tells what a recorded run told, at its pace times `speed`; it can be paused, shortened and stopped."""

    outlives = False
    trouble = ""

    def __init__(self, story: Story, plan: Plan, *, speed: float = TENFOLD) -> None:
        self.plan = plan
        self.path = Path(f"{story.name}.jsonl")
        """Of no file: nothing is kept."""
        self.error: FswizardError | None = None
        self.result = replace(story.beginning, plan=plan)
        self._story = story
        self._speed = speed
        self._going = asyncio.Event()
        self._going.set()
        self._stopped = asyncio.Event()
        self._step = Step(0, "prepare", "")
        self._skipped: set[str] = set()
        self._told_skipped: set[str] = set()

    @property
    def paused(self) -> bool:
        return not self._going.is_set()

    def pause(self) -> None:
        self._going.clear()

    def resume(self) -> None:
        self._going.set()

    def skip(self) -> None:
        if self._step.candidate:
            self._skipped.add(self._step.candidate)

    def stop(self) -> None:
        self._stopped.set()
        self._going.set()

    async def events(self) -> AsyncGenerator[Event, None]:
        at_s = 0.0
        for event in self._story.events:
            if isinstance(event, StepStarted):
                if event.step.candidate not in ("", self._step.candidate):
                    await self._going.wait()
                self._step = event.step
            if self._is_left_out(event):
                at_s = event.at_s
                continue
            await self._wait((event.at_s - at_s) / self._speed)
            if self._stopped.is_set():
                break
            at_s = event.at_s
            for told in self._told(event):
                self.result = fold(self.result, (told,))
                yield told
        else:
            return
        ended = RunEnded(at_s, "stopped", ended_text(self.result))
        self.result = fold(self.result, (ended,))
        yield ended

    async def _wait(self, seconds: float) -> None:
        """So long, or until it is stopped."""
        with contextlib.suppress(asyncio.TimeoutError):
            await timeouts.within(max(0.0, seconds), self._stopped.wait())

    def _is_left_out(self, event: Event) -> bool:
        return self._step.candidate in self._told_skipped and isinstance(event, OF_A_TRIAL)

    def _told(self, event: Event) -> Iterator[Event]:
        """What the run tells without those that were skipped meanwhile."""
        for name in self._skipped - self._told_skipped:
            self._told_skipped.add(name)
            yield StepSkipped(event.at_s, replace(self._step, candidate=name), ON_REQUEST)
        if self._is_left_out(event):
            return
        if isinstance(event, RunStarted):
            yield replace(event, plan=self.plan)
        elif isinstance(event, RoundFinished):
            yield replace(event, survivors=tuple(name for name in event.survivors if name not in self._skipped))
        elif isinstance(event, RatioUpdated) and self._skipped:
            yield RatioUpdated(event.at_s, judge(self.result))
        else:
            yield event
