"""The lines of the table: each figure with its bound, and whether it holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tests.long.bench.pairs import Spread

Size = Literal["full", "short", "tiny"]
"""How much is measured: for the record, for a glance, or just enough to see that the bench itself works."""
HEAD = "| figure | bound | measured | | remark |\n| --- | --- | --- | --- | --- |"


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


def at_least(figure: str, found: Spread, bound: float, remark: str = "", *, why: str = "") -> Line:
    """A ratio that has to reach `bound`; where it does not, `why` is told."""
    verdict = "holds"
    if found.median < bound:
        short = f"misses by {1 - found.median / bound:.1%}"
        verdict = f"{short}, within the spread" if found.high >= bound else short
        remark = _explained(remark, why)
    return Line(figure, f"≥ {bound:g}", str(found), verdict, remark)


def at_most(figure: str, found: Spread, bound: float, unit: str = "", remark: str = "", *, why: str = "") -> Line:
    """A figure or a ratio that may reach `bound`; where it is beyond, `why` is told."""
    verdict = "holds"
    if found.median > bound:
        over = f"misses by {found.median / bound - 1:.1%}"
        verdict = f"{over}, within the spread" if found.low <= bound else over
        remark = _explained(remark, why)
    unit = unit and f" {unit}"
    return Line(figure, f"≤ {bound:g}{unit}", f"{found}{unit}", verdict, remark)


def _explained(remark: str, why: str) -> str:
    return "; ".join(filter(None, (remark, f"why: {why or 'not known yet'}")))


def not_measured(figure: str, why: str) -> Line:
    """What this machine does not allow."""
    return Line(figure, "", "not measured", "", why)


def table(lines: Iterable[Line]) -> str:
    """In Markdown."""
    return "\n".join((HEAD, *map(str, lines)))
