"""Colours: text that everybody can read, and filesystems that people with any colour vision tell apart."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from rich.color import Color
from textual.theme import Theme

import fswizard
from fswizard.report.colours import HUES, INK
from fswizard.tui.theme import DARK, HIGH_CONTRAST, LIGHT, OWN, TERMINAL

TEXT = ("foreground", "muted", "faint", "primary", "secondary", "accent", "success", "warning", "error")
GROUNDS = ("background", "surface", "panel", "raised", "cursor", "cursor-blurred")
"""What text stands on."""
MARKS = (
    ("success", "good-bar"),
    ("error", "bad-bar"),
    ("primary", "even-bar"),
    ("foreground", "band"),
    ("past", "background"),
)
"""Marks of bars and bars, on their grounds."""
DRAWN = ("line", "past", "band", "good-bar", "bad-bar", "even-bar")
"""No text has these: rules, rails, bars."""
COMMON = ("ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs")
READABLE, EASY = 4.5, 7.0
"""Contrast of text. Source: WCAG 2.2, success criteria 1.4.3 and 1.4.6."""
GRAPHICAL = 3.0
"""Of what is no text. Source: WCAG 2.2, success criterion 1.4.11."""
APART = 0.05
"""Distance in OKLab between two filesystems; about 0.02 is just noticeable side by side."""
CONES = ((0.41222, 0.53633, 0.05145), (0.21190, 0.68070, 0.10740), (0.08830, 0.28172, 0.62998))
AXES = ((0.21045, 0.79362, -0.00407), (1.97800, -2.42859, 0.45059), (0.02590, 0.78277, -0.80868))
VISIONS = {
    "all cones": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900),
    ),
}  # fmt: skip
"""From linear RGB to what is seen of it. Source: Machado, Oliveira, Fernandes, “A Physiologically-based Model for
Simulation of Color Vision Deficiency”, IEEE TVCG 15(6), 2009, severity 1.0."""

Linear = tuple[float, ...]


def linear(colour: str) -> Linear:
    """Of `#rrggbb`, its parts in proportion to light."""
    parts = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return tuple(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)


def contrast(one: str, other: str) -> float:
    """As WCAG 2.2 defines it, from 1 to 21."""
    lights = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (linear(one), linear(other))]
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def seen(colour: str, vision: str) -> Linear:
    parts = (sum(a * b for a, b in zip(row, linear(colour))) for row in VISIONS[vision])
    return tuple(min(1.0, max(0.0, part)) for part in parts)


def oklab(light: Linear) -> tuple[float, ...]:
    """Lightness and two axes of colour. Source: Ottosson, “A perceptual color space for image processing”, 2020."""
    cones = tuple(sum(a * b for a, b in zip(row, light)) ** (1 / 3) for row in CONES)
    return tuple(sum(a * b for a, b in zip(row, cones)) for row in AXES)


def colour(theme: Theme, name: str) -> str:
    found = getattr(theme, name, None) or theme.variables[name]
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize("theme", OWN, ids=lambda theme: theme.name)
def test_all_text_can_be_read_on_every_ground_that_it_stands_on(theme: Theme) -> None:
    least = EASY if theme is HIGH_CONTRAST else READABLE
    wanted = {(text, ground): least for ground in GROUNDS for text in TEXT}
    wanted |= {(f"fs-{name}", ground): READABLE for name in (*HUES, "other") for ground in ("background", "panel")}
    wanted |= {("ink", "primary"): least, **dict.fromkeys(MARKS, GRAPHICAL)}
    found = {pair: contrast(*(colour(theme, name) for name in pair)) for pair in wanted}
    assert {pair: round(value, 2) for pair, value in found.items() if value < wanted[pair]} == {}


def test_text_in_pictures_can_be_read_and_the_wizard_has_no_colours_but_those_that_are_checked() -> None:
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
    room = Path(fswizard.__file__).parent / "tui"
    used = set()
    for path in (*room.rglob("*.py"), *room.rglob("*.tcss")):
        used |= set(re.findall(r"\$([a-z][a-z-]*[a-z])", path.read_text("utf-8")))
    assert used - {*TEXT, *GROUNDS, *DRAWN} == {"fs", "ink", "uuid", "stamp"}


@pytest.mark.parametrize("theme", [DARK, LIGHT, HIGH_CONTRAST], ids=lambda theme: theme.name)
@pytest.mark.parametrize("vision", VISIONS)
def test_common_filesystems_are_told_apart_with_every_colour_vision(theme: Theme, vision: str) -> None:
    found = {name: oklab(seen(colour(theme, f"fs-{name}"), vision)) for name in COMMON}
    alike = {
        (one, other): round(apart, 3)
        for one, other in combinations(COMMON, 2)
        if (apart := math.dist(found[one], found[other])) < APART
    }
    assert alike == {}


def _every(theme: Theme) -> Iterator[str]:
    yield from (getattr(theme, name) for name in ("primary", "foreground", "background", "panel", "error"))
    yield from theme.variables.values()


@pytest.mark.parametrize("theme", TERMINAL, ids=lambda theme: theme.name)
def test_the_terminals_own_theme_has_no_other_colour_than_the_terminals_sixteen(theme: Theme) -> None:
    assert all(value.startswith("ansi_") for value in _every(theme))
    told_apart = {colour(theme, name) for name in ("success", "error", "warning", "primary")}
    greys = {"ansi_default", "ansi_black", "ansi_white", "ansi_bright_black", "ansi_bright_white"}
    assert len(told_apart - greys) == 4
    for name in (*told_apart, *(colour(theme, name) for name in ("muted", "faint"))):
        assert name not in (colour(theme, "background"), colour(theme, "cursor"))
    assert len({colour(theme, f"fs-{name}") for name in COMMON[:4]}) == 4
    assert theme.variables.keys() == DARK.variables.keys()
    assert all(Color.parse(value.removeprefix("ansi_")) for value in _every(theme))
