"""Filled curves: of several lines with the dots of braille characters, two columns and four rows in a cell; of one
line with eighths of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

BLANK = 0x2800
LEFT = (0x00, 0x40, 0x44, 0x46, 0x47)
"""The lowest dots of the left column, by their number."""
RIGHT = (0x00, 0x80, 0xA0, 0xB0, 0xB8)
LINES = tuple(chr(BLANK | dots) for dots in (0xC0, 0x24, 0x12, 0x09))
"""A cell with a level line through it, from the lowest row of dots up."""
TEXTURES = (0xFF, 0x95, 0x47, 0xD2)
"""Which dots of a cell a filled area shows: all, every other one, every other column, every other row."""

BARS = " ▁▂▃▄▅▆▇█"


def swatch(texture: int) -> str:
    """A cell that is filled."""
    return chr(BLANK | TEXTURES[texture % len(TEXTURES)])


def area(values: Sequence[float], width: float, height: int, texture: int = 0) -> tuple[str, ...]:
    """`height` lines, from the top down, filled from the bottom up to `values`, of which 1 stands at the top.

    `width` counts cells; a half of one is drawn where there are several lines.
    """
    if height == 1:
        return ("".join(BARS[max(1, min(8, round(8 * value)))] for value in stretched(values, max(1, int(width)))),)
    columns = stretched(values, max(1, round(2 * width)))
    levels = [max(1, min(4 * height, round(4 * height * value))) for value in columns]
    mask = TEXTURES[texture % len(TEXTURES)]
    pairs = list(zip(levels[::2], (*levels[1::2], 0)))
    rows = []
    for floor in range(4 * (height - 1), -1, -4):
        cells = ((max(0, min(4, a - floor)), max(0, min(4, b - floor))) for a, b in pairs)
        rows.append("".join(chr(BLANK | (LEFT[a] | RIGHT[b]) & mask) if a or b else " " for a, b in cells))
    return tuple(rows)


def stretched(values: Sequence[float], columns: int) -> list[float]:
    """`columns` values: the mean of each one's share, or the value that stands there where there are fewer."""
    count = len(values)
    if count <= columns:
        return [values[column * count // columns] for column in range(columns)]
    edges = [column * count // columns for column in range(columns + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]


def nice_top(value: float) -> float:
    """The next round figure at or above `value`: 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 1.0
    while power * 10 <= value:
        power *= 10
    while power > value:
        power /= 10
    return next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * power >= value * 0.999)
