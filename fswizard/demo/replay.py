"""A recorded run that happens again, for the screens."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from fswizard.model.events import Event, RunEnded, RunStarted, fold
from fswizard.model.result import Result
from fswizard.session import STOPPED, FollowedRun
from fswizard.system import clock

SPEED = 10.0
POLL_S = 0.05
"""Longest time until an order is noticed."""


class Replay(FollowedRun):
    """The events of a recorded run, `speed` times as fast; it can be stopped."""

    outlives = False

    def __init__(self, events: Sequence[Event], *, speed: float = SPEED) -> None:
        started = events[0]
        assert isinstance(started, RunStarted)
        self.plan = started.plan
        self.stopped = False
        self._recorded = events
        self._result = Result(started.environment, started.plan)
        self._speed = speed

    def result(self) -> Result:
        return self._result

    def order(self, order: str) -> None:
        self.stopped = order == "stop"

    async def events(self) -> AsyncGenerator[Event, None]:
        at_s = 0.0
        for event in self._recorded:
            due_s = clock.monotonic() + (event.at_s - at_s) / self._speed
            while not self.stopped and (wait_s := due_s - clock.monotonic()) > 0:
                await clock.pause(min(wait_s, POLL_S))
            if self.stopped:
                end = RunEnded(at_s, "stopped", STOPPED)
                self._result = fold(self._result, (end,))
                yield end
                return
            at_s = event.at_s
            self._result = fold(self._result, (event,))
            yield event
