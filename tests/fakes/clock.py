"""A clock that stands still until somebody sleeps or pauses, or a test advances it; nobody really waits."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fswizard.system.clock import Clock

TURNS = 10
"""So often everybody may run before a pause advances the clock: what is ready comes before what waits."""
BLOCKED_S = 0.005
"""For so long, of real time, a thread blocks before it looks at the clock again."""


@dataclass(frozen=True, slots=True, eq=False)
class _Due:
    at_s: float
    pause: bool
    future: asyncio.Future[None]

    def come(self) -> None:
        """From any thread."""
        self.future.get_loop().call_soon_threadsafe(self._set)

    def _set(self) -> None:
        if not self.future.done():
            self.future.set_result(None)


class SimulatedClock(Clock):
    """`with clock.use(SimulatedClock()) as time:`, for one event loop and any number of threads."""

    def __init__(self) -> None:
        self._now_s = 1000.0
        self._dues: list[_Due] = []
        self._lock = threading.RLock()
        self._limited = asyncio.Event()
        self._turns = 0
        """Of the event loop, since the clock was advanced or somebody began to wait."""
        self.asleep_s = 0.0
        """For so long the machine slept."""
        self.set_s = 1.7e9
        """What the user set the time to, less what has passed."""

    def monotonic(self) -> float:
        return self._now_s

    def boottime(self) -> float:
        return self._now_s + self.asleep_s

    def wall(self) -> float:
        return self.boottime() + self.set_s

    def advance(self, seconds: float) -> None:
        """Timers that come due on the way fire in order; tasks run once the caller awaits something."""
        with self._lock:
            until_s = self._now_s + seconds
            while self._dues and (first := self._first()).at_s <= until_s:
                self._come(first)
            self._now_s = until_s

    def sleep(self, seconds: float) -> None:
        self.advance(seconds)

    async def pause(self, seconds: float) -> None:
        due = self._due_in(seconds, pause=True)
        try:
            while not due.future.done():
                await asyncio.sleep(0)
                with self._lock:
                    if due is min((other for other in self._dues if other.pause), key=_at_s, default=None):
                        self._turns += 1
                        if self._turns > TURNS:
                            self._come(self._first())
        finally:
            self._forget(due)

    async def ended(self, task: asyncio.Future[Any], limit_s: float) -> bool:
        due = self._due_in(limit_s, pause=False)
        self._limited.set()
        try:
            await asyncio.wait({task, due.future}, return_when=asyncio.FIRST_COMPLETED)
            return task.done()
        finally:
            self._forget(due)

    def turns(self, limit_s: float) -> Iterator[float]:
        until_s = self._now_s + limit_s  # from this call on, not from the first turn
        more = itertools.takewhile(lambda _: self._now_s < until_s, itertools.repeat(BLOCKED_S))
        return itertools.chain([BLOCKED_S], more)

    async def somebody_waits(self) -> None:
        """Until something has a time limit that did not have one when this was called last."""
        await self._limited.wait()
        self._limited.clear()

    def _first(self) -> _Due:
        return min(self._dues, key=_at_s)

    def _come(self, due: _Due) -> None:
        self._turns = 0
        self._now_s = max(self._now_s, due.at_s)
        self._forget(due)
        due.come()

    def _due_in(self, seconds: float, *, pause: bool) -> _Due:
        with self._lock:
            self._turns = 0
            due = _Due(self._now_s + max(0.0, seconds), pause, asyncio.get_running_loop().create_future())
            if seconds > 0:
                self._dues.append(due)
            else:
                due.come()
            return due

    def _forget(self, due: _Due) -> None:
        with self._lock:
            if due in self._dues:
                self._dues.remove(due)


def _at_s(due: _Due) -> float:
    return due.at_s
