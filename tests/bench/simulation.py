"""Runs whose truth is known, played through the program's own analysis, without disks and therefore quickly."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from fswizard.model.analysis import Analysis, Ratio
from fswizard.model.plan import Plan, Trial
from fswizard.session.order import trial_order
from fswizard.stats.analyse import Decision, decide, stand
from tests.builders import make_plan

Noise = Callable[[random.Random, int, int], float]
"""From the candidate's number and the cell's place in time to the error of its logarithm."""

Order = Callable[[Plan, int, Collection[str], Sequence[Trial], str], Sequence[Trial]]
"""As `trial_order`."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """How a simulated machine errs."""

    name: str
    random_writes: Callable[[], Noise]
    """Made anew for each run, as some noise remembers what came before."""
    failing: bool = False
    """The first candidate fails in one of the first three rounds."""
    carried: float = 0.0
    """Added to the logarithm of another candidate that is measured right after the first one."""
    itself: bool = False
    """The first candidate carries it over to itself as well."""


def normal(deviation: float, *, noisy: float = 1.0, drift: float = 0.0, echo: float = 0.0) -> Callable[[], Noise]:
    """Normal noise; the first candidate's is `noisy` times as large.

    `drift` is added to the logarithm with every cell; `echo` is the share of a cell's error that the next one keeps.
    """

    def begin() -> Noise:
        last = 0.0
        fresh = math.sqrt(1 - echo * echo)

        def random_writes(rng: random.Random, candidate: int, place: int) -> float:
            nonlocal last
            last = echo * last + fresh * rng.gauss(0.0, deviation)
            return last * (noisy if candidate == 0 else 1.0) + drift * place

        return random_writes

    return begin


def shared(deviation: float, cells: int) -> Callable[[], Noise]:
    """Normal noise, half of whose variance is luck that so many cells in a row have in common."""

    def begin() -> Noise:
        luck: dict[int, float] = {}
        half = deviation / math.sqrt(2)

        def random_writes(rng: random.Random, _candidate: int, place: int) -> float:
            common = luck.setdefault(place // cells, rng.gauss(0.0, half))
            return common + rng.gauss(0.0, half)

        return random_writes

    return begin


def heavy_tailed(deviation: float) -> Callable[[], Noise]:
    """Student's t with three degrees of freedom: now and then a figure that is far off."""

    def random_writes(rng: random.Random, _candidate: int, _place: int) -> float:
        chi_square = sum(rng.gauss(0.0, 1.0) ** 2 for _ in range(3))
        return deviation * rng.gauss(0.0, 1.0) / math.sqrt(chi_square / 3)

    return lambda: random_writes


SCENARIOS = (
    Scenario("equal noise", normal(0.03)),
    Scenario("one candidate 3 x as noisy", normal(0.03, noisy=3.0)),
    Scenario("heavy tails (t, 3 df)", heavy_tailed(0.03)),
    Scenario("drift of 1 % per cell", normal(0.03, drift=-0.01)),
    Scenario("correlation 0.5 with the cell before", normal(0.03, echo=0.5)),
    Scenario("one candidate fails", normal(0.03), failing=True),
)


class Simulation:
    """One simulated run, round by round, in the program's own order unless another one is given."""

    def __init__(
        self, truth: Sequence[float], scenario: Scenario, rng: random.Random, order: Order = trial_order
    ) -> None:
        self.truth = truth
        """Each candidate's figure when nothing disturbs."""
        self.names = [f"c{number}" for number in range(len(truth))]
        self.table: dict[str, dict[int, float]] = {name: {} for name in self.names}
        self.cells = 0
        self.trials: list[Trial] = []
        """Those that the program ordered."""
        self._plan = replace(plan_of(len(truth)), seed=rng.randrange(1 << 31))
        self._scenario = scenario
        self._order = order
        self._last = ""
        self._rng = rng
        self._noise = scenario.random_writes()
        self._fails_in = rng.randint(1, 3) if scenario.failing else 0
        self._failed: set[str] = set()

    def round(self, number: int, survivors: Sequence[str]) -> None:
        """Measure every survivor once."""
        able = [name for name in survivors if name not in self._failed]
        for trial in self._order(self._plan, number, able, self.trials, self._last):
            if self.measure(trial.candidate, number):
                self.trials.append(trial)

    def measure(self, name: str, number: int) -> bool:
        """One cell; False when the candidate has failed and is out."""
        if name in self._failed:
            return False
        index, place = self.names.index(name), self.cells
        self.cells += 1
        before, self._last = self._last, name
        if index == 0 and number == self._fails_in:
            self._failed.add(name)
            del self.table[name]
            return False
        carried = self._scenario.carried if before == self.names[0] and (index or self._scenario.itself) else 0.0
        self.table[name][number] = math.log(self.truth[index]) + self._noise(self._rng, index, place) + carried
        return True

    def analysis(self, number: int) -> Analysis:
        """What `stats.analyse` says of the same figures."""
        return stand(self.table, number, started_with=len(self.names))

    def misses(self, ratio: Ratio) -> bool:
        """The interval does not hold the truth."""
        truth = self.truth[self.names.index(ratio.candidate)] / self.truth[self.names.index(ratio.baseline)]
        return ratio.low is not None and ratio.high is not None and not ratio.low <= truth <= ratio.high

    def play(self, plan: Plan, *, to_the_end: bool = False) -> Iterator[tuple[Analysis, Decision]]:
        """Go on as the program would; `to_the_end` does not stop at a tie, so that all looks are taken."""
        survivors: Sequence[str] = self.names
        for number in range(1, plan.maximum_rounds + 1):
            self.round(number, survivors)
            analysis = self.analysis(number)
            decision = decide(analysis, plan)
            survivors = decision.survivors
            yield analysis, decision
            if decision.stop and not (to_the_end and decision.stop == "all-tie"):
                return


def plan_of(candidates: int) -> Plan:
    return make_plan([f"c{number}" for number in range(candidates)])
