"""A recorded run that happens again, for the screens."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from pathlib import Path

from fswizard.demo.stories import Story
from fswizard.model.events import (
    ON_REQUEST,
    CommandFinished,
    CommandStarted,
    Event,
    PauseChanged,
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
from fswizard.stats import analyse
from fswizard.system import clock, timeouts
from fswizard.tui.backend import Order

TENFOLD, REAL = 10.0, 1.0
OF_A_TRIAL = (
    StepStarted, StepProgressed, CommandStarted, CommandFinished, SampleTaken, SeriesRecorded, StepFailed,
)  # fmt: skip
"""Events about the candidate whose turn it is."""


class Replay:
    """The events of a recorded run, at its pace times `speed`; it can be paused, shortened and stopped."""

    outlives = False

    def __init__(self, story: Story, plan: Plan, *, speed: float = TENFOLD) -> None:
        self.plan = plan
        self.path = Path(f"{story.name}.jsonl")
        """Of no file: nothing is kept."""
        self.result = replace(story.beginning, plan=plan)
        self._story = story
        self._speed = speed
        self._step = Step(0, "prepare", "")
        self._paused = False
        self._orders: asyncio.Queue[Order] = asyncio.Queue()
        self._skipped: set[str] = set()

    def order(self, order: Order) -> None:
        self._orders.put_nowait(order)

    async def events(self) -> AsyncGenerator[Event, None]:
        at_s = 0.0
        for event in self._story.events:
            step = event.step if isinstance(event, StepStarted) else self._step
            turn = step.candidate not in ("", self._step.candidate)
            wait_s = 0.0 if self._is_left_out(event, step) else (event.at_s - at_s) / self._speed
            due_s = clock.monotonic() + wait_s
            while order := await self._next_order(due_s, holds=turn):
                for said in self._obey(order, at_s):
                    self.result = fold(self.result, (said,))
                    yield said
                if order == "stop":
                    return
            self._step, at_s = step, event.at_s
            if not self._is_left_out(event, step):
                shown = self._without_skipped(event)
                self.result = fold(self.result, (shown,))
                yield shown

    def _is_left_out(self, event: Event, step: Step) -> bool:
        return step.candidate in self._skipped and isinstance(event, OF_A_TRIAL)

    async def _next_order(self, due_s: float, *, holds: bool) -> Order | None:
        """The next order until then, or as long as the run is paused where it `holds`; None where there is none."""
        if not self._orders.empty() or (self._paused and holds):
            return await self._orders.get()
        with contextlib.suppress(asyncio.TimeoutError):
            return await timeouts.within(max(0.0, due_s - clock.monotonic()), self._orders.get())
        return None

    def _obey(self, order: Order, at_s: float) -> Iterator[Event]:
        """The events of an order that the run carries out."""
        if order == "stop":
            yield RunEnded(at_s, "stopped", ended_text(self.result))
        elif order == "skip":
            if self._step.candidate and self._step.candidate not in self._skipped:
                self._skipped.add(self._step.candidate)
                yield StepSkipped(at_s, self._step, ON_REQUEST)
        elif self._paused != (order == "pause"):
            self._paused = not self._paused
            yield PauseChanged(at_s, self._paused)

    def _without_skipped(self, event: Event) -> Event:
        """The event without candidates that were skipped meanwhile."""
        if isinstance(event, RunStarted):
            return replace(event, plan=self.plan)
        if isinstance(event, RoundFinished):
            return replace(event, survivors=tuple(name for name in event.survivors if name not in self._skipped))
        if isinstance(event, RatioUpdated) and self._skipped:
            return RatioUpdated(event.at_s, analyse(self.result))
        return event
