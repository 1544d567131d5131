from __future__ import annotations

import pytest

from fswizard.bench import quiet
from fswizard.bench.narrator import Narrator
from fswizard.bench.pace import Pace
from fswizard.model.events import DoubtRaised, Event, StepStarted
from tests.builders import make_plan
from tests.fakes.host import ModelHost


def set_clocks(monkeypatch: pytest.MonkeyPatch, running: float, asleep: float, wall: float) -> None:
    monkeypatch.setattr(quiet.Clocks, "_read", staticmethod(lambda: (running, asleep, wall)))


@pytest.mark.parametrize(
    ("after", "code"),
    [
        ((60, 60, 60), None),
        ((60, 660, 660), "suspended"),
        ((60, 60, 3660), "clock-jump"),
        ((60, 60, -600), "clock-jump"),
    ],
)
def test_a_round_in_which_a_clock_jumped_is_known(
    monkeypatch: pytest.MonkeyPatch, after: tuple[float, float, float], code: str | None
) -> None:
    set_clocks(monkeypatch, 0, 0, 0)
    clocks = quiet.Clocks()
    set_clocks(monkeypatch, *after)
    doubt = clocks.jumped()
    assert (doubt.code if doubt else None) == code


async def waiting(monkeypatch: pytest.MonkeyPatch, busy_looks: int, longest_s: float) -> tuple[float, list[Event]]:
    """Wait for a machine that is busy for so many looks."""
    looks = iter(range(10_000))
    totals = (min(look, 2 * busy_looks) * 0.5 for look in looks)
    monkeypatch.setattr(ModelHost, "pressure_total_s", lambda *_: next(totals))
    monkeypatch.setattr(quiet, "WINDOW_S", 0.02)
    told: list[Event] = []
    waited_s = await quiet.wait_until_quiet(Narrator(told.append, Pace(make_plan())), longest_s=longest_s)
    return waited_s, told


async def test_a_quiet_machine_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waited_s, told = await waiting(monkeypatch, busy_looks=0, longest_s=5)
    assert waited_s < 4
    assert told == []


async def test_a_busy_machine_is_waited_for_until_it_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    _, told = await waiting(monkeypatch, busy_looks=4, longest_s=5)
    assert [event.step.stage for event in told if isinstance(event, StepStarted)] == ["wait"]
    assert not any(isinstance(event, DoubtRaised) for event in told)


async def test_a_machine_that_stays_busy_is_said_in_a_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    waited_s, told = await waiting(monkeypatch, busy_looks=1000, longest_s=0.2)
    assert 0.2 <= waited_s < 2
    assert [event.doubt.code for event in told if isinstance(event, DoubtRaised)] == ["busy-machine"]


async def test_without_patience_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*_: object) -> float:
        raise AssertionError("somebody looked")

    monkeypatch.setattr(ModelHost, "pressure_total_s", nobody)
    await quiet.wait_until_quiet(Narrator(lambda _: None, Pace(make_plan())), longest_s=0)
