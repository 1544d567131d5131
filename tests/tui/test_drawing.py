"""Text, also as the Linux console shows it."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import fswizard
from fswizard.tui.drawing import text
from fswizard.tui.terminal import for_console
from fswizard.tui.widgets.braille import area


@given(st.text(max_size=60))
def test_text_never_controls_the_terminal_and_markup_stays_text(words: str) -> None:
    drawn = text(words).plain.replace("\n", "").replace("\t", "")
    assert not any(unicodedata.category(character) in ("Cc", "Cf") for character in drawn)
    hostile = "[/b] [@click=app.quit]x[/]"
    assert text((hostile, "bold")).plain == hostile


def test_every_character_that_the_wizard_draws_has_one_that_the_linux_console_has() -> None:
    drawn = set("╭╮╰╯─│▁▂▃▄▅▆▇█▔🔎")  # borders, scroll bars, and the menu
    for room in ("tui", "report", "advice", "model"):
        for path in (Path(fswizard.__file__).parent / room).rglob("*.py"):
            drawn |= {character for character in path.read_text("utf-8") if not character.isascii()}
    shown = for_console("".join(drawn))
    assert cell_len(shown) == cell_len("".join(drawn))
    beyond = {c for c in shown if not c.encode("cp437", "ignore")} - set("←↑→↓◆")  # these it has in place of controls
    assert not beyond


def test_the_console_gets_letters_and_escapes_as_they_are_and_curves_as_blocks() -> None:
    assert for_console("\x1b[1mGrüße, ѿ\x1b[0m") == "\x1b[1mGrüße, ѿ\x1b[0m"
    assert for_console("✓ ├──●──┤ 1.21 × ▲") == "+ ├──O──┤ 1.21 x ^"
    assert for_console("".join(area((0.3,), 1, 2))) == " ▄"
