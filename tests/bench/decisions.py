"""Replays comparisons whose right answer is known through the program's decisions and through four other policies.

    python -m tests.bench.decisions [--runs N] [--output FILE]

Every comparison is met by each policy on a machine that errs in the same way. Nothing but cells costs time: a cell
is one candidate formatted and measured once.
"""

from __future__ import annotations

import argparse
import datetime
import math
import random
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from tests.bench.simulation import Scenario, Simulation, heavy_tailed, normal, plan_of, shared

MATTERS = math.log(1.05)
"""A lead below this is a tie: naming a winner there is wrong."""
TIE, OPEN = "tie", "undecided"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Candidates with their true figures, on a machine that errs in a certain way."""

    name: str
    truth: tuple[float, ...]
    scenario: Scenario

    def answer(self) -> str:
        """The best candidate, or a tie. One that fails is no answer."""
        able = list(enumerate(self.truth))[1 if self.scenario.failing else 0 :]
        (best, figure), (_, second) = sorted(able, key=lambda item: -item[1])[:2]
        return f"c{best}" if math.log(figure / second) >= MATTERS else TIE


CALM, USUAL, LOUD = (Scenario("noise", normal(x)) for x in (0.01, 0.03, 0.08))
LADDER = tuple(100 * 1.1**i for i in range(6))
SIX = Comparison("six, 10 % apart, 3 % noise", LADDER, USUAL)
SIX_SHARED = Comparison("six, 10 % apart, 3 % noise, half of it shared", LADDER, Scenario("", shared(0.03, 6)))
BANK = (
    SIX,
    SIX_SHARED,
    Comparison("two, 15 % apart, 3 % noise", (100, 115), USUAL),
    Comparison("two, 50 % apart, 8 % noise", (100, 150), LOUD),
    Comparison("three, 30 % apart, 8 % noise", (100, 130, 70), LOUD),
    Comparison("four, 10 % apart, 1 % noise", (100, 110, 90, 80), CALM),
    Comparison("three, 20 % apart, one 3 x as noisy", (100, 120, 80), Scenario("", normal(0.03, noisy=3.0))),
    Comparison("three, 20 % apart, heavy tails", (100, 120, 80), Scenario("", heavy_tailed(0.03))),
    Comparison("three, 10 % apart, 1 % slower with each cell", (90, 100, 110), Scenario("", normal(0.02, drift=-0.01))),
    Comparison("three, 15 % apart, correlated noise", (85, 100, 115), Scenario("", normal(0.03, echo=0.5))),
    Comparison("four, 20 % apart, the fastest fails", (170, 100, 120, 80), Scenario("", normal(0.03), failing=True)),
    Comparison("two that are the same, 1 % noise", (100, 100), CALM),
    Comparison("two that are the same, 3 % noise", (100, 100), USUAL),
    Comparison("three that are the same, 8 % noise", (100, 100, 100), LOUD),
    Comparison("three, two of them the same, 3 % noise", (100, 100, 70), USUAL),
    Comparison("four, all within 1 %, 1 % noise", (100, 100.5, 101, 100.2), CALM),
    Comparison("two the same, 1 % slower with each cell", (100, 100), Scenario("", normal(0.01, drift=-0.01))),
)


def fswizard(simulation: Simulation) -> str:
    """The program's own analysis and schedule."""
    *_, (_, decision) = simulation.play(plan_of(len(simulation.truth)))
    if decision.stop == "all-tie":
        return TIE
    return decision.survivors[0] if len(decision.survivors) == 1 else OPEN


def one_run(simulation: Simulation) -> str:
    """Each candidate once; the largest figure wins."""
    return _in_turn(simulation, lambda _figures: 1)


def five_rounds(simulation: Simulation) -> str:
    """Five rounds in the program's order; the largest mean wins."""
    for number in range(1, 6):
        simulation.round(number, simulation.names)
    return _largest_mean(simulation)


def phoronix(simulation: Simulation) -> str:
    """Three runs in a row, up to six while the deviation is 2.5 % or more, up to nine if it has halved since."""

    def runs(figures: Sequence[float]) -> int:
        if len(figures) < 3:
            return 3
        spreads = [_spread(figures[:n]) for n in range(3, len(figures) + 1)]
        if spreads[-1] < 0.025:
            return len(figures)
        halved = spreads[0] - spreads[-1] > spreads[0] / 2
        return len(figures) + 1 if len(figures) < 6 or (len(figures) < 9 and halved) else len(figures)

    return _in_turn(simulation, runs)


def hyperfine(simulation: Simulation) -> str:
    """Ten runs of each in a row; the largest mean wins."""
    return _in_turn(simulation, lambda _figures: 10)


POLICIES: dict[str, Callable[[Simulation], str]] = {
    "fswizard": fswizard,
    "one run": one_run,
    "five fixed rounds": five_rounds,
    "Phoronix Test Suite": phoronix,
    "hyperfine": hyperfine,
}


def _in_turn(simulation: Simulation, runs: Callable[[Sequence[float]], int]) -> str:
    """One candidate after the other, each as often as `runs` wants after seeing its figures."""
    for name in simulation.names:
        figures: list[float] = []
        while len(figures) < runs(figures) and simulation.measure(name, len(figures) + 1):
            figures = [math.exp(score) for score in simulation.table[name].values()]
    return _largest_mean(simulation)


def _largest_mean(simulation: Simulation) -> str:
    means = {n: statistics.fmean(map(math.exp, cells.values())) for n, cells in simulation.table.items() if cells}
    return max(means, key=lambda name: means[name])


def _spread(figures: Sequence[float]) -> float:
    return statistics.stdev(figures) / statistics.fmean(figures)


@dataclass(slots=True)
class Score:
    """How a policy fared in a set of comparisons."""

    races: int = 0
    """Comparisons with a best candidate."""
    wrong: int = 0
    right: int = 0
    ties: int = 0
    """Comparisons without."""
    false_winners: int = 0
    ties_found: int = 0
    undecided: int = 0
    cells: int = 0

    def count(self, answer: str, given: str, cells: int) -> None:
        self.cells += cells
        self.undecided += given == OPEN
        if answer == TIE:
            self.ties += 1
            self.ties_found += given == TIE
            self.false_winners += given not in (TIE, OPEN)
        else:
            self.races += 1
            self.right += given == answer
            self.wrong += given not in (answer, TIE, OPEN)


def replay(policy: str, comparisons: Iterable[Comparison], runs: int) -> Score:
    """Play each comparison `runs` times."""
    score = Score()
    for comparison in comparisons:
        for seed in range(runs):
            rng = random.Random(f"{comparison.name}/{seed}")
            simulation = Simulation(comparison.truth, comparison.scenario, rng)
            given = POLICIES[policy](simulation)
            score.count(comparison.answer(), given, simulation.cells)
    return score


def total(scores: Iterable[Score]) -> Score:
    """Of several sets of comparisons."""
    return Score(*map(sum, zip(*map(astuple, scores))))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def tables(runs: int) -> str:
    """The report, in Markdown."""
    scores = {policy: {comparison: replay(policy, [comparison], runs) for comparison in BANK} for policy in POLICIES}
    whole = {policy: total(each.values()) for policy, each in scores.items()}
    lines = [
        "| policy | wrong winner | right winner | winner where there is none | tie found | undecided | cells |",
        "| --- | --: | --: | --: | --: | --: | --: |",
    ]
    lines += [
        f"| {policy} | {_share(s.wrong, s.races)} | {_share(s.right, s.races)} | {_share(s.false_winners, s.ties)} "
        f"| {_share(s.ties_found, s.ties)} | {_share(s.undecided, s.races + s.ties)} "
        f"| {s.cells / (s.races + s.ties):.1f} |"
        for policy, s in whole.items()
    ]
    for comparison, random_writes in (
        (SIX, "3 % noise, each cell for itself"),
        (SIX_SHARED, "3 % noise, half of its variance shared by a round's cells"),
    ):
        lines += ["", f"Six candidates, each 10 % faster than the one before, {random_writes}:", ""]
        lines += ["| policy | right winner | wrong winner | cells |", "| --- | --: | --: | --: |"]
        for policy in POLICIES:
            s = scores[policy][comparison]
            lines.append(
                f"| {policy} | {_share(s.right, s.races)} | {_share(s.wrong, s.races)} | {s.cells / s.races:.1f} |"
            )
    lines += ["", "The program alone, by kind of comparison:", ""]
    lines += ["| comparison | truth | right | wrong | undecided | cells |", "| --- | --- | --: | --: | --: | --: |"]
    for comparison in BANK:
        s = scores["fswizard"][comparison]
        lines.append(
            f"| {comparison.name} | {'tie' if s.ties else 'winner'} | {_share(s.right + s.ties_found, runs)} "
            f"| {_share(s.wrong + s.false_winners, runs)} | {_share(s.undecided, runs)} | {s.cells / runs:.1f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000, help="how often each of the comparisons is replayed")
    parser.add_argument("--output", type=Path, help="write a dated page instead of printing the tables")
    arguments = parser.parse_args()
    text = tables(arguments.runs)
    if arguments.output:
        note = Path(__file__).with_name("decisions_note.md").read_text(encoding="utf-8")
        head = f"# Decisions, {datetime.date.today().isoformat()}"
        count = (
            f"{len(BANK)} kinds of comparison, {arguments.runs:,} simulated runs of each for every policy: "
            f"{len(BANK) * arguments.runs:,} comparisons with known answers. Recorded ones are in RECORDED.md."
        )
        arguments.output.write_text(f"{head}\n\n{count}\n\n{text}\n\n{note}", encoding="utf-8")
    else:
        print(text)
