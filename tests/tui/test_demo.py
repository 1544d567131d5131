"""Recorded runs in the wizard's own screens, without access to the machine."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

from fswizard.advice import conclude
from fswizard.demo import Story, stories
from fswizard.demo.app import DemoApp
from fswizard.tui.screens.dialogs import QuestionScreen
from tests.long.stories.packing import SIMULATED
from tests.recording import recorded_result
from tests.tui.driving import at_step, footer, settled, shows, until

ANSWERS = {
    "xfs-searching": ("depends", ""),
    "smr-fileserver": ("open", "cache-not-exceeded"),
    "ssd-tie": ("alike", ""),
}
"""Kind of the answer of each story, and its warning."""


@pytest.fixture(autouse=True)
def recorded_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No machine at all: no program may be run, and nothing be kept."""
    run = Mock(side_effect=OSError)
    monkeypatch.setattr(subprocess, "Popen", run)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield
    run.assert_not_called()
    assert not (tmp_path / "state").exists()


def demo(story: Story | None, *, speed: float = math.inf) -> DemoApp:
    return DemoApp(story, speed=speed)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if number else ()) for number, name in enumerate(stories())]
)
async def test_a_story_runs_to_its_result_with_a_notice_that_it_is_a_demo_and_keeps_nothing(name: str) -> None:
    story, wizard = stories()[name], demo(stories()[name])
    async with wizard.run_test() as pilot:
        await at_step(pilot, "result")
        await settled(pilot)
        assert wizard.result == recorded_result(name)
        await shows(pilot, story.disk)
        actions = {key.binding.action for key in wizard.screen.active_bindings.values() if key.enabled}
        assert not actions & {"set_up", "resume", "app.history"}
        await at_step(pilot, "run", "escape")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(wizard.screen, QuestionScreen), "the gallery")


async def test_the_gallery_shows_all_stories_and_opens_one_and_another_after_it() -> None:
    wizard = demo(None, speed=1.0)
    async with wizard.run_test(size=(100, 32)) as pilot:
        for key, story in zip(("home", "end"), [*stories().values()][:: len(stories()) - 1]):
            await shows(pilot, story.title)
            await pilot.press(key, "enter")
            await until(pilot, lambda: wizard.measuring, "the run")
            await at_step(pilot, "run")
            assert wizard.running.state.plan == story.events[0].plan
            assert "F3" not in footer(wizard)
            await pilot.press("x", "down", "enter")
            await until(pilot, lambda: not wizard.measuring, "the end")
            await at_step(pilot, "run")
            await pilot.press("f3")


@pytest.mark.parametrize("name", stories())
def test_what_a_story_promises_is_what_its_result_says_and_a_simulated_disk_says_so(name: str) -> None:
    result = recorded_result(name)
    drive, answer = result.plan.drive, conclude(result).answer
    assert (SIMULATED in drive.model) == (SIMULATED in stories()[name].disk)
    assert not drive.serial and not result.environment.host
    assert (answer.kind, answer.warning) == ANSWERS[name]
