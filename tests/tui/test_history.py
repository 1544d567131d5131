"""Earlier results in the wizard."""

from __future__ import annotations

import pytest

from tests.fakes.wizard import keep_results
from tests.tui.driving import at, at_step, footer, shows, wizard


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
