"""How many marks in the table of workloads are wrong, in simulated runs whose truth is known.

    python -m tests.bench.discoveries [--runs N]

A run stops by its overall ratios, as the program's do; its table is judged then. A mark is wrong where the true figures
do not differ in its direction, or for a tie differ by more than 5 %. Found are true differences that are marked.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fswizard.model.analysis import TIE, Ratio
from fswizard.stats.analyse import decide, stand
from fswizard.stats.discoveries import AT_THE_END, controlled
from fswizard.stats.ratios import compare
from fswizard.stats.table import overall_table, shares
from tests.bench.simulation import plan_of

Truth = Sequence[Sequence[float]]
"""For each workload, the true logarithm of each candidate's figure."""


@dataclass(frozen=True, slots=True)
class Case:
    """Workloads of which some differ between candidates."""

    candidates: int
    workloads: int
    differing: int
    """Of the workloads; there every second candidate is better by `apart`."""
    apart: float
    noise: float
    """Of each figure's logarithm; half of its variance is luck of the cell, which its workloads share."""

    @property
    def truth(self) -> Truth:
        better = [[math.log1p(self.apart) * (n % 2) for n in range(self.candidates)] for _ in range(self.differing)]
        return [*better, *[[0.0] * self.candidates for _ in range(self.workloads - self.differing)]]

    def __str__(self) -> str:
        apart = f"{self.differing} differ by {self.apart:.0%}" if self.differing else "nothing differs"
        return f"{self.candidates} candidates, {self.workloads} workloads, {apart}, noise {self.noise:.0%}"


CASES = (
    Case(2, 6, 0, 0.0, 0.03),
    Case(2, 6, 0, 0.0, 0.08),
    Case(3, 6, 0, 0.0, 0.08),
    Case(3, 12, 0, 0.0, 0.2),
    Case(6, 6, 0, 0.0, 0.08),
    Case(2, 6, 3, 0.06, 0.03),
    Case(2, 6, 3, 0.3, 0.08),
    Case(3, 6, 3, 0.3, 0.08),
    Case(3, 6, 5, 0.3, 0.08),
    Case(6, 6, 1, 0.3, 0.08),
    Case(6, 6, 3, 0.3, 0.08),
)


def table(case: Case, rng: random.Random) -> tuple[Ratio, ...]:
    """The table of workloads of one run, each with intervals for itself."""
    plan = plan_of(case.candidates)
    names = [candidate.name for candidate in plan.candidates]
    figures = {f"w{n}": {name: dict[int, float]() for name in names} for n in range(case.workloads)}
    weights = dict.fromkeys(figures, 1.0)
    half = case.noise / math.sqrt(2)
    survivors: Sequence[str] = names
    for number in range(1, plan.maximum_rounds + 1):
        for name in survivors:
            luck = rng.gauss(0.0, half)
            for levels, cells in zip(case.truth, figures.values()):
                cells[name][number] = levels[names.index(name)] + luck + rng.gauss(0.0, half)
        parts = shares(figures, weights)
        analysis = stand(overall_table(parts), number, started_with=len(names), parts=parts)
        decision = decide(analysis, plan)
        survivors = decision.survivors
        if decision.stop:
            break
    pairs = [(name, names[0]) for name in names[1:]]
    return tuple(ratio for work, cells in figures.items() for ratio in compare(cells, work, len(names), pairs))


@dataclass(slots=True)
class Score:
    """Marks in the tables of many runs."""

    runs: int = 0
    wrong_tables: int = 0
    """With a wrong mark at least."""
    wrong_share: float = 0.0
    """Sum over the tables of the share of their marks that are wrong."""
    found: int = 0
    """True differences that are marked."""
    there: int = 0

    def count(self, marked: Sequence[Ratio], truth: Mapping[str, Sequence[float]]) -> None:
        marks = [ratio for ratio in marked if ratio.verdict != "undecided"]
        right = sum(_right(ratio, truth[ratio.workload]) for ratio in marks)
        self.runs += 1
        self.wrong_tables += right < len(marks)
        self.wrong_share += (len(marks) - right) / max(1, len(marks))
        self.found += sum(_right(ratio, truth[ratio.workload]) for ratio in marks if ratio.verdict != "tie")
        self.there += sum(_apart(ratio, truth[ratio.workload]) != 0 for ratio in marked)

    def __str__(self) -> str:
        power = f"{self.found / self.there:.0%}" if self.there else "–"
        return f"{self.wrong_tables / self.runs:.1%} | {self.wrong_share / self.runs:.1%} | {power}"


def _apart(ratio: Ratio, levels: Sequence[float]) -> float:
    return levels[int(ratio.candidate[1:])] - levels[int(ratio.baseline[1:])]


def _right(ratio: Ratio, levels: Sequence[float]) -> bool:
    apart = _apart(ratio, levels)
    return {"faster": apart > 0, "slower": apart < 0, "tie": abs(apart) <= math.log(TIE)}[ratio.verdict]


def scores(case: Case, runs: int) -> tuple[Score, Score]:
    """Each interval for itself, and controlled over the table."""
    truth = {f"w{number}": levels for number, levels in enumerate(case.truth)}
    alone, together = Score(), Score()
    for seed in range(runs):
        ratios = table(case, random.Random(f"{case} {seed}"))
        alone.count(ratios, truth)
        together.count(controlled(ratios, lambda ratio: ratio.workload, AT_THE_END), truth)
    return alone, together


def rows(runs: int) -> Iterator[str]:
    """The table, in Markdown."""
    yield "| | each for itself: a wrong mark | wrong of the marks | found | together: a wrong mark | wrong | found |"
    yield "| --- | --: | --: | --: | --: | --: | --: |"
    for case in CASES:
        alone, together = scores(case, runs)
        yield f"| {case} | {alone} | {together} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    for row in rows(parser.parse_args().runs):
        print(row, flush=True)
