"""The theme: the menu offers those that the terminal can show, and the choice is there again the next time."""

from __future__ import annotations

import pytest

from fswizard.system.files import save_setting, setting, state_directory
from fswizard.tui.app import THEME, FswizardApp
from fswizard.tui.theme import TERMINAL, THEMES
from tests.fakes.wizard import Clock, FakeMachine, running_state
from tests.tui.driving import screen_text, settled, shows, until


def opened(*, few_colours: bool = False, start: str = "purpose") -> FswizardApp:
    machine = FakeMachine()
    running = running_state() if start == "run" else None
    return FswizardApp(machine=machine, start=start, running=running, clock=Clock(), few_colours=few_colours)


async def test_the_menu_offers_every_theme_and_the_choice_is_there_again_the_next_time() -> None:
    app = opened()
    async with app.run_test() as pilot:
        assert sorted(app.available_themes) == sorted(THEMES)
        await pilot.press("ctrl+p", *"theme")
        await shows(pilot, "Theme")
        await pilot.press("enter")
        await shows(pilot, THEMES[1])
        await pilot.press(*THEMES[1])
        await until(pilot, lambda: THEMES[0] not in screen_text(app), "the one that was searched for")
        await pilot.press("enter")
        await until(pilot, lambda: app.theme == THEMES[1], "the theme")
        await settled(pilot)
    assert setting(THEME) == opened().theme == THEMES[1]


@pytest.mark.parametrize("kept", [b"fswizard-high-contrast\n", b"solarized\n", b"\xff\x00"])
def test_a_theme_that_there_is_not_or_that_cannot_be_read_is_the_default(kept: bytes) -> None:
    state_directory().mkdir(parents=True)
    (state_directory() / THEME).write_bytes(kept)
    assert opened().theme == THEMES[0]


def test_a_choice_that_cannot_be_kept_is_no_error() -> None:
    state_directory().parent.mkdir(parents=True, exist_ok=True)
    state_directory().write_text("in the way")
    save_setting(THEME, THEMES[1])
    assert setting(THEME) == ""


async def test_a_terminal_of_sixteen_colours_is_offered_its_own_alone() -> None:
    save_setting(THEME, THEMES[1])
    app = opened(few_colours=True)
    async with app.run_test():
        assert app.theme == TERMINAL[0]
        assert sorted(app.available_themes) == sorted(TERMINAL)


async def test_the_terminals_own_theme_sends_no_other_colour_than_the_terminals_sixteen() -> None:
    app = opened(start="run")
    async with app.run_test(size=(120, 36)) as pilot:
        assert _true_colours(app)
        app.theme = TERMINAL[0]
        await settled(pilot)
        assert app.theme == TERMINAL[0]
        assert _true_colours(app) == set()
        await pilot.press("l")
        await settled(pilot)
        assert _true_colours(app) == set()
    app = opened()
    async with app.run_test() as pilot:
        await settled(pilot)
        assert app.theme == TERMINAL[0], "from the first picture on"
        assert _true_colours(app) == set()


def _true_colours(app: FswizardApp) -> set[str]:
    """Colours on the screen that are not among the terminal's sixteen."""
    colours = set()
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                if colour is not None and colour.triplet is not None:
                    colours.add(colour.name)
    return colours
