"""Earlier results in the wizard: found, opened, and put side by side."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot

from tests.fakes.two_runs import TwoRuns
from tests.fakes.wizard import app
from tests.tui.driving import at_step, footer, screen_text, shows, until


async def history(pilot: Pilot[Any]) -> None:
    await shows(pilot, "2025-06-30")
    await pilot.press("h")
    await shows(pilot, "Space marks two results")


async def test_two_marked_results_stand_side_by_side_the_earlier_one_first() -> None:
    async with app("purpose", TwoRuns()).run_test(size=(120, 36)) as pilot:
        await history(pilot)
        await pilot.press("space", "down", "space")
        await shows(pilot, "Two are marked")
        await pilot.press("c")
        await shows(pilot, "Two results side by side")
        await shows(pilot, "First    2025-06-30 09:41, archive-disk on ST8000AS0002-1NA17Z")
        await shows(pilot, "Second   2025-12-31 18:20")
        writing = next(row for row in screen_text(pilot.app).splitlines() if "Storing large files" in row)
        assert "1.2" in writing
        assert "▲ faster" in writing
        await pilot.press("pagedown", "pagedown", "pagedown")
        await shows(pilot, "Kernel: 6.1.0-18-amd64, then 6.12.1-1.")
        await pilot.press("c")
        await until(pilot, lambda: "all together" in pilot.app.clipboard, "the clipboard")
        assert "First      2025-06-30 09:41" in pilot.app.clipboard
        await pilot.press("escape")
        await shows(pilot, "Two are marked")


async def test_what_cannot_be_compared_is_refused_with_the_reason() -> None:
    async with app("purpose", TwoRuns(image_bytes=1 << 30)).run_test(size=(80, 24)) as pilot:
        await history(pilot)
        await pilot.press("space", "down", "space", "c")
        await shows(pilot, "The targets had")
        await shows(pilot, "a filesystem's speed depends on its size")


async def test_two_at_most_are_marked_and_one_is_not_compared() -> None:
    async with app("purpose", TwoRuns()).run_test(size=(80, 24)) as pilot:
        await history(pilot)
        assert "compare" not in footer(pilot.app)
        await pilot.press("space")
        await shows(pilot, "One is marked")
        assert "compare" not in footer(pilot.app)
        await pilot.press("down", "space", "down", "space")
        await shows(pilot, "Two are marked")
        assert "c compare" in footer(pilot.app)
        listed = [row for row in screen_text(pilot.app).splitlines() if "│" in row and "archive-disk" in row]
        assert ["✓" in row for row in listed] == [False, True, True]
        await pilot.press("space")
        await shows(pilot, "One is marked")
        await pilot.press("c")
        await shows(pilot, "One is marked")


async def test_a_click_opens_a_result() -> None:
    async with app("purpose", TwoRuns()).run_test(size=(120, 36)) as pilot:
        await history(pilot)
        rows = screen_text(pilot.app).splitlines()
        line = next(number for number, row in enumerate(rows) if "│" in row[:4] and "2025-06-30" in row)
        await pilot.click(offset=(30, line))
        await at_step(pilot, "result")
