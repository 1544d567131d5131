"""Figures of the bench: medians with their intervals, two ways of doing the same thing in turns, lines of the table."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Measure = Callable[[], float]
"""Measures something once, in seconds."""
HEAD = "| figure | bound | measured | | remark |\n| --- | --- | --- | --- | --- |"


@dataclass(frozen=True, slots=True)
class Spread:
    """A median, and an interval that holds the true one in 95 % of cases; with under six values it is their range."""

    median: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        return f"{self.median:.3g} ({self.low:.3g} – {self.high:.3g}, n = {self.count})"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table."""

    figure: str
    bound: str
    measured: str
    verdict: str
    remark: str = ""

    def __str__(self) -> str:
        return f"| {self.figure} | {self.bound} | {self.measured} | {self.verdict} | {self.remark} |"


def spread(values: Sequence[float]) -> Spread:
    """Median and interval by the sign test, which asks for no distribution."""
    ordered = sorted(values)
    count, outside = len(ordered), 0
    while 40 * sum(math.comb(count, k) for k in range(outside + 1)) <= 2**count:  # both sides together 5 %
        outside += 1
    cut = max(0, outside - 1)
    return Spread(statistics.median(ordered), ordered[cut], ordered[count - 1 - cut], count)


def in_turns(count: int, ours: Measure, theirs: Measure) -> list[tuple[float, float]]:
    """`count` figures of each side; who begins changes, so that a busy machine hurts both alike."""
    found = []
    for number in range(count):
        if number % 2 == 0:
            mine, other = ours(), theirs()
        else:
            other, mine = theirs(), ours()
        found.append((mine, other))
    return found


def at_most(figure: str, measured: Spread, bound: float, unit: str = "", remark: str = "") -> Line:
    """A figure or a ratio that may reach `bound`."""
    verdict = "holds"
    if measured.median > bound:
        verdict = f"misses by {measured.median / bound - 1:.1%}"
        if measured.low <= bound:
            verdict += ", within the spread"
    unit = unit and f" {unit}"
    return Line(figure, f"≤ {bound:g}{unit}", f"{measured}{unit}", verdict, remark)


def table(lines: Iterable[Line]) -> str:
    """In Markdown."""
    return "\n".join((HEAD, *map(str, lines)))
