"""Colours: text that everybody can read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest
from textual.theme import BUILTIN_THEMES

from fswizard.report.colours import HUES
from fswizard.tui.theme import TERMINAL, THEMES, variables

TEXT = ("foreground", "muted", "text-primary", "text-accent", "text-success", "text-warning", "text-error")
OWN = [name for name in THEMES if name not in TERMINAL]
"""Those with colours of their own."""
READABLE = 4.5
"""Contrast of text. Source: WCAG 2.2, success criterion 1.4.3."""
GRAPHICAL = 3.0
"""Of what is no text. Source: WCAG 2.2, success criterion 1.4.11."""
Linear = tuple[float, ...]


def linear(colour: str) -> Linear:
    """Of `#rrggbb`, its parts in proportion to light."""
    parts = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return tuple(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)


def contrast(one: str, other: str) -> float:
    """As WCAG 2.2 defines it, from 1 to 21."""
    lights = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (linear(one), linear(other))]
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def colours(name: str) -> dict[str, str]:
    """Variables of a theme, with ours, that are a colour as `#rrggbb`."""
    theme = BUILTIN_THEMES[name]
    every = {**variables(theme), **theme.to_color_system().generate()}
    return {use: value for use, value in every.items() if len(value) == 7}


def too_low(known: Mapping[str, str], inks: Iterable[str], ground: str, wanted: float) -> list[str]:
    """The inks that have less contrast on a ground."""
    return [ink for ink in inks if contrast(known[ink], known[ground]) < wanted]


@pytest.mark.parametrize("name", OWN)
def test_text_can_be_read_on_the_ground_and_filesystems_on_panels_as_well(name: str) -> None:
    known = colours(name)
    filesystems = [f"fs-{filesystem}" for filesystem in (*HUES, "other")]
    assert too_low(known, (*TEXT, *filesystems), "background", READABLE) == []
    assert too_low(known, filesystems, "panel", GRAPHICAL) == []
