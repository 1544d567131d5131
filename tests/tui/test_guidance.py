"""What the screens tell a user who has read nothing: keys that work, whole sentences, the answer first."""

from __future__ import annotations

from dataclasses import replace

from fswizard.report.plan import plan_commands
from fswizard.tui.planning import make_plan
from tests.fakes.wizard import chosen


def test_a_command_that_is_repeated_at_once_stands_there_once() -> None:
    plan = make_plan(chosen())
    once, *others = plan_commands(replace(plan, commands=(plan.commands[0], *plan.commands)))
    assert once.endswith("(2 times)")
    assert len(others) == len(plan.commands) - 1
