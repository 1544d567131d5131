"""Estimates of the same thing from several places, whose truths differ: one mean, and an interval for it.

A place's estimate errs by its own noise and by what sets the place apart, of variance tau². Tau² is that of Paule and
Mandel (1982): with it the weighted squares of the deviations come to their degrees of freedom. It assumes no
distribution, and the interval of Knapp and Hartung (2003), Student's with one degree less than places, needs no factor
then: theirs is 1, and 1 is also the least that Röver, Knapp and Friede (2015) allow where tau² is 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fswizard.stats.student import quantile


@dataclass(frozen=True, slots=True)
class Mean:
    """Mean of the logarithms of all places."""

    mean: float
    error: float
    """Standard error of `mean`."""
    between: float
    """Tau: standard deviation of the places' true values."""
    places: int

    def half_width(self, chance: float) -> float:
        """Half an interval that misses the mean of all such places with this chance; for two places or more."""
        return quantile(chance, self.places - 1) * self.error


def random_effects(estimates: Sequence[tuple[float, float]]) -> Mean:
    """The mean of (estimate, standard error) pairs, one for each of at least one place."""
    between = _paule_mandel(estimates)
    mean, total = _weighted(estimates, between)
    return Mean(mean, 1 / math.sqrt(total), math.sqrt(between), len(estimates))


def _weighted(estimates: Sequence[tuple[float, float]], between: float) -> tuple[float, float]:
    """The mean and the sum of the weights."""
    weights = [1 / (error * error + between) for _, error in estimates]
    total = math.fsum(weights)
    return math.fsum(weight * estimate for weight, (estimate, _) in zip(weights, estimates)) / total, total


def _paule_mandel(estimates: Sequence[tuple[float, float]]) -> float:
    """Tau²; 0 if the places differ by no more than their own noise.

    The weighted squares of the deviations fall with tau², ever more slowly, so Newton's method comes from below to
    where they equal their degrees of freedom.
    """
    between, freedom = 0.0, len(estimates) - 1
    for _ in range(100):  # about ten are enough
        mean, _ = _weighted(estimates, between)
        terms = [((e - mean) ** 2, error * error + between) for e, error in estimates]
        excess = math.fsum(square / variance for square, variance in terms) - freedom
        if excess <= 1e-9 * freedom:
            break
        between += excess / math.fsum(square / variance**2 for square, variance in terms)
    return between
