from __future__ import annotations

import os

import pytest

from fswizard.model.events import DoubtRaised, Event, StepStarted
from fswizard.progress.emitter import Emitter
from fswizard.session import idle_wait
from fswizard.system import clock
from fswizard.system.host import Load
from tests.builders import make_drive
from tests.fakes.clock import SimulatedClock
from tests.fakes.host import ModelHost

pytestmark = pytest.mark.usefixtures("time")


@pytest.mark.parametrize(
    ("asleep_s", "set_s", "code"),
    [(0.9, 0, None), (1.1, 0, "suspended"), (0, -660, "clock-jump")],
)
async def test_a_round_in_which_the_machine_slept_or_a_clock_was_set_is_known(
    time: SimulatedClock, asleep_s: float, set_s: float, code: str | None
) -> None:
    time.advance(60.0)  # what was before a round does not concern it
    with idle_wait.Clocks() as clocks:
        time.advance(1.1)
        time.asleep_s += asleep_s
        time.set_s += set_s
    doubt = clocks.jumped()
    assert (doubt.code if doubt else None) == code


async def waiting(
    patch: pytest.MonkeyPatch, busy_s: float, longest_s: float, busy: str = "cpu"
) -> tuple[float, list[Event]]:
    """Wait for a machine on which a program waits for a processor (`cpu`) or a disk (`io`), or keeps the measured disk
    busy, all the time for `busy_s`."""
    began_s = clock.monotonic()

    def so_far_s(_: object, which: str) -> float:
        return min(busy_s, clock.monotonic() - began_s) if which == busy else 0.0

    patch.setattr(ModelHost, "pressure_total_s", so_far_s)
    patch.setattr(ModelHost, "disk_busy_s", so_far_s)
    patch.setattr(ModelHost, "loads", lambda _: {950: Load("updatedb", 1, clock.monotonic())})
    told: list[Event] = []
    emitter = Emitter(told.append)
    await idle_wait.IdleWait(make_drive(name="sdb+sdc"), emitter, longest_s).wait()
    return clock.monotonic() - began_s, told


async def test_a_quiet_machine_is_not_waited_for_nor_without_time_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await waiting(monkeypatch, busy_s=0.0, longest_s=5.0) == (idle_wait.WINDOW_S, [])
    assert await waiting(monkeypatch, busy_s=1000.0, longest_s=0.0) == (0.0, [])


@pytest.mark.parametrize(("every", "disturbs"), [(2, True), (3, True), (6, False)])
async def test_others_that_come_and_go_are_a_doubt_too_where_they_were_there_before_every_third_round(
    every: int, disturbs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = [0]

    async def who_is_busy(_: object) -> str:
        looks[0] += 1
        return "somebody" if looks[0] % every == 1 else ""

    monkeypatch.setattr(idle_wait.IdleWait, "_busy_with", who_is_busy)
    told: list[Event] = []
    emitter = Emitter(told.append)
    idle = idle_wait.IdleWait(None, emitter, 60.0)
    for number in range(20):
        emitter.begin("check", f"round {number}")
        await idle.wait()
    assert [event.doubt.code for event in told if isinstance(event, DoubtRaised)] == ["busy-machine"] * disturbs


@pytest.mark.parametrize(
    ("busy", "busy_s", "waits_s", "doubts"),
    [("cpu", 30.0, 30.0, []), ("io", 1000.0, 60.0, ["busy-machine"]), ("sdc", 1000.0, 60.0, ["busy-machine"])],
)
async def test_a_busy_machine_is_waited_for_until_it_is_quiet_and_one_that_stays_so_is_said_in_a_doubt(
    busy: str, busy_s: float, waits_s: float, doubts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited_s, told = await waiting(monkeypatch, busy_s, 60.0, busy)
    assert waits_s <= waited_s <= waits_s + 2 * idle_wait.WINDOW_S
    assert [event.step.stage for event in told if isinstance(event, StepStarted)] == ["wait"]
    found = [event.doubt for event in told if isinstance(event, DoubtRaised)]
    assert [doubt.code for doubt in found] == doubts
    assert all("(updatedb uses 100% of a processor)" in doubt.text for doubt in found)


BEFORE = {
    1: Load("init", 0),
    2: Load("kthreadd", 0),
    3: Load("kworker", 2),
    os.getpid(): Load("fswizard", 1),
    950: Load("updatedb", 1, 5.0, 8_000_000, 100),
    951: Load("cc1", 1, 90.0),
}


@pytest.mark.parametrize(
    ("number", "more", "disk", "words"),
    [
        (950, Load("", 0, 0.1, 20_000_000, 5_000_000), True, "updatedb reads and writes 50.0 MB/s"),
        (951, Load("", 0, 0.45), True, "cc1 uses 90% of a processor"),  # what others read is not for everybody
        (os.getpid(), Load("", 0, 0.4, 10**9, 10**9), True, "a program of another user, or the kernel"),
        (3, Load("", 0, 0.4, 10**9), False, "a program of another user, or the kernel"),
    ],
    ids=["reads", "computes", "this program", "kernel"],
)
def test_the_busiest_program_is_named_and_none_of_ours_or_the_kernels(
    number: int, more: Load, disk: bool, words: str
) -> None:
    then = BEFORE[number]
    now = Load(
        then.name, then.parent, then.cpu_s + more.cpu_s, then.read_bytes + more.read_bytes,
        then.written_bytes + more.written_bytes,
    )  # fmt: skip
    assert idle_wait.busiest_process(BEFORE, {**BEFORE, number: now}, 0.5, disk=disk) == words
