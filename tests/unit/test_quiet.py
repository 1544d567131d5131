from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from fswizard.bench import quiet
from fswizard.bench.device import Counters
from fswizard.bench.narrator import Narrator
from fswizard.bench.pace import Pace
from fswizard.model.drive import SmrKind
from fswizard.model.events import DoubtRaised, Event, StepStarted
from fswizard.system import clock
from tests.builders import make_drive, make_plan
from tests.fakes.clock import SimulatedClock
from tests.fakes.host import ModelHost


@pytest.fixture(autouse=True)
def time() -> Iterator[SimulatedClock]:
    with clock.use(SimulatedClock()) as simulated:
        yield simulated


@pytest.mark.parametrize(
    ("asleep_s", "set_s", "code"),
    [(0, 0, None), (600, 0, "suspended"), (0, 3600, "clock-jump"), (0, -660, "clock-jump")],
)
def test_a_round_in_which_a_clock_jumped_is_known(
    time: SimulatedClock, asleep_s: float, set_s: float, code: str | None
) -> None:
    clocks = quiet.Clocks()
    time.advance(60.0)
    time.asleep_s += asleep_s
    time.set_s += set_s
    doubt = clocks.jumped()
    assert (doubt.code if doubt else None) == code


async def waiting(patch: pytest.MonkeyPatch, busy_s: float, longest_s: float) -> tuple[float, list[Event]]:
    """Wait for a machine on which something waits for a processor all the time for `busy_s`."""
    began_s = clock.monotonic()
    patch.setattr(ModelHost, "pressure_total_s", lambda *_: min(busy_s, clock.monotonic() - began_s))
    told: list[Event] = []
    waited_s = await quiet.wait_until_quiet(Narrator(told.append, Pace(make_plan())), longest_s=longest_s)
    return waited_s, told


async def test_a_quiet_machine_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waited_s, told = await waiting(monkeypatch, busy_s=0.0, longest_s=5.0)
    assert waited_s == quiet.WINDOW_S
    assert told == []


async def test_a_busy_machine_is_waited_for_until_it_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    waited_s, told = await waiting(monkeypatch, busy_s=30.0, longest_s=60.0)
    assert 30.0 <= waited_s <= 30.0 + 2 * quiet.WINDOW_S
    assert [event.step.stage for event in told if isinstance(event, StepStarted)] == ["wait"]
    assert not any(isinstance(event, DoubtRaised) for event in told)


async def test_a_machine_that_stays_busy_is_said_in_a_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    waited_s, told = await waiting(monkeypatch, busy_s=1000.0, longest_s=60.0)
    assert 60.0 <= waited_s <= 60.0 + 2 * quiet.WINDOW_S
    assert [event.doubt.code for event in told if isinstance(event, DoubtRaised)] == ["busy-machine"]


async def test_without_patience_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*_: object) -> float:
        raise AssertionError("somebody looked")

    monkeypatch.setattr(ModelHost, "pressure_total_s", nobody)
    assert await quiet.wait_until_quiet(Narrator(lambda _: None, Pace(make_plan())), longest_s=0) == 0.0


def busy_for(seconds: float) -> Callable[..., Counters]:
    """Counters of a disk that has requests in flight for so long."""
    began_s = clock.monotonic()
    return lambda *names: Counters(0, 0, int(clock.monotonic() - began_s < seconds))


@pytest.mark.parametrize(
    ("smr", "busy_s", "rests_s"),
    [
        ("cmr", 30.0, 0.0),
        ("drive-managed", 0.0, quiet.SHINGLED_REST_S),
        ("host-aware", 30.0, 30.0 + quiet.SHINGLED_REST_S),
        ("drive-managed", 1000.0, quiet.LONGEST_WAIT_S + quiet.SHINGLED_REST_S),
    ],
)
async def test_a_shingled_disk_rests_once_nothing_is_under_way(
    monkeypatch: pytest.MonkeyPatch, smr: SmrKind, busy_s: float, rests_s: float
) -> None:
    plan, began_s = make_plan(drive=make_drive(smr)), clock.monotonic()
    monkeypatch.setattr(quiet, "counters", busy_for(busy_s))
    await quiet.let_rest(plan, (), Narrator(lambda _: None, Pace(plan)))
    assert clock.monotonic() - began_s == pytest.approx(rests_s, abs=0.3)
