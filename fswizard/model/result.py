"""The measured values of a run, with the plan and the machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from fswizard.model.frozen import frozen
from fswizard.model.metrics import BARE_WRITTEN, DIRECT_CACHED, MOST_CACHED, TRIAL_WRITTEN, Better
from fswizard.model.plan import Plan, Trial

Outcome = Literal["finished", "time-up", "budget-used", "stopped", "cancelled", "failed", "killed", "running"]


@frozen
class Sample:
    """One figure of one workload of one candidate in one round."""

    round: int
    """From 1; 0 for values measured before the first round."""
    candidate: str
    """Short name; empty for the bare device."""
    workload: str
    """Name of the workload; empty for figures of the whole cell, such as the duration of mkfs."""
    metric: str
    value: float
    unit: str
    better: Better
    primary: bool = False
    """Ratios are based on this figure."""
    predecessor: str = ""
    """The candidate measured immediately before; empty for the first one of a run, or of its resumption."""
    at_s: float = field(default=0.0, compare=False)
    """Seconds since the start of the run; 0 if unknown, and in an event, which has its own `at_s`."""


@frozen
class ThroughputSeries:
    """Throughput of one workload of one candidate in one round, second by second."""

    round: int
    candidate: str
    workload: str
    unit: Literal["B/s", "1/s"]
    rates: tuple[float, ...]
    """Mean rate of each second since measuring began, rounded to three digits; 0 without progress."""


@frozen
class Failure:
    """A workload that a candidate failed, or the failure to create or mount it."""

    round: int
    candidate: str
    workload: str
    """Empty if formatting or mounting failed."""
    kind: str
    """Short stable name: `ENOSPC`, `EIO`, `timed-out`, `mkfs`, `not-applicable`."""
    text: str
    """What happened, in a sentence."""
    details: str = ""


@frozen
class Doubt:
    """A warning about the reliability of the result."""

    code: str
    """Short stable name, such as `cache-not-exceeded`."""
    text: str
    """What it means and what can be done about it."""


@frozen
class Environment:
    """The software and hardware of the machine."""

    version: str
    """Version of fswizard."""
    started: str
    """UTC, ISO 8601."""
    kernel: str = ""
    distribution: str = ""
    host: str = ""
    """Omitted from exports unless requested."""
    processor: str = ""
    memory_bytes: int = 0
    tools: Mapping[str, str] = field(default_factory=dict)
    """Version by program, such as `6.1.0` for `mkfs.xfs`."""


@frozen
class Result:
    """A run, complete or not, as stored in its result file."""

    environment: Environment
    plan: Plan
    samples: tuple[Sample, ...] = ()
    failures: tuple[Failure, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    discarded_rounds: tuple[int, ...] = ()
    """Rounds that do not count, such as one during which the machine was suspended."""
    finished_rounds: int = 0
    """Number of the last complete round; later figures are part of an incomplete round."""
    survivors: tuple[str, ...] | None = None
    """Candidates still in the run after that round; None before the first complete round."""
    outcome: Outcome = "killed"
    """`killed` if the file has no closing event, and `running` while its process is alive."""
    fault: str = ""
    """Reason of a failure, in a sentence."""
    remedy: str = ""
    """What the user can do about the failure, in a sentence."""
    elapsed_s: float = 0.0
    throughput_series: tuple[ThroughputSeries, ...] = ()

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Trials that have figures and count, in the order of their execution."""
        counted = (s for s in self.samples if s.candidate and s.round not in self.discarded_rounds)
        return tuple(dict.fromkeys(Trial(s.round, s.candidate, s.predecessor) for s in counted))

    @property
    def whole_rounds(self) -> int:
        """Number of complete rounds that count."""
        return self.finished_rounds - sum(number <= self.finished_rounds for number in self.discarded_rounds)

    @property
    def trial_s(self) -> float:
        """Mean duration of a trial, including its share of the preparation; 0 without trials."""
        return self.elapsed_s / len(self.trials) if self.trials else 0.0

    @property
    def cached_in_memory(self) -> frozenset[str]:
        """Candidates that cached direct writes in memory, which makes the figures of direct workloads unreliable."""
        if not any(workload.job.direct and workload.weight > 0 for workload in self.plan.recipe.workloads):
            return frozenset()
        samples = (s for s in self.samples if s.metric == DIRECT_CACHED.name and s.value > MOST_CACHED)
        return frozenset(sample.candidate for sample in samples)

    @property
    def candidates_left(self) -> tuple[str, ...]:
        """Candidates of the next round: all but those that failed, fell behind or were skipped in complete rounds."""
        if self.survivors is None:
            return tuple(candidate.name for candidate in self.plan.candidates)
        return self.survivors

    @property
    def trials_written(self) -> tuple[Sample, ...]:
        """Bytes written by the devices in each trial, as far as the kernel counts them."""
        return tuple(sample for sample in self.samples if sample.metric == TRIAL_WRITTEN.name)

    @property
    def counted_bytes(self) -> float:
        """Bytes written by the devices in all rounds, as far as the kernel counts them."""
        counted = (TRIAL_WRITTEN.name, BARE_WRITTEN.name)
        return sum(sample.value for sample in self.samples if sample.metric in counted)

    @property
    def written_bytes(self) -> float:
        """`counted_bytes` plus the writes before the first round, such as scratch images."""
        return self.plan.filled_bytes + self.counted_bytes
