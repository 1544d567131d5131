"""Waiting for work that may take too long, and for a run that somebody ends meanwhile."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from fswizard.errors import RunFailed
from fswizard.system import clock, timeouts
from fswizard.system.process import Process
from fswizard.system.timeouts import within
from tests.fakes.clock import SimulatedClock


async def test_what_the_work_gives_is_given() -> None:
    assert await within(60.0, asyncio.sleep(0, "done")) == "done"


async def test_its_error_is_raised() -> None:
    async def fails() -> None:
        raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"):
        await within(60.0, fails())


@pytest.mark.usefixtures("time")
async def test_what_takes_too_long_is_cancelled_to_its_end() -> None:
    began_s, ended = clock.monotonic(), list[str]()

    async def slow() -> None:
        try:
            while True:
                await clock.pause(1.0)
        finally:
            await asyncio.sleep(0)
            ended.append("in good order")

    with pytest.raises(asyncio.TimeoutError):
        await within(900.0, slow())
    assert ended == ["in good order"]
    assert clock.monotonic() == began_s + 900.0


async def test_a_program_that_does_not_end_in_time_is_killed_and_named(time: SimulatedClock) -> None:
    waiting = asyncio.create_task(timeouts.finish(["sleep", "1000"]))
    await time.somebody_waits()
    time.advance(timeouts.LIMIT_S)
    with pytest.raises(RunFailed, match="sleep did not end within 900 s"):
        await waiting


async def test_a_program_that_cannot_be_killed_waits_for_the_disk(time: SimulatedClock) -> None:
    class Stuck:
        pid = 0

        async def kill(self) -> None:
            await asyncio.get_running_loop().create_future()

    ending = asyncio.create_task(timeouts.end(cast(Process, Stuck()), "dd"))
    await time.somebody_waits()
    time.advance(timeouts.KILL_S)
    with pytest.raises(RunFailed, match="The disk does not answer any more: dd cannot be ended"):
        await ending


@pytest.mark.parametrize("fails", [False, True])
async def test_a_cancellation_is_heard_at_the_moment_at_which_the_work_ends(fails: bool) -> None:
    work: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(within(60.0, work))
    await asyncio.sleep(0)
    if fails:
        work.set_exception(ValueError("bad"))
    else:
        work.set_result("done")
    await asyncio.sleep(0)  # its end is known, and nobody has been told
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_work_is_cancelled_with_whoever_waits_for_it() -> None:
    work: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(within(60.0, work))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert work.cancelled()
