"""What the screens tell a user who has read nothing: keys that work, whole sentences, the answer first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fswizard import recipes
from fswizard.tui.backend import Place
from fswizard.tui.choices import WizardChoices
from fswizard.tui.drives import TargetMenu
from fswizard.tui.screens.options import OptionsScreen
from fswizard.tui.screens.review import commands
from fswizard.tui.widgets.choice_list import ChoiceList
from tests.fakes.wizard import ARCHIVE, MOUNTED, NEW, RECIPES, SSD, FakeMachine, app, chosen
from tests.tui.driving import at_step, footer, shows, until, wizard

SIZE = (80, 24)


async def test_options_and_baseline_are_for_filesystems_alone_and_a_baseline_must_be_ticked() -> None:
    async with app("filesystems", candidates=("ext4", "xfs")).run_test(size=SIZE) as pilot:
        await at_step(pilot, "filesystems")
        await until(pilot, lambda: "options" in footer(pilot.app) and "baseline" in footer(pilot.app), "its keys")
        pilot.app.screen.query_one("#candidates", ChoiceList).highlight("xfs:noatime")
        await pilot.press("b")
        await shows(pilot, "xfs:noatime isn't ticked yet")
        assert wizard(pilot).choices.against == "ext4"
        await pilot.press("m")
        await until(pilot, lambda: "options" not in footer(pilot.app), "the footer of a need")
        assert "baseline" not in footer(pilot.app)
        assert "must have" not in footer(pilot.app)
        await pilot.press("o")
        assert not isinstance(pilot.app.screen, OptionsScreen)


def test_a_command_that_is_repeated_at_once_stands_there_once() -> None:
    plan = FakeMachine().make_plan(chosen())
    words = commands(replace(plan, commands=(plan.commands[0], *plan.commands)), 120).plain
    assert "(2 times)" in words
    assert words.count("fallocate --length") == 1


@pytest.mark.parametrize(("free_bytes", "fits"), [(3 * 10**9, False), (10**12, True)])
def test_an_image_that_does_not_fit_is_called_too_large_before_it_is_chosen(free_bytes: int, fits: bool) -> None:
    place = Place("/home/ada", "ext2", free_bytes, "sdb", free_bytes - 10**8)
    menu = TargetMenu(WizardChoices(recipe=RECIPES[0]), ARCHIVE, place)
    drawn = menu.rows()[1].draw(70, False).plain
    assert ("Too large: there is room for 1.15 GiB in /home/ada" in drawn) is not fits


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"directory": "/home/ada"},
        {"purpose": "compare", "places": tuple(place.directory for place in MOUNTED), "candidates": ()},
        {"drive": NEW, "device": NEW.stable_name, "candidates": ("ext4",)},
        {"images": 4, "member_bytes": 5 << 30, "candidates": ("ext4", "btrfs:raid1")},
    ],
    ids=("image", "named directory", "directories", "disk", "array of images"),
)
def test_what_a_run_takes_is_told_the_same_before_and_on_the_review(changes: dict[str, Any]) -> None:
    machine, choices = FakeMachine(drives=(ARCHIVE, SSD, NEW)), chosen(**changes)
    draft, plan = machine.draft(choices), machine.make_plan(choices)
    assert draft.expected_s == plan.expected_s > 0
    assert draft.writes_bytes == plan.writes_bytes > 0


def test_a_hard_disk_is_not_told_to_write_what_only_a_fast_ssd_could() -> None:
    machine = FakeMachine()
    recipe = recipes.find("kdiskmark")
    on_a_hard_disk = machine.draft(chosen(drive=ARCHIVE, recipe=recipe)).writes_bytes
    on_a_fast_ssd = machine.draft(chosen(drive=SSD, recipe=recipe)).writes_bytes
    assert on_a_hard_disk < on_a_fast_ssd / 2
