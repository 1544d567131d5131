"""What lies under intervals: Welch's comparison, Student's distribution, and least squares."""

from __future__ import annotations

import random
import statistics
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.stats.ratios import fit
from fswizard.stats.student import quantile, two_sided
from fswizard.stats.unpaired import welch


@pytest.mark.parametrize(
    ("chance", "freedom", "t"),
    [
        (0.05, 1, 12.7062),
        (0.05, 2, 4.30265),
        (0.05, 10, 2.22814),
        (0.05, 1000, 1.96234),
        (0.01, 3, 5.84091),
        (0.001, 5, 6.86883),
        (0.5, 4, 0.740697),
    ],
)
def test_quantiles_are_those_of_printed_tables(chance: float, freedom: float, t: float) -> None:
    assert quantile(chance, freedom) == pytest.approx(t, rel=1e-5)
    assert two_sided(t, freedom) == pytest.approx(chance, rel=1e-4)


@pytest.mark.parametrize("freedom", [1.0, 1.5, 2.7, 30.3])
def test_chance_and_quantile_are_inverse_to_each_other(freedom: float) -> None:
    for chance in (1e-6, 0.003, 0.2, 0.9, 1.0):
        assert two_sided(quantile(chance, freedom), freedom) == pytest.approx(chance, rel=1e-9)


@pytest.mark.parametrize(("counts", "noise"), [((3, 3), (1.0, 1.0)), ((3, 8), (3.0, 1.0)), ((5, 4), (1.0, 2.0))])
def test_one_interval_in_twenty_misses_whatever_the_repeats_and_their_noise(
    counts: tuple[int, int], noise: tuple[float, float]
) -> None:
    rng, missed, runs = random.Random(3), 0, 500
    for _ in range(runs):
        one, other = ([rng.gauss(0, 0.1 * n) for _ in range(count)] for count, n in zip(counts, noise))
        ratio = welch(("xfs", "ext4"), "", one, other)
        assert ratio.low is not None and ratio.high is not None
        missed += not ratio.low <= 1 <= ratio.high
    assert missed / runs <= 0.08


# Least squares


SCORES = st.floats(-20, 20)


@st.composite
def full_tables(draw: st.DrawFn) -> dict[str, dict[int, float]]:
    rounds = draw(st.integers(2, 6))
    names = [f"c{i}" for i in range(draw(st.integers(2, 6)))]
    return {name: {r: draw(SCORES) for r in range(1, rounds + 1)} for name in names}


@st.composite
def gappy_tables(draw: st.DrawFn) -> dict[str, dict[int, float]]:
    table = draw(full_tables())
    return {
        name: {number: score for number, score in cells.items() if number == 1 or draw(st.booleans())}
        for name, cells in table.items()
    }


@given(full_tables())
def test_in_a_full_table_twice_the_residual_mean_square_is_the_mean_variance_of_all_pairs(
    table: dict[str, dict[int, float]],
) -> None:
    variances = [
        statistics.variance([table[one][number] - table[other][number] for number in table[one]])
        for one, other in combinations(table, 2)
    ]
    assert 2 * fit(table).residual_mean_square == pytest.approx(statistics.fmean(variances), abs=1e-9)


def test_a_table_with_gaps_is_fitted_by_least_squares() -> None:
    # c left after round 2; checked against the normal equations solved by hand
    table = {"a": {1: 2.0, 2: 4.0, 3: 6.0}, "b": {1: 1.0, 2: 1.0, 3: 5.0}, "c": {1: 0.0, 2: 1.0}}
    fitted = fit(table)
    assert fitted.freedom == 8 - 3 - 3 + 1
    assert fitted.effects["a"] - fitted.effects["b"] == pytest.approx(5 / 3)
    assert fitted.effects["a"] - fitted.effects["c"] == pytest.approx(7 / 3)
    assert fitted.residual_sum == pytest.approx(4 / 3)
    apart = {"a": {1: 1.0, 2: 2.0}, "b": {1: 1.0, 2: 3.0}, "c": {3: 1.0, 4: 2.0}, "d": {3: 4.0, 4: 4.0}}
    assert fit(apart).freedom == 2
    assert fit({}).residual_mean_square == 0.0, "an empty table has nothing to fit"


@given(gappy_tables())
def test_least_squares_cannot_be_improved_upon(table: dict[str, dict[int, float]]) -> None:
    rounds = sorted({number for cells in table.values() for number in cells})
    fitted = fit(table)

    def residual_sum(nudged: str, by: float) -> float:
        effects, total = {**fitted.effects, nudged: fitted.effects.get(nudged, 0.0) + by}, 0.0
        for number in rounds:
            left = [cells[number] - effects[name] for name, cells in table.items() if number in cells]
            mean = statistics.fmean(left)
            total += sum((value - mean) ** 2 for value in left)
        return total

    assert fitted.residual_sum == pytest.approx(residual_sum("", 0.0), abs=1e-6)
    for name in table:
        for by in (-0.01, 0.01):
            assert residual_sum(name, by) >= fitted.residual_sum - 1e-6


@given(gappy_tables(), st.floats(-5, 5))
def test_what_a_round_has_in_common_changes_no_residual(table: dict[str, dict[int, float]], luck: float) -> None:
    lucky = {
        name: {number: score + (luck if number == 1 else 0.0) for number, score in cells.items()}
        for name, cells in table.items()
    }
    assert fit(lucky).residual_sum == pytest.approx(fit(table).residual_sum, abs=1e-6)
