"""The result screen: the answer in its first lines, its keys, and what stands behind them."""

from __future__ import annotations

from tests.tui.driving import screen_text, settled
from tests.tui.screenshots import finished

WIDTHS = (60, 64, 71, 72, 76, 79, 80, 81, 90, 99, 100, 120, 160, 200)


async def test_the_dots_and_their_word_stand_side_by_side_at_every_width() -> None:
    async with finished().run_test(size=(60, 24)) as pilot:
        for width in WIDTHS:
            await pilot.resize_terminal(width, 24)
            await settled(pilot)
            assert "●●●● high" in screen_text(pilot.app), width
