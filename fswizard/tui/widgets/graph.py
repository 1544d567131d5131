"""A filled curve of what was measured last, drawn with eighths of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise

from textual.content import Content

from fswizard.tui.drawing import fit, text

BARS = " ▁▂▃▄▅▆▇█"
AXIS = 11
"""Cells at the left of a chart."""


def resample(values: Sequence[float], width: int) -> list[float]:
    """At most `width` values: each the mean of its share, in order."""
    if len(values) <= width:
        return list(values)
    edges = [round(i * len(values) / width) for i in range(width + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]


def chart(values: Sequence[float], width: int, height: int, *, top: float, label: str, style: str) -> list[Content]:
    """A curve of `height` lines with an axis, whose top is called `label`; without a label it has no marks at all."""
    marks = [label, *([""] * (height - 2)), "0" if label else ""]
    return [
        _chart_line(mark, row, style) for mark, row in zip(marks, graph(values, max(4, width - AXIS), height, top=top))
    ]


@lru_cache(maxsize=256)
def _chart_line(mark: str, row: str, style: str) -> Content:
    """Many lines of a curve that moves on stay as they are."""
    return text(fit((mark, "$faint"), AXIS - 2, "right"), ("┤" if mark else "│", "$line"), " ", (row, style))


def graph(values: Sequence[float], width: int, height: int, *, top: float | None = None) -> list[str]:
    """`height` lines of `width` cells from the zero line up to `top`; the newest value stands at the right."""
    points = resample(values, max(1, width))
    highest = top if top is not None else max(points, default=0.0)
    eighths = [round(max(0.0, point) / highest * height * 8) if highest > 0 else 0 for point in points]
    rows = zip(*(_column(min(height * 8, max(1, level)), height) for level in eighths)) if eighths else [()] * height
    return ["".join(row).rjust(width) for row in rows]


@cache
def _column(eighths: int, height: int) -> str:
    """The cells of a bar, from the top down."""
    full, part = divmod(eighths, 8)
    return ("█" * full + (BARS[part] if part else "")).ljust(height)[::-1]


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
