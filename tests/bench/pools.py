"""How often results pooled over machines err, on simulated machines whose truth is known; about ten minutes.

    python -m tests.bench.pools [--runs N] [--write]

`--write` puts the table into fswizard/stats/README.md.
"""

from __future__ import annotations

import argparse
import math
import random
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from fswizard.model.analysis import TIE
from fswizard.model.pool import Estimate, Study
from fswizard.stats.pooling import pool
from fswizard.stats.ratios import critical
from fswizard.stats.study import study_of
from tests.bench.error_rates import README, many, percent, replaced
from tests.bench.many import Floats, Shape
from tests.builders import make_result

MACHINES = (3, 5, 10, 50)
BANK = 10_000
"""Machines that pools are drawn from."""
MOST = 0.05


@dataclass(frozen=True, slots=True)
class Case:
    """Machines that err and differ in one way."""

    ratio: float
    """The mean of all machines."""
    between: float
    """Standard deviation of the machines' truths, as logarithms."""
    noise: float
    unequal: float = 0.0
    """Each machine has a noise of its own: the deviation of its logarithm."""
    candidates: int = 2

    def __str__(self) -> str:
        apart = f"{self.ratio:.2f} × the other" if self.ratio != 1 else "the same"
        others = f"{self.candidates} candidates, " * (self.candidates > 2)
        unequal = ", differing between machines" * bool(self.unequal)
        return f"{others}{apart}, machines differ by {self.between:.0%}, noise {self.noise:.0%}{unequal}"

    def errors(self, rng: np.random.Generator, shape: Shape) -> Floats:
        """Noise as `many` takes it, with what each machine's first candidate is better by."""
        figures = rng.standard_normal(shape) * self.noise
        figures *= np.exp(self.unequal * rng.standard_normal((shape[0], 1, 1)))
        figures[:, :, 0] += math.log(self.ratio) + self.between * rng.standard_normal((shape[0], 1))
        return figures


CASES = (
    *(Case(1.0, between, noise) for between in (0.0, 0.03, 0.1) for noise in (0.03, 0.08)),
    *(Case(1.1, between, noise) for between in (0.0, 0.03, 0.1) for noise in (0.03, 0.08)),
    Case(1.0, 0.03, 0.03, 0.7),
    Case(1.0, 0.1, 0.08, 0.7),
    Case(1.1, 0.03, 0.03, 0.7),
    Case(1.1, 0.03, 0.08, 0.7),
    Case(1.3, 0.1, 0.08, 0.7),
    Case(1.0, 0.03, 0.08, candidates=5),
    Case(1.1, 0.03, 0.03, 0.7, candidates=5),
)


@cache
def bank(case: Case, machines: int = BANK) -> tuple[Study, ...]:
    """What this many machines measured, each in a run that stopped where the program's runs stop."""
    outcome = many((1.0,) * case.candidates, case.errors, machines)
    pattern = study_of(make_result({"b": (1.0, 2.0), "a": (1.0, 2.0)}))
    found = zip(outcome.difference.tolist(), outcome.half_width.tolist(), outcome.rounds.tolist())
    return tuple(
        replace(
            pattern,
            machine=str(number),
            estimates=(Estimate("a", "b", "", mean, half / critical(case.candidates, rounds), rounds),),
        )
        for number, (mean, half, rounds) in enumerate(found)
    )


def errors(case: Case, machines: int, pools: int, *, of: int = BANK) -> tuple[float, float]:
    """Share of pools whose interval misses the mean of all machines, and with a false verdict."""
    truth, rng, missed, false = math.log(case.ratio), random.Random(f"{case}/{machines}"), 0, 0
    for _ in range(pools):
        drawn = rng.sample(bank(case, of), machines)
        ratio = pool({one.machine: one for one in drawn}).groups[0].analysis.of("a")
        assert ratio is not None and ratio.low is not None and ratio.high is not None
        missed += not math.log(ratio.low) <= truth <= math.log(ratio.high)
        right = {"faster": truth > 0, "slower": truth < 0, "tie": abs(truth) <= math.log(TIE)}
        false += not right.get(ratio.verdict, True)
    return missed / pools, false / pools


def table(pools: int) -> str:
    """Markdown."""
    rows = [
        f"| pooled, {pools:,} runs | {' | '.join(f'{count} machines' for count in MACHINES)} | |",
        f"| --- | {' | '.join('--:' for _ in MACHINES)} | --- |",
    ]
    for case in CASES:
        found = [errors(case, count, pools) for count in MACHINES]
        worst = max(missed for missed, _ in found)
        word = "holds" if worst <= MOST else f"misses by {worst - MOST:.1%}"
        rows.append(f"| {case} | {' | '.join(f'{m:.1%} ({f:.1%})' for m, f in found)} | ≤ {MOST:.0%}: {word} |")
        print(rows[-1], flush=True)
        bank.cache_clear()
    return percent("\n".join(rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    made = table(options.runs)
    if options.write:
        README.write_text(replaced(README.read_text("utf-8"), made), "utf-8")
