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
from fswizard.model.analysis import LEVEL
from fswizard.tui.screens.dialogs import QuestionScreen
from tests.fakes.wizard import Clock
from tests.long.stories.packing import SIMULATED
from tests.recording import recorded_result
from tests.tui.driving import at_step, footer, screen_text, settled, until


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
    return DemoApp(story, speed=speed, clock=Clock())


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if number else ()) for number, name in enumerate(stories())]
)
async def test_a_story_runs_to_its_result_with_a_notice_that_it_is_a_demo_and_keeps_nothing(name: str) -> None:
    story, wizard = stories()[name], demo(stories()[name])
    async with wizard.run_test() as pilot:
        await at_step(pilot, "result")
        await settled(pilot)
        assert wizard.result == recorded_result(name)
        assert story.disk in str(wizard.screen.query_one("#demo").render())
        actions = {key.binding.action for key in wizard.screen.active_bindings.values() if key.enabled}
        assert not actions & {"set_up", "resume", "app.history"}
        await at_step(pilot, "run", "escape")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(wizard.screen, QuestionScreen), "the gallery")


async def test_the_gallery_shows_all_stories_and_opens_one_and_another_after_it() -> None:
    wizard = demo(None, speed=1.0)
    async with wizard.run_test(size=(100, 32)) as pilot:
        for keys, chosen in ((("home", "enter"), 0), (("end", "enter"), -1)):
            await until(pilot, lambda: isinstance(wizard.screen, QuestionScreen), "the gallery")
            for story in stories().values():
                assert story.title in screen_text(wizard)
                assert story.disk in screen_text(wizard)
            await pilot.press(*keys)
            await until(pilot, lambda: wizard.measuring, "the run")
            await at_step(pilot, "run")
            assert wizard.running.state.plan == [*stories().values()][chosen].plan
            assert "F3" not in footer(wizard)
            await pilot.press("x", "down", "enter")
            await until(pilot, lambda: not wizard.measuring, "the end")
            await at_step(pilot, "run")
            await pilot.press("f3")


@pytest.mark.parametrize("name", stories())
def test_what_a_story_promises_is_what_its_result_says_and_a_simulated_disk_says_so(name: str) -> None:
    story = stories()[name]
    assert (SIMULATED in story.plan.drive.model) == (SIMULATED in story.disk)
    result = recorded_result(name)
    assert not story.plan.drive.serial and not result.environment.host
    findings = conclude(result)
    failed, answer = {failure.kind for failure in result.failures}, findings.answer
    assert {
        "xfs-searching": lambda: (answer.kind, answer.first) == ("depends", "xfs") and answer.behind,
        "smr-fileserver": lambda: failed == {"ENOSPC"} and answer.warning == "cache-not-exceeded",
        "ssd-tie": lambda: answer.kind == "alike" and answer.bound < LEVEL - 1,
    }[name]()
