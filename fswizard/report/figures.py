"""Ratios as bars around 1, on a logarithmic axis: what stands where. The formats and the wizard only paint it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from fswizard.model.analysis import Ratio

TICKS = (
    *(0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9),
    *(1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0),
)
WIDEST, NARROWEST = math.log(1000), math.log(1.13)
EIGHTHS = " ▏▎▍▌▋▊▉"
HATCHED = "▒"


def solid(length: float, width: int, *, proven: bool = True) -> str:
    """A bar of `length`, from 0 to 1, in `width` cells, to an eighth of a cell; hatched where nothing is proven."""
    if not proven:
        return HATCHED * max(1, round(min(1.0, length) * width))
    full, part = divmod(max(1, round(min(1.0, length) * width * 8)), 8)
    return "█" * full + EIGHTHS[part].strip()


@dataclass(frozen=True, slots=True)
class Axis:
    """Where a ratio stands between two ends."""

    low: float
    """Logarithm of the ratio at the left end."""
    high: float

    @classmethod
    def around(cls, ratios: Iterable[Ratio]) -> Axis:
        """An axis that shows all estimates, and as much of the intervals as leaves room for the estimates."""
        shown = [ratio for ratio in ratios if ratio.verdict != "failed" and ratio.ratio > 0]
        estimates = [math.log(ratio.ratio) for ratio in shown]
        reach = 2.5 * max(map(abs, estimates), default=0.0) + NARROWEST
        bounds = [math.log(bound) for ratio in shown for bound in (ratio.low, ratio.high) if bound]
        every = [*estimates, *(max(-reach, min(reach, bound)) for bound in bounds)]
        left = min(WIDEST, max(NARROWEST, -min(every, default=0.0)))
        right = min(WIDEST, max(NARROWEST, max(every, default=0.0)))
        return cls(-max(left, right / 3) * 1.06, max(right, left / 3) * 1.06)

    def place(self, ratio: float) -> float:
        """From 0 at the left end to 1 at the right end; what is beyond them stands at the end."""
        return max(0.0, min(1.0, (math.log(ratio) - self.low) / (self.high - self.low))) if ratio > 0 else 0.0

    def cell(self, ratio: float, width: int) -> int:
        """Its number in a row of `width` cells."""
        return round(self.place(ratio) * (width - 1))

    def holds(self, ratio: float) -> bool:
        return self.low <= math.log(ratio) <= self.high

    def labels(self, baseline: str, width: int) -> list[tuple[float, int, str]]:
        """Ratio, first cell and words of what finds room above a row; the baseline's name, which stands at 1, first."""
        room = max(4, width // 3)
        name = baseline if len(baseline) <= room else baseline[: room - 1] + "…"
        ticks = sorted(filter(self.holds, TICKS), key=lambda tick: -abs(math.log(tick)))
        labels: list[tuple[float, int, str]] = []
        taken: set[int] = set()
        for ratio, words, gap in ((1.0, name if baseline.isascii() else "1", 0), *((t, f"{t:g}", 2) for t in ticks)):
            start = max(0, min(width - len(words), self.cell(ratio, width) - len(words) // 2))
            if taken.isdisjoint(range(start - gap, start + len(words) + gap)) and len(words) <= width:
                labels.append((ratio, start, words))
                taken.update(range(start, start + len(words)))
        return labels

    def line(self, baseline: str, width: int) -> str:
        """The labels in a row."""
        row = [" "] * width
        for _, start, words in self.labels(baseline, width):
            row[start : start + len(words)] = words
        return "".join(row)


def bar(ratio: Ratio, axis: Axis, width: int) -> str:
    """A ratio with its interval in `width` cells: a hollow mark where it has none, arrows where it goes on beyond."""
    cells = [" "] * width
    one = axis.cell(1.0, width)
    cells[one] = "│"
    if ratio.ratio > 0:
        if ratio.low and ratio.high:
            low, high = axis.cell(ratio.low, width), axis.cell(ratio.high, width)
            cells[low : high + 1] = "─" * (high + 1 - low)
            cells[one] = "┼" if low <= one <= high else "│"
            cells[low] = "├" if axis.holds(ratio.low) else "◂"
            cells[high] = "┤" if axis.holds(ratio.high) else "▸"
        cells[axis.cell(ratio.ratio, width)] = "●" if ratio.low is not None else "○"
    return "".join(cells)
