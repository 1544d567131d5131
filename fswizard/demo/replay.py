"""A recorded run that happens again, for the screens."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from fswizard.model.events import Event, RunEnded, RunStarted, fold
from fswizard.model.result import Result
from fswizard.session import ended_text
from fswizard.system import clock

TENFOLD, REAL = 10.0, 1.0
POLL_S = 0.05
"""Longest time until an order is noticed."""


class Replay:
    """The events of a recorded run, `speed` times as fast; it can be stopped."""

    outlives = False

    def __init__(self, path: Path, events: Sequence[Event], *, speed: float = TENFOLD) -> None:
        """`path` names the run, as that of its result file would; there is no such file."""
        started = events[0]
        assert isinstance(started, RunStarted)
        self.path = path
        self.plan = started.plan
        self.result = Result(started.environment, started.plan)
        """What was measured so far."""
        self.stopped = False
        self._recorded = events
        self._speed = speed

    def order(self, order: str) -> None:
        self.stopped = order == "stop"

    async def events(self) -> AsyncGenerator[Event, None]:
        at_s = 0.0
        for event in self._recorded:
            due_s = clock.monotonic() + (event.at_s - at_s) / self._speed
            while not self.stopped and (wait_s := due_s - clock.monotonic()) > 0:
                await clock.pause(min(wait_s, POLL_S))
            if self.stopped:
                end = RunEnded(at_s, "stopped", ended_text(self.result))
                self.result = fold(self.result, (end,))
                yield end
                return
            at_s = event.at_s
            self.result = fold(self.result, (event,))
            yield event
