"""Real runs whose right answer is known, recorded round by round and judged again whenever the analysis changes.

`same`: ext4 against itself under another name, random writes for 0.3 s and a copied tree on an image of 128 MiB; the
machine is a virtual one, whose figures differ by a third from one round to the next. `faster`: an option that is 15 %
faster on a simulated disk, as it spares flushes. Nobody was dropped while they were recorded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fswizard.model.analysis import Ratio
from fswizard.model.metrics import DURATION, IOPS
from fswizard.stats import analyse, decide
from tests.builders import make_plan, make_result, make_samples, make_workload

HERE = Path(__file__).with_name("recorded")
SAME, FASTER = HERE / "same.jsonl", HERE / "faster.jsonl"
GAIN = 1.15
"""Of `faster`."""
METRICS = {"random-write": IOPS, "copy-tree": DURATION, "writes": IOPS}


@dataclass(frozen=True, slots=True)
class Recording:
    """A run whose truth is known."""

    date: str
    truth: Mapping[str, float]
    """Candidate to its true speed, the slowest being 1."""
    figures: Mapping[str, Mapping[str, Sequence[float]]]
    """Workload to candidate to its figure in round 1, 2, …"""

    def ratio(self) -> Ratio:
        """What the program says of the second candidate, which looks after every round until it would have stopped."""
        maximum = min(len(values) for figures in self.figures.values() for values in figures.values())
        workloads = [make_workload(name, METRICS[name]) for name in self.figures]
        plan = make_plan(tuple(self.truth), workloads, maximum_rounds=maximum)
        stop, rounds = False, 0
        while not stop:
            rounds += 1
            samples = [
                sample
                for name, figures in self.figures.items()
                for sample in make_samples({c: v[:rounds] for c, v in figures.items()}, name, METRICS[name])
            ]
            analysis = analyse(make_result(plan=plan, samples=tuple(samples)))
            stop = rounds == maximum or bool(decide(analysis, plan).stop)
        ratio = analysis.of(tuple(self.truth)[1])
        assert ratio is not None
        return ratio

    def holds(self, ratio: Ratio) -> bool:
        """The interval holds the truth; none at all does so, too."""
        truth = self.truth[ratio.candidate] / self.truth[ratio.baseline]
        return not (ratio.low and ratio.high) or ratio.low <= truth <= ratio.high


def load(path: Path) -> list[Recording]:
    return [Recording(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
