"""The step at which a recipe is used: found, used and refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from textual.pilot import Pilot

from fswizard import recipes
from fswizard.tui.widgets.options import Options
from tests.fakes.wizard import NEW as NEW_DISK
from tests.fakes.wizard import FakeMachine, app
from tests.tui.driving import at_step, footer, settled, shows, until, wizard

SIZE = (120, 36)


async def highlight(pilot: Pilot[Any], name: str) -> None:
    pilot.app.screen.query_one("#recipes", Options).highlight(name)
    await until(pilot, lambda: used(pilot) == name, "the highlighted recipe to be used")


def used(pilot: Pilot[Any]) -> str:
    recipe = wizard(pilot).choices.recipe
    return recipe.name if recipe else ""


async def test_the_highlighted_recipe_is_used_and_the_time_of_another_is_left_behind() -> None:
    async with app("workloads", FakeMachine(recipes=recipes.available()), time_limit_s=120.0).run_test(
        size=SIZE
    ) as pilot:
        await at_step(pilot, "workloads")
        await settled(pilot)
        assert used(pilot) == "archive-disk" and wizard(pilot).choices.time_limit_s == 120.0
        await highlight(pilot, "everyday")
        assert wizard(pilot).choices.time_limit_s is None


async def test_a_recipe_for_which_there_is_no_room_cannot_be_passed() -> None:
    small = replace(NEW_DISK, size_bytes=3 << 30)
    choices: dict[str, Any] = {
        "drive": small,
        "devices": (small.stable_name,),
        "device_bytes": small.size_bytes,
        "candidates": ("ext4",),
    }
    async with app("workloads", FakeMachine(drives=(small,), recipes=recipes.available()), **choices).run_test(
        size=SIZE
    ) as pilot:
        await shows(pilot, "✗ It needs 5 GiB, and there are 3 GiB.")
        await pilot.press("enter")
        await at_step(pilot, "workloads")
        await highlight(pilot, "kdiskmark")
        await shows(pilot, "1 candidate")
        await pilot.press("enter")
        await at_step(pilot, "review")


async def test_limits_change_by_key() -> None:
    async with app("workloads", FakeMachine(recipes=recipes.available())).run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("right")
        assert wizard(pilot).choices.budget_s == 1200.0
        await pilot.press("left", "a", "w")
        choices = wizard(pilot).choices
        assert (choices.time_limit_s, choices.aged, choices.write_budget_bytes) == (600.0, True, 5e9)
        await pilot.press("a")
        assert not wizard(pilot).choices.aged
        assert "leave out" not in footer(pilot.app)
