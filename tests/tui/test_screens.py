"""Pictures of each step, compared with those that were looked at and found good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from fswizard.tui.app import FswizardApp
from fswizard.tui.theme import THEMES
from tests.fakes.setting_up import SettingUp, at_result
from tests.fakes.wizard import NEW, OLD, SSD, FakeMachine, app
from tests.tui.conftest import Compare
from tests.tui.driving import STEPS, screen_text, settled, shows
from tests.tui.screenshots import running

DARK, LIGHT = THEMES[:2]
LOOKS = {"60x15": DARK, "80x24": DARK, "120x36": DARK, "120x36 light": LIGHT, "200x50": DARK}


@dataclass(frozen=True)
class State:
    """What is done before the pictures are taken: `keys` one by one, until `words` stand on the screen."""

    make: Callable[[], FswizardApp]
    looks: tuple[str, ...] = ("80x24", "120x36")
    keys: tuple[str, ...] = ()
    words: str = ""
    before: Callable[[pytest.MonkeyPatch], object] = lambda patch: None


def at(step: Any, *keys: str, machine: Callable[[], FakeMachine] = FakeMachine, **choices: Any) -> State:
    return State(lambda: app(step, machine(), **choices), keys=keys)


NEW_DISK: dict[str, Any] = {"machine": lambda: FakeMachine(drives=(NEW, SSD)), "drive": NEW}
OLD_DISK: dict[str, Any] = {"machine": lambda: FakeMachine(drives=(OLD, SSD)), "drive": OLD}
STATES: dict[str, State] = {
    **{step: at(step) for step in STEPS},
    "drive": replace(at("drive"), looks=("60x15", "80x24", "120x36", "120x36 light")),
    "result": replace(at("result"), looks=("60x15", "80x24", "120x36", "120x36 light")),
    "run": State(running, ("80x24", "120x36", "120x36 light", "200x50")),
    "new-disk": replace(at("drive", **NEW_DISK), looks=("80x24",)),
    "erased-disk": replace(
        at("review", *"WD-1234", "enter", devices=(OLD.partitions[0].stable_name,), **OLD_DISK), looks=("80x24",)
    ),
    "options": replace(at("filesystems", "o", "down", "space"), looks=("80x24",)),
    "history": replace(at("purpose", "h"), looks=("120x36",)),
    "share": replace(at("result", "enter", "down"), looks=("120x36",)),
    "leave": replace(at("run", "escape"), looks=("80x24",)),
    "set-up": State(at_result, ("80x24",), ("u", "enter"), "To confirm, type its", SettingUp),
}


@pytest.mark.parametrize("state", [pytest.param(s, marks=pytest.mark.smoke) if s in STEPS else s for s in STATES])
async def test_each_state_looks_as_it_did(state: str, picture: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    """One wizard that is resized, as starting it costs as much as two pictures."""
    drawn = STATES[state]
    drawn.before(monkeypatch)
    wizard = drawn.make()
    differing = ""
    async with wizard.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        for key in drawn.keys:
            await pilot.press(key)
            await settled(pilot)
        if drawn.words:
            await shows(pilot, drawn.words)
        for look in drawn.looks:
            await pilot.resize_terminal(*map(int, look.split()[0].split("x")))
            wizard.theme = LOOKS[look]
            await settled(pilot)
            differing += picture(wizard, look)
    if differing:
        pytest.fail(differing)  # an assertion would tell a part of it alone


@pytest.mark.parametrize("step", ("drive", "run", "result"))
async def test_without_colour_the_same_words_stand_there(step: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = []
    for value in ("", "1"):
        monkeypatch.setenv("NO_COLOR", value)
        async with app(step).run_test(size=(80, 24)) as pilot:
            await settled(pilot)
            pictures.append(screen_text(pilot.app))
    assert pictures[0] == pictures[1]
