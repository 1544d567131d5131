"""The figures of the documents as they were published, and how each of their experiments is run again."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import tomli

from fswizard import results
from fswizard.model.analysis import Ratio
from fswizard.model.codec import from_json
from fswizard.model.metrics import Better
from fswizard.model.result import Result

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "recipes" / "published"
RERUNS = PUBLISHED / "reruns"


@dataclass(frozen=True, slots=True)
class Work:
    """What was measured, with a figure or several for each candidate."""

    name: str
    title: str
    metric: str
    unit: str
    better: Better
    figures: Mapping[str, float | tuple[float, ...]]

    def of(self, candidate: str) -> tuple[float, ...]:
        figures = self.figures.get(candidate, ())
        return figures if isinstance(figures, tuple) else (figures,)


@dataclass(frozen=True, slots=True)
class Document:
    """A file of published figures."""

    source: str
    baseline: str
    workload: tuple[Work, ...] = ()
    failure: tuple[Mapping[str, str], ...] = ()
    """Candidates that could not do a workload."""

    @property
    def ratios(self) -> Mapping[tuple[str, str], Ratio]:
        """By workload and candidate, above 1 is better; nobody published enough runs for an interval."""
        known = {}
        for work in self.workload:
            for candidate in work.figures:
                if candidate != self.baseline:
                    logs = [statistics.fmean(map(math.log, work.of(name))) for name in (candidate, self.baseline)]
                    shift = (logs[0] - logs[1]) * (1 if work.better == "higher" else -1)
                    known[work.name, candidate] = Ratio(candidate, self.baseline, work.name, math.exp(shift))
        for failed in self.failure:
            workload, candidate = failed["workload"], failed["candidate"]
            known[workload, candidate] = Ratio(candidate, self.baseline, workload, 0.0, verdict="failed")
        return known


@dataclass(frozen=True, slots=True)
class Condition:
    """A claim about one candidate at one workload, in the document's names."""

    candidate: str
    workload: str
    than: str = ""
    """The candidate to compare with; empty for the baseline."""
    above: float = 0.0
    """Lower limit of the ratio, or 0 for none."""
    below: float = 0.0
    """Upper limit of the ratio, or 0 for none."""
    fails: bool = False
    """Whether the candidate fails at this workload."""
    rerun: str = ""
    """Name of another experiment that shows it; empty for the same one."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A conclusion of the author; all conditions must hold."""

    text: str
    holds: tuple[Condition, ...]
    why: str = ""
    """What decides it, and whom to believe where the two disagree."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """How a published experiment is run again."""

    published: str
    """Name of the published figures."""
    title: str
    scale: str
    """Sentences on what was scaled down, and what could not be."""
    candidates: Mapping[str, str]
    """Their names of candidates to ours."""
    recipe: str = ""
    """A file in `RERUNS`; empty if no recipe has the commands."""
    notes: tuple[str, ...] = ()
    """Why ratios differ from the published ones."""
    conclusions: tuple[Conclusion, ...] = ()

    @property
    def command(self) -> tuple[str, ...]:
        """Arguments of `fswizard` in the root of the checkout, without target and rounds."""
        path = (RERUNS / self.recipe).relative_to(ROOT)
        return ("run", str(path), "--candidates", "; ".join(self.candidates.values()))


@cache
def document(name: str) -> Document:
    return from_json(Document, tomli.loads((PUBLISHED / f"{name}.toml").read_text("utf-8")))


@cache
def experiment(name: str) -> Experiment:
    return from_json(Experiment, tomli.loads((RERUNS / f"{name}.toml").read_text("utf-8")))


def result_path(name: str) -> Path:
    return RERUNS / f"{name}.jsonl"


@cache
def result_of(name: str) -> Result | None:
    """The result of an experiment, or None before it was run."""
    path = result_path(name)
    return results.load(path) if path.exists() else None
