"""Every candidate against every other one: ratios, with intervals that permit a look after every round."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from fswizard.model.analysis import TIE, Ratio, Verdict
from fswizard.model.plan import FIRST_LOOK
from fswizard.stats.constants import LAST_LOOK, PAIRED, PAIRED_FROM, UNPAIRED
from fswizard.stats.sticky import stickiness
from fswizard.stats.table import Table


def critical(candidates: int, rounds: int, paired: bool = False, *, left: int = 0) -> float:
    """The constant for a pair with `rounds` rounds in common, in a run that started with this many candidates.

    Differences within rounds (`paired`) have constants of their own. Of those that started, `left` were still in the
    run in the pair's last round, all by default: the fewer there are, the fewer pairs may err. So of up to six that
    started, the smallest constant of any number from `left` on holds.
    """
    fewest = max(2, min(left or candidates, candidates)) if candidates <= NARROWER_UP_TO else candidates
    return min(_constant(number, rounds, paired) for number in range(fewest, candidates + 1))


def _constant(candidates: int, rounds: int, paired: bool) -> float:
    """All were made for up to 12 rounds: beyond them intervals do not narrow. Beyond ten candidates constants rise as
    they do from six to ten, which errs on the wide side.
    """
    rows, first = (PAIRED, PAIRED_FROM) if paired else (UNPAIRED, FIRST_LOOK)
    if rounds < FIRST_LOOK:
        raise ValueError(f"there is no constant for {rounds} rounds")
    if rounds < first:
        return math.inf
    beyond = math.sqrt(max(1.0, rounds / LAST_LOOK))
    look = min(rounds, LAST_LOOK) - first
    largest = max(rows)
    if candidates <= largest:
        return rows[candidates][look] * beyond
    rise = max(0.0, rows[largest][look] - rows[RISING_FROM][look]) / (largest - RISING_FROM)
    return (rows[largest][look] + rise * (candidates - largest)) * beyond


LEAST_DEVIATION = 0.005
"""Least standard deviation: nobody measures a filesystem to better than half a percent, however alike figures are."""
POOL_WEIGHT = 4
"""Degrees of freedom that the noise of all pairs together counts for, beside a pair's own."""
NARROWER_UP_TO = 6
"""Candidates at the start of which those that are left have smaller constants: of ten, with two left of which one is
ten times as noisy, 7.3 % of runs would err."""
RISING_FROM = 6
"""Constants for more than ten candidates rise as from this number to ten; a single step is smaller than what
simulation can tell."""
NOTABLY_NOISIER = 3.0
"""Times the others' mean variance that a candidate may show before its intervals are widened for it."""
MOST_EXCESS = 8.0
"""See `most_excess`."""
ROBUST_FROM = 6
"""Least number of rounds for recognising outliers."""
FAR_OFF = 5.0
"""Outliers are pulled in to this many standard deviations, estimated by the median of absolute deviations (MAD)."""
NORMAL_MAD = 1.4826
"""Standard deviation of normal figures, over their MAD."""


def ranking(table: Table) -> list[str]:
    """Candidates of the table, best first, by all rounds together."""
    levels = fit(table).effects
    return sorted(table, key=lambda name: -levels[name])


def all_rounds(table: Table) -> list[int]:
    return sorted({number for rounds in table.values() for number in rounds})


def in_the_run(table: Table, number: int) -> int:
    """How many candidates were still in it in that round."""
    return sum(max(cells, default=0) >= number for cells in table.values())


def compare(
    table: Table,
    workload: str,
    started_with: int,
    pairs: Iterable[tuple[str, str]],
    parts: Collection[Table] = (),
) -> tuple[Ratio, ...]:
    """The ratio of the first to the second of each pair that has a round in common.

    The interval is the narrower of two: of the differences within rounds, and of the two candidates' figures as if
    rounds had nothing in common. Both use the rounds that the two took part in, steadied by what all candidates did in
    the same rounds, so the interval stays the same once one of the two has left the run. It is wider if noise sticks to
    candidates, which shows best in the `parts`, if any, whose sum the table is.
    """
    ratios = []
    pools: dict[tuple[int, ...], tuple[tuple[_Spread, _Spread], float, int]] = {}
    for candidate, baseline in pairs:
        one, other = table.get(candidate, {}), table.get(baseline, {})
        shared = tuple(sorted(number for number in one if number in other))
        b = len(shared)
        if not shared:
            continue
        differences = [one[number] - other[number] for number in shared]
        if b < FIRST_LOOK:
            mean = statistics.fmean(differences)
            ratios.append(Ratio(candidate, baseline, workload, math.exp(mean), rounds=b))
            continue
        if shared not in pools:
            pools[shared] = (
                _spreads(table, shared),
                stickiness(table, shared, parts).widening,
                in_the_run(table, shared[-1]),
            )
        spreads, wider, still_in = pools[shared]
        ways = []
        for paired, spread in zip((True, False), spreads):
            mean = statistics.fmean(_without_far_off(differences) if paired else differences)
            error = max(LEAST_DEVIATION, wider * spread.deviation(candidate, baseline)) / math.sqrt(b)
            ways.append((critical(started_with, b, paired, left=still_in) * error, mean))
        half_width, mean = min(ways)
        ratio = Ratio(candidate, baseline, workload, math.exp(mean), rounds=b)
        ratios.append(with_interval(ratio, mean, half_width))
    return tuple(ratios)


WIDEST = math.log(1e6)
"""Two rounds on a busy machine can allow a factor without bounds, which no result file can hold and which says no more
than this one."""


def with_interval(ratio: Ratio, middle: float, half_width: float) -> Ratio:
    """The ratio with an interval around `middle`, in logarithms, and its verdict."""
    half_width = min(half_width, WIDEST)
    low, high = math.exp(middle - half_width), math.exp(middle + half_width)
    return replace(ratio, low=low, high=high, verdict=verdict(low, high))


def verdict(low: float, high: float) -> Verdict:
    """The verdict of an interval around its ratio.

    Within ±5 % it is a tie even if it clears 1: a difference that does not matter. For faster or slower, the interval
    must clear 1 and the ratio itself must differ by more than 5 %: otherwise a filesystem measured against itself would
    win now and then.
    """
    if low >= 1 / TIE and high <= TIE:
        return "tie"
    ratio = math.sqrt(low * high)
    if low > 1 and ratio > TIE:
        return "faster"
    return "slower" if high < 1 and ratio < 1 / TIE else "undecided"


class _Spread:
    """How much candidates vary in some rounds, by samples of one candidate's figures each, or of two's differences."""

    def __init__(self, samples: Mapping[frozenset[str], Sequence[float]], rounds: int) -> None:
        self._freedom = rounds - 1
        self._variances = {who: (len(x) - 1, _variance(x)) for who, x in samples.items() if len(x) > 1}
        self._share = 1 / len(next(iter(samples)))
        names = sorted(frozenset().union(*self._variances))
        self._excess = {name: self._excess_of(name) if len(names) > 2 else 1.0 for name in names}

    def deviation(self, one: str, other: str) -> float:
        """Of a difference of the two: their own, steadied by that of all, wider where one is notably noisier."""
        own = math.fsum(variance for who, (_, variance) in self._variances.items() if who <= {one, other})
        pool = 2 * self._share * self._mean(self._variances)
        steadied = (POOL_WEIGHT * pool + self._freedom * own) / (POOL_WEIGHT + self._freedom)
        return math.sqrt(steadied * max(self._excess[one], self._excess[other]))

    def _excess_of(self, name: str) -> float:
        """How far a candidate's variance exceeds what is taken for chance beside that of the others."""
        others = self._mean(who for who in self._variances if name not in who) * self._share
        own = self._mean(who for who in self._variances if name in who) - others * (1 / self._share - 1)
        times = own / max(others, LEAST_DEVIATION**2 / 2)
        return min(max(1.0, times / NOTABLY_NOISIER), most_excess(self._freedom + 1))

    def _mean(self, whose: Iterable[frozenset[str]]) -> float:
        known = [self._variances[who] for who in whose]
        return math.fsum(n * variance for n, variance in known) / sum(n for n, _ in known)


def most_excess(rounds: int) -> float:
    """By how much a candidate's noise may widen its intervals (variance): less the more rounds show it in `own`."""
    return 1 + (MOST_EXCESS / (rounds - 1)) ** 2


def _spreads(table: Table, rounds: Sequence[int]) -> tuple[_Spread, _Spread]:
    """Of differences within rounds and of figures."""
    figures = {frozenset([name]): [cells[n] for n in rounds if n in cells] for name, cells in table.items()}
    differences = {}
    for one, other in combinations(table, 2):
        sample = [table[one][n] - table[other][n] for n in rounds if n in table[one] and n in table[other]]
        differences[frozenset((one, other))] = _without_far_off(sample)
    return _Spread(differences, len(rounds)), _Spread(figures, len(rounds))


def _variance(sample: Sequence[float]) -> float:
    mean = math.fsum(sample) / len(sample)
    return math.fsum((x - mean) ** 2 for x in sample) / (len(sample) - 1)


def _without_far_off(differences: Sequence[float]) -> Sequence[float]:
    """Differences with outliers pulled in (winsorised), such as those of a figure that garbage collection slowed."""
    b = len(differences)
    if b < ROBUST_FROM:
        return differences
    middle = statistics.median(differences)
    spread = statistics.median(abs(d - middle) for d in differences)
    reach = FAR_OFF * max(LEAST_DEVIATION, NORMAL_MAD * math.sqrt(b / (b - 1)) * spread)
    return [min(max(d, middle - reach), middle + reach) for d in differences]


@dataclass(frozen=True, slots=True)
class Fit:
    """Least squares on a table with gaps, as candidates leave a run at different rounds."""

    effects: Mapping[str, float]
    """Level of each candidate; larger is better."""
    round_effects: Mapping[int, float]
    """Level of each round: how good or bad the machine was."""
    residual_sum: float
    """Sum of squared residuals."""
    freedom: int
    """Cells less the parameters fitted."""

    @property
    def residual_mean_square(self) -> float:
        return self.residual_sum / self.freedom if self.freedom > 0 else 0.0

    def residuals(self, table: Table) -> dict[tuple[str, int], float]:
        """Residual of each cell of the table that was fitted."""
        return {
            (name, number): value - self.effects[name] - self.round_effects[number]
            for name, cells in table.items()
            for number, value in cells.items()
        }


def fit(table: Table) -> Fit:
    """Fit the additive model to a table.

    Round means are taken out first, which leaves one equation for each candidate. They determine levels up to a
    constant, or up to one for each group of candidates if groups share no rounds.
    """
    names = list(table)
    cells = {
        number: [(i, table[name][number]) for i, name in enumerate(names) if number in table[name]]
        for number in all_rounds(table)
    }
    size = len(names)
    matrix = [[0.0] * size for _ in names]
    right = [0.0] * size
    total = 0.0
    means = {}
    for number, row in cells.items():
        share = 1.0 / len(row)
        means[number] = mean = sum(value for _, value in row) * share
        for i, value in row:
            deviation = value - mean
            total += deviation * deviation
            right[i] += deviation
            line = matrix[i]
            line[i] += 1.0
            for j, _ in row:
                line[j] -= share
    effects, rank = _solve([line[:] for line in matrix], right[:])
    explained = sum(effect * r for effect, r in zip(effects, right))
    luck = {n: means[n] - sum(effects[i] for i, _ in row) / len(row) for n, row in cells.items()}
    freedom = sum(map(len, cells.values())) - len(cells) - rank
    return Fit(dict(zip(names, effects)), luck, max(0.0, total - explained), freedom)


def _solve(matrix: list[list[float]], right: list[float]) -> tuple[list[float], int]:
    """The solution and the rank of symmetric equations; unknowns that they leave free become 0."""
    size, pivots = len(right), []
    for i in range(size):
        pivot = matrix[i][i]
        if pivot < 1e-9:
            continue
        pivots.append(i)
        for j in range(size):
            if j != i and matrix[j][i]:
                factor = matrix[j][i] / pivot
                right[j] -= factor * right[i]
                line, top = matrix[j], matrix[i]
                for k in range(i, size):
                    line[k] -= factor * top[k]
    solution = [0.0] * size
    for i in pivots:
        solution[i] = right[i] / matrix[i][i]
    return solution, len(pivots)
