"""Random keys over all screens: nothing raises, Esc leads back, and each key that is shown does something."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pytest
from textual._compositor import Compositor
from textual.pilot import Pilot
from textual.widgets import Input
from textual.widgets._footer import FooterKey

from fswizard.tui.app import FswizardApp
from fswizard.tui.screens.base import StepScreen
from tests.fakes.wizard import ARCHIVE, BRIDGED, NEW, OLD, ROUNDS, SSD, TWIN, FakeMachine
from tests.tui.driving import STEPS, at, screen_text, settled, until, wizard

DISKS = (ARCHIVE, SSD, BRIDGED, NEW, TWIN, OLD)
SIZES = ((80, 24), (120, 36), (200, 50), (60, 15))
ANY = ("enter", "escape", "up", "down", "left", "right", "space", "tab", "shift+tab", "home", "end", "pageup",
       "pagedown", "f1", "backspace", "x", "1", "/")  # fmt: skip
STRETCH = 40
"""Keys on one wizard."""
MOST_BACK = 12
"""Windows and steps that can stand between anywhere and the first screen."""


@pytest.fixture(autouse=True)
def _drawn_when_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each picture is drawn once, in full, by who looks at it: Textual would draw each change too, for no terminal."""
    monkeypatch.setattr(Compositor, "render_update", lambda compositor, **_: compositor._dirty_regions.clear())


def what_is_seen(application: FswizardApp) -> tuple[object, ...]:
    """Changes when a key did something: the screen, the picture, the focus, or an order to a run."""
    stopping = application.running and application.running.stopping
    scrolled = tuple(widget.scroll_offset for widget in application.screen.query("*"))
    return (
        application.screen, application.theme, application.screen.focused, application.clipboard, stopping, scrolled,
        screen_text(application), tuple((box.value, box.cursor_position) for box in application.screen.query(Input)),
    )  # fmt: skip


class Monkey:
    """Presses keys, half of them such as the footer shows."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.effects: dict[tuple[str, str], list[bool]] = defaultdict(list)
        """Whether something changed, by screen, and what the footer says of the key."""

    async def play(self, steps: int) -> None:
        for _ in range(steps // STRETCH):
            machine = FakeMachine(
                drives=DISKS, event_s=self.random.choice((0.01, 0.0, 0.0)), rounds=self.random.choice((0, ROUNDS))
            )
            start = self.random.choice((*STEPS, "purpose"))
            async with at(start, machine, size=self.random.choice(SIZES)) as pilot:
                for _ in range(STRETCH):
                    await self.step(pilot)
                    if wizard(pilot)._exit:
                        break
                else:
                    await self.back(pilot)
                wizard(pilot).leave_now()

    async def step(self, pilot: Pilot[Any]) -> None:
        application = wizard(pilot)
        shown = {key.key: key.description for key in application.screen.query(FooterKey) if key.key != "ctrl+p"}
        key = self.random.choice((*shown, *shown, self.random.choice(ANY)))
        before, where = what_is_seen(application), type(application.screen).__name__
        await self.press(pilot, key)
        if key in shown and not application._exit:
            self.effects[where, f"{key} {shown[key]}"].append(what_is_seen(application) != before)

    async def press(self, pilot: Pilot[Any], *keys: str) -> None:
        await pilot.press(*keys)
        if not wizard(pilot)._exit:
            await settled(pilot)
            await until(pilot, lambda: True, "keys to be taken")

    async def back(self, pilot: Pilot[Any]) -> None:
        """Esc alone, to the first screen; a run is left by its question."""
        application = wizard(pilot)
        for _ in range(MOST_BACK):
            if isinstance(application.screen, StepScreen) and application.step == "purpose":
                return
            before = what_is_seen(application)
            await self.press(pilot, "escape")
            assert what_is_seen(application) != before, f"Esc does nothing here\n{screen_text(application)}"
            if application.measuring and "Keep watching" in screen_text(application):
                await self.press(pilot, "down", "enter")
        raise AssertionError(f"{MOST_BACK} times Esc do not lead back from here\n{screen_text(application)}")


async def test_random_keys_break_nothing_and_escape_leads_back() -> None:
    """Five seconds: each key is followed to its end, on a wizard of its own for every stretch of keys."""
    await Monkey(1).play(40)


@pytest.mark.slow
async def test_ten_thousand_random_keys_break_nothing_and_each_key_that_is_shown_does_something() -> None:
    monkey = Monkey(7)
    await monkey.play(10_000)
    idle = [what for what, effects in monkey.effects.items() if len(effects) >= 5 and not any(effects)]
    assert not idle, f"The footer shows keys that never did anything: {sorted(idle)}"
