"""How wide an interval must be so that looking after every round and comparing all pairs stays honest."""

from __future__ import annotations

import math

FIRST_LOOK = 3
"""Rounds below which there is no interval."""
LAST_LOOK = 12

CRITICAL: dict[int, tuple[float, ...]] = {
    2: (15.17, 6.98, 5.00, 4.12, 3.69, 3.39, 3.16, 3.00, 2.87, 2.78),
    3: (7.54, 5.24, 4.49, 4.09, 3.81, 3.62, 3.48, 3.36, 3.27, 3.19),
    4: (6.25, 4.95, 4.47, 4.18, 3.98, 3.80, 3.69, 3.60, 3.51, 3.43),
    5: (5.87, 4.91, 4.52, 4.32, 4.14, 4.04, 3.93, 3.81, 3.73, 3.66),
    6: (5.66, 4.94, 4.61, 4.42, 4.29, 4.16, 4.07, 4.00, 3.91, 3.86),
    7: (5.62, 5.00, 4.73, 4.52, 4.42, 4.33, 4.19, 4.14, 4.06, 3.96),
    8: (5.57, 5.06, 4.79, 4.65, 4.54, 4.42, 4.34, 4.27, 4.19, 4.14),
    9: (5.60, 5.15, 4.83, 4.72, 4.60, 4.54, 4.47, 4.41, 4.34, 4.28),
    10: (5.55, 5.12, 4.95, 4.82, 4.73, 4.64, 4.57, 4.50, 4.42, 4.37),
}
"""Candidates at the start to the constants for 3 to 12 rounds.

With them, all intervals of all pairs at all looks hold the truth together in 95 % of runs with normal noise, and in
93 % of runs in which one candidate is three times as noisy as the others; the latter is what widens the rows from five
candidates on. Source: simulation, see tests/bench/derive_constants.py and constants.txt beside it, which also holds
a second derivation of the rows for 2 and 4 candidates.
"""


def critical(candidates: int, rounds: int) -> float:
    """The constant for a pair with `rounds` rounds in common, in a run that started with so many candidates.

    Nobody looked beyond 12 rounds when the constants were made, so from there on intervals do not narrow.
    Beyond ten candidates the constants go on as they rose from nine to ten, which errs on the wide side.
    """
    if candidates < 2 or rounds < FIRST_LOOK:
        raise ValueError(f"there is no constant for {candidates} candidates and {rounds} rounds")
    beyond = math.sqrt(max(1.0, rounds / LAST_LOOK))
    look = min(rounds, LAST_LOOK) - FIRST_LOOK
    largest = max(CRITICAL)
    if candidates <= largest:
        return CRITICAL[candidates][look] * beyond
    rise = max(0.0, CRITICAL[largest][look] - CRITICAL[largest - 1][look])
    return (CRITICAL[largest][look] + rise * (candidates - largest)) * beyond
