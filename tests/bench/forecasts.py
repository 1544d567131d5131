"""How often forecasts come true: in simulated runs, and in recorded ones that are judged again.

    python -m tests.bench.forecasts [--runs N]

A forecast is made after each round. It is right to say 80 % where that comes true in 70 to 90 % of cases.
"""

from __future__ import annotations

import argparse
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fswizard.model.forecast import Forecast
from fswizard.model.judgement import Judgement
from fswizard.stats.forecast import forecast, foresee
from fswizard.stats.judge import Decision
from tests.bench.decisions import BANK, Comparison
from tests.bench.recordings import FASTER, SAME, load
from tests.bench.simulation import Scenario, Simulation, normal, plan_of

BINS = (0.0, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
Look = tuple[Judgement, Decision, "Forecast | None"]


@dataclass(slots=True)
class Told:
    """What was said with which chance, and whether it came true."""

    settled: list[tuple[float, bool]] = field(default_factory=list)
    """By each of the rounds to come."""
    enough: list[tuple[float, bool]] = field(default_factory=list)
    """`N more rounds settle it`, the first of them likely to."""
    close: list[tuple[float, bool]] = field(default_factory=list)
    within: list[tuple[float, bool]] = field(default_factory=list)
    """That the true difference of such a pair is as small as was said."""
    changed: list[tuple[float, bool]] = field(default_factory=list)
    """By all the rounds to come."""

    def add(self, looks: Sequence[Look], truth: dict[str, float] | None = None) -> None:
        """A run that was gone through to its end, with what was forecast after each round."""
        last, decision, _ = looks[-1]
        settled = decision.stop in ("one-left", "all-tie")
        for number, (judgement, _, made) in enumerate(looks):
            if made is None:
                continue
            took = len(looks) - 1 - number if settled else 99
            self.settled += [(chance, took <= j) for j, chance in enumerate(made.settled, 1)]
            if made.enough:
                self.enough.append((made.settled[made.enough - 1], took <= made.enough))
            for close in made.close:
                pair = last.pair(close.one, close.other)
                assert pair is not None
                self.close.append((close.chance, pair.verdict == "undecided"))
                if truth:
                    apart = max(truth[close.one] / truth[close.other], truth[close.other] / truth[close.one]) - 1
                    self.within.append((0.8, apart <= close.within))
            self.changed.append((made.changed[-1], _answer(judgement) != _answer(last)))


def _answer(judgement: Judgement) -> tuple[object, ...]:
    names = tuple(sorted(judgement.leaders))
    return (*names, judgement.all_tie(names), not judgement.all_tie(names) and judgement.all_near(names))


def drawn(number: int) -> Comparison:
    """One of two to four candidates, with differences and noise as chance has it."""
    rng = random.Random(f"drawn {number}")
    deviation, spread = rng.choice((0.01, 0.03, 0.08)), rng.choice((0.0, 0.05, 0.15))
    truth = tuple(100 * math.exp(rng.gauss(0.0, spread)) for _ in range(rng.choice((2, 3, 4))))
    return Comparison(f"drawn {number}", truth, Scenario("", normal(deviation)))


def simulated(comparison: Comparison, runs: int, told: Told) -> None:
    for seed in range(runs):
        rng = random.Random(f"{comparison.name}/{seed}/forecast")
        simulation = Simulation(comparison.truth, comparison.scenario, rng)
        plan = plan_of(len(comparison.truth))
        looks: list[Look] = []
        for judgement, decision in simulation.play(plan):
            made = None if decision.stop else foresee(simulation.table, judgement, plan, decision.survivors)
            looks.append((judgement, decision, made))
        told.add(looks, dict(zip(simulation.names, comparison.truth)))


def recorded(path: Path, told: Told) -> None:
    for recording in load(path):
        looks: list[Look] = []
        for rounds, (judgement, decision) in enumerate(recording.replay(), 1):
            result = recording.result(rounds)
            made = None if decision.stop else forecast(result, judgement, decision.survivors)
            looks.append((judgement, decision, made))
        told.add(looks, dict(recording.truth))


def lines(title: str, said: Iterable[tuple[float, bool]]) -> Iterator[str]:
    bins: defaultdict[int, list[tuple[float, bool]]] = defaultdict(list)
    for chance, came in said:
        bins[max(i for i, low in enumerate(BINS[:-1]) if chance >= low)].append((chance, came))
    for i in sorted(bins):
        some = bins[i]
        mean, true = sum(c for c, _ in some) / len(some), sum(c for _, c in some) / len(some)
        yield f"| {title} | {BINS[i]:.0%} to {BINS[i + 1]:.0%} | {mean:.0%} | {true:.0%} | {len(some):,} |"


def rows(runs: int) -> Iterator[str]:
    for source in ("drawn", "bank", "recorded"):
        told = Told()
        if source == "drawn":
            for number in range(15 * runs):
                simulated(drawn(number), 1, told)
        elif source == "bank":
            for comparison in BANK:
                if not comparison.scenario.failing:
                    simulated(comparison, runs, told)
        else:
            for path in (SAME, FASTER):
                recorded(path, told)
        for title in ("settled", "enough", "close", "within", "changed"):
            yield from lines(f"{source} {title}", getattr(told, title))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    for row in rows(parser.parse_args().runs):
        print(row, flush=True)
