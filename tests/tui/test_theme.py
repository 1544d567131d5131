"""The theme: F2 goes from one to the next, and the choice is there again the next time."""

from __future__ import annotations

from textual.pilot import Pilot

from fswizard.system.files import state_directory
from fswizard.tui.app import FswizardApp
from fswizard.tui.backend import Backend
from fswizard.tui.theme import DARK, HIGH_CONTRAST, LIGHT, OWN, TERMINAL
from tests.fakes.wizard import Clock, FakeMachine, running_state
from tests.tui.driving import settled


def opened(*, few_colours: bool = False, start: str = "purpose") -> FswizardApp:
    machine = FakeMachine()
    running = running_state(machine) if start == "run" else None
    return FswizardApp(machine, start=start, running=running, clock=Clock(), few_colours=few_colours)


async def test_f2_goes_through_every_theme_and_back_to_the_first() -> None:
    app = opened()
    seen = [app.theme]
    async with app.run_test() as pilot:
        for _ in range(5):
            await pilot.press("f2")
            seen.append(app.theme)
    assert seen == [theme.name for theme in (*OWN, *TERMINAL, DARK)]


async def test_the_theme_is_there_again_the_next_time() -> None:
    async with opened().run_test() as pilot:
        await pilot.press("f2", "f2")
    assert Backend().theme() == HIGH_CONTRAST.name
    assert opened().theme == HIGH_CONTRAST.name


def test_a_theme_that_there_is_not_or_that_cannot_be_read_is_the_default() -> None:
    Backend().keep_theme("solarized")
    assert opened().theme == DARK.name
    (state_directory() / "theme").write_bytes(b"\xff\x00")
    assert opened().theme == DARK.name


def test_where_nothing_can_be_written_the_choice_is_forgotten_and_nothing_else() -> None:
    state_directory().parent.mkdir(parents=True, exist_ok=True)
    state_directory().write_text("in the way")
    Backend().keep_theme(LIGHT.name)
    assert Backend().theme() == ""


async def test_a_terminal_of_sixteen_colours_is_offered_its_own_alone() -> None:
    Backend().keep_theme(LIGHT.name)
    app = opened(few_colours=True)
    async with app.run_test() as pilot:
        assert app.theme == TERMINAL[0].name
        await pilot.press("f2")
        assert app.theme == TERMINAL[1].name
        await pilot.press("f2")
        assert app.theme == TERMINAL[0].name


async def test_the_terminals_own_theme_sends_no_colour_of_ours() -> None:
    app = opened(start="run")
    async with app.run_test(size=(120, 36)) as pilot:
        assert _true_colours(app)
        app.action_next_theme()
        app.action_next_theme()
        app.action_next_theme()
        await _drawn(pilot)
        assert app.theme == TERMINAL[0].name
        assert _true_colours(app) == set()
        await pilot.press("l")
        await _drawn(pilot)
        assert _true_colours(app) == set()


async def test_the_terminals_own_theme_is_so_from_the_first_picture_on() -> None:
    Backend().keep_theme(TERMINAL[0].name)
    app = opened()
    async with app.run_test() as pilot:
        await _drawn(pilot)
        assert _true_colours(app) == set()


async def _drawn(pilot: Pilot[int]) -> None:
    await settled(pilot)


def _true_colours(app: FswizardApp) -> set[str]:
    """Colours on the screen that are not among the terminal's sixteen."""
    found = set()
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                if colour is not None and colour.triplet is not None:
                    found.add(colour.name)
    return found
