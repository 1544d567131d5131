"""Time limits for programs that wait for a disk, and errors that blame the disk and no filesystem."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TypeVar

from fswizard.errors import RunFailed
from fswizard.language import _, number
from fswizard.system import clock, commands
from fswizard.system.process import Finished, Process

T = TypeVar("T")

LIMIT_S = 900.0
"""Time limit for an operation; workloads have other limits."""
KILL_S = 90.0
"""Time for a killed program to disappear. After that, it hangs in the kernel because a disk does not answer; shingled
disks may stall for more than a minute."""


class NoAnswer(RunFailed):
    """A killed program still exists, as it hangs in the kernel on a disk."""


async def within(limit_s: float, work: Awaitable[T]) -> T:
    """Await `work` for at most `limit_s` seconds, then cancel it and raise asyncio.TimeoutError.

    asyncio.wait_for before Python 3.12 loses a cancellation if `work` ends at the same moment
    (https://github.com/python/cpython/issues/86296): a stopped run would continue.
    """
    task = asyncio.ensure_future(work)
    try:
        await clock.ended(task, limit_s)
        if task.done():
            return task.result()
        raise asyncio.TimeoutError
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # otherwise asyncio logs an exception that was never retrieved


async def to_the_end(work: Awaitable[T]) -> T:
    """Await `work` to its end, even if the caller is cancelled; the cancellation is raised afterwards."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    if cancelled and not task.exception():
        raise asyncio.CancelledError
    return task.result()


async def finish(argv: Sequence[str], *, cwd: str | None = None, pass_fds: Sequence[int] = ()) -> Finished:
    """Run a program to its end. Raises RunFailed if it takes longer than `LIMIT_S`."""
    return await ended(await commands.start(argv, cwd=cwd, pass_fds=pass_fds), argv[0])


async def ended(process: Process, program: str) -> Finished:
    """Wait for a program. Kills it and raises RunFailed if it takes longer than `LIMIT_S`."""
    try:
        return await within(LIMIT_S, process.wait())
    except asyncio.TimeoutError:
        await end(process, program)
        raise RunFailed(
            _("{program} did not end within {limit} s.", program=program, limit=number(f"{LIMIT_S:g}")),
            _("The disk may be failing."),
        ) from None
    except asyncio.CancelledError:
        await end(process, program)
        raise


async def end(process: Process, program: str) -> None:
    """Kill a program. Raises NoAnswer if it still hangs after `KILL_S`."""
    try:
        await within(KILL_S, process.kill())
    except asyncio.TimeoutError:
        raise NoAnswer(
            _("The disk no longer answers: {program} can't be ended while the kernel waits for it.", program=program),
            _(
                "The disk or its cable may be failing. Once it answers or is unplugged, `fswizard clean` removes "
                "what is left."
            ),
        ) from None
