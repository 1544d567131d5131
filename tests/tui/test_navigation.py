"""Every way back, and every key that is shown: nothing traps, and nothing that will be refused can be passed."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from fswizard.tui.preferences import NEED, PreferenceList
from fswizard.tui.screens.export import ExportScreen
from tests.fakes.wizard import FakeMachine, app
from tests.tui.driving import at_step, footer, question, screen_text, settled, shows, until, wizard

SIZE = (100, 32)


async def measured(pilot: Pilot[Any]) -> None:
    """From the review through a run to its result."""
    await shows(pilot, "starts the run")
    await pilot.press("enter")
    await at_step(pilot, "result")
    await settled(pilot)


async def test_escape_leads_from_the_result_of_a_run_back_to_its_plan() -> None:
    async with app("review").run_test(size=SIZE) as pilot:
        await measured(pilot)
        await pilot.press("escape")
        await at_step(pilot, "run")
        await shows(pilot, "The run has ended")
        await pilot.press("enter")
        await at_step(pilot, "result")
        await pilot.press("escape", "escape")
        await at_step(pilot, "review")


async def test_a_run_stopped_before_its_first_round_claims_no_figures_and_escape_leaves_it() -> None:
    machine = FakeMachine(event_s=0.01)
    async with app("review", machine).run_test(size=SIZE) as pilot:
        await shows(pilot, "starts the run")
        await pilot.press("enter")
        await at_step(pilot, "run")
        machine.sessions[0].stop()
        wizard(pilot).running.stopping = True
        await shows(pilot, "stopped before anything was measured")
        assert "kept" not in screen_text(pilot.app)
        await pilot.press("escape")
        await at_step(pilot, "review")


async def test_home_and_end_scroll_the_report() -> None:
    async with app("result").run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        reports = pilot.app.screen.query_one("#reports")
        await pilot.press("end")
        assert reports.scroll_offset.y == reports.max_scroll_y > 0
        await pilot.press("home")
        assert reports.scroll_offset.y == 0


async def test_what_was_wrong_with_a_typed_directory_goes_with_the_box() -> None:
    for step in ("drive", "places"):
        async with app(step, purpose="compare" if step == "places" else "archive-disk").run_test(size=SIZE) as pilot:
            await settled(pilot)
            await pilot.press("d", *"/nowhere", "enter")
            await shows(pilot, "✗ ")
            await pilot.press("escape")
            await until(pilot, lambda a=pilot.app: not a.screen.query_one("#directory", Input).display, "the box to go")
            assert "nowhere" not in str(pilot.app.screen.query_one("#remark").render())


async def test_enter_on_a_need_ticks_it_and_exports_nothing() -> None:
    async with app("result").run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("n")
        wanted = pilot.app.screen.query_one(PreferenceList)
        assert "⏎/space tick" in footer(pilot.app)
        await pilot.press("enter")
        await settled(pilot)
        assert wanted.needs == (wanted.key.removeprefix(NEED),)
        assert not isinstance(pilot.app.screen, ExportScreen)
        await pilot.press("w")
        assert "⏎ done" in footer(pilot.app)
        await pilot.press("enter")
        assert pilot.app.screen.focused is None
        assert "Looking" not in question(pilot.app)


async def test_a_short_notice_covers_no_key() -> None:
    async with app("result").run_test(size=(80, 24), notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("c")
        await shows(pilot, "clipboard")
        rows = screen_text(pilot.app).splitlines()
        notice = max(number for number, row in enumerate(rows) if "clipboard" in row)
        assert notice < min(number for number, row in enumerate(rows) if "⏎" in row)
