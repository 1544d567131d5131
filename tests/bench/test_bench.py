"""Each part of the bench runs, on sizes that tell nothing about speed, and its arithmetic is right."""

from __future__ import annotations

import importlib

import pytest

from tests.bench.__main__ import PARTS
from tests.bench.pairs import Pairs, spread
from tests.bench.table import at_least, at_most, table

LINES = {"fio_jobs": 6, "by_hand": 4, "generators": 4, "startup": 3, "running": 5, "large": 3}
SLOW = ("fio_jobs", "by_hand", "generators", "startup", "running")
"""Parts that start hundreds of programs or look at them for seconds."""
NEEDS = {"fio_jobs": ("loop", "fio"), "by_hand": ("loop", "fio"), "generators": ("loop",)}


def marks_of(part: str) -> tuple[str, ...]:
    return (*NEEDS.get(part, ()), *(["slow"] if part in SLOW else []))


@pytest.mark.parametrize(
    "part", [pytest.param(name, marks=[getattr(pytest.mark, mark) for mark in marks_of(name)]) for name in PARTS]
)
def test_a_part_measures_every_line_of_its_table(part: str) -> None:
    lines = list(importlib.import_module(f"tests.bench.{part}").measure("tiny"))
    assert len(lines) == LINES[part]
    for line in lines:
        assert float(line.measured.split()[0]) >= 0, line


def test_the_order_changes_from_pair_to_pair_and_ratios_are_made_within_pairs() -> None:
    taken = Pairs(3)
    sides = list(taken.turns())
    assert sides == ["ours", "theirs", "theirs", "ours", "ours", "theirs"]
    for number, side in enumerate(sides):
        level = 10.0 ** (number // 2)
        taken.add(side, {"time": 2 * level if side == "ours" else level})
    assert (taken.ratio("time").low, taken.ratio("time").high) == (2.0, 2.0)
    assert taken.inverse("time").median == 0.5


@pytest.mark.parametrize(("count", "low", "high"), [(1, 0, 0), (5, 0, 4), (6, 0, 5), (9, 1, 7), (21, 5, 15)])
def test_the_interval_of_a_median_is_that_of_the_sign_test(count: int, low: float, high: float) -> None:
    found = spread([float(value) for value in reversed(range(count))])
    assert (found.median, found.low, found.high) == ((count - 1) / 2, low, high)


def test_a_line_says_whether_its_bound_holds_and_by_how_much_not() -> None:
    found = spread([0.90, 0.95, 1.0])
    assert at_least("a", found, 0.9).verdict == "holds"
    assert at_least("a", found, 1.0).verdict == "misses by 5.0%, within the spread"
    assert at_least("a", found, 1.9).verdict == "misses by 50.0%"
    assert at_most("a", found, 0.5, "s").verdict == "misses by 90.0%"
    assert at_most("a", found, 0.5, "s", "seen", why="it is slow").remark == "seen; why: it is slow"
    assert at_least("a", found, 0.9, "seen", why="it is slow").remark == "seen"
    assert at_least("a", found, 1.0).remark == "why: not known yet"
    assert table([at_most("a", found, 1.0, "s")]).endswith("| a | ≤ 1 s | 0.95 (0.9 – 1, n = 3) s | holds |  |")
