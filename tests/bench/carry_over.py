"""How often a candidate that slows down whatever is measured after it makes a false winner.

    python -m tests.bench.carry_over [--runs N] [--write]

Candidates are the same; the first one slows down what is measured right after it. `--write` puts the table into
fswizard/stats/README.md. Takes about eight minutes.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import re
from collections.abc import Collection, Sequence
from pathlib import Path

import fswizard.stats
from fswizard.model.plan import Plan, Trial
from fswizard.session.order import trial_order
from fswizard.stats.carry_over import most_explained
from tests.bench.simulation import Order, Scenario, Simulation, normal, plan_of

README = Path(fswizard.stats.__file__).with_name("README.md")
HEAD = "| candidates, noise | slowed down | random order | this order | unsaid |"
SIZES = ((2, 0.03), (2, 0.08), (3, 0.03))
SLOWED = ((0.0, False), (0.05, False), (0.1, False), (0.2, False), (0.05, True), (0.2, True))
"""By how much what follows is slower, and whether the candidate itself is as well."""


def random_order(
    plan: Plan, number: int, survivors: Collection[str], _earlier: Sequence[Trial], last: str
) -> Sequence[Trial]:
    names = sorted(survivors)
    random.Random(f"{plan.seed}/{number}").shuffle(names)
    return [Trial(number, name, before) for name, before in zip(names, (last, *names))]


def said(simulation: Simulation) -> bool:
    """The program's doubt about the run as it stands."""
    predecessors = {(trial.round, trial.candidate): trial.predecessor for trial in simulation.trials}
    pairs = simulation.analysis(max(trial.round for trial in simulation.trials)).pairs
    found = most_explained(simulation.table, predecessors, pairs)
    return found is not None and found.doubtful


def winners(truth: Sequence[float], scenario: Scenario, runs: int, order: Order = trial_order) -> tuple[float, float]:
    """Share of runs that end with a winner, and with one that nothing is said against."""
    won = unsaid = 0
    for seed in range(runs):
        simulation = Simulation(truth, scenario, random.Random(seed), order)
        *_, (_, decision) = simulation.play(plan_of(len(truth)))
        if decision.stop == "one-left":
            won += 1
            unsaid += not said(simulation)
    return won / runs, unsaid / runs


def table(runs: int) -> str:
    lines = [HEAD, "| --- | --- | --: | --: | --: |"]
    for candidates, deviation in SIZES:
        for slower, itself in SLOWED:
            scenario = Scenario("carry-over", normal(deviation), carried=-math.log1p(slower), itself=itself)
            truth = [100.0] * candidates
            chance, _ = winners(truth, scenario, runs, random_order)
            won, unsaid = winners(truth, scenario, runs)
            who = ("others and itself" if itself else "others") if slower else "nobody"
            by = f" by {slower:.0%}" if slower else ""
            shares = f"{chance:.1%} | {won:.1%} | {unsaid:.1%}"
            lines.append(f"| {candidates}, {deviation:.0%} | {who}{by} | {shares} |".replace("%", " %"))
            print(lines[-1], flush=True)
    return "\n".join(lines)


if __name__ == "__main__":
    os.nice(19)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000, help="simulated runs for each figure")
    parser.add_argument("--write", action="store_true", help="put the table into the README of the statistics")
    arguments = parser.parse_args()
    made = table(arguments.runs)
    if arguments.write:
        page = re.sub(rf"{re.escape(HEAD)}\n(\|.*\n)+", f"{made}\n", README.read_text("utf-8"))
        README.write_text(page, "utf-8")
