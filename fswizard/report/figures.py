"""Bars around 1 and what stands beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from fswizard.model.judgement import Ratio

_BETWEEN = {1.1: 1.05, 1.2: 1.1, 1.5: 1.2, 2.0: 1.4, 3.0: 1.7, 5.0: 2.0, 10.0: 3.0, 30.0: 5.0, 100.0: 10.0, 1e3: 30.0}
"""Ends of the axis that read well, and what is labelled between them and 1."""

_PLAIN = str.maketrans("│┃╂├┤●◂▸─×–±…µ·−▲▼▽═○✗", "|||[]o<>-x-~.u.-+-<=?!")


def tick_text(ratio: float) -> str:
    """A place on an axis, as short as it can be: `0.67`, `1.5`, `30`."""
    return f"{ratio:.2g}" if ratio < 99.5 else f"{ratio:.0f}"


def plain(text: str) -> str:
    """The same drawing in ASCII, for terminals and forums that know nothing else."""
    return text.translate(_PLAIN).encode("ascii", "replace").decode()


@dataclass(frozen=True, slots=True)
class Scale:
    """A logarithmic axis with 1 in its middle."""

    reach: float
    """The largest ratio that finds room; the smallest is its inverse."""

    @classmethod
    def around(cls, ratios: Iterable[Ratio]) -> Scale:
        """An axis that shows every estimate, and intervals as far as they do not squeeze the estimates."""
        shown = [ratio for ratio in ratios if ratio.verdict != "failed" and ratio.ratio > 0]
        estimates = max((abs(math.log(ratio.ratio)) for ratio in shown), default=0.0)
        bounds = [bound for ratio in shown for bound in (ratio.low, ratio.high) if bound and bound > 0]
        widest = max((abs(math.log(bound)) for bound in bounds), default=0.0)
        needed = max(estimates, min(widest, max(2 * estimates, math.log(1.5))))
        return cls(next((reach for reach in _BETWEEN if math.log(reach) >= needed), max(_BETWEEN)))

    def place(self, ratio: float) -> float:
        """From 0 at the left end over ½ for ratio 1 to 1 at the right end; beyond that for what finds no room."""
        return 0.5 + math.log(ratio) / math.log(self.reach) / 2 if ratio > 0 else -math.inf

    @property
    def ticks(self) -> tuple[float, ...]:
        """Five ratios worth a label, from one end to the other."""
        between = _BETWEEN[self.reach]
        return 1 / self.reach, 1 / between, 1.0, between, self.reach

    @property
    def ends(self) -> tuple[str, str]:
        """What stands at the two ends."""
        return tick_text(1 / self.reach), tick_text(self.reach)


def axis(scale: Scale, baseline: str, width: int) -> str:
    """The line above the bars: the two ends, and the baseline's name in the middle as far as it finds room."""
    left, right = scale.ends
    room = width - 2 * (max(len(left), len(right)) + 1)
    name = baseline if len(baseline) <= room else baseline[: max(0, room - 1)] + "…"
    middle = (width - len(name) + 1) // 2
    line = left + " " * (middle - len(left)) + name
    return line + right.rjust(width - len(line))


def bar(ratio: Ratio, scale: Scale, width: int) -> str:
    """A ratio with its interval on `scale`, in exactly `width` characters; `width` should be odd."""
    cells = [" "] * width
    middle = width // 2
    cells[middle] = "┃"

    def column(value: float) -> int:
        return max(-1, min(width, round(scale.place(value) * (width - 1)) if value > 0 else -1))

    if ratio.low is not None and ratio.high is not None:
        low, high = column(ratio.low), column(ratio.high)
        for place in range(max(0, low), min(width - 1, high) + 1):
            cells[place] = "╂" if place == middle else "─"
        if low < high:
            cells[max(0, low)] = "├" if low >= 0 else "◂"
            cells[min(width - 1, high)] = "┤" if high < width else "▸"
    cells[max(0, min(width - 1, column(ratio.ratio)))] = "●"
    return "".join(cells)
