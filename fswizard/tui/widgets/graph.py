"""A filled curve of what was measured last, drawn with eighths of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from textual.content import Content

BARS = " ▁▂▃▄▅▆▇█"


def resample(values: Sequence[float], width: int) -> list[float]:
    """At most `width` values: each the mean of its share, in order."""
    if len(values) <= width:
        return list(values)
    edges = [round(i * len(values) / width) for i in range(width + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]


def graph(
    values: Sequence[float], width: int, height: int, *, top: float | None = None, style: str = "$primary"
) -> Content:
    """`height` lines of `width` cells from the zero line up to `top`; the newest value stands at the right."""
    points = resample(values, max(1, width))
    highest = top if top is not None else max(points, default=0.0)
    eighths = [round(max(0.0, point) / highest * height * 8) if highest > 0 else 0 for point in points]
    eighths = [max(1, level) for level in eighths]
    rows = []
    for row in reversed(range(height)):
        cells = "".join(BARS[max(0, min(8, level - row * 8))] for level in eighths)
        rows.append(Content(" " * (width - len(cells))) + Content.styled(cells, style))
    return Content("\n").join(rows)


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
