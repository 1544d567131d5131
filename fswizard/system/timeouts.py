"""How long a disk that does not answer is waited for, and what is said then: the disk is to blame, no filesystem."""

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
"""For one piece of work beside the workloads, which have limits of their own."""
KILL_S = 90.0
"""A program that was killed and is still there after so long waits, in the kernel, for a disk that does not answer;
shingled disks have been seen to stall for more than a minute."""


class NoAnswer(RunFailed):
    """A program that was killed is still there, as it waits in the kernel for a disk."""


async def within(limit_s: float, work: Awaitable[T]) -> T:
    """What `work` gives. Raises asyncio.TimeoutError where it takes longer; it is cancelled then.

    Before Python 3.12 asyncio.wait_for forgets that it was cancelled where `work` ends at the same moment
    (https://github.com/python/cpython/issues/86296): a run that somebody has ended would go on.
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
            task.exception()  # asyncio complains of one that nobody has looked at


async def to_the_end(work: Awaitable[T]) -> T:
    """What `work` gives. It goes on where its caller is cancelled, who gets the cancellation afterwards."""
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


def no_answer(program: str) -> NoAnswer:
    """Says that `program` hangs, whose fault that is, and what to do."""
    return NoAnswer(
        _("The disk no longer answers: {program} can't be ended while the kernel waits for it.", program=program),
        _(
            "The disk or its cable may be failing. Once it answers or is unplugged, `fswizard clean` removes "
            "what is left."
        ),
    )


async def finish(
    argv: Sequence[str], *, limit_s: float = LIMIT_S, cwd: str | None = None, pass_fds: Sequence[int] = ()
) -> Finished:
    """Run a program of this machine to its end; RunFailed where it does not come to it in time."""
    return await ended(await commands.start(argv, cwd=cwd, pass_fds=pass_fds), argv[0], limit_s)


async def ended(process: Process, program: str, limit_s: float = LIMIT_S) -> Finished:
    """How a program ends, which is killed where that takes too long; RunFailed then."""
    try:
        return await within(limit_s, process.wait())
    except asyncio.TimeoutError:
        await end(process, program)
        raise RunFailed(
            _("{program} did not end within {limit} s.", program=program, limit=number(f"{limit_s:g}")),
            _("The disk may be failing."),
        ) from None
    except asyncio.CancelledError:
        await end(process, program)
        raise


async def end(process: Process, program: str) -> None:
    """Kill a program; RunFailed where not even that ends it."""
    try:
        await within(KILL_S, process.kill())
    except asyncio.TimeoutError:
        raise no_answer(program) from None
