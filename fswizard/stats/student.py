"""Student's t distribution, for degrees of freedom that need not be whole."""

from __future__ import annotations

import math
from functools import lru_cache


def two_sided(t: float, freedom: float) -> float:
    """The chance of a value at least as far from 0 as `t`."""
    return _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5)


@lru_cache(maxsize=1024)
def quantile(chance: float, freedom: float) -> float:
    """The t for which `two_sided` gives this chance, above 0 and at most 1."""
    low, high = 0.0, 1.0
    while two_sided(high, freedom) > chance:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided(middle, freedom) > chance else (low, middle)
    return high


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function (DLMF 8.17.22), by Lentz's method."""
    if x <= 0 or x >= 1:
        return min(1.0, max(0.0, x))
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )  # fmt: skip
    c, d = 1.0, 1 / _away_from_0(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 200):  # under a hundred are enough for any t and any freedom from 1 on
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away_from_0(1 + term * d)
            c = _away_from_0(1 + term / c)
            fraction *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return front * fraction / a


def _away_from_0(value: float) -> float:
    return value if abs(value) > 1e-300 else 1e-300
