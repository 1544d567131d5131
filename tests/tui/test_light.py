"""Pictures of every screen in the light theme, and of the windows where there is room, beside those of test_screens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from textual.pilot import Pilot

from fswizard.tui.app import FswizardApp
from fswizard.tui.theme import LIGHT
from tests.fakes.two_runs import TwoRuns
from tests.fakes.wizard import app
from tests.tui.test_screens import SIZES, STEPS, WINDOWS, name, settled, still

ROOM = (200, 60)
COMPARISON = ["h", "space", "down", "space", "c"]


async def shown(pilot: Pilot[Any], keys: Sequence[str] = (), *, light: bool) -> None:
    await settled(pilot)
    for key in keys:
        await pilot.press(key)
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
    if light:
        pilot.app.theme = LIGHT.name
    await still(pilot)


def opened(window: str) -> tuple[FswizardApp, Sequence[str]]:
    """The wizard, and the keys that lead to a window."""
    if window == "comparison":
        return app("purpose", TwoRuns()), COMPARISON
    step, keys = WINDOWS[window]
    return app(step), keys  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [*SIZES, ROOM], ids=name)
@pytest.mark.parametrize("step", STEPS)
def test_each_step(snap_compare: Any, step: Any, size: tuple[int, int]) -> None:
    async def light(pilot: Pilot[Any]) -> None:
        await shown(pilot, light=True)

    assert snap_compare(app(step), terminal_size=size, run_before=light)


@pytest.mark.parametrize("size", [*SIZES, ROOM], ids=name)
@pytest.mark.parametrize("window", [*WINDOWS, "comparison"])
def test_each_window(snap_compare: Any, window: str, size: tuple[int, int]) -> None:
    wizard, keys = opened(window)

    async def light(pilot: Pilot[Any]) -> None:
        await shown(pilot, keys, light=True)

    assert snap_compare(wizard, terminal_size=size, run_before=light)


@pytest.mark.parametrize(
    ("window", "size"), [*((window, ROOM) for window in WINDOWS), *(("comparison", size) for size in (*SIZES, ROOM))],
    ids=lambda value: value if isinstance(value, str) else name(value),
)  # fmt: skip
def test_the_dark_ones_that_are_not_among_the_screens(snap_compare: Any, window: str, size: tuple[int, int]) -> None:
    wizard, keys = opened(window)

    async def dark(pilot: Pilot[Any]) -> None:
        await shown(pilot, keys, light=False)

    assert snap_compare(wizard, terminal_size=size, run_before=dark)
