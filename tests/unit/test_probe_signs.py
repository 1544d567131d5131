"""What is taken for a sign of shingling, and what is not, in latencies and rates made as disks have them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.drives.probe_signs import MINIMUM_PERIOD, cliff, periodic_stall
from fswizard.engines import overflow
from fswizard.engines.fio import FioJob
from fswizard.progress.workload_events import Doing, Measured, Progress, Tell, WorkloadEvent
from tests.fakes.clock import SimulatedClock
from tests.fakes.local_context import LocalContext

WRITE_S, STALL_S, LISTEN_S = 0.021, 0.3, 81.0
JOURNAL_S = 5.0
"""ext4 writes its journal so often."""
BLOCK_BYTES = 1 << 20
SEEDS = range(10)

Stalls = Callable[[float, int], bool]
"""Whether it stalls now, given the seconds and the number of the disk's write."""


def latencies(seed: int, stalls: Stalls, journal: tuple[int, ...] = (0,)) -> Iterator[float]:
    """Random writes with the probe's pauses, and some of a journal between them."""
    chance = random.Random(seed)
    now, number, next_journal, written = 0.0, 0, chance.uniform(0, JOURNAL_S), 0
    while now < LISTEN_S:
        now += random.Random(written // 40).choice((0.0, 0.5, 1.5)) * WRITE_S
        seconds, written = WRITE_S * chance.uniform(0.8, 1.3), written + 1
        further = 1
        if now >= next_journal:
            further += chance.choice(journal)
            next_journal += JOURNAL_S
        for _ in range(further):
            number += 1
            seconds += STALL_S * stalls(now, number)
        now += seconds
        yield seconds


def by_count(_seconds: float, number: int) -> bool:
    return number % 240 == 0


def by_clock(every_s: float) -> Stalls:
    due = every_s

    def stalls(seconds: float, _number: int) -> bool:
        nonlocal due
        if seconds < due:
            return False
        due += every_s
        return True

    return stalls


def by_chance(seed: int) -> Stalls:
    chance = random.Random(seed)
    return lambda _seconds, _number: chance.random() < 1 / 50


@pytest.mark.parametrize("seed", SEEDS)
def test_stalls_at_a_fixed_count_of_writes_are_found(seed: int) -> None:
    sign = periodic_stall(list(latencies(seed, by_count)))
    assert sign is not None
    assert "each time after 240 writes, for up to 3" in sign.text
    assert periodic_stall(list(latencies(seed, by_count, journal=(2, 3, 4)))) is not None
    chance = random.Random(seed)
    waits = [WRITE_S * (chance.uniform(6, 20) if chance.random() < 1 / 15 else 1) for _ in range(1200)]
    heard = [seconds + STALL_S * 5 * (number % 240 == 0) for number, seconds in enumerate(waits)]
    sign = periodic_stall(heard)
    assert sign is not None
    assert "each time after 240 writes" in sign.text


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("every_s", [1.0, 2.0, 5.0, 10.0])
@pytest.mark.parametrize("minimum_period", [MINIMUM_PERIOD, 13])
def test_stalls_by_the_clock_are_no_sign(seed: int, every_s: float, minimum_period: int) -> None:
    heard = list(latencies(seed, by_clock(every_s), journal=(2, 3, 4)))
    assert periodic_stall(heard, minimum_period) is None


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("minimum_period", [MINIMUM_PERIOD, 13])
def test_stalls_by_chance_are_no_sign(seed: int, minimum_period: int) -> None:
    assert periodic_stall(list(latencies(seed, by_chance(seed))), minimum_period) is None


QUICK = [0.02] * 200
SLOW = [0.1] * 100
"""Ten seconds."""


def test_a_rate_that_falls_and_stays_down_is_a_cliff() -> None:
    sign = cliff(QUICK + SLOW, BLOCK_BYTES)
    assert sign is not None
    assert sign.text == "After 0.2 GB of random writes the rate fell from 50 to 10.0 MiB/s."
    assert cliff([0.05] * 150 + QUICK + SLOW, BLOCK_BYTES) is not None
    found = overflow.cliff(around(2 * MB, 300) + around(40 * MB, 300))
    assert found.before == found.after


@pytest.mark.parametrize(
    "latencies_s",
    [
        [*QUICK, 20.0, *QUICK],
        [*QUICK, *[0.02] * 99, 20.0],
        QUICK + SLOW + QUICK,
        QUICK + SLOW[:-20],
        QUICK + [0.6] * 20,
        QUICK + [0.05] * 1000,
        SLOW * 10,
        SLOW[:20],
        [],
    ],
    ids=["hang", "hang at last", "over again", "moment", "few writes", "not enough", "always slow", "short", "none"],
)
def test_what_another_disk_may_do_is_no_cliff(latencies_s: list[float]) -> None:
    assert cliff(latencies_s, BLOCK_BYTES) is None


MB = 1e6


def around(rate: float, seconds: int, seed: int = 1) -> list[float]:
    """Rates that scatter by a fifth."""
    dice = random.Random(seed)
    return [rate * dice.uniform(0.8, 1.2) for _ in range(seconds)]


@pytest.mark.parametrize("second", [60, 300, 500])
def test_a_cliff_is_found_with_the_rates_on_both_sides(second: int) -> None:
    rates = around(40 * MB, second) + around(2 * MB, 600 - second)
    found = overflow.cliff(rates)
    assert found.before == pytest.approx(40 * MB, rel=0.1)
    assert found.after == pytest.approx(2 * MB, rel=0.1)
    assert found.written_bytes == sum(rates[:second])


@pytest.mark.parametrize("stalled", [0, 300, 599])
def test_a_stall_is_no_cliff(stalled: int) -> None:
    rates = around(40 * MB, 600)
    rates[stalled] = 0.0
    found = overflow.cliff(rates)
    assert found.before == found.after == pytest.approx(40 * MB, rel=0.1)
    assert found.written_bytes == sum(rates)


@given(st.lists(st.floats(0, 1e10), min_size=2, max_size=50))
def test_whatever_the_rates_the_figures_lie_within_them(rates: list[float]) -> None:
    found = overflow.cliff(rates)
    assert min(rates) <= found.after <= found.before <= max(rates)
    assert 0 <= found.written_bytes <= sum(rates)


async def test_the_final_fsync_is_no_cliff(time: SimulatedClock, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(job: FioJob, context: LocalContext, tell: Tell, *, seed: int) -> None:
        tell(Doing("writing", measured=True))
        for rate in (1000.0, 1000.0, 1000.0, 0.0):
            time.advance(1.0)
            tell(Progress(None, rate))

    monkeypatch.setattr(FioJob, "run", run)
    told: list[WorkloadEvent] = []
    await overflow.OverflowJob(1 << 20, 4.0).run(LocalContext("", ""), told.append, seed=1)
    figures = {what.metric.name: what.value for what in told if isinstance(what, Measured)}
    assert figures["sustained_rate"] == figures["slowest_second"] == 1000 * 4096
