"""Colours: text that everybody can read, and verdicts and filesystems that are told apart."""

from __future__ import annotations

import pytest
from textual.theme import BUILTIN_THEMES

from fswizard.report.colours import HUES, INK
from fswizard.tui.theme import TERMINAL, THEMES, variables

TEXT = ("foreground", "muted", "text-primary", "text-accent", "text-success", "text-warning", "text-error")
OWN = [name for name in THEMES if name not in TERMINAL]
"""Those with colours of their own."""
COMMON = ("ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs")
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
    """Variables of a theme, with ours; as `#rrggbb` where they are no colours of the terminal."""
    theme = BUILTIN_THEMES[name]
    every = {**variables(theme), **theme.to_color_system().generate()}
    return {use: value.lower() for use, value in every.items() if len(value) == 7 or value.startswith("ansi_")}


@pytest.mark.parametrize("name", OWN)
def test_text_can_be_read_on_the_ground_and_filesystems_on_panels_as_well(name: str) -> None:
    known = colours(name)
    wanted = {(text, "background"): READABLE for text in TEXT}
    for filesystem in (*HUES, "other"):
        wanted |= {(f"fs-{filesystem}", "background"): READABLE, (f"fs-{filesystem}", "panel"): GRAPHICAL}
    found = {(ink, ground): contrast(known[ink], known[ground]) for ink, ground in wanted}
    assert {pair: round(value, 2) for pair, value in found.items() if value < wanted[pair]} == {}


def test_text_in_pictures_can_be_read() -> None:
    for column in (0, 1):
        grounds = ("ground", "soft", "near")
        inks = {name: INK[name][column] for name in INK if name not in (*grounds, "line")}
        low = {
            (name, ground): round(contrast(ink, INK[ground][column]), 2)
            for name, ink in inks.items()
            for ground in grounds
            if contrast(ink, INK[ground][column]) < READABLE
        }
        assert low == {}


@pytest.mark.parametrize("name", TERMINAL)
def test_the_terminals_own_colours_tell_verdicts_and_common_filesystems_apart(name: str) -> None:
    known = colours(name)
    assert len({known[f"text-{use}"] for use in ("success", "error", "warning", "primary")}) == 4
    assert len({known[f"fs-{each}"] for each in COMMON[:4]}) == 4
