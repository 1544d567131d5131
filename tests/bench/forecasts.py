"""How often forecasts come true: in simulated runs, and in recorded ones that are judged again.

    python -m tests.bench.forecasts [--runs N]

A forecast is made after each round. It is right to say 80 % where that comes true in 70 to 90 % of cases.
"""

from __future__ import annotations

import argparse
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fswizard.model.analysis import Analysis
from fswizard.model.forecast import Forecast
from fswizard.stats.analyse import Decision
from fswizard.stats.constants import LAST_LOOK
from fswizard.stats.forecast import forecast, foresee
from tests.bench.decisions import BANK, Comparison
from tests.bench.recordings import FASTER, SAME, WORKLOADS, Recording, load
from tests.bench.simulation import Scenario, Simulation, normal, plan_of

BINS = (0.0, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
SPREADS = (0.0, 0.05, 0.15)
"""Deviations of the levels of candidates."""
Look = tuple[Analysis, Decision, "Forecast | None"]


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

    def add(self, looks: Sequence[Look], truth: Mapping[str, float], names: Mapping[str, str]) -> None:
        """A run that was gone through to its end, with what was forecast after each round; `names` by title."""
        last, decision, _ = looks[-1]
        settled = decision.stop in ("one-left", "all-tie")
        for number, (analysis, _, made) in enumerate(looks):
            if made is None:
                continue
            took = len(looks) - 1 - number if settled else 99
            self.settled += [(chance, took <= j) for j, chance in enumerate(made.settled, 1)]
            if made.enough:
                self.enough.append((made.settled[made.enough - 1], took <= made.enough))
            for close in made.close:
                one, other = names[close.one], names[close.other]
                pair = last.pair(one, other)
                assert pair is not None
                self.close.append((close.chance, pair.verdict == "undecided"))
                apart = max(truth[one] / truth[other], truth[other] / truth[one]) - 1
                self.within.append((0.8, apart <= close.within))
            self.changed.append((made.changed[-1], _answer(analysis) != _answer(last)))


def _answer(analysis: Analysis) -> tuple[object, ...]:
    names = tuple(sorted(analysis.leaders))
    return (*names, analysis.all_tie(names), not analysis.all_tie(names) and analysis.all_near(names))


def drawn(number: int) -> Comparison:
    """One of two to four candidates, with differences and noise as chance has it."""
    rng = random.Random(f"drawn {number}")
    deviation, spread = rng.choice((0.01, 0.03, 0.08, 0.2)), rng.choice(SPREADS)
    truth = tuple(100 * math.exp(rng.gauss(0.0, spread)) for _ in range(rng.choice((2, 3, 4))))
    return Comparison(f"drawn {number}", truth, Scenario("", normal(deviation)))


def simulated(comparison: Comparison, runs: int, told: Told) -> None:
    for seed in range(runs):
        rng = random.Random(f"{comparison.name}/{seed}/forecast")
        simulation = Simulation(comparison.truth, comparison.scenario, rng)
        plan = plan_of(len(comparison.truth))
        looks: list[Look] = []
        for analysis, decision in simulation.play(plan):
            made = None if decision.stop else foresee(simulation.table, analysis, plan, decision.survivors)
            looks.append((analysis, decision, made))
        told.add(looks, dict(zip(simulation.names, comparison.truth)), {name: name for name in simulation.names})


def spliced(number: int) -> Recording:
    """Runs that were recorded one after the other, as one of twelve rounds, in which one candidate is better.

    The noise is real, and as it was at that hour; the factor that is put in is drawn as in `drawn`.
    """
    rng = random.Random(f"spliced {number}")
    runs = load(rng.choice((SAME, FASTER)))
    several = LAST_LOOK // runs[0].rounds
    first, spread = rng.randrange(len(runs) - several + 1), rng.choice(SPREADS)
    parts = runs[first : first + several]
    better, factor = parts[0].candidates[1], math.exp(rng.gauss(0.0, spread) - rng.gauss(0.0, spread))
    figures = {
        workload: {
            name: [
                v * (factor ** _sign(workload) if name == better else 1)
                for p in parts
                for v in p.figures[workload][name]
            ]
            for name in candidates
        }
        for workload, candidates in parts[0].figures.items()
    }
    truth = {name: figure * (factor if name == better else 1) for name, figure in parts[0].truth.items()}
    return Recording(parts[0].date, truth, figures)


def _sign(workload: str) -> int:
    metric = next(one.metric for one in WORKLOADS if one.name == workload)
    return 1 if metric.better == "higher" else -1


def recorded(recordings: Iterable[Recording], told: Told) -> None:
    for recording in recordings:
        looks: list[Look] = []
        for rounds, (analysis, decision) in enumerate(recording.replay(), 1):
            result = recording.result(rounds)
            made = None if decision.stop else forecast(result, analysis, decision.survivors)
            looks.append((analysis, decision, made))
        titles = {candidate.title: candidate.name for candidate in recording.result(1).plan.candidates}
        told.add(looks, recording.truth, titles)


def by_bin(said: Iterable[tuple[float, bool]]) -> dict[int, str]:
    """`80 % → 83 % (1,564)`: what was said on average, what came true, and how often it was said."""
    bins: defaultdict[int, list[tuple[float, bool]]] = defaultdict(list)
    for chance, came in said:
        bins[max(i for i, low in enumerate(BINS[:-1]) if chance >= low)].append((chance, came))
    means = {i: (sum(c for c, _ in some) / len(some), sum(c for _, c in some) / len(some)) for i, some in bins.items()}
    return {i: f"{means[i][0]:.0%} → {means[i][1]:.0%} ({len(bins[i]):,})" for i in bins}


def rows(runs: int) -> Iterator[str]:
    """The table, in Markdown."""
    told = {"drawn at random": Told(), "the bank": Told(), "recorded, spliced": Told()}
    for number in range(15 * runs):
        simulated(drawn(number), 1, told["drawn at random"])
    for comparison in BANK:
        if not comparison.scenario.failing:
            simulated(comparison, runs, told["the bank"])
    recorded(map(spliced, range(10 * runs)), told["recorded, spliced"])
    yield f"| | said with | {' | '.join(told)} |"
    yield f"| --- | --- |{' --: |' * len(told)}"
    for title in ("settled", "enough", "close", "within", "changed"):
        cells = [by_bin(getattr(one, title)) for one in told.values()]
        for i in sorted(set().union(*cells)):
            said = " | ".join(cell.get(i, "–") for cell in cells)
            yield f"| {title} | {BINS[i]:.0%} to {BINS[i + 1]:.0%} | {said} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    for row in rows(parser.parse_args().runs):
        print(row, flush=True)
