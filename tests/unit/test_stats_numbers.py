"""What lies under Welch's comparison of two runs: Student's distribution."""

from __future__ import annotations

import random

import pytest

from fswizard.stats.unpaired import ERROR, quantile, welch


@pytest.mark.parametrize(("freedom", "t"), [(1, 63.6567), (3, 5.84091), (10, 3.16927), (1000, 2.58075)])
def test_quantiles_are_those_of_printed_tables(freedom: float, t: float) -> None:
    assert quantile(freedom) == pytest.approx(t, rel=1e-5)


@pytest.mark.parametrize(("counts", "noise"), [((3, 3), (1.0, 1.0)), ((3, 8), (3.0, 1.0)), ((5, 4), (1.0, 2.0))])
def test_one_interval_in_a_hundred_misses_whatever_the_repeats_and_their_noise(
    counts: tuple[int, int], noise: tuple[float, float]
) -> None:
    rng, missed, runs = random.Random(3), 0, 1000
    for _ in range(runs):
        one, other = ([rng.gauss(0, 0.03 * n) for _ in range(count)] for count, n in zip(counts, noise))
        ratio = welch(("xfs", "ext4"), "", one, other)
        missed += ratio.low is not None and ratio.high is not None and not ratio.low <= 1 <= ratio.high
    assert missed / runs <= ERROR + 3.1 * (ERROR / runs) ** 0.5 + 0.005  # Welch's approximation errs itself
    assert missed
