"""The program's one clock: whatever waits, sets a limit, polls or measures progress goes through it.

Tests put one in its place that they drive. Programs of their own (the workers) have the kernel's clock.
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
"""A limit above it is more than the time between two looks at something."""


class Clock:
    """The kernel's."""

    def monotonic(self) -> float:
        return time.monotonic()

    def boottime(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def wall(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def pause(self, seconds: float) -> None:
        import asyncio  # only here: lists and reports need not wait for it

        await asyncio.sleep(seconds)

    async def ended(self, task: asyncio.Future[Any], limit_s: float) -> bool:
        """A long limit is waited for in parts: while the program is stopped, as by Ctrl-Z, no more than one passes."""
        import asyncio  # only here: see pause

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
    """Every thread goes by `other` meanwhile."""
    global _clock  # noqa: PLW0603 - it is the one place for it
    before, _clock = _clock, other
    try:
        yield other
    finally:
        _clock = before


def monotonic() -> float:
    """Seconds on a clock that never jumps, and stands still while the machine sleeps."""
    return _clock.monotonic()


def boottime() -> float:
    """Seconds on a clock that never jumps, and goes on while the machine sleeps."""
    return _clock.boottime()


def wall() -> float:
    """Seconds since 1970 as the machine tells them, which the user may set."""
    return _clock.wall()


def utc() -> datetime:
    return datetime.fromtimestamp(wall(), timezone.utc)


def sleep(seconds: float) -> None:
    """Block this thread."""
    _clock.sleep(seconds)


async def pause(seconds: float) -> None:
    """Let other tasks run meanwhile."""
    await _clock.pause(seconds)


async def ended(task: asyncio.Future[Any], limit_s: float) -> bool:
    """Whether `task` ends within `limit_s`; it is left alone either way."""
    return await _clock.ended(task, limit_s)


def turns(limit_s: float) -> Iterator[float]:
    """Timeouts for a call that blocks this thread, to be made once with each until it succeeds; then the limit is over.

    It is `limit_s` and nothing else, except where time is simulated: no call of the kernel's knows of that.
    """
    return _clock.turns(limit_s)
