"""Colours: text that everybody can read, and filesystems that people with any colour vision tell apart."""

from __future__ import annotations

import math
import re
from itertools import combinations
from pathlib import Path

import pytest
from textual.theme import BUILTIN_THEMES

import fswizard
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


def test_every_theme_has_every_colour_that_the_wizard_names() -> None:
    room = Path(fswizard.__file__).parent / "tui"
    used = set()
    for path in (*room.rglob("*.py"), *room.rglob("*.tcss")):
        used |= set(re.findall(r"\$([a-z][a-z-]*[a-z])", path.read_text("utf-8")))
    for name in THEMES:
        theme = BUILTIN_THEMES[name]
        assert used - {*variables(theme), *theme.to_color_system().generate()} == {"fs", "uuid", "stamp"}


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("vision", VISIONS)
def test_common_filesystems_are_told_apart_with_every_colour_vision(name: str, vision: str) -> None:
    known = colours(name)
    found = {each: oklab(seen(known[f"fs-{each}"], vision)) for each in COMMON}
    alike = {
        (one, other): round(apart, 3)
        for one, other in combinations(COMMON, 2)
        if (apart := math.dist(found[one], found[other])) < APART
    }
    assert alike == {}


@pytest.mark.parametrize("name", TERMINAL)
def test_the_terminals_own_colours_tell_verdicts_and_common_filesystems_apart(name: str) -> None:
    known = colours(name)
    assert len({known[f"text-{use}"] for use in ("success", "error", "warning", "primary")}) == 4
    assert len({known[f"fs-{each}"] for each in COMMON[:4]}) == 4
