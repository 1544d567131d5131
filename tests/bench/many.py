"""Thousands of runs whose truth is known, judged at once by the program's rule as arrays.

`tests/unit/test_stats_error_rates.py` holds it against the program's own analysis. Arrays of figures have the axes
run, round, candidate; those of differences run, round, pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from fswizard.model.analysis import TIE
from fswizard.model.plan import FIRST_LOOK, MAXIMUM_ROUNDS
from fswizard.stats.constants import PAIRED_FROM
from fswizard.stats.ratios import (
    FAR_OFF,
    LEAST_DEVIATION,
    NORMAL_MAD,
    NOTABLY_NOISIER,
    POOL_WEIGHT,
    ROBUST_FROM,
    critical,
    most_excess,
)
from fswizard.stats.sticky import FEWEST, MOST_KEPT, PROVEN, SUSPECTED

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Shape = tuple[int, int, int]
Noise = Callable[[np.random.Generator, Shape], Floats]
"""Errors of logarithms: an array of runs by rounds by candidates, with an axis for workloads before it if there are
several. Their mean counts."""


def normal(deviation: float, *, shared: float = 0.0) -> Noise:
    """Each cell for itself; what a round has in common is `shared` times as large."""

    def errors(rng: np.random.Generator, shape: Shape) -> Floats:
        runs, rounds, _ = shape
        return deviation * (rng.standard_normal(shape) + shared * rng.standard_normal((runs, rounds, 1)))

    return errors


def unequal(lowest: float, highest: float) -> Noise:
    """Each candidate has a noise of its own, evenly on a scale of logarithms."""
    return lambda rng, shape: rng.standard_normal(shape) * np.geomspace(lowest, highest, shape[2])


def one_noisy(deviation: float, times: float, *, shared: float = 0.0) -> Noise:
    """How many times as large the first candidate's noise is as that of the others."""
    equal = normal(deviation, shared=shared)
    return lambda rng, shape: (
        equal(rng, shape) + deviation * rng.standard_normal(shape) * np.eye(1, shape[2]) * math.sqrt(times**2 - 1)
    )


def lognormal(deviation: float) -> Noise:
    """Delays that are lognormal, so that slow cells are much slower."""
    return lambda rng, shape: -np.log1p(deviation * np.exp(rng.standard_normal(shape)))


def heavy_tailed(deviation: float, freedom: int) -> Noise:
    """Student's t: now and then a figure that is far off."""
    return lambda rng, shape: deviation * rng.standard_t(freedom, shape)


def bimodal(deviation: float, *, share: float = 0.1) -> Noise:
    """A share of the cells is twice as slow, as with garbage collection."""
    return lambda rng, shape: deviation * rng.standard_normal(shape) - math.log(2) * (rng.random(shape) < share)


def sticky(deviation: float, correlation: float, workloads: int = 1) -> Noise:
    """Each candidate's error keeps so much of its own in the round before.

    Half of the variance is common to all `workloads` of a cell where there are several, which come as a first axis.
    """

    def errors(rng: np.random.Generator, shape: Shape) -> Floats:
        common = _autoregressive(rng.standard_normal(shape), correlation)
        if workloads == 1:
            return deviation * common
        each = (_autoregressive(rng.standard_normal(shape), correlation) for _ in range(workloads))
        return deviation * math.sqrt(0.5) * np.stack([common + math.sqrt(workloads) * one for one in each])

    return errors


def in_time(deviation: float, *, echo: float = 0.0, drift: float = 0.0, warm_up: float = 0.0) -> Noise:
    """Errors that go by a cell's place in the run: `echo` is what the next cell keeps, `drift` is added with each cell,
    `warm_up` is how much slower the first one is, half as much the second, and so on.

    Two take turns (AB BA AB), more are measured in an order by chance.
    """

    def errors(rng: np.random.Generator, shape: Shape) -> Floats:
        runs, rounds, candidates = shape
        cells = rounds * candidates
        machine = _autoregressive(rng.standard_normal((runs, cells, 1)), echo)[:, :, 0] * deviation
        place = np.arange(cells)
        by_place = (machine + drift * place - warm_up * 0.5**place).reshape(shape)
        order = rng.random(shape).argsort(axis=2)
        if candidates == 2:
            order = np.broadcast_to(np.array([[0, 1], [1, 0]] * rounds)[:rounds], shape)
        return np.take_along_axis(by_place, order, axis=2)

    return errors


def _autoregressive(fresh: Floats, correlation: float) -> Floats:
    """Along the second axis, with the variance of `fresh`."""
    for number in range(1, fresh.shape[1]):
        fresh[:, number] = correlation * fresh[:, number - 1] + math.sqrt(1 - correlation**2) * fresh[:, number]
    return fresh


def pairs_of(candidates: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    one, other = zip(*combinations(range(candidates), 2))
    return np.array(one), np.array(other)


@dataclass(frozen=True, slots=True)
class Look:
    """What each pair shows after some rounds, if nobody has left."""

    rounds: int
    means: tuple[Floats, Floats]
    """Mean differences by run and pair: within rounds, and as if unpaired."""
    paired: Floats
    """Variance of the differences within rounds, by run and pair."""
    single: Floats
    """Variance of figures, by run and candidate."""


def look(figures: Floats, rounds: int) -> Look:
    one, other = pairs_of(figures.shape[2])
    seen = figures[:, :rounds]
    differences = without_far_off(seen[:, :, one] - seen[:, :, other])
    levels = seen.mean(axis=1)
    means = differences.mean(axis=1), levels[:, one] - levels[:, other]
    return Look(rounds, means, differences.var(axis=1, ddof=1), seen.var(axis=1, ddof=1))


def without_far_off(differences: Floats) -> Floats:
    rounds = differences.shape[1]
    if rounds < ROBUST_FROM:
        return differences
    middle = np.median(differences, axis=1, keepdims=True)
    spread = np.median(np.abs(differences - middle), axis=1, keepdims=True)
    reach = FAR_OFF * np.maximum(LEAST_DEVIATION, NORMAL_MAD * math.sqrt(rounds / (rounds - 1)) * spread)
    return np.clip(differences, middle - reach, middle + reach)


def widening(parts: Floats, alive: Bools) -> tuple[Floats, Bools]:
    """As `sticky.stickiness`, by run: how much wider intervals are, and whether that is said.

    `parts` has an axis for workloads before the others. Who is not `alive` does not take part.
    """
    runs, rounds, _ = parts.shape[1:]
    if rounds < FEWEST:
        return np.ones(runs), np.zeros(runs, bool)
    left, taking_part = alive.sum(axis=1), alive[None, :, None, :]
    deviations = np.where(taking_part, parts - parts.mean(axis=2, keepdims=True), 0.0)
    common = deviations.sum(axis=3, keepdims=True) / np.maximum(left, 1)[None, :, None, None]
    by_candidate = np.where(taking_part, deviations - common, 0.0).transpose(1, 3, 2, 0)
    products = by_candidate @ by_candidate.swapaxes(2, 3)
    own = np.diagonal(products, axis1=2, axis2=3)
    total, squares = own.sum(axis=2), (own**2).sum(axis=2)
    others = (products**2).sum(axis=(2, 3)) - squares
    orders = ((rounds - 1) * others + total**2 - 2 * squares) / (rounds * (rounds - 1)) - (total / rounds) ** 2
    variance = orders.sum(axis=1) * left / np.maximum(left - 1, 1)
    to_the_next = np.diagonal(products, 1, axis1=2, axis2=3).sum(axis=(1, 2))
    squared, able = total.sum(axis=1), (left > 1) & (variance > 0)
    alike = np.where(able, to_the_next + squared / rounds, 0.0) / np.sqrt(np.where(able, variance, 1.0))
    kept = (rounds * to_the_next / np.where(able, squared, 1.0) + 1) / (rounds - 2)
    kept = np.where(alike > SUSPECTED, kept, 0.0).clip(0.0, MOST_KEPT)
    return np.sqrt((1 + kept) / (1 - kept)), alike > PROVEN


@dataclass(slots=True)
class Standing:
    """Where runs stand while candidates leave them."""

    alive: Bools
    """By run and candidate: still in the run."""
    paired: Floats
    single: Floats
    """As of the last round of each pair and candidate."""
    pair_rounds: Floats
    single_rounds: Floats

    @classmethod
    def begin(cls, runs: int, candidates: int) -> Standing:
        pairs = candidates * (candidates - 1) // 2
        return cls(
            np.ones((runs, candidates), bool),
            np.zeros((runs, pairs)), np.zeros((runs, candidates)),
            np.ones((runs, pairs)), np.ones((runs, candidates)),
        )  # fmt: skip

    def estimates(self, seen: Look, wider: Floats | float = 1.0) -> tuple[Bools, tuple[Floats, Floats]]:
        """Which pairs are still in the run, and the standard errors within rounds and as if unpaired, by run and pair.

        These are `wider`, by run and pair, where noise sticks.
        """
        one, other = pairs_of(self.alive.shape[1])
        together = self.alive[:, one] & self.alive[:, other]
        self.paired = np.where(together, seen.paired, self.paired)
        self.single = np.where(self.alive, seen.single, self.single)
        self.pair_rounds = np.where(together, seen.rounds, self.pair_rounds)
        self.single_rounds = np.where(self.alive, seen.rounds, self.single_rounds)
        pools = (
            np.average(self.paired, axis=1, weights=self.pair_rounds - 1),
            2 * np.average(self.single, axis=1, weights=self.single_rounds - 1),
        )
        freedom = seen.rounds - 1
        errors = []
        for pool, own, excess in zip(
            pools, (seen.paired, seen.single[:, one] + seen.single[:, other]), self.excesses()
        ):
            steadied = (POOL_WEIGHT * pool[:, None] + freedom * own) / (POOL_WEIGHT + freedom)
            noisier = np.clip(np.maximum(excess[:, one], excess[:, other]), 1.0, most_excess(seen.rounds))
            deviation = np.maximum(LEAST_DEVIATION, wider * np.sqrt(noisier * steadied))
            errors.append(deviation / math.sqrt(seen.rounds))
        if seen.rounds < PAIRED_FROM:
            errors[0] = np.full_like(errors[0], np.inf)
        return together, (errors[0], errors[1])

    def excesses(self) -> tuple[Floats, Floats]:
        """How many times as large as permitted each candidate's variance is beside that of the others, in both ways."""
        candidates = self.alive.shape[1]
        if candidates < 3:
            return np.ones(self.alive.shape), np.ones(self.alive.shape)
        pairs, weights = pairs_of(candidates), self.pair_rounds - 1
        mine = np.stack([(pairs[0] == c) | (pairs[1] == c) for c in range(candidates)], axis=1).astype(float)
        squares, rest = self.paired * weights, 1 - mine
        others = squares @ rest / (weights @ rest) / 2
        ways = [((squares @ mine) / (weights @ mine) - others, others)]
        squares, weights = self.single * (self.single_rounds - 1), self.single_rounds - 1
        left, left_weights = (x.sum(axis=1, keepdims=True) - x for x in (squares, weights))
        ways.append((self.single, left / left_weights))
        paired, single = (own / np.maximum(LEAST_DEVIATION**2 / 2, most) / NOTABLY_NOISIER for own, most in ways)
        return paired, single


def constants_of(alive: Bools, rounds: int, paired: bool) -> Floats:
    """The program's constants, by run: the fewer candidates are still in it, the smaller."""
    size = alive.shape[1]
    by_number = np.array([critical(size, rounds, paired, left=number) for number in range(size + 1)])
    return by_number[alive.sum(axis=1), None]


def narrower(
    seen: Look, errors: tuple[Floats, Floats], constants: tuple[Floats | float, Floats | float]
) -> tuple[Floats, Floats]:
    """Differences and half the intervals, by run and pair, of whichever way is narrower."""
    paired, unpaired = (constant * error for constant, error in zip(constants, errors))
    taken = unpaired < paired
    return np.where(taken, seen.means[1], seen.means[0]), np.minimum(paired, unpaired)


def statistics(figures: Floats, ratios: Sequence[float]) -> Floats:
    """By run and look, the largest difference of all pairs in standard errors; nobody leaves.

    `ratios` has, for each look, the ratio of the constant within rounds to the one as if unpaired.
    """
    looks = []
    standing = Standing.begin(figures.shape[0], figures.shape[2])
    for rounds, ratio in enumerate(ratios, FIRST_LOOK):
        seen = look(figures, rounds)
        _, errors = standing.estimates(seen)
        differences, halves = narrower(seen, errors, (ratio, 1.0))
        looks.append((np.abs(differences) / halves).max(axis=1))
    return np.stack(looks, axis=1)


TIED, OPEN = -1, -2


@dataclass(frozen=True, slots=True)
class Outcome:
    """How runs ended, by run."""

    answer: npt.NDArray[np.intp]
    """The number of the best candidate, TIED or OPEN."""
    missed: Bools
    """An interval of any pair missed the truth at any look."""
    cells: npt.NDArray[np.intp]
    told: Floats
    """The difference between the two best, as estimated when they were last compared."""
    half_width: Floats
    rounds: npt.NDArray[np.intp]
    """That it rests on."""
    doubted: Bools
    """That noise sticks is said in the end."""


def play(
    truth: Sequence[float],
    noise: Noise,
    runs: int,
    seed: int,
    *,
    constants: Sequence[float] = (),
    to_the_end: bool = False,
    widened: bool = True,
) -> Outcome:
    """Go on as the program would; `to_the_end` does not stop at a tie, so that all looks are taken.

    Without `widened` intervals stay as they are where noise sticks.
    """
    rng = np.random.default_rng(seed)
    candidates = len(truth)
    levels = np.log(np.array(truth) / truth[0])
    errors_of = noise(rng, (runs, MAXIMUM_ROUNDS, candidates))
    parts = (errors_of if errors_of.ndim == 4 else errors_of[None]) + levels
    figures = parts.mean(axis=0)
    one, other = pairs_of(candidates)
    true = levels[one] - levels[other]
    standing = Standing.begin(runs, candidates)
    going, missed = np.ones(runs, bool), np.zeros(runs, bool)
    cells, answer = np.full(runs, (FIRST_LOOK - 1) * candidates), np.full(runs, OPEN)
    told, half_widths = np.zeros(runs), np.zeros(runs)
    compared = np.zeros(runs, np.intp)
    doubted = np.zeros(runs, bool)
    best, second = np.argsort(-levels)[:2]
    closest = int(np.flatnonzero((one == min(best, second)) & (other == max(best, second)))[0])
    for rounds in range(FIRST_LOOK, MAXIMUM_ROUNDS + 1):
        cells += np.where(going, standing.alive.sum(axis=1), 0)
        wider, found = widening(parts[:, :, :rounds], standing.alive)
        doubted[going] = found[going]
        seen = look(figures, rounds)
        together, errors = standing.estimates(seen, wider[:, None] if widened else 1.0)
        judged = together & going[:, None]
        both = (True, False)
        at = [
            constants[rounds - FIRST_LOOK] if len(constants) else constants_of(standing.alive, rounds, paired)
            for paired in both
        ]
        differences, half_width = narrower(seen, errors, (at[0], at[1]))
        lead = judged[:, closest]
        told[lead] = np.abs(differences[lead, closest])
        half_widths[lead] = half_width[lead, closest]
        compared[lead] = rounds
        missed |= (judged & (np.abs(differences - true) > half_width)).any(axis=1)
        tie = (np.abs(differences) + half_width <= math.log(TIE)) & together
        proven = judged & ~tie & (np.abs(differences) > np.maximum(half_width, math.log(TIE)))
        for pair in range(len(one)):
            standing.alive[:, other[pair]] &= ~(proven[:, pair] & (differences[:, pair] > 0))
            standing.alive[:, one[pair]] &= ~(proven[:, pair] & (differences[:, pair] < 0))
        left = standing.alive.sum(axis=1)
        won = going & (left == 1)
        answer[won] = standing.alive[won].argmax(axis=1)
        still = standing.alive[:, one] & standing.alive[:, other]
        tied = going & (left > 1) & (tie | ~still).all(axis=1)
        answer[tied] = TIED
        going &= ~won if to_the_end else ~(won | tied)
    return Outcome(answer, missed, cells, told, half_widths, compared, doubted)
