"""Colours: text that everybody can read, and filesystems that people with any colour vision tell apart."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
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
APART = 10.0
"""CIEDE2000 between two filesystems; about 1 is just noticeable side by side."""
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


def lab(light: Linear) -> tuple[float, float, float]:
    """CIELAB under D65."""
    r, g, b = light
    x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047
    y = 0.2126729 * r + 0.7151522 * g + 0.0721750 * b
    z = (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883
    fx, fy, fz = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def difference(one: Sequence[float], other: Sequence[float]) -> float:
    """CIEDE2000. Source: Sharma, Wu, Dalal, “The CIEDE2000 Color-Difference Formula”, 2005."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    middle = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * math.sqrt(middle**7 / (middle**7 + 25**7))
    a1, a2 = stretch * a1, stretch * a2
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = math.degrees(math.atan2(b1, a1)) % 360, math.degrees(math.atan2(b2, a2)) % 360
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    lightness, chroma, hue = (l1 + l2) / 2, (c1 + c2) / 2, h1 + turn / 2 if c1 * c2 else h1 + h2
    weight = (
        1
        - 0.17 * _cos(hue - 30)
        + 0.24 * _cos(2 * hue)
        + 0.32 * _cos(3 * hue + 6)
        - 0.20 * _cos(4 * hue - 63)
    )  # fmt: skip
    light = (l2 - l1) / (1 + 0.015 * (lightness - 50) ** 2 / math.sqrt(20 + (lightness - 50) ** 2))
    full = (c2 - c1) / (1 + 0.045 * chroma)
    round_ = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2)) / (1 + 0.015 * chroma * weight)
    blue = math.radians(60 * math.exp(-((((hue % 360) - 275) / 25) ** 2)))
    tilt = -2 * math.sqrt(chroma**7 / (chroma**7 + 25**7)) * math.sin(blue)
    return math.sqrt(light**2 + full**2 + round_**2 + tilt * full * round_)


def _cos(degrees: float) -> float:
    return math.cos(math.radians(degrees))


def colour(theme: Theme, name: str) -> str:
    found = getattr(theme, name, None) or theme.variables[name]
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (61.0, -5.0, 29.0), 22.8977),
        ((90.8027, -2.0831, 1.4410), (91.1528, -1.6435, 0.0447), 1.4441),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_differences_are_those_that_the_formulas_authors_published(
    one: tuple[float, ...], other: tuple[float, ...], expected: float
) -> None:
    assert difference(one, other) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("theme", OWN, ids=lambda theme: theme.name)
def test_all_text_can_be_read_on_every_ground_that_it_stands_on(theme: Theme) -> None:
    least = EASY if theme is HIGH_CONTRAST else READABLE
    wanted = {(text, ground): least for ground in GROUNDS for text in TEXT}
    wanted |= {(f"fs-{name}", ground): READABLE for name in (*HUES, "other") for ground in ("background", "panel")}
    wanted |= {("ink", "primary"): least, **dict.fromkeys(MARKS, GRAPHICAL)}
    found = {pair: contrast(*(colour(theme, name) for name in pair)) for pair in wanted}
    assert {pair: round(value, 2) for pair, value in found.items() if value < wanted[pair]} == {}


def test_text_in_pictures_and_pages_can_be_read() -> None:
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


def test_the_wizard_has_no_colours_but_those_that_are_checked() -> None:
    room = Path(fswizard.__file__).parent / "tui"
    used = set()
    for path in (*room.rglob("*.py"), *room.rglob("*.tcss")):
        used |= set(re.findall(r"\$([a-z][a-z-]*[a-z])", path.read_text("utf-8")))
    assert used - {*TEXT, *GROUNDS, *DRAWN} == {"fs", "ink"}


@pytest.mark.parametrize("theme", [DARK, LIGHT, HIGH_CONTRAST], ids=lambda theme: theme.name)
@pytest.mark.parametrize("vision", VISIONS)
def test_common_filesystems_are_told_apart_with_every_colour_vision(theme: Theme, vision: str) -> None:
    found = {name: lab(seen(colour(theme, f"fs-{name}"), vision)) for name in COMMON}
    alike = {
        (one, other): round(difference(found[one], found[other]), 1)
        for one, other in combinations(COMMON, 2)
        if difference(found[one], found[other]) < APART
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
