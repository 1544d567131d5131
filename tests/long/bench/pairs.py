"""Two ways of doing the same thing, measured in turns, so that a machine that is busy hurts both alike."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import psutil

Side = Literal["ours", "theirs"]


@dataclass(frozen=True, slots=True)
class Spread:
    """A median, and an interval that holds the true one in 95 % of cases; with under six values it is their range."""

    median: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        return f"{self.median:.3g} ({self.low:.3g} – {self.high:.3g}, n = {self.count})"


def spread(values: Sequence[float]) -> Spread:
    """Median and interval by the sign test, which asks for no distribution."""
    ordered = sorted(values)
    n, outside = len(ordered), 0
    while 40 * sum(math.comb(n, k) for k in range(outside + 1)) <= 2**n:  # both sides together 5 %
        outside += 1
    cut = max(0, outside - 1)
    return Spread(statistics.median(ordered), ordered[cut], ordered[n - 1 - cut], n)


class Pairs:
    """Figures of both sides. Take `turns`, measure whose turn it is, and `add` what was found."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._figures: dict[Side, list[Mapping[str, float]]] = {"ours": [], "theirs": []}

    def turns(self) -> Iterator[Side]:
        """Each side once in every pair, and who begins changes from pair to pair."""
        sides: tuple[Side, Side] = ("ours", "theirs")
        for number in range(self._count):
            yield from sides if number % 2 == 0 else reversed(sides)

    def add(self, side: Side, figures: Mapping[str, float]) -> None:
        self._figures[side].append(figures)

    def values(self, side: Side, name: str) -> list[float]:
        return [figures[name] for figures in self._figures[side]]

    def ratio(self, name: str) -> Spread:
        """Ours over theirs, pair by pair."""
        return spread([ours / theirs for ours, theirs in zip(self.values("ours", name), self.values("theirs", name))])

    def inverse(self, name: str) -> Spread:
        """Theirs over ours: above 1 is better where less is."""
        return spread([theirs / ours for ours, theirs in zip(self.values("ours", name), self.values("theirs", name))])


Measure = Callable[[], Mapping[str, float]]


def measured(count: int, ours: Measure, theirs: Measure) -> Pairs:
    """So many pairs, in turns."""
    taken = Pairs(count)
    for side in taken.turns():
        taken.add(side, ours() if side == "ours" else theirs())
    return taken


def cpu_s(process: psutil.Process) -> float:
    """Processor time of all its threads so far."""
    times = process.cpu_times()
    return times.user + times.system
