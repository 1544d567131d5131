"""What the screens tell a user who has read nothing: keys that work, whole sentences, the answer first."""

from __future__ import annotations

from dataclasses import replace

from fswizard.tui.screens.options import OptionsScreen
from fswizard.tui.screens.review import commands
from fswizard.tui.widgets.choice_list import ChoiceList
from tests.fakes.wizard import FakeMachine, app, chosen
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
