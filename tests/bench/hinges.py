"""How often an answer that one test decides is told as a winner with high confidence, in simulated runs.

    python -m tests.bench.hinges [--runs N]

Two candidates and five tests of equal weight; half of the noise's variance is luck of the cell, which its tests share.
Runs stop as the program's do. About eight minutes of processor time.
"""

from __future__ import annotations

import argparse
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from fswizard.stats import ratios
from fswizard.stats.analyse import decide, stand
from fswizard.stats.hinges import hinges
from fswizard.stats.table import Failures, Tables, overall_table, shares
from tests.builders import make_plan, make_workload

Case = tuple[Sequence[float], float]
"""The true ratio of the second candidate to the first at each test, and the noise."""

CASES: Sequence[Case] = (
    ((1, 1, 1, 1, 1), 0.03),
    ((1, 1, 1, 1, 1), 0.08),
    ((1.5, 1, 1, 1, 1), 0.03),
    ((1.5, 1.5, 1, 1, 1), 0.03),
    ((1.2, 1.2, 1.2, 1.2, 1.2), 0.03),
)


def answer(levels: Sequence[float], noise: float, rng: random.Random) -> str:
    """What a run ends with: `high` for a winner by itself, `hangs` for one that hangs on a test, or `none`."""
    names = [f"w{number}" for number in range(len(levels))]
    plan = make_plan(("c0", "c1"), [make_workload(name) for name in names])
    tables = {name: {"c0": dict[int, float](), "c1": dict[int, float]()} for name in names}
    half = noise / math.sqrt(2)
    survivors: Sequence[str] = ("c0", "c1")
    for number in range(1, plan.maximum_rounds + 1):
        for candidate in survivors:
            luck = rng.gauss(0.0, half)
            for name, level in zip(names, levels):
                better = math.log(level) if candidate == "c1" else 0.0
                tables[name][candidate][number] = better + luck + rng.gauss(0.0, half)
        parts = shares(tables, dict.fromkeys(names, 1.0))
        overall = overall_table(parts)
        analysis = stand(overall, number, started_with=2, parts=parts)
        if len(analysis.leaders) == 1:
            known = Tables(tables, parts, overall, Failures({}, {}))
            found = hinges(plan, known, analysis.leaders[0], analysis.dropped)
            each = tuple(r for name in names for r in ratios.compare(tables[name], name, 2, [("c1", "c0")]))
            analysis = replace(analysis, hinges=found, by_workload=each)
        decision = decide(analysis, plan)
        survivors = decision.survivors
        if decision.stop:
            break
    if len(analysis.leaders) > 1:
        return "none"
    return "hangs" if analysis.hinges else "high"


def row(levels: Sequence[float], noise: float, runs: int) -> str:
    """A row of the table, in Markdown."""
    told = Counter(answer(levels, noise, random.Random(f"{levels} {noise} {seed}")) for seed in range(runs))
    shown = " | ".join(f"{100 * told[kind] / runs:.1f} %" for kind in ("high", "hangs", "none"))
    return f"| {', '.join(f'{level:g}' for level in levels)}; {100 * noise:g} % | {shown} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5000)
    options = parser.parse_args()
    print(f"| ratios at five tests; noise; {options.runs:,} runs | winner by itself | hangs on a test | no winner |")
    print("| --- | --: | --: | --: |")
    for case in CASES:
        print(row(*case, options.runs), flush=True)
