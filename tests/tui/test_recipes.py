"""The step at which a recipe is used: found, used and refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from textual.pilot import Pilot

from fswizard import recipes
from tests.fakes.wizard import NEW, FakeMachine
from tests.tui.driving import at, at_step, rows, shows, until, wizard

SIZE = (120, 36)


async def highlight(pilot: Pilot[Any], name: str) -> None:
    rows(pilot, "#recipes").highlight(name)
    await until(pilot, lambda: wizard(pilot).choices.recipe.name == name, "the highlighted recipe to be used")


async def test_the_highlighted_recipe_is_used_with_limits_of_its_own() -> None:
    async with at("workloads", FakeMachine(recipes=recipes.available()), size=SIZE) as pilot:
        await pilot.press("right")
        assert wizard(pilot).choices.budget_s == 1200.0
        await pilot.press("left", "a")
        choices = wizard(pilot).choices
        assert (choices.time_limit_s, choices.aged) == (600.0, True)
        await pilot.press("a")
        assert not wizard(pilot).choices.aged
        await highlight(pilot, "everyday")
        assert wizard(pilot).choices.time_limit_s is None


async def test_a_recipe_for_which_there_is_no_room_cannot_be_passed() -> None:
    small = replace(NEW, size_bytes=3 << 30)
    choices: dict[str, Any] = {"devices": (small.stable_name,), "device_bytes": small.size_bytes}
    machine = FakeMachine(drives=(small,), recipes=recipes.available())
    async with at("workloads", machine, size=SIZE, drive=small, candidates=("ext4",), **choices) as pilot:
        await shows(pilot, "✗ It needs 5 GiB, and there are 3 GiB.")
        await at_step(pilot, "workloads", "enter")
        await highlight(pilot, "kdiskmark")
        await shows(pilot, "1 candidate")
        await at_step(pilot, "review", "enter")
