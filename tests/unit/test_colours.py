"""Colours: text that everybody can read."""

from __future__ import annotations

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from fswizard.tui.theme import TERMINAL, THEMES, variables

READABLE = 4.5
"""Contrast of text. Source: WCAG 2.2, success criterion 1.4.3."""


def light(colour: str) -> float:
    """Relative luminance, as WCAG 2.2 defines it."""
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in Color.parse(colour).normalized
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("name", [name for name in THEMES if name not in TERMINAL])
def test_what_is_muted_and_the_names_of_filesystems_can_be_read_on_the_ground(name: str) -> None:
    theme = BUILTIN_THEMES[name]
    ground = light(theme.to_color_system().generate()["background"])
    inks = {use: light(colour) for use, colour in variables(theme).items() if use != "line"}
    low = {use: ink for use, ink in inks.items() if (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) < READABLE}
    assert low == {}
