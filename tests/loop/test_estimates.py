"""Plans that were carried out: they took as long as was expected, within a factor of one and a half."""

from __future__ import annotations

from pathlib import Path

import pytest

from fswizard import recipes
from fswizard.model.events import RoundFinished, RunEnded, StepProgressed
from tests.loop.runs import session_in, short_plan, watch

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio, pytest.mark.xfs, pytest.mark.btrfs]

FACTOR = 1.5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quick", "desktop-ssd"])
async def test_a_run_takes_as_long_as_planned_and_its_outlook_gets_better(name: str, tmp_path: Path) -> None:
    recipe = recipes.find(name)
    plan = short_plan(tmp_path, "; ".join(recipe.candidates), recipe, maximum_rounds=3, time_limit_s=0.0)
    events = await watch(session_in(tmp_path, plan))
    took_s = next(event.at_s for event in reversed(events) if isinstance(event, RunEnded))
    assert sum(isinstance(event, RoundFinished) for event in events) == 3
    print(f"{name}: {plan.expected_s:.0f} s planned, {took_s:.0f} s taken")
    assert took_s / FACTOR < plan.expected_s < took_s * FACTOR
    progressed = [event for event in events if isinstance(event, StepProgressed) and event.left_s is not None]
    errors = [abs(took_s - event.at_s - (event.left_s or 0.0)) / took_s for event in progressed]
    half = len(errors) // 2
    assert max(errors[half:]) < 0.25
    assert max(errors[-half // 5 :]) < 0.1
