"""A recorded run that happens again, for the screens."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from pathlib import Path

from fswizard.demo.stories import Story
from fswizard.model.events import (
    Event,
    PauseChanged,
    RunEnded,
    RunStarted,
    Step,
    StepStarted,
    fold,
)
from fswizard.model.plan import Plan
from fswizard.session import ended_text
from fswizard.system import clock, timeouts
from fswizard.tui.backend import Order

TENFOLD, REAL = 10.0, 1.0


class Replay:
    """The events of a recorded run, at its pace times `speed`; it can be paused and stopped."""

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

    def order(self, order: Order) -> None:
        self._orders.put_nowait(order)

    async def events(self) -> AsyncGenerator[Event, None]:
        at_s = 0.0
        for event in self._story.events:
            step = event.step if isinstance(event, StepStarted) else self._step
            turn = step.candidate not in ("", self._step.candidate)
            due_s = clock.monotonic() + (event.at_s - at_s) / self._speed
            while order := await self._next_order(due_s, holds=turn):
                for said in self._obey(order, at_s):
                    self.result = fold(self.result, (said,))
                    yield said
                if order == "stop":
                    return
            self._step, at_s = step, event.at_s
            shown = replace(event, plan=self.plan) if isinstance(event, RunStarted) else event
            self.result = fold(self.result, (shown,))
            yield shown

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
        elif self._paused != (order == "pause"):
            self._paused = not self._paused
            yield PauseChanged(at_s, self._paused)
