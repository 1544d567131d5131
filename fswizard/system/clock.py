"""The clock of the program, for everything that waits, sets time limits, polls or measures progress.

Tests replace it by a simulated one. Separate programs (the workers) use the kernel's clock.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio

LONG_S = 1.0
"""Limits above this one are real time limits, and no polling intervals."""


class Clock:
    """The kernel's clock."""

    def monotonic(self) -> float:
        return time.monotonic()

    def boottime(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def wall(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def pause(self, seconds: float) -> None:
        import asyncio  # imported late, as lists and reports do not need it

        await asyncio.sleep(seconds)

    async def ended(self, task: asyncio.Future[Any], limit_s: float) -> bool:
        """Waits for a long limit in parts, so that only one of them passes while the program is stopped (Ctrl-Z)."""
        import asyncio  # imported late, as in pause

        parts = 10 if limit_s > LONG_S else 1
        for _ in range(parts):
            done, _ = await asyncio.wait({task}, timeout=limit_s / parts)
            if done:
                return True
        return False

    def turns(self, limit_s: float) -> Iterator[float]:
        yield max(0.0, limit_s)


_clock = Clock()
C = TypeVar("C", bound=Clock)


@contextlib.contextmanager
def use(other: C) -> Iterator[C]:
    """Replace the clock of all threads temporarily."""
    global _clock  # noqa: PLW0603 - the only place
    previous, _clock = _clock, other
    try:
        yield other
    finally:
        _clock = previous


def monotonic() -> float:
    """Seconds of a monotonic clock that stops while the machine is suspended."""
    return _clock.monotonic()


def boottime() -> float:
    """Seconds of a monotonic clock that continues while the machine is suspended."""
    return _clock.boottime()


def wall() -> float:
    """Seconds since 1970 of the system clock, which may be set."""
    return _clock.wall()


def utc() -> datetime:
    return datetime.fromtimestamp(wall(), timezone.utc)


def sleep(seconds: float) -> None:
    """Block this thread."""
    _clock.sleep(seconds)


async def pause(seconds: float) -> None:
    """Sleep while other tasks run."""
    await _clock.pause(seconds)


async def ended(task: asyncio.Future[Any], limit_s: float) -> bool:
    """Wait at most `limit_s` seconds for `task`; returns whether it has ended. It is never cancelled."""
    return await _clock.ended(task, limit_s)


def turns(limit_s: float) -> Iterator[float]:
    """Yield timeouts for a blocking call, which is repeated with each until it succeeds; the last one ends the limit.

    It is `limit_s` alone, except with a simulated clock, which blocking system calls do not follow.
    """
    return _clock.turns(limit_s)
