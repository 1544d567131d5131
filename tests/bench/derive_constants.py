"""Derives the constants of fswizard/stats/constants.py by simulation.

    python -m tests.bench.derive_constants [--share X] [CANDIDATES...]     about twenty minutes for all

For each number of candidates it simulates runs in which nothing differs, and keeps of each look the largest difference
of all pairs in standard errors. A run errs at the first look whose constant it exceeds, and the constant of a look lets
through as many more runs as the error may grow by there. It grows most at the first look and falls evenly to a fifth of
that at the last one: what is proven early saves most. With more than two candidates the first look spends less
(`FIRST`): two figures that happen to be alike hide that a candidate is noisier than the others. With four to six
the second look spends more instead (`SECOND`).

How much larger constants are within rounds than as if unpaired comes from equal noise, each way by itself: within
rounds where these differ most, unpaired where they don't. A constant is then the largest that any of these needs:

- equal noise, and what a round has in common 0, 0.4, 0.8 and 3 times as large: 5 % of the runs err in the end;
- a tenth of the cells twice as slow: 5 %;
- noise from 1 % to 10 %, and one candidate 3, 5 and 10 times as noisy, also where rounds differ: 7 %.

Where one of the latter machines needs more than that, all looks spend less.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence

import numpy as np

from fswizard.model.plan import FIRST_LOOK
from fswizard.stats.constants import LAST_LOOK, PAIRED_FROM
from tests.bench.many import Floats, Noise, bimodal, normal, one_noisy, statistics, unequal

ERROR, UNEQUAL_ERROR = 0.0495, 0.0685
"""A little under what is permitted: simulation errs itself."""
EQUAL: tuple[Noise, ...] = tuple(normal(1.0, shared=shared) for shared in (0.0, 0.4, 0.8, 3.0))
OTHERS: tuple[tuple[Noise, float], ...] = (
    (bimodal(0.03), ERROR),
    (unequal(1.0, 10.0), UNEQUAL_ERROR),
    *((one_noisy(1.0, times, shared=shared), UNEQUAL_ERROR) for times in (3.0, 5.0, 10.0) for shared in (0.0, 3.0)),
)
LOOKS = LAST_LOOK - FIRST_LOOK + 1
SPENT = np.linspace(2.0, 0.4, LOOKS)
FIRST = {2: 1.0, 3: 0.75}
"""Share of that which the first look spends; with more candidates it is (2/K)²."""
SECOND = {4: 2.5, 5: 2.5, 6: 2.5}
"""Times as much as others that the second look spends; with six this saves half a cell."""
CHUNK = 5000


def runs_of(candidates: int) -> int:
    """Fewer of many candidates: each has many pairs, and its constants are less extreme."""
    return 300_000 if candidates == 2 else 150_000 if candidates == 3 else 200_000 // candidates // CHUNK * CHUNK


def derive(candidates: int, runs: int) -> tuple[list[float], list[float], float]:
    """The constants for a number of candidates, within rounds and unpaired, and the error with equal noise."""
    first, second = FIRST.get(candidates, (2 / candidates) ** 2), SECOND.get(candidates, 1.0)
    spent = SPENT * np.r_[first, second, np.ones(LOOKS - 2)]
    paired, unpaired = (
        spend([largest(noise, candidates, runs, [ratio] * LOOKS)], ERROR, spent)
        for noise, ratio in ((EQUAL[-1], 1e-9), (EQUAL[0], 1e9))
    )
    ratios = [1e9, *(max(1.0, 1e-9 * one / other) for one, other in zip(paired[1:], unpaired[1:]))]
    equal = [largest(noise, candidates, runs, ratios) for noise in EQUAL]
    others = [(largest(noise, candidates, runs // 2, ratios), permitted) for noise, permitted in OTHERS]
    low, high = 0.0, ERROR
    error = high
    for _ in range(10):
        constants = spend(equal, error, spent)
        permitted = all(errs(table, constants) <= most for table, most in others)
        low, high = (error, high) if permitted else (low, error)
        if low == high:
            break
        error = (low + high) / 2
    constants = spend(equal, low, spent)
    return [ratio * constant for ratio, constant in zip(ratios, constants)], constants, low


def largest(noise: Noise, candidates: int, runs: int, ratios: Sequence[float]) -> Floats:
    """By run and look. All kinds of noise start from the same seeds, so that chance moves them alike."""
    chunks = range(0, runs, CHUNK)
    shape = (CHUNK, LAST_LOOK, candidates)
    return np.concatenate([statistics(noise(np.random.default_rng([candidates, n]), shape), ratios) for n in chunks])


def spend(tables: Sequence[Floats], error: float, spent: Floats) -> list[float]:
    """Constants that as many runs of each table exceed as may err, most of them early."""
    unharmed = [np.ones(len(table), bool) for table in tables]
    constants = []
    for index, so_far in enumerate(np.cumsum(spent) / spent.sum() * error):
        needed = []
        for table, left in zip(tables, unharmed):
            permitted = int(so_far * len(table)) - int(np.count_nonzero(~left))
            needed.append(float(np.partition(table[left, index], -permitted - 1)[-permitted - 1]))
        constants.append(max(needed))
        unharmed = [left & (table[:, index] <= constants[-1]) for table, left in zip(tables, unharmed)]
    return constants


def errs(table: Floats, constants: Sequence[float]) -> float:
    """The share of runs that exceed a constant at any look."""
    return float((table > np.array(constants)).any(axis=1).mean())


def lines(numbers: Sequence[int], share: float) -> Iterator[str]:
    for candidates in numbers:
        paired, unpaired, error = derive(candidates, int(share * runs_of(candidates)))
        rows = (
            ", ".join(f"{constant:.2f}" for constant in row) for row in (paired[PAIRED_FROM - FIRST_LOOK :], unpaired)
        )
        yield f"{candidates}: {' | '.join(rows)} # {error:.2%} with equal noise"


if __name__ == "__main__":
    os.nice(19)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="of the runs")
    parser.add_argument("candidates", type=int, nargs="*", default=list(range(2, 11)))
    arguments = parser.parse_args()
    for line in lines(arguments.candidates, arguments.share):
        print(line, flush=True)
