"""How often the rule of the statistics errs, and how soon it decides, on simulated machines; a few minutes.

`python -m tests.long.bench.error_rates` puts the table into fswizard/stats/README.md.

Thousands of runs at once, by arrays and without the program's own code; `test_stats_error_rates` checks that both judge
alike.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

import fswizard.stats
from fswizard.model.analysis import ALIKE
from fswizard.model.plan import INTERVAL_ROUNDS, MAXIMUM_ROUNDS
from fswizard.stats.intervals import ALPHA, LEAST_DEVIATION, POOL_WEIGHT, PRIOR

README = Path(fswizard.stats.__file__).with_name("README.md")
BEGIN, END = "<!-- simulated -->", "<!-- until here -->"
CHUNK = 2000
SIZES = (2, 3, 6, 10)
DEVIATION = 0.03
Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Shape = tuple[int, int, int]
"""Runs, rounds, candidates."""
Noise = Callable[[np.random.Generator, Shape], Array]
"""Errors of logarithms."""


# Machines


def normal(rng: np.random.Generator, shape: Shape) -> Array:
    return rng.normal(0, DEVIATION, shape)


def heavy_tailed(rng: np.random.Generator, shape: Shape) -> Array:
    return DEVIATION * rng.standard_t(3, shape)


def uneven_rounds(rng: np.random.Generator, shape: Shape) -> Array:
    """Every other round or so is three times as noisy."""
    factors: Array = rng.choice((1.0, 3.0), (*shape[:2], 1))
    return normal(rng, shape) * factors


def in_order(rng: np.random.Generator, cells: Array, shape: Shape) -> Array:
    """What the machine does to one cell after the other, for candidates in random order."""
    order = rng.random(shape).argsort(axis=2)
    placed: Array = np.take_along_axis(cells.reshape(shape), order, axis=2)
    return placed


def drift(rng: np.random.Generator, shape: Shape) -> Array:
    cells = np.broadcast_to(-0.01 * np.arange(shape[1] * shape[2]), (shape[0], shape[1] * shape[2]))
    return normal(rng, shape) + in_order(rng, cells, shape)


def kept(rng: np.random.Generator, runs: int, steps: int) -> Array:
    """Noise: each step keeps 0.8 of the one before."""
    fresh: Array = rng.normal(0, DEVIATION, (runs, steps))
    made: Array = fresh.copy()
    for step in range(1, steps):
        made[:, step] = 0.8 * made[:, step - 1] + 0.6 * fresh[:, step]
    return made


def echoing(rng: np.random.Generator, shape: Shape) -> Array:
    """The machine's noise keeps 0.8 from cell to cell, across candidates."""
    return in_order(rng, kept(rng, shape[0], shape[1] * shape[2]), shape)


def sticky(rng: np.random.Generator, shape: Shape) -> Array:
    """The first candidate's noise keeps 0.8 from round to round."""
    errors = normal(rng, shape)
    errors[:, :, 0] = kept(rng, shape[0], shape[1])
    return errors


def noisier(times: float) -> Noise:
    """The first candidate is."""

    def errors(rng: np.random.Generator, shape: Shape) -> Array:
        factors: Array = np.where(np.arange(shape[2]) == 0, times, 1.0)
        return normal(rng, shape) * factors

    return errors


MACHINES: Mapping[str, tuple[Noise, float]] = {
    "normal noise": (normal, 0.05),
    "heavy tails (t, 3 degrees of freedom)": (heavy_tailed, 0.05),
    "drift of 1 % a cell": (drift, 0.05),
    "noise keeps 0.8 from cell to cell": (echoing, 0.05),
    "rounds differ by 3 ×": (uneven_rounds, 0.05),
    "one candidate 3 × as noisy": (noisier(3), 0.07),
    "one candidate 10 × as noisy (said as a doubt)": (noisier(10), 1.0),
    "one candidate's noise keeps 0.8 from round to round": (sticky, 1.0),
}
"""Where nothing differs, with the share of runs that may err."""
RACES: Mapping[str, tuple[tuple[float, ...], float]] = {
    "two, 15 % apart": ((1, 1.15), 6.5),
    "three, one 15 % ahead": ((1, 1.15, 1), 10.4),
    "six, one 15 % ahead": ((1.15, 1, 1, 1, 1, 1), 20.4),
    "six, 10 % apart each": (tuple(1.1**n for n in range(6)), 17.8),
}
"""True speeds, and the cells that may be needed at most."""


# The rule


@dataclass(frozen=True, slots=True)
class Looks:
    """A look at many runs after the same number of rounds; arrays are by run, candidate and candidate."""

    difference: Array
    variances: tuple[Array, Array]
    freedoms: tuple[Array, Array]
    threshold: Array
    rounds: int

    @classmethod
    def at(cls, figures: Array, alive: Flags) -> Looks:
        """`figures` by run, round and candidate; those that are `alive` count."""
        rounds, count = figures.shape[1], alive.sum(axis=1)[:, None, None]
        mean = figures.mean(axis=1)
        left = figures - mean[:, None]
        covariance = np.einsum("rbi,rbj->rij", left, left) / (rounds - 1)
        own = np.einsum("rii->ri", covariance)
        both = alive[:, :, None] & alive[:, None, :]
        between = (own * alive).sum(axis=1)[:, None, None] / count
        shared = (covariance * both).sum(axis=(1, 2))[:, None, None] / count**2
        within = np.maximum(between - shared, 0) * count / np.maximum(count - 1, 1)
        of_pair = (own[:, :, None] + own[:, None, :]) / 2
        variances = cls._steadied(between, of_pair, rounds), cls._steadied(within, of_pair - covariance, rounds)
        freedoms = count * (rounds - 1), np.maximum(count - 1, 1) * (rounds - 1)
        threshold = np.where(both & ~np.eye(alive.shape[1], dtype=bool), count * (count - 1) / 2 / ALPHA, np.inf)
        return cls(mean[:, :, None] - mean[:, None, :], variances, freedoms, threshold, rounds)

    @staticmethod
    def _steadied(pool: Array, own: Array, rounds: int) -> Array:
        steadied = (POOL_WEIGHT * pool + (rounds - 1) * own) / (POOL_WEIGHT + rounds - 1)
        return np.maximum(np.maximum(pool, steadied), LEAST_DEVIATION**2 / 2)

    def evidence(self, differences: Array) -> Array:
        """The mean e-value of both forms against each pair's being this far apart."""
        n, total = self.rounds / 2, np.zeros(())
        k = 1 + n * PRIOR
        for variance, freedom in zip(self.variances, self.freedoms):
            t2 = n * differences**2 / variance
            log = (freedom + 1) / 2 * (np.log1p(t2 / freedom) - np.log1p(t2 / (freedom * k))) - math.log(k) / 2
            total = total + np.exp(np.minimum(log, 700)) / 2
        return total

    def alike(self, limit: float) -> Flags:
        room = math.log(limit) - np.abs(self.difference)
        return (room > 0) & (self.evidence(room) >= self.threshold)


@dataclass(frozen=True, slots=True)
class Outcome:
    """By run."""

    missed: Flags
    """An interval of one of the looks did not hold the truth."""
    winner: npt.NDArray[np.int64]
    """-1 without one."""
    cells: npt.NDArray[np.int64]


def play(truth: Sequence[float], noise: Noise, runs: int, *, to_the_end: bool = False) -> Outcome:
    """Runs of a race, with a look after each round. `to_the_end` goes on where all that are left are alike."""
    chunks = [_play(truth, noise, min(CHUNK, runs - n), to_the_end, n) for n in range(0, runs, CHUNK)]
    return Outcome(*(np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in Outcome.__slots__))


def _play(truth: Sequence[float], noise: Noise, runs: int, to_the_end: bool, number: int) -> Outcome:
    logs = np.log(np.asarray(truth, float))
    figures = noise(np.random.default_rng([1, number]), (runs, MAXIMUM_ROUNDS, len(logs))) + logs
    alive, going = np.ones((runs, len(logs)), bool), np.arange(runs)
    outcome = Outcome(np.zeros(runs, bool), np.full(runs, -1), np.zeros(runs, int))
    for rounds in range(1, MAXIMUM_ROUNDS + 1):
        outcome.cells[going] += alive[going].sum(axis=1)
        if rounds < INTERVAL_ROUNDS:
            continue
        looks = Looks.at(figures[going, :rounds], alive[going])
        wrong = looks.evidence(looks.difference - (logs[:, None] - logs[None, :])) >= looks.threshold
        outcome.missed[going] |= wrong.any(axis=(1, 2))
        alike = looks.alike(ALIKE)
        beaten = (looks.evidence(looks.difference) >= looks.threshold) & (looks.difference < 0) & ~alike
        settled = (alike | np.isinf(looks.threshold)).all(axis=(1, 2))
        alive[going] &= ~beaten.any(axis=2)
        alone = alive[going].sum(axis=1) == 1
        outcome.winner[going[alone]] = alive[going[alone]].argmax(axis=1)
        going = going[~alone & (to_the_end | ~settled)]
    return outcome


def wrongly_marked(tests: int, candidates: int, deviation: float, runs: int) -> float:
    """Share of tables with a mark after six rounds where nothing differs: the baseline's rivals at each test, by e-BH.

    Half of the variance is luck of a cell, which all its tests share.
    """
    rng, alive = np.random.default_rng(1), np.ones((runs, candidates), bool)
    luck = rng.normal(0, 1, (runs, 6, candidates))
    values = []
    for _ in range(tests):
        figures = deviation / math.sqrt(2) * (luck + rng.normal(0, 1, luck.shape))
        looks = Looks.at(figures, alive)
        values.append(looks.evidence(looks.difference)[:, 0, 1:])
    best = -np.sort(-np.concatenate(values, axis=1), axis=1)
    marks = best >= best.shape[1] / (ALPHA * np.arange(1, best.shape[1] + 1))
    return float(marks.any(axis=1).mean())


# The table


def table(runs: int) -> str:
    head = (
        f"Where nothing differs, {MAXIMUM_ROUNDS} rounds of 3 % noise whatever they prove: how many of {runs:,} runs\n"
        "have an interval that misses, at any look, and how many a winner.\n"
    )
    parts = (head, *_nothing_differs(runs), "", *_races(runs), "", *_marks(runs))
    return "\n".join(parts).replace("%", " %").replace("  %", " %")


def _nothing_differs(runs: int) -> Iterator[str]:
    yield f"| | {' | '.join(f'{size} candidates' for size in SIZES)} | bound |"
    yield f"| --- | {' | '.join('--:' for _ in SIZES)} | --- |"
    for name, (noise, most) in MACHINES.items():
        outcomes = [play((1.0,) * size, noise, runs, to_the_end=True) for size in SIZES]
        cells = [f"{outcome.missed.mean():.1%}, {(outcome.winner >= 0).mean():.1%}" for outcome in outcomes]
        holds = all(outcome.missed.mean() <= most for outcome in outcomes)
        bound = "" if most == 1 else f"{most:.0%}: {'holds' if holds else 'missed'}"
        yield f"| {name} | {' | '.join(cells)} | {bound} |"


def _races(runs: int) -> Iterator[str]:
    yield "| 3 % noise | cells | bound | right winner | an interval misses |"
    yield "| --- | --: | --: | --: | --: |"
    for name, (truth, bound_cells) in RACES.items():
        outcome = play(truth, normal, runs)
        right, missing = (outcome.winner == int(np.argmax(truth))).mean(), outcome.missed.mean()
        yield f"| {name} | {outcome.cells.mean():.1f} | {bound_cells:g} | {right:.1%} | {missing:.1%} |"


def _marks(runs: int) -> Iterator[str]:
    yield "| Single tests where nothing differs, six rounds | tables with a mark |"
    yield "| --- | --: |"
    for tests, candidates, deviation in ((6, 2, 0.03), (6, 3, 0.15), (12, 3, 0.15), (6, 6, 0.15)):
        share = wrongly_marked(tests, candidates, deviation, runs)
        yield f"| {tests} tests, {candidates} candidates, {deviation:.0%} noise | {share:.1%} |"


if __name__ == "__main__":
    os.nice(19)
    before, rest = README.read_text("utf-8").split(BEGIN)
    README.write_text(f"{before}{BEGIN}\n\n{table(10_000)}\n\n{END}{rest.split(END)[1]}", "utf-8")
