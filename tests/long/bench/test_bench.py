"""Each part of the bench runs, on sizes that tell nothing about speed, and its arithmetic is right."""

from __future__ import annotations

import importlib

import pytest

from tests.long.bench.__main__ import PARTS
from tests.long.bench.pairs import spread

LINES = {"fio_jobs": 6, "generators": 4, "startup": 3, "running": 5, "large": 3, "promises": 1}
SLOW = ("fio_jobs", "generators", "startup", "running", "promises")
"""Parts that start hundreds of programs or look at them for seconds."""
NEEDS = {
    "fio_jobs": ("loop", "fio"),
    "generators": ("loop",),
    "promises": ("root", "loop", "xfs", "btrfs", "dpkg", "sqlite3"),
}


def marks_of(part: str) -> tuple[str, ...]:
    return (*NEEDS.get(part, ()), *(["slow"] if part in SLOW else []))


@pytest.mark.parametrize(
    "part", [pytest.param(name, marks=[getattr(pytest.mark, mark) for mark in marks_of(name)]) for name in PARTS]
)
def test_a_part_measures_every_line_of_its_table(part: str) -> None:
    lines = list(importlib.import_module(f"tests.long.bench.{part}").measure("tiny"))
    assert len(lines) == LINES[part]
    for line in lines:
        assert float(line.measured.split()[0]) >= 0, line


@pytest.mark.parametrize(("count", "low", "high"), [(1, 0, 0), (5, 0, 4), (6, 0, 5), (9, 1, 7), (21, 5, 15)])
def test_the_interval_of_a_median_is_that_of_the_sign_test(count: int, low: float, high: float) -> None:
    found = spread([float(value) for value in reversed(range(count))])
    assert (found.median, found.low, found.high) == ((count - 1) / 2, low, high)
