"""What the screens tell a user who has read nothing: keys that work, whole sentences, the answer first."""

from __future__ import annotations

from dataclasses import replace

from fswizard.report.plan import plan_commands
from fswizard.tui.widgets.table import Table
from tests.fakes.wizard import FakeMachine, app, chosen
from tests.tui.driving import at_step, shows, wizard

SIZE = (80, 24)


async def test_a_baseline_must_be_ticked() -> None:
    async with app("filesystems", candidates=("ext4", "xfs")).run_test(size=SIZE) as pilot:
        await at_step(pilot, "filesystems")
        rows = pilot.app.screen.query_one("#candidates", Table)
        rows.highlight("xfs:noatime")
        await pilot.press("b")
        await shows(pilot, "xfs:noatime isn't ticked yet")
        assert wizard(pilot).choices.against == "ext4"
        rows.highlight("xfs")
        await pilot.press("b")
        assert wizard(pilot).choices.against == "xfs"


def test_a_command_that_is_repeated_at_once_stands_there_once() -> None:
    plan = FakeMachine().make_plan(chosen())
    once, *others = plan_commands(replace(plan, commands=(plan.commands[0], *plan.commands)))
    assert once.endswith("(2 times)")
    assert not any("fallocate --length" in command for command in others)
