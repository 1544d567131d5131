"""What was measured, and what it was measured on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fswizard.model.metrics import BARE_WRITTEN, DIRECT_CACHED, MOST_CACHED, TRIAL_WRITTEN, Better
from fswizard.model.plan import Plan, Trial

Status = Literal["ok", "failed", "timed-out"]
Outcome = Literal["finished", "time-up", "budget-used", "stopped", "cancelled", "failed", "killed", "running"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One figure of one workload of one candidate in one round."""

    round: int
    """From 1; 0 for what was measured before the first round."""
    candidate: str
    """Short name; empty for the bare device."""
    workload: str
    """Name of the workload; empty for figures of the cell as a whole, such as the time of mkfs."""
    metric: str
    value: float
    unit: str
    better: Better
    primary: bool = False
    """This is the figure that ratios are made of."""
    status: Status = "ok"
    predecessor: str = ""
    """The candidate measured right before; empty for the first one of a run, or of its resumption."""
    at_s: float = field(default=0.0, compare=False)
    """Time when it was taken, in seconds since the run started; 0 in an event, which has it itself, or if unknown."""


@dataclass(frozen=True, slots=True)
class ThroughputSeries:
    """How one workload of one candidate got on in one round, second by second."""

    round: int
    candidate: str
    workload: str
    unit: Literal["B/s", "1/s"]
    rates: tuple[float, ...]
    """The mean rate of each second since the measuring began, in three digits; 0 where it got nowhere."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A candidate could not do a workload, or could not be made at all."""

    round: int
    candidate: str
    workload: str
    """Empty when formatting or mounting failed."""
    kind: str
    """Short stable name: `ENOSPC`, `EIO`, `timed-out`, `mkfs`, `not-applicable`."""
    text: str
    """What happened, in a sentence."""
    details: str = ""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason to trust the result less, said beside it."""

    code: str
    """Short stable name, such as `cache-not-exceeded`."""
    text: str
    """What it is and what can be done about it."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What the run happened on."""

    version: str
    """Version of fswizard."""
    started: str
    """UTC, ISO 8601."""
    kernel: str = ""
    distribution: str = ""
    host: str = ""
    """Never leaves the machine unless asked for."""
    processor: str = ""
    memory_bytes: int = 0
    tools: Mapping[str, str] = field(default_factory=dict)
    """Program to version, such as `mkfs.xfs` to `6.1.0`."""


@dataclass(frozen=True, slots=True)
class Result:
    """A run, finished or not, as its result file holds it."""

    environment: Environment
    plan: Plan
    samples: tuple[Sample, ...] = ()
    failures: tuple[Failure, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    discarded_rounds: tuple[int, ...] = ()
    """Rounds that do not count, such as one in which the machine was suspended."""
    finished_rounds: int = 0
    """Number of the last round that was gone through whole; what was measured after it is part of a round."""
    survivors: tuple[str, ...] | None = None
    """Who was in the run after that round; None before the first one was finished."""
    outcome: Outcome = "killed"
    """`killed` when the file has no closing line, and `running` as long as its run is alive."""
    fault: str = ""
    """What made it fail, in a sentence."""
    remedy: str = ""
    """What the user can do about that, in a sentence."""
    elapsed_s: float = 0.0
    throughput_series: tuple[ThroughputSeries, ...] = ()

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Those that have figures and count, as they were carried out."""
        counted = (s for s in self.samples if s.candidate and s.round not in self.discarded_rounds)
        return tuple(dict.fromkeys(Trial(s.round, s.candidate, s.predecessor) for s in counted))

    @property
    def whole_rounds(self) -> int:
        """Number of rounds that were gone through whole and count."""
        return self.finished_rounds - sum(number <= self.finished_rounds for number in self.discarded_rounds)

    @property
    def trial_s(self) -> float:
        """What a trial took, with its share of the preparation; 0 where there was none."""
        return self.elapsed_s / len(self.trials) if self.trials else 0.0

    @property
    def kept_in_memory(self) -> frozenset[str]:
        """Candidates that kept direct writes in memory, where direct figures count: theirs say little of the disk."""
        if not any(workload.job.direct and workload.weight > 0 for workload in self.plan.recipe.workloads):
            return frozenset()
        samples = (s for s in self.samples if s.metric == DIRECT_CACHED.name and s.value > MOST_CACHED)
        return frozenset(sample.candidate for sample in samples)

    @property
    def candidates_left(self) -> tuple[str, ...]:
        """Who takes part in the next round: all but those that failed, fell behind or were skipped in whole rounds."""
        if self.survivors is None:
            return tuple(candidate.name for candidate in self.plan.candidates)
        return self.survivors

    @property
    def trials_written(self) -> tuple[Sample, ...]:
        """What the devices wrote in each trial, where the kernel counts that."""
        return tuple(sample for sample in self.samples if sample.metric == TRIAL_WRITTEN.name)

    @property
    def counted_bytes(self) -> float:
        """What the devices wrote in all rounds, where the kernel counts that."""
        counted = (TRIAL_WRITTEN.name, BARE_WRITTEN.name)
        return sum(sample.value for sample in self.samples if sample.metric in counted)

    @property
    def written_bytes(self) -> float:
        """The same, and the scratch images before."""
        return self.plan.filled_bytes + self.counted_bytes
