"""A recorded run that happens again, for the screens."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from fswizard.model.events import Event, PauseChanged, RunEnded, RunStarted, StepStarted, fold
from fswizard.model.result import Result
from fswizard.session import ended_text
from fswizard.system import clock
from fswizard.tui.backend import Order

TENFOLD, REAL = 10.0, 1.0
POLL_S = 0.05
"""Longest time until an order is noticed."""


class Replay:
    """The events of a recorded run, `speed` times as fast; it can be paused and stopped."""

    outlives = False

    def __init__(self, path: Path, events: Sequence[Event], *, speed: float = TENFOLD) -> None:
        """`path` names the run, as that of its result file would; there is no such file."""
        started = events[0]
        assert isinstance(started, RunStarted)
        self.path = path
        self.plan = started.plan
        self.result = Result(started.environment, started.plan)
        """What was measured so far."""
        self.paused = False
        self.stopped = False
        self._recorded = events
        self._speed = speed

    def order(self, order: Order) -> None:
        if order == "stop":
            self.stopped = True
        elif order in ("pause", "resume"):
            self.paused = order == "pause"

    async def events(self) -> AsyncGenerator[Event, None]:
        at_s, candidate, paused = 0.0, "", False
        for event in self._recorded:
            due_s = clock.monotonic() + (event.at_s - at_s) / self._speed
            next_candidate = event.step.candidate if isinstance(event, StepStarted) else ""
            while not self.stopped:
                if paused != self.paused:
                    paused = self.paused
                    yield PauseChanged(at_s, paused)
                    continue
                # As in a real run, the candidate that is being measured is finished before a pause.
                holds = paused and next_candidate not in ("", candidate)
                wait_s = due_s - clock.monotonic()
                if wait_s <= 0 and not holds:
                    break
                await clock.pause(POLL_S if holds else min(wait_s, POLL_S))
            if self.stopped:
                end = RunEnded(at_s, "stopped", ended_text(self.result))
                self.result = fold(self.result, (end,))
                yield end
                return
            at_s = event.at_s
            if isinstance(event, StepStarted):
                candidate = next_candidate
            self.result = fold(self.result, (event,))
            yield event
