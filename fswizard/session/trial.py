"""A trial: one candidate in one round, newly created, measured with every workload, and checked."""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

from fswizard.disks.disk import CandidateFailed
from fswizard.disks.image import PreparedTarget
from fswizard.engines import WorkloadContext, WorkloadFailed, cached_share, engine
from fswizard.errors import FswizardError, Missing, Refused, RunFailed
from fswizard.language import _, joined
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import DEVICE_WRITTEN, DIRECT_CACHED, MOST_CACHED, SHARE_DONE, THROUGHPUT, USED
from fswizard.model.plan import Plan, Trial
from fswizard.model.recipe import Workload
from fswizard.model.result import Doubt, Failure, Sample
from fswizard.model.units import share_text
from fswizard.progress.emitter import Emitter
from fswizard.progress.workload_events import Doing, Emit, Measured, Progress, Ran, SeriesRecorder, WorkloadEvent
from fswizard.session import doubts
from fswizard.system import clock
from fswizard.system.block_stats import Counters, counters

DISK_MAY_BE = ("EIO", "EROFS", "health", "mount", "umount")
"""Kinds of failures that may also be caused by a failing disk."""
LEAST_BARE_S = 0.5
"""Minimum duration of a sample of the bare device; a shorter one would measure the start of fio."""
LITTLE_BYTES_PER_S = 10e6
"""Sufficient to test whether the workload works at all."""
EMIT_EVERY_S = 0.1
"""Minimum interval of progress events."""


async def run_trial(
    plan: Plan, trial: Trial, prepared: PreparedTarget, emitter: Emitter, *, first: bool = False
) -> bool:
    """Run `trial`, optionally the candidate's `first`; False if the candidate is out of the run.

    A failed workload is repeated once on a newly created candidate; a second failure is final. Raises RunFailed if
    the device is at fault rather than the candidate, and WorkloadDisturbed if someone killed or stopped a measured
    program.
    """
    candidate = plan.candidate(trial.candidate)
    left = [workload for workload in plan.recipe.workloads if workload.is_in(trial.round)]
    first_direct = next((workload for workload in left if workload.job.direct), None) if first else None
    tried_again = False
    while True:
        try:
            async with _device_blamed_first(prepared), prepared.open(candidate) as context:
                while left:
                    if left[0] is first_direct:
                        await _check_direct(plan, candidate, context, emitter)
                    await _run_workload(plan, trial, left[0], context, emitter)
                    left.pop(0)
            return True
        except WorkloadFailed as problem:
            failed = left[0] if left and not isinstance(problem, CandidateFailed) else None
            if tried_again and failed and problem.kind == "program":
                await _require_possible(plan, failed, prepared, emitter)
            if tried_again or problem.kind == "health":
                name = failed.name if failed else ""
                emitter.failure(
                    Failure(trial.round, trial.candidate, name, problem.kind, problem.text, problem.details)
                )
                return False
            emitter.skipped(_("{text} It is tried once more on a fresh filesystem.", text=problem.text))
            tried_again = True


async def _check_direct(plan: Plan, candidate: Candidate, context: WorkloadContext, emitter: Emitter) -> None:
    """Record how much of a direct write was in memory, and raise a doubt if it was much."""
    emitter.begin("check", _("checking whether direct I/O really is direct"))
    try:
        share = await cached_share(context)
    except OSError as error:  # of the scratch directory, which belongs to no candidate
        emitter.skipped(_("Couldn't check: {error}.", error=error))
        return
    if share is None:  # it refuses direct I/O, so the workload will fail
        return
    emitter.sample(DIRECT_CACHED, share)
    if share > MOST_CACHED:
        text = _(
            "{candidate} kept {share} of a direct write (O_DIRECT) in memory: its figures for {titles} say less about "
            "the disk, and nothing about programs that write normally, as most do.",
            candidate=candidate.name,
            share=share_text(share),
            titles=joined([_(workload.title) for workload in plan.recipe.workloads if workload.job.direct], ", "),
        )
        emitter.doubt(Doubt(f"{candidate.filesystem.name}-not-direct".lower(), text))


@asynccontextmanager
async def _device_blamed_first(prepared: PreparedTarget) -> AsyncIterator[None]:
    """Convert failures into RunFailed, with their cause, if the device is at fault."""
    try:
        yield
    except WorkloadFailed as problem:
        io_error = problem.kind in DISK_MAY_BE or os.strerror(errno.EIO) in problem.details
        await prepared.check_device(reading=io_error)
        raise
    except FswizardError:
        await prepared.check_device(reading=False)
        raise


async def _require_possible(plan: Plan, workload: Workload, prepared: PreparedTarget, emitter: Emitter) -> None:
    """Raises RunFailed if a workload also fails without a filesystem."""
    with suppress(Missing, Refused):
        device = await prepared.bare() if workload.job.runs_bare else None
        if device is None:
            return
        title = _("{workload} without a filesystem", workload=_(workload.title))
        emitter.begin("raw", title, workload=workload.name)
        try:
            await engine(workload.job).run_bare(
                device.sample, lambda event: None, seed=plan.seed, seconds=LEAST_BARE_S, bytes_per_s=LITTLE_BYTES_PER_S
            )
        except WorkloadFailed as problem:
            raise RunFailed(
                _(
                    "{workload} cannot be measured on this machine: {text}",
                    workload=_(workload.title),
                    text=problem.text,
                ),
                _("It failed without any filesystem, so no candidate is to blame for it."),
                problem.details,
            ) from problem


async def run_bare(
    plan: Plan, number: int, prepared: PreparedTarget, emitter: Emitter, *, seconds: float, samples: Sequence[Sample]
) -> None:
    """Sample the device without a filesystem in round `number`: the upper limit for all candidates.

    It takes about `seconds`, shared among the workloads that can run on a bare device. Workloads with too little
    time are skipped, as are those without a figure of any candidate in `samples`. Raises RunFailed if the device
    fails, and WorkloadDisturbed as in a trial; other errors only skip this sample.
    """
    workloads = [workload for workload in plan.recipe.workloads if workload.job.runs_bare]
    share = seconds / (sum(workload.seconds for workload in workloads) or 1.0)
    fastest: dict[str, float] = {}
    for sample in samples:
        if sample.candidate and sample.metric == THROUGHPUT.name:
            fastest[sample.workload] = max(sample.value, fastest.get(sample.workload, 0.0))
    chosen = [w for w in workloads if fastest.get(w.name) and w.seconds * share >= LEAST_BARE_S]
    try:
        async with _device_blamed_first(prepared):
            device = await prepared.bare() if chosen else None
            if device is None:
                return
            for workload in chosen:
                seconds = workload.seconds * share
                title = _("{workload} without a filesystem", workload=_(workload.title))
                emitter.begin("raw", title, workload=workload.name)
                run = partial(engine(workload.job).run_bare, device.sample, seed=plan.seed + number, seconds=seconds)
                run = partial(run, bytes_per_s=fastest[workload.name])
                await _emit_all(workload, device.names, emitter, run, as_root=True)
    except WorkloadFailed as problem:
        emitter.skipped(problem.text)
    except (Missing, Refused) as error:
        emitter.skipped(error.message)


async def _run_workload(
    plan: Plan, trial: Trial, workload: Workload, context: WorkloadContext, emitter: Emitter
) -> None:
    emitter.begin("workload", workload.title, workload=workload.name)
    work = partial(engine(workload.task).run, context, seed=plan.seed + trial.round, cut_s=workload.cut_s)
    before = await _emit_all(workload, context.devices, emitter, work)
    used_bytes = await context.used_bytes()
    after = counters(*context.devices)
    if before and after:
        emitter.sample(DEVICE_WRITTEN, after.written_bytes - before.written_bytes, workload=workload.name)
    if used_bytes is not None:
        emitter.sample(USED, used_bytes, workload=workload.name)


async def _emit_all(
    workload: Workload,
    devices: Sequence[str],
    emitter: Emitter,
    work: Callable[[Emit], Awaitable[None]],
    *,
    as_root: bool = False,
) -> Counters | None:
    """Do the `work` of a workload on `devices`, and convert its events to those of the run.

    Returns the counters of the devices at the end of the preparation, if available.
    """
    text, emitted_s, series = workload.title, 0.0, SeriesRecorder()
    counted: Counters | None = None

    def emit(event: WorkloadEvent) -> None:
        nonlocal text, emitted_s, counted
        match event:
            case Doing():
                text = event.text
                if event.measured:
                    counted = counted or counters(*devices)
                    series.begin(clock.monotonic())
                emitter.progress(text, Progress(None), preparing=not series.began)
            case Progress():
                now_s = clock.monotonic()
                series.take(event, now_s)
                if now_s - emitted_s >= EMIT_EVERY_S:
                    emitted_s = now_s
                    emitter.progress(text, event, preparing=not series.began)
            case Ran():
                emitter.command_ended(event.finished, as_root=as_root)
            case Measured():
                primary = event.metric.name == workload.metric.name
                emitter.sample(event.metric, event.value, workload=workload.name, primary=primary)
                if event.metric == SHARE_DONE:
                    emitter.doubt(doubts.ended_early(workload, emitter.trial.candidate))

    await work(emit)
    if series.rates:
        emitter.throughput(series.unit, series.rates, workload=workload.name)
    return counted
