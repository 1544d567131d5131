"""The theme: the menu offers those that the terminal can show, and the choice is there again the next time."""

from __future__ import annotations

import pytest

from fswizard.system.files import save_setting, setting, state_directory
from fswizard.tui.app import THEME, FswizardApp
from fswizard.tui.theme import TERMINAL, THEMES
from tests.fakes.wizard import FakeMachine, running_state
from tests.tui.driving import settled


def opened(*, few_colours: bool = False) -> FswizardApp:
    app = FswizardApp(machine=FakeMachine(), start="run", few_colours=few_colours)
    app.running = running_state()
    return app


async def test_a_theme_that_was_chosen_is_there_again_the_next_time() -> None:
    app = opened()
    async with app.run_test() as pilot:
        app.theme = THEMES[1]
        await settled(pilot)
    assert setting(THEME) == opened().theme == THEMES[1]


@pytest.mark.parametrize("kept", [b"solarized\n", b"\xff\x00"])
def test_a_theme_that_there_is_not_or_that_cannot_be_read_is_the_default(kept: bytes) -> None:
    state_directory().mkdir(parents=True)
    (state_directory() / THEME).write_bytes(kept)
    assert opened().theme == THEMES[0]


def test_a_choice_that_cannot_be_kept_is_no_error() -> None:
    state_directory().parent.mkdir(parents=True, exist_ok=True)
    state_directory().write_text("in the way")
    save_setting(THEME, THEMES[1])
    assert setting(THEME) == ""


async def test_a_terminal_of_sixteen_colours_is_offered_its_own_themes_alone() -> None:
    save_setting(THEME, THEMES[1])
    app = opened(few_colours=True)
    async with app.run_test():
        assert app.theme == TERMINAL[0]
        assert sorted(app.available_themes) == sorted(TERMINAL)
