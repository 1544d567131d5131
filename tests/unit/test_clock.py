"""The clock that tests drive; and that nothing in the program has another."""

from __future__ import annotations

import asyncio
import re
import threading
from pathlib import Path

import pytest

import fswizard
from fswizard.system import clock
from fswizard.system.timeouts import within
from tests.fakes.clock import SimulatedClock

ROOT = Path(fswizard.__file__).parent
PROGRAMS_OF_THEIR_OWN = (
    "privileged/",
    *(f"engines/shared/{name}_worker.py" for name in ("direct", "fileserver", "tree")),
)
WAITING = re.compile(
    r"\btime\.(time|monotonic|perf_counter|sleep|clock_gettime)|\bdatetime\.now|\basyncio\.(sleep\((?!0\))|timeout\(|wait_for\()"
    r"|\bimport sleep|\.call_later\(\d"
)


def test_nothing_else_in_the_program_waits_or_tells_the_time() -> None:
    others = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted(ROOT.rglob("*.py"))
        if not (name := str(path.relative_to(ROOT))).startswith(PROGRAMS_OF_THEIR_OWN) and name != "system/clock.py"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if WAITING.search(line)
    ]
    assert others == []
    waiting = {path.name for path in ROOT.glob("privileged/*.py") if "time.sleep(" in path.read_text()}
    assert waiting == {"programs.py", "block_device.py"}, "of what root runs; the probe rests as it is told to"


def test_the_real_clock_is_back_afterwards() -> None:
    with pytest.raises(ValueError, match="over"), clock.use(SimulatedClock()) as time:
        assert clock.monotonic() == time.monotonic() == clock.monotonic()
        raise ValueError("over")
    assert clock.monotonic() != time.monotonic()


async def test_a_program_that_was_stopped_takes_note_of_what_came_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time ran on: the limit is over when it goes on, and so is what was waited for."""
    monkeypatch.setattr(clock, "LONG_S", 0.0)
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[None] = loop.create_future()

    def stopped() -> None:
        over = loop.time() + 0.05
        while loop.time() < over:
            pass
        loop.call_soon(loop.call_soon, loop.call_soon, answer.set_result, None)  # read, passed on, understood

    loop.call_soon(stopped)
    assert await clock.ended(answer, 0.05)


def test_it_stands_still_until_somebody_sleeps_or_it_is_advanced_or_set(time: SimulatedClock) -> None:
    began_s, wall_s = clock.monotonic(), clock.wall()
    clock.sleep(3600.0)
    time.advance(60.0)
    assert clock.monotonic() == began_s + 3660.0
    assert clock.wall() == wall_s + 3660.0

    began = clock.monotonic(), clock.boottime(), clock.wall()
    time.asleep_s += 600.0
    time.set_s -= 3600.0
    now = clock.monotonic(), clock.boottime(), clock.wall()
    assert [round(after - before) for before, after in zip(began, now)] == [0, 600, -3000]
    assert clock.utc().timestamp() == clock.wall()


@pytest.mark.usefixtures("time")
async def test_several_that_pause_wake_up_in_order_of_time() -> None:
    began_s, woken = clock.monotonic(), list[tuple[str, float]]()

    async def pausing(name: str, *seconds: float) -> None:
        for each in seconds:
            await clock.pause(each)
            woken.append((name, clock.monotonic() - began_s))

    await asyncio.gather(pausing("long", 10.0), pausing("short", 1.0, 2.0, 3.0), pausing("between", 4.0))
    assert woken == [("short", 1.0), ("short", 3.0), ("between", 4.0), ("short", 6.0), ("long", 10.0)]


@pytest.mark.usefixtures("time")
async def test_what_somebody_waits_for_passes_while_another_pauses() -> None:
    never = asyncio.get_running_loop().create_future()
    hanging = asyncio.create_task(clock.ended(never, 5.0))
    began_s = clock.monotonic()
    for _ in range(4):
        await clock.pause(1.0)
    assert not hanging.done()
    await clock.pause(1.0)
    assert await hanging is False
    assert clock.monotonic() - began_s == 5.0
    assert not never.done()


async def test_a_limit_comes_due_when_the_test_says_so_and_not_before(time: SimulatedClock) -> None:
    waiting = asyncio.create_task(within(900.0, asyncio.get_running_loop().create_future()))
    await time.somebody_waits()
    time.advance(899.0)
    assert not (await asyncio.wait({waiting}, timeout=0))[0]
    time.advance(1.0)
    with pytest.raises(asyncio.TimeoutError):
        await waiting


@pytest.mark.usefixtures("time")
async def test_a_limit_that_is_over_already_waits_for_nobody_and_what_ends_in_time_takes_no_time() -> None:
    began_s = clock.monotonic()
    assert not await clock.ended(asyncio.get_running_loop().create_future(), -1.0)
    await clock.pause(0.0)
    assert await clock.ended(asyncio.ensure_future(asyncio.sleep(0)), 5.0)
    assert await within(1.0, asyncio.sleep(0, "done")) == "done"
    assert clock.monotonic() == began_s


@pytest.mark.usefixtures("time")
async def test_whoever_is_cancelled_wakes_nobody_later() -> None:
    began_s = clock.monotonic()
    never = asyncio.get_running_loop().create_future()
    gone = [asyncio.create_task(waits) for waits in (clock.pause(1.0), clock.ended(never, 2.0))]
    await asyncio.sleep(0)
    for task in gone:
        task.cancel()
    await asyncio.gather(*gone, return_exceptions=True)
    await clock.pause(10.0)
    assert clock.monotonic() == began_s + 10.0


def test_a_thread_that_blocks_is_let_go_when_its_limit_is_over(time: SimulatedClock) -> None:
    never, blocks, tries = threading.Event(), threading.Event(), list[bool]()

    def block() -> None:
        for seconds in clock.turns(60.0):
            tries.append(never.wait(seconds))
            blocks.set()

    thread = threading.Thread(target=block)
    thread.start()
    blocks.wait()
    assert thread.is_alive()
    time.advance(60.0)
    thread.join()
    assert not any(tries)


async def test_a_thread_that_sleeps_brings_a_tasks_limit_about(time: SimulatedClock) -> None:
    waiting = asyncio.create_task(clock.ended(asyncio.get_running_loop().create_future(), 5.0))
    await time.somebody_waits()
    threading.Thread(target=clock.sleep, args=(5.0,)).start()
    assert await waiting is False


async def test_the_real_one_waits_and_blocks_a_thread_for_the_whole_limit_at_once() -> None:
    assert [list(clock.turns(limit_s)) for limit_s in (60.0, -1.0)] == [[60.0], [0.0]]
    began_s = clock.monotonic()
    clock.sleep(0.01)
    await clock.pause(0.01)
    assert not await clock.ended(asyncio.get_running_loop().create_future(), 0.01)
    assert clock.monotonic() - began_s > 0.02
    running_s, since_boot_s = clock.monotonic(), clock.boottime()
    assert since_boot_s >= running_s
    assert clock.utc().timestamp() <= clock.wall()
