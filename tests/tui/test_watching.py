"""A run in another process, watched in the wizard: found on the first screen, left alone, or stopped."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from fswizard.recipes import find
from fswizard.session import OngoingRun
from fswizard.tui.app import FswizardApp
from tests.builders import make_drive, make_plan
from tests.fakes.wizard import FakeMachine, FakeSession, app, recording
from tests.tui.driving import at_step, rows, shows, until

PLAN = make_plan(recipe=find("archive-disk"), drive=make_drive(model="ST8000AS0002"))
ELSEWHERE = OngoingRun(Path("/results/elsewhere.jsonl"), PLAN, datetime(2026, 3, 1, 14, 22))


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> FakeSession:
    running = FakeSession(recording(), event_s=0.01)
    monkeypatch.setattr("fswizard.session.FollowedRun", lambda path: running)
    return running


async def test_the_first_screen_lists_it_and_enter_shows_it_live(
    session: FakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fswizard.session.ongoing", lambda: (ELSEWHERE,))
    async with app().run_test(size=(120, 36)) as pilot:
        await shows(pilot, "Watch archive-disk on ST8000AS0002, since 14:22")
        assert rows(pilot, "#purposes").key == "ongoing-0"
        await at_step(pilot, "run", "enter")
        await shows(pilot, "Leave it running and quit", "ctrl+q")
        await pilot.press("end", "enter")
        await until(pilot, lambda: pilot.app._exit, "the end")
        assert not session.stopped


async def test_it_is_stopped_from_there(session: FakeSession) -> None:
    async with FswizardApp(machine=FakeMachine(), watching=session).run_test() as pilot:
        await at_step(pilot, "run")
        await pilot.press("x", "down", "enter")
        await until(pilot, lambda: session.stopped, "the end")
