"""Filled curves in braille characters, with two columns and four rows of dots per cell."""

from __future__ import annotations

from collections.abc import Sequence

BLANK = 0x2800
LEFT = (0x00, 0x40, 0x44, 0x46, 0x47)
"""The lowest dots of the left column, by their number."""
RIGHT = (0x00, 0x80, 0xA0, 0xB0, 0xB8)
LINES = tuple(chr(BLANK | dots) for dots in (0xC0, 0x24, 0x12, 0x09))
"""Cells with a horizontal line, from the lowest row of dots up."""
TEXTURES = (0xFF, 0x95, 0x47, 0xD2)
"""Masks of the dots in filled areas: all, every other one, every other column, every other row."""


def swatch(texture: int) -> str:
    """A filled cell."""
    return chr(BLANK | TEXTURES[texture % len(TEXTURES)])


def area(values: Sequence[float], width: float, height: int, texture: int = 0) -> list[str]:
    """Lines from top to bottom of a filled area under `values`, where 1 is the full height.

    `width` counts cells and may be a multiple of a half. Values are resampled by means, or by repetition.
    """
    top, columns = 4 * height, max(1, round(2 * width))
    dots = []
    for column in range(columns):
        begin = column * len(values) // columns
        share = values[begin : max(begin + 1, (column + 1) * len(values) // columns)]
        dots.append(max(1, min(top, round(top * sum(share) / len(share)))))
    if columns % 2:
        dots.append(0)
    lines, mask = [], TEXTURES[texture % len(TEXTURES)]
    for floor in range(top - 4, -1, -4):
        line = ""
        for left, right in zip(dots[::2], dots[1::2]):
            cell = LEFT[max(0, min(4, left - floor))] | RIGHT[max(0, min(4, right - floor))]
            line += chr(BLANK | cell & mask) if cell else " "
        lines.append(line)
    return lines
