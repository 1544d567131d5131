"""The cliff of a shingled disk is found where it is, and nowhere else."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.engines.fio import FioJob
from fswizard.engines.overflow import OverflowJob, cliff
from fswizard.progress.workload_events import Doing, Measured, Progress, Tell, WorkloadEvent
from tests.fakes.clock import SimulatedClock
from tests.fakes.local_context import LocalContext

MB = 1e6


def around(rate: float, seconds: int, seed: int = 1) -> list[float]:
    """Rates that scatter by a fifth."""
    dice = random.Random(seed)
    return [rate * dice.uniform(0.8, 1.2) for _ in range(seconds)]


@pytest.mark.parametrize("second", [60, 300, 500])
def test_a_cliff_is_found_with_the_rates_on_both_sides(second: int) -> None:
    rates = around(40 * MB, second) + around(2 * MB, 600 - second)
    found = cliff(rates)
    assert found.before == pytest.approx(40 * MB, rel=0.1)
    assert found.after == pytest.approx(2 * MB, rel=0.1)
    assert found.written_bytes == sum(rates[:second])


@pytest.mark.parametrize("stalled", [0, 300, 599])
def test_a_stall_is_no_cliff(stalled: int) -> None:
    rates = around(40 * MB, 600)
    rates[stalled] = 0.0
    found = cliff(rates)
    assert found.before == found.after == pytest.approx(40 * MB, rel=0.1)
    assert found.written_bytes == sum(rates)


def test_a_disk_that_gets_quicker_has_no_cliff() -> None:
    found = cliff(around(2 * MB, 300) + around(40 * MB, 300))
    assert found.before == found.after


@given(st.lists(st.floats(0, 1e10), min_size=2, max_size=50))
def test_whatever_the_rates_the_figures_lie_within_them(rates: list[float]) -> None:
    found = cliff(rates)
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
    await OverflowJob(1 << 20, 4.0).run(LocalContext("", ""), told.append, seed=1)
    figures = {what.metric.name: what.value for what in told if isinstance(what, Measured)}
    assert figures["sustained_rate"] == figures["slowest_second"] == 1000 * 4096
