"""Each part of the bench runs, on sizes that tell nothing about speed, and its arithmetic is right."""

from __future__ import annotations

import importlib

import pytest

from tests.long.bench.figures import spread


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "lines"),
    [
        ("waiting", 4),
        pytest.param("promises", 1, marks=[getattr(pytest.mark, name) for name in ("root", "loop", "xfs", "btrfs")]),
    ],
)
def test_a_part_measures_every_line_of_its_table(part: str, lines: int) -> None:
    measured = list(importlib.import_module(f"tests.long.bench.{part}").measure("tiny"))
    assert len(measured) == lines
    for line in measured:
        assert float(line.measured.split()[0]) >= 0, line


@pytest.mark.parametrize(("count", "low", "high"), [(5, 0, 4), (21, 5, 15)])
def test_the_interval_of_a_median_is_that_of_the_sign_test(count: int, low: float, high: float) -> None:
    measured = spread([float(value) for value in reversed(range(count))])
    assert (measured.median, measured.low, measured.high) == ((count - 1) / 2, low, high)
