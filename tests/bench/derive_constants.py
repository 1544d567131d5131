"""Derives the constants of fswizard/stats/ratios.py by simulation.

    python -m tests.bench.derive_constants derive [--runs N]     the table, about ten minutes
    python -m tests.bench.derive_constants check [--runs N]      the errors that it gives, about fifteen minutes

derive: of each simulated run under the null hypothesis (no candidate differs from another, normal noise) it keeps the
largest `|mean d| / sqrt(v/b)` of all pairs at each look b = 3..12. The constant of look b is the upper `g*b`
quantile of those: later looks, which rest on more rounds, may use up more of the permitted error. `g` is chosen
so that 5 % of the runs exceed their constant at any look, or less where too many of the runs with one candidate three
times as noisy would be exceeded otherwise.

check: simulated runs in which nothing differs go through the program's own judgement with the constants as they
stand, for all twelve rounds, dropping whoever is judged slower. `familywise` is the share of runs in which any
interval of any pair at any look missed the truth; `winner` the share that ended with one candidate proven ahead.
"""

from __future__ import annotations

import argparse
import math
import os
import random
from collections.abc import Sequence
from itertools import combinations

from tests.bench.simulation import SCENARIOS, Scenario, Simulation, plan_of

LOOKS = range(3, 13)
ERROR = 0.05
NOISY_ERROR = 0.066
"""A little under the permitted 7 %: dropping candidates on the way adds some, and simulation errs itself."""
NOISE_OF_THE_NOISY = 3.0


def statistics_of_one_run(candidates: int, rng: random.Random, noisy: float = 1.0) -> list[float]:
    """The largest statistic of all pairs at each look of a run in which nothing differs."""
    pairs = tuple(combinations(range(candidates), 2))
    sums, squares = [0.0] * len(pairs), [0.0] * len(pairs)
    largest = []
    for b in range(1, LOOKS.stop):
        figures = [rng.gauss(0.0, noisy), *(rng.gauss(0.0, 1.0) for _ in range(candidates - 1))]
        for index, (one, other) in enumerate(pairs):
            d = figures[one] - figures[other]
            sums[index] += d
            squares[index] += d * d
        if b in LOOKS:
            largest.append(_largest(sums, squares, b))
    return largest


def _largest(sums: Sequence[float], squares: Sequence[float], b: int) -> float:
    """In a full table twice the residual mean square is the mean of all pairs' variances."""
    variances = [(q - s * s / b) / (b - 1) for s, q in zip(sums, squares)]
    pool = 4 * sum(variances) / len(variances)
    return math.sqrt(max(s * s / ((pool + (b - 1) * variance) / (b + 3)) for s, variance in zip(sums, variances)) / b)


def derive(candidates: int, runs: int, seed: int) -> tuple[list[float], float]:
    """The constants for a number of candidates, and `g`."""
    rng = random.Random(seed)
    equal = [statistics_of_one_run(candidates, rng) for _ in range(runs)]
    noisy = [statistics_of_one_run(candidates, rng, NOISE_OF_THE_NOISY) for _ in range(runs // 2)]
    columns = [sorted(column) for column in zip(*equal)]
    low, high = 0.0, ERROR / LOOKS.start
    for _ in range(30):
        g = (low + high) / 2
        constants = _quantiles(columns, g)
        permitted = _exceeded(equal, constants) <= ERROR and _exceeded(noisy, constants) <= NOISY_ERROR
        low, high = (g, high) if permitted else (low, g)
    return _quantiles(columns, low), low


def _exceeded(table: Sequence[Sequence[float]], constants: Sequence[float]) -> float:
    return sum(any(x > c for x, c in zip(row, constants)) for row in table) / len(table)


def _quantiles(columns: Sequence[Sequence[float]], g: float) -> list[float]:
    return [column[min(len(column) - 1, math.ceil(len(column) * (1 - g * b)))] for b, column in zip(LOOKS, columns)]


def print_table(runs: int) -> None:
    for candidates in range(2, 11):
        constants, g = derive(candidates, runs * (5 if candidates < 4 else 1), candidates)
        print(f"    {candidates}: ({', '.join(f'{c:.2f}' for c in constants)}),  # g = {g:.5f}", flush=True)


def errors(candidates: int, scenario: Scenario, runs: int) -> tuple[float, float]:
    """Share of runs with a wrong interval, and with a winner, where nobody differs."""
    plan = plan_of(candidates)
    missed = won = 0
    for seed in range(runs):
        simulation = Simulation([100.0] * candidates, scenario, random.Random(f"{candidates}/{scenario.name}/{seed}"))
        looks = list(simulation.play(plan, to_the_end=True))
        missed += any(simulation.misses(pair) for judgement, _ in looks for pair in judgement.pairs)
        # one that is left because the other one failed has proven nothing
        won += looks[-1][1].stop == "one-left" and len(simulation.table) > 1
    return missed / runs, won / runs


def print_errors(runs: int) -> None:
    print(f"{'scenario':38}{'candidates':>11}{'familywise':>12}{'winner':>9}")
    for scenario in SCENARIOS:
        for candidates in (2, 4, 6, 10) if scenario in SCENARIOS[:2] else (2, 4, 6):
            missed, won = errors(candidates, scenario, runs)
            print(f"{scenario.name:38}{candidates:>11}{missed:>11.1%}{won:>9.1%}", flush=True)


if __name__ == "__main__":
    os.nice(19)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("derive", "check"))
    parser.add_argument("--runs", type=int, help="100,000 for derive, 10,000 for check")
    arguments = parser.parse_args()
    if arguments.what == "derive":
        print_table(arguments.runs or 100_000)
    else:
        print_errors(arguments.runs or 10_000)
