"""How often results pooled over machines err, on simulated machines whose truth is known; about ten minutes
for 5,000 pools of each kind.

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
from fswizard.stats.study import study_of
from tests.bench.error_rates import README, many, percent, replaced
from tests.bench.many import Floats, Shape
from tests.builders import make_result

MACHINES = (3, 5, 10, 50)
BANK = 50_000
"""Machines that pools are drawn from."""
MOST = 0.05
OTHER_KIND = 0.25
"""Share of the machines whose disks are of another kind, where kinds are mixed."""


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
    other: float = 1.0
    """How many times as large the ratio is on disks of another kind, which nobody knows of."""
    copied: bool = False
    """One result is another one under a new name, with figures changed in the last digits."""

    @property
    def truth(self) -> float:
        """The mean logarithm of all machines."""
        return math.log(self.ratio) + OTHER_KIND * math.log(self.other)

    def __str__(self) -> str:
        apart = f"{self.ratio:.2f} × the other" if self.ratio != 1 else "the same"
        others = f"{self.candidates} candidates, " * (self.candidates > 2)
        unequal = ", differing between machines" * bool(self.unequal)
        other = f", {self.other:.2f} × that on a quarter of the disks" * (self.other != 1)
        copied = ", one a copy with changed digits" * self.copied
        return f"{others}{apart}, machines differ by {self.between:.0%}, noise {self.noise:.0%}{unequal}{other}{copied}"

    def errors(self, rng: np.random.Generator, shape: Shape) -> Floats:
        """Noise as `many` takes it, with what each machine's first candidate is better by."""
        figures = rng.standard_normal(shape) * self.noise
        figures *= np.exp(self.unequal * rng.standard_normal((shape[0], 1, 1)))
        figures[:, :, 0] += math.log(self.ratio) + self.between * rng.standard_normal((shape[0], 1))
        figures[:, :, 0] += math.log(self.other) * (rng.random((shape[0], 1)) < OTHER_KIND)
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
DECEIVED = (
    *(Case(1.0, 0.03, 0.03, other=other) for other in (1.1, 1.3)),
    *(Case(1.0, between, 0.03, copied=True) for between in (0.03, 0.1)),
)
"""Mixed kinds of disks and copies, as they would be if nobody noticed: no bound holds."""


@cache
def bank(case: Case, machines: int = BANK) -> tuple[Study, ...]:
    """What this many machines measured, each in a run that stopped where the program's runs stop."""
    outcome = many((1.0,) * case.candidates, case.errors, machines)
    pattern = study_of(make_result({"b": (1.0, 2.0), "a": (1.0, 2.0)}))
    found = zip(outcome.difference.tolist(), outcome.error.tolist(), outcome.rounds.tolist())
    return tuple(
        replace(
            pattern,
            machine=str(number),
            estimates=(Estimate("a", "b", "", mean, error, rounds),),
        )
        for number, (mean, error, rounds) in enumerate(found)
    )


def errors(case: Case, machines: int, pools: int, *, of: int = BANK) -> tuple[float, float]:
    """Share of pools whose interval misses the mean of all machines, and with a false verdict."""
    truth, rng, missed, false = case.truth, random.Random(f"{case}/{machines}"), 0, 0
    for _ in range(pools):
        drawn = rng.sample(bank(case, of), machines)
        if case.copied:
            changed = tuple(replace(each, mean=each.mean + 1e-6) for each in drawn[0].estimates)
            drawn[-1] = replace(drawn[-1], estimates=changed)
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
    for case in (*CASES, *DECEIVED):
        found = [errors(case, count, pools) for count in MACHINES]
        worst = max(missed for missed, _ in found)
        word = "holds" if worst <= MOST else f"misses by {worst - MOST:.1%}"
        bound = f"≤ {MOST:.0%}: {word}" if case in CASES else ""
        rows.append(f"| {case} | {' | '.join(f'{m:.1%} ({f:.1%})' for m, f in found)} | {bound} |")
        print(rows[-1], flush=True)
        bank.cache_clear()
    return percent("\n".join(rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    made = table(options.runs)
    if options.write:
        README.write_text(replaced(README.read_text("utf-8"), made), "utf-8")
