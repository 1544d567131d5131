"""How long a disk that does not answer is waited for, and what is said then: the disk is to blame, no filesystem."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from fswizard.errors import RunFailed
from fswizard.system import commands
from fswizard.system.process import Finished, Process

LIMIT_S = 900.0
"""For one piece of work beside the workloads, which have limits of their own."""
KILL_S = 90.0
"""A program that was killed and is still there after so long waits, in the kernel, for a disk that does not answer;
shingled disks have been seen to stall for more than a minute."""


def no_answer(program: str) -> RunFailed:
    """Says that `program` hangs, whose fault that is, and what to do."""
    return RunFailed(
        f"The disk does not answer any more: {program} cannot be ended, as the kernel waits for it.",
        "It, or its cable, may be failing. Once it answers, or is unplugged, `fswizard clean` removes what is left.",
    )


async def finish(argv: Sequence[str], *, limit_s: float = LIMIT_S) -> Finished:
    """Run a program of this machine to its end; RunFailed where it does not come to it in time."""
    process = await commands.start(argv)
    try:
        return await asyncio.wait_for(process.wait(), limit_s)
    except asyncio.TimeoutError:
        await end(process, argv[0])
        raise RunFailed(f"{argv[0]} did not end within {limit_s:g} s.", "The disk may be failing.") from None
    except asyncio.CancelledError:
        await end(process, argv[0])
        raise


async def end(process: Process, program: str) -> None:
    """Kill a program; RunFailed where not even that ends it."""
    try:
        await asyncio.wait_for(process.kill(), KILL_S)
    except asyncio.TimeoutError:
        raise no_answer(program) from None
