"""Time to a decision, in device time: cells until a policy names its answer, on machines whose truth is known."""

from __future__ import annotations

import random
from collections.abc import Iterator

from fswizard import recipes
from fswizard.model.estimates import trial_overhead_s
from tests.bench.decisions import BANK, POLICIES, SIX, SIX_SHARED, Comparison
from tests.bench.pairs import Pairs
from tests.bench.simulation import Simulation
from tests.bench.table import Line, Size, told

TITLE = "Time to decision"
RUNS: dict[Size, tuple[int, int]] = {"full": (1000, 100), "short": (100, 10), "tiny": (2, 1)}
"""Of the comparison of six candidates, and of each kind of comparison."""
US, OTHERS = "fswizard", {"Phoronix Test Suite": "Phoronix' rule", "five fixed rounds": "five fixed rounds"}


def measure(size: Size) -> Iterator[Line]:
    runs, bank_runs = RUNS[size]
    cell_s = trial_overhead_s("ssd") + sum(workload.seconds for workload in recipes.find("quick").workloads)
    races = [comparison for comparison in BANK if comparison.answer().startswith("c")]
    for other, title in OTHERS.items():
        for comparisons, count in ([SIX], runs), ([SIX_SHARED], runs), (races, bank_runs):
            yield _line(comparisons, count, other, title, cell_s)


def _line(comparisons: list[Comparison], count: int, other: str, title: str, cell_s: float) -> Line:
    """Both meet the same noise; how often each was right is said beside it."""
    taken = Pairs(count * len(comparisons))
    for number, side in enumerate(taken.turns()):
        pair = number // 2
        comparison = comparisons[pair % len(comparisons)]
        simulation = Simulation(comparison.truth, comparison.scenario, random.Random(f"{comparison.name} {pair}"))
        given = POLICIES[US if side == "ours" else other](simulation)
        taken.add(side, {"cells": simulation.cells, "right": given == comparison.answer()})
    what = comparisons[0].name if len(comparisons) == 1 else f"{len(comparisons)} kinds with a best candidate"
    ours, theirs = (sum(taken.values(side, "cells")) / count / len(comparisons) * cell_s for side in ("ours", "theirs"))
    right = [f"{sum(taken.values(side, 'right')) / count / len(comparisons):.1%}" for side in ("ours", "theirs")]
    remark = f"{ours:.0f} s against {theirs:.0f} s; right in {right[0]} and {right[1]}"
    return told(f"Device time over {title}: {what}", str(taken.ratio("cells")), remark)
