"""Earlier results in the wizard: found, opened, and put side by side."""

from __future__ import annotations

import pytest

from tests.fakes.wizard import entry, keep_results
from tests.tui.driving import at, at_step, footer, shows, unwrapped, wizard


async def test_an_earlier_result_is_listed_and_opened() -> None:
    async with at(size=(120, 36)) as pilot:
        await shows(pilot, "2025-11-02", "h")
        await at_step(pilot, "result", "down", "enter")
        assert wizard(pilot).result_path.stem == "old"


async def test_without_results_no_key_for_them_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_results(monkeypatch)
    async with at() as pilot:
        await shows(pilot, "No results yet.", "h")
        assert footer(pilot.app).startswith("esc back")


async def test_two_marked_results_stand_side_by_side_the_earlier_one_first(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_results(monkeypatch, entry("later", "2025-12-31T18:20:00Z"), entry("earlier", "2025-06-30T09:41:00Z"))
    async with at(size=(120, 36)) as pilot:
        await shows(pilot, "Space marks two results", "h")
        await shows(pilot, "[✓]", "space", "c")
        assert "compare" not in footer(pilot.app)
        await shows(pilot, "Two results side by side", "down", "space", "c")
        said = unwrapped(pilot.app)
        assert "Before 2025-06-30 09:41" in said and "After 2025-12-31 18:20" in said
