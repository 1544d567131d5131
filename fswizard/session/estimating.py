"""How long a plan takes and how much it writes: as measured before on its disk, else as disks of its kind do."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace

from fswizard.model.calibration import Calibration
from fswizard.model.estimates import (
    BARE_SHARE,
    BUFFERED_DIRECT_SHARE,
    SLOWER,
    filling_s,
    made_bytes,
    on_disk_s,
    timed_bytes,
    trial_overhead_s,
)
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Plan, Target
from fswizard.model.recipe import Job, Workload
from fswizard.session import harness_ceiling
from fswizard.session.direct_io import is_buffered
from fswizard.targets import can_be_bare

_COUNTED = {"directory": 0, "device": 1, "image": 2}
"""How often the kernel counts what mkfs writes, which are zeros mostly: a loop device that must not punch holes into
its image counts the order to do so, and then the zeros."""


def estimated(plan: Plan, calibrations: Sequence[Calibration] = ()) -> Plan:
    """The plan with the durations and bytes expected on its disk; `calibrations` are of it, the best first."""
    kind = plan.drive.kind if plan.drive else "unknown"
    workloads = tuple(_expected(workload, plan.candidates, kind, calibrations) for workload in plan.recipe.workloads)
    recipe = replace(plan.recipe, workloads=workloads)
    made = _made_bytes(plan.candidates, plan.target)
    overhead_s, preparation_s = trial_overhead_s(kind, made), _preparation_s(plan, kind)
    writes_bytes = int((sum(w.writes_bytes for w in workloads) + _COUNTED[plan.target.kind] * made) * _spread(plan))
    latest = calibrations[0] if calibrations else None
    if latest:
        names = [candidate.name for candidate in plan.candidates]
        overhead_s = statistics.fmean(took.seconds for took in latest.took_beside(names))
        preparation_s = latest.takes_around_s(plan.target.filled_bytes) or preparation_s
        writes_bytes = latest.trial_bytes((w.job for w in workloads), names) or writes_bytes
    trial_s = overhead_s + sum(workload.seconds for workload in workloads)
    bare = [w for w in workloads if w.job.runs_bare] if can_be_bare(plan.target) else []
    bare_s = BARE_SHARE * trial_s if bare else 0.0
    return replace(
        plan,
        recipe=recipe,
        seconds_per_trial=trial_s + bare_s,
        writes_bytes_per_trial=writes_bytes + _bare_bytes(bare, bare_s),
        preparation_s=preparation_s,
        measured_on=latest.date if latest else "",
    )


def _expected(
    workload: Workload, candidates: Sequence[Candidate], kind: str, calibrations: Sequence[Calibration]
) -> Workload:
    """With the duration and the bytes to be expected: the mean of the candidates."""
    job, names = workload.job, [candidate.name for candidate in candidates]
    timed = timed_bytes(job, kind)
    prepared = max(0, workload.writes_bytes - job.cost.measure_bytes)
    if took := next(filter(None, (each.took(job, names) for each in calibrations)), None):
        seconds = statistics.fmean(each.seconds for each in took)
        writes = [each.writes_bytes for each in took]
        mean, most = statistics.fmean(writes), max(writes) if timed else 0
    else:
        latest = calibrations[0] if calibrations else None
        seconds = on_disk_s(job, workload.seconds, latest.slower if latest else SLOWER.get(kind, 1.0))
        pace = latest.pace(kind) if latest else None
        most = timed * (pace or 1.0)
        mean = most * (1.0 if pace else _direct_share(job, candidates)) if timed else workload.writes_bytes - prepared
    return replace(workload, seconds=seconds, writes_bytes=int(prepared + mean), timed_bytes=int(most))


def _direct_share(job: Job, candidates: Sequence[Candidate]) -> float:
    """Of what a disk writes directly, what comes where some candidates write through memory all the same."""
    shares = [BUFFERED_DIRECT_SHARE if job.direct and is_buffered(each) else 1.0 for each in candidates]
    return statistics.fmean(shares or [1.0])


def _preparation_s(plan: Plan, kind: str) -> float:
    return 1.0 + filling_s(plan.target.filled_bytes, kind) + harness_ceiling.expected_s(plan.recipe)


def _bare_bytes(workloads: Sequence[Workload], seconds: float) -> int:
    """Bytes that samples of the bare device write in `seconds` for each trial, at the pace of the workloads."""
    once = sum(w.timed_bytes or w.job.cost.measure_bytes for w in workloads)
    return int(seconds / (sum(w.seconds for w in workloads) or 1.0) * once)


def _spread(plan: Plan) -> float:
    """How often a byte is written, copies and parity included: the mean of the candidates."""
    whole = sum(member.size_bytes for member in plan.target.members)
    times = [whole / plan.target.room_bytes(c.array) if c.array else 1.0 for c in plan.candidates]
    return statistics.fmean(times or [1.0])


def _made_bytes(candidates: Sequence[Candidate], target: Target) -> float:
    """What making a candidate writes: the mean of them."""
    if target.kind == "directory" or not candidates:
        return 0.0
    return statistics.fmean(made_bytes(c.filesystem, target.room_bytes(c.array)) for c in candidates)
