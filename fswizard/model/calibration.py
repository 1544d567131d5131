"""What an earlier run on a disk took and wrote, from which the next one on it is estimated."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from fswizard.model.estimates import timed_bytes
from fswizard.model.metrics import DEVICE_WRITTEN, DURATION, MKFS_TIME, TRIAL_WRITTEN
from fswizard.model.recipe import Job
from fswizard.model.result import Result, Sample

BESIDE = ""
"""The name for everything in a trial but its workloads: mkfs, mounting, unmounting."""


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds, with what is prepared, and the bytes that reached the disk while it was measured: means over rounds."""

    seconds: float
    writes_bytes: float
    """Beside the workloads: also what was prepared for them."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """An earlier run on the disk of a plan."""

    date: str
    """ISO 8601."""
    workloads: Mapping[Job, Mapping[str, Took]]
    """By candidate."""
    beside: Mapping[str, Took]
    """The same for the rest of a trial."""
    around_s: float
    """Before the first trial, and to take everything away after the last one."""
    filled_bytes: int
    slower: float
    """How many times as long as an ordinary SATA SSD the disk took for work; 1 where none was timed."""

    def took(self, job: Job, candidates: Sequence[str]) -> tuple[Took, ...]:
        """For a job, by those of `candidates` that were measured, else by all that were; empty where none was."""
        return _of(self.workloads.get(job.ending_at(0), {}), candidates)

    def took_beside(self, candidates: Sequence[str]) -> tuple[Took, ...]:
        """As `took`, beside the workloads."""
        return _of(self.beside, candidates)

    def trial_bytes(self, jobs: Iterable[Job], candidates: Sequence[str]) -> int:
        """What a trial with these jobs wrote; 0 where others were measured."""
        wanted = {job.ending_at(0) for job in jobs}
        if wanted != self.workloads.keys():
            return 0
        parts = (self.took_beside(candidates), *(self.took(job, candidates) for job in wanted))
        return int(sum(statistics.fmean(each.writes_bytes for each in took) for took in parts))

    def takes_around_s(self, filled_bytes: int) -> float:
        """What a run takes before and after its trials, where scratch images have so much; 0 if unknown."""
        if bool(filled_bytes) != bool(self.filled_bytes):
            return 0.0
        return self.around_s * (filled_bytes / self.filled_bytes if filled_bytes else 1.0)

    def pace(self, kind: str) -> float | None:
        """What timed jobs wrote over what they do on a disk of its kind; None where there was none."""
        timed = [(timed_bytes(job, kind), took.values()) for job, took in self.workloads.items()]
        expected = sum(size_bytes for size_bytes, _ in timed)
        wrote = sum(statistics.fmean(each.writes_bytes for each in took) for size_bytes, took in timed if size_bytes)
        return wrote / expected if expected else None


def _of(known: Mapping[str, Took], candidates: Sequence[str]) -> tuple[Took, ...]:
    return tuple(known[name] for name in candidates if name in known) or tuple(known.values())


@dataclass(frozen=True, slots=True)
class _Trial:
    candidate: str
    seconds: Mapping[str, float]
    """By workload; with `BESIDE`, as is the next one."""
    writes_bytes: Mapping[str, float]


def calibration(result: Result) -> Calibration | None:
    """Calibration by a result; None if no trial has both its duration and the bytes that it wrote."""
    jobs = {workload.name: workload.job.ending_at(0) for workload in result.plan.recipe.workloads}
    samples = [sample for sample in result.samples if sample.round]
    began_s = _began_s(samples[0]) if samples else 0.0
    trials = [
        trial
        for number, trial in _trials(samples, began_s)
        if number not in result.discarded_rounds and trial.seconds.keys() >= jobs.keys()
    ]
    if not trials or not samples[-1].at_s:
        return None
    took: defaultdict[str, dict[str, Took]] = defaultdict(dict)
    for candidate in dict.fromkeys(trial.candidate for trial in trials):
        own = [trial for trial in trials if trial.candidate == candidate]
        for name in (*jobs, BESIDE):
            seconds = statistics.fmean(trial.seconds[name] for trial in own)
            took[name][candidate] = Took(seconds, statistics.fmean(trial.writes_bytes[name] for trial in own))
    return Calibration(
        result.environment.started[:10],
        {job: took[name] for name, job in jobs.items()},
        took[BESIDE],
        began_s + result.elapsed_s - samples[-1].at_s,
        result.plan.target.filled_bytes,
        _slower(samples, jobs),
    )


def _began_s(first: Sample) -> float:
    """When the first trial began, by its first figure."""
    return first.at_s - (first.value if first.metric == MKFS_TIME.name else 0.0)


def _trials(samples: Sequence[Sample], began_s: float) -> Iterator[tuple[int, _Trial]]:
    """With their rounds, those that went through to their end. What passes before a figure belongs to its workload."""
    for (number, candidate), figures in groupby(samples, lambda sample: (sample.round, sample.candidate)):
        seconds, writes_bytes = defaultdict[str, float](float), defaultdict[str, float](float)
        whole_bytes = None
        for sample in figures:
            seconds[sample.workload] += sample.at_s - began_s
            began_s = sample.at_s
            if sample.metric == DEVICE_WRITTEN.name:
                writes_bytes[sample.workload] += sample.value
            elif sample.metric == TRIAL_WRITTEN.name:
                whole_bytes = sample.value
        if candidate and whole_bytes is not None:
            writes_bytes[BESIDE] = whole_bytes - sum(writes_bytes.values())
            yield number, _Trial(candidate, seconds, writes_bytes)


def _slower(samples: Iterable[Sample], jobs: Mapping[str, Job]) -> float:
    """By the work that has no duration of its own."""
    timed = [(s.value, jobs[s.workload]) for s in samples if s.metric == DURATION.name and s.workload in jobs]
    of_work = [(seconds, job.cost.measure_s) for seconds, job in timed if not job.seconds]
    expected_s = sum(seconds for _, seconds in of_work)
    return sum(seconds for seconds, _ in of_work) / expected_s if expected_s else 1.0
