"""Waiting for work that may take too long, and for a run that somebody ends meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from fswizard.bench.patience import within


async def test_what_the_work_gives_is_given() -> None:
    assert await within(60.0, asyncio.sleep(0, "done")) == "done"


async def test_its_error_is_raised() -> None:
    async def fails() -> None:
        raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"):
        await within(60.0, fails())


async def test_what_takes_too_long_is_cancelled_to_its_end() -> None:
    ended: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            ended.append("in good order")

    with pytest.raises(asyncio.TimeoutError):
        await within(0.01, slow())
    assert ended == ["in good order"]


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
