"""The picker of recipes: found, chosen, made, and removed, by keyboard and mouse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from fswizard import recipes
from fswizard.recipes import own, tree_profile
from fswizard.tui.screens.dialogs import QuestionScreen
from fswizard.tui.screens.new_recipe import NewRecipeScreen
from fswizard.tui.screens.recipes import RecipesScreen
from fswizard.tui.widgets.options import Options
from fswizard.tui.widgets.table import Facts
from tests.fakes.wizard import NEW as NEW_DISK
from tests.fakes.wizard import AllRecipes, app
from tests.tui.driving import at_step, footer, keys_of, settled, shows, until, wizard

SIZE = (120, 36)


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path / "fswizard" / "recipes"


def mine(title: str) -> Path:
    data = Path(__file__).parents[1] / "recorded" / "smartctl"
    return Path(own.save(own.like(tree_profile.look(data), title)).source)


async def the_picker(pilot: Pilot[Any]) -> Options:
    await at_step(pilot, "workloads")
    await pilot.press("r")
    await until(pilot, lambda: isinstance(pilot.app.screen, RecipesScreen), "the picker")
    return pilot.app.screen.query_one("#recipes", Options)


def found(pilot: Pilot[Any]) -> list[str]:
    known = {recipe.name for recipe in recipes.available()}
    return [key for key in keys_of(pilot.app, "#recipes") if key in known]


def named(pilot: Pilot[Any]) -> str:
    recipe = wizard(pilot).choices.recipe
    return recipe.name if recipe else ""


async def test_a_recipe_is_found_while_typing_and_the_time_of_another_is_left_behind() -> None:
    async with app("workloads", AllRecipes(), time_limit_s=120.0).run_test(size=SIZE) as pilot:
        await the_picker(pilot)
        await pilot.press(*"zzz")
        await shows(pilot, "No recipe has “zzz” in it.")
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, RecipesScreen)
        pilot.app.screen.query_one("#search", Input).value = "SQLite pack"
        await settled(pilot)
        assert found(pilot) == ["quick", "desktop-programs", "desktop-ssd"]
        pilot.app.screen.query_one("#search", Input).value = "git"
        await settled(pilot)
        assert found(pilot) == ["everyday"]
        await pilot.press("enter")
        await at_step(pilot, "workloads")
        assert named(pilot) == "everyday"
        assert wizard(pilot).choices.time_limit_s is None


async def test_a_recipe_that_has_no_room_is_told_and_cannot_be_picked_or_passed() -> None:
    small = replace(NEW_DISK, size_bytes=3 << 30)
    choices = {"drive": small, "device": small.stable_name, "candidates": ("ext4",)}
    async with app("workloads", AllRecipes(drives=(small,)), **choices).run_test(size=SIZE) as pilot:
        await shows(pilot, "✗ It needs 5 GiB, and there are 3 GiB.")
        await pilot.press("enter")
        await at_step(pilot, "workloads")
        rows = await the_picker(pilot)
        rows.highlight("databases")
        about = pilot.app.screen.query_one("#about", Facts)
        await until(pilot, lambda: "✗ It needs 4 GiB, and there are 3 GiB." in about.plain, "why not")
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, RecipesScreen)
        rows.highlight("kdiskmark")
        await pilot.press("enter")
        await at_step(pilot, "workloads")
        await shows(pilot, "1 candidate")
        await pilot.press("enter")
        await at_step(pilot, "review")


async def test_a_recipe_like_a_directory_is_saved_picked_and_measured(directory: Path, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "one").write_bytes(b"x" * 5000)
    machine = AllRecipes()
    async with app("workloads", machine).run_test(size=SIZE) as pilot:
        rows = await the_picker(pilot)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(pilot.app.screen, NewRecipeScreen), "the window")
        await pilot.press("enter")
        await shows(pilot, "✗ Name a directory that contains files.")
        await pilot.press(*"/nowhere", "enter")
        await shows(pilot, "✗ /nowhere: No such file or directory.")
        pilot.app.screen.query_one("#like", Input).value = str(files)
        box = pilot.app.screen.query_one("#recipe-name", Input)
        assert box.value == "My files"
        box.value = "quick"
        await pilot.press("enter")
        await shows(pilot, "There is already a recipe called 'quick'")
        box.value = "Ada's photos"
        await pilot.press("enter")
        await shows(pilot, "✓ Saved as ada-s-photos in ")
        assert rows.key == "ada-s-photos"
        assert rows.keys[-1] == "ada-s-photos"
        await pilot.press("enter")
        await at_step(pilot, "workloads")
        await shows(pilot, "Ada's photos")
        await pilot.press("enter")
        await at_step(pilot, "review")
        await shows(pilot, "starts the run")
    (plan,) = machine.plans
    assert plan.recipe.source == str(directory / "ada-s-photos.toml")
    assert [w.job for w in recipes.find("ada-s-photos").workloads] == [w.job for w in plan.recipe.workloads]


async def test_removing_asks_first_keeps_by_default_is_for_ones_own_alone_and_leaves_the_usual_recipe() -> None:
    file = mine("My tests")
    async with app("workloads", AllRecipes(), recipe=recipes.find("my-tests")).run_test(size=SIZE) as pilot:
        rows = await the_picker(pilot)
        assert rows.key == "my-tests"
        rows.highlight("archive-disk")
        await until(pilot, lambda: "remove" not in footer(pilot.app), "the keys")
        await pilot.press("delete")
        assert isinstance(pilot.app.screen, RecipesScreen)
        rows.highlight("my-tests")
        await until(pilot, lambda: "del remove" in footer(pilot.app), "the key")
        for keys, left in ((("enter",), True), (("escape",), True), (("down", "enter"), False)):
            await pilot.press("delete")
            await until(pilot, lambda: isinstance(pilot.app.screen, QuestionScreen), "the question")
            await pilot.press(*keys)
            await until(pilot, lambda: isinstance(pilot.app.screen, RecipesScreen), "the picker")
            assert file.exists() is left
        await shows(pilot, "✓ Removed My tests.")
        assert "my-tests" not in keys_of(pilot.app, "#recipes")
        await pilot.press("escape")
        await at_step(pilot, "workloads")
        await until(pilot, lambda: named(pilot) == "archive-disk", "the usual recipe")
