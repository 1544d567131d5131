"""Recorded runs in the wizard's own screens, on a machine of which nothing is asked."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.widgets import Static

from fswizard.advice import conclude
from fswizard.demo import Story, find_story, stories
from fswizard.demo.app import DemoApp
from fswizard.demo.replay import Replay
from fswizard.model.analysis import LEVEL
from fswizard.tui.screens.dialogs import QuestionScreen
from tests.fakes.wizard import Clock
from tests.long.stories.packing import SIMULATED
from tests.tui.driving import at_step, screen_text, settled, until

SIZE = (100, 32)
SHORT = "xfs-searching"


@pytest.fixture(autouse=True)
def recorded_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No machine at all: no program may be run, and nothing be kept."""
    ran: list[object] = []

    def run(*arguments: object, **_: object) -> None:
        ran.append(arguments)
        raise OSError

    monkeypatch.setattr(subprocess, "Popen", run)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield
    assert not ran
    assert not (tmp_path / "state").exists()


def demo(story: Story | None, *, speed: float = math.inf) -> DemoApp:
    wizard = DemoApp(story, clock=Clock())
    wizard._speed = speed
    return wizard


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if number else ()) for number, name in enumerate(stories())]
)
async def test_a_story_runs_to_its_result_with_a_notice_that_it_is_a_demo_and_keeps_nothing(name: str) -> None:
    story = find_story(name)
    async with demo(story).run_test(size=SIZE) as pilot:
        await at_step(pilot, "result")
        await settled(pilot)
        assert pilot.app.result == story.result  # type: ignore[attr-defined]
        assert story.disk in str(pilot.app.screen.query_one("#demo", Static).render())
        actions = {key.binding.action for key in pilot.app.screen.active_bindings.values() if key.enabled}
        assert not actions & {"set_up", "resume", "app.history"}
        await pilot.press("escape")
        await at_step(pilot, "run")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, QuestionScreen), "the gallery")


async def test_the_gallery_shows_all_stories_and_opens_one() -> None:
    async with demo(None).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, QuestionScreen), "the gallery")
        for story in stories().values():
            assert story.title in screen_text(pilot.app)
            assert story.disk in screen_text(pilot.app)
        last = [*stories()][-1]
        await pilot.press("end", "enter")
        await at_step(pilot, "run")
        wizard = pilot.app
        assert isinstance(wizard, DemoApp)
        assert wizard.running is not None
        assert wizard.running.state.plan == find_story(last).plan
        wizard.running.stop()
        await until(pilot, lambda: not wizard.measuring, "the end")
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(pilot.app.screen, QuestionScreen), "the gallery again")


async def test_who_chooses_none_of_the_gallery_leaves() -> None:
    async with demo(None).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, QuestionScreen), "the gallery")
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app._exit, "the end")


async def test_a_run_of_the_gallery_that_is_stopped_has_a_result_so_far() -> None:
    async with demo(None, speed=1.0).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, QuestionScreen), "the gallery")
        pilot.app.screen.dismiss(SHORT)
        await at_step(pilot, "run")
        assert not [key for key in pilot.app.screen.active_bindings.values() if key.binding.key == "f3" and key.enabled]
        await pilot.press("x", "down", "enter")
        await until(pilot, lambda: not pilot.app.measuring, "the end")  # type: ignore[attr-defined]


def replayed() -> Replay:
    return Replay(find_story(SHORT).events, speed=math.inf)


async def test_a_replay_has_the_recorded_events_or_those_until_it_was_stopped() -> None:
    replay, story = replayed(), find_story(SHORT)
    assert tuple([event async for event in replay.events()]) == story.events
    assert replay.result() == story.result
    replay, events = replayed(), []
    async for event in replay.events():
        events.append(event)
        if len(events) == 200:
            replay.order("stop")
    assert len(events) == 201
    assert replay.result().outcome == "stopped"


@pytest.mark.parametrize("name", stories())
def test_what_a_story_promises_is_what_its_result_says_and_a_simulated_disk_says_so(name: str) -> None:
    story = find_story(name)
    assert story.plan.drive is not None
    assert (SIMULATED in story.plan.drive.model) == (SIMULATED in story.disk)
    assert not story.plan.drive.serial and not story.started.environment.host
    findings = conclude(story.result)
    failed, answer = {failure.kind for failure in story.result.failures}, findings.answer
    assert {
        "xfs-searching": lambda: (answer.kind, answer.first) == ("depends", "xfs") and answer.behind,
        "smr-fileserver": lambda: failed == {"ENOSPC"} and answer.warning == "cache-not-exceeded",
        "ssd-tie": lambda: answer.kind == "alike" and answer.bound < LEVEL - 1,
    }[name]()


async def test_another_demo_begins_at_once_from_the_screen_of_a_run_that_has_ended() -> None:
    story = next(iter(stories().values()))
    demo = DemoApp(story)
    async with demo.run_test(size=(100, 32)) as pilot:
        await until(pilot, lambda: demo.measuring, "the run")
        before = demo.running
        assert before is not None
        before.stop()
        await until(pilot, lambda: not demo.measuring, "its end")
        await at_step(pilot, "run")
        demo.action_gallery()
        await until(pilot, lambda: isinstance(demo.screen, QuestionScreen), "the gallery")
        demo.screen.dismiss(story.name)
        await until(pilot, lambda: demo.running is not before and demo.measuring, "another run")
        demo.leave_now()
