"""A trial: one candidate in one round, made afresh, measured by every workload, checked."""

from __future__ import annotations

import errno
import os
from contextlib import aclosing

from fswizard.bench import device
from fswizard.bench.course import Gathering
from fswizard.bench.image import ScratchImages
from fswizard.bench.narrator import Narrator
from fswizard.bench.site import Site
from fswizard.bench.venue import CandidateFailed, Venue
from fswizard.bench.workloads import Doing, Measured, Progress, Ran, WorkloadFailed, run
from fswizard.errors import FswizardError, RunFailed
from fswizard.model.metrics import DEVICE_READ, DEVICE_WRITTEN, USED
from fswizard.model.plan import Plan, Trial
from fswizard.model.recipe import FioJob, Workload
from fswizard.model.result import Failure
from fswizard.system import clock

"""Room taken on the filesystem when the workload is done, with what workloads before it left behind."""
DISK_MAY_BE = ("EIO", "EROFS", "health", "mount", "umount")
"""Kinds of failures that a failing disk causes, too."""
TELL_EVERY_S = 0.1
"""Progress is told ten times a second at most."""


async def run_trial(plan: Plan, trial: Trial, venue: Venue, narrator: Narrator) -> bool:
    """Carry out `trial`; False when the candidate is out of the run.

    A workload that fails is tried once more on a candidate made afresh; when it fails again,
    the failure is the result. RunFailed where the device is at fault and not the candidate.
    """
    candidate = plan.candidate(trial.candidate)
    left = list(plan.recipe.workloads)
    tried_again = False
    while True:
        try:
            async with venue.open(candidate) as site:
                while left:
                    await _run_workload(plan, trial, left[0], site, narrator)
                    left.pop(0)
            return True
        except (WorkloadFailed, CandidateFailed) as problem:
            io_error = problem.kind in DISK_MAY_BE or os.strerror(errno.EIO) in problem.details
            await venue.check_device(reading=io_error)
            workload = left[0].name if left and isinstance(problem, WorkloadFailed) else ""
            if tried_again or problem.kind == "health":
                narrator.failure(
                    Failure(trial.round, trial.candidate, workload, problem.kind, problem.text, problem.details)
                )
                return False
            narrator.skipped(f"{problem.text} It is tried once more on a fresh filesystem.")
            tried_again = True
        except FswizardError:
            await venue.check_device(reading=False)  # it names the cause, where the target is at fault
            raise


async def run_bare(plan: Plan, images: ScratchImages, narrator: Narrator) -> None:
    """What the device does without a filesystem, for the same block sizes: the limit that nobody can beat.

    RunFailed where it cannot be measured: then no candidate could be blamed for failing at the same work.
    """
    site = images.bare
    if site is None:
        return
    for workload in plan.recipe.workloads:
        if isinstance(workload.job, FioJob) and not workload.job.fsync:
            narrator.begin("raw", f"{workload.title} without a filesystem", workload=workload.name,
                           expected_s=workload.seconds)  # fmt: skip
            try:
                await _tell_all(workload, site, narrator, seed=plan.seed, bare=True)
            except WorkloadFailed as problem:
                await images.check_device(reading=problem.kind in ("EIO", "EROFS"))
                raise RunFailed(
                    f"{workload.title} cannot be measured on this machine: {problem.text}",
                    "It failed without any filesystem, so no candidate is to blame for it.",
                    problem.details,
                ) from problem


async def _run_workload(plan: Plan, trial: Trial, workload: Workload, site: Site, narrator: Narrator) -> None:
    narrator.begin("workload", workload.title, workload=workload.name, expected_s=workload.seconds)
    before = await _tell_all(workload, site, narrator, seed=plan.seed + trial.round, bare=False)
    used_bytes = await site.used_bytes()
    after = _counters(site)
    if before and after:
        narrator.sample(DEVICE_WRITTEN, after.written_bytes - before.written_bytes, workload=workload.name)
        narrator.sample(DEVICE_READ, after.read_bytes - before.read_bytes, workload=workload.name)
    if used_bytes is not None:
        narrator.sample(USED, used_bytes, workload=workload.name)


def _counters(site: Site) -> device.Counters | None:
    return device.counters(*site.devices)


async def _tell_all(
    workload: Workload, site: Site, narrator: Narrator, *, seed: int, bare: bool
) -> device.Counters | None:
    """Run `workload` on `site` and turn what it tells into events.

    What the device had counted when the preparation was over, where it counts.
    """
    text, told_at, counted, course = workload.title, 0.0, None, Gathering()
    async with aclosing(run(workload.job, site, seed=seed, bare=bare)) as tellings:
        async for telling in tellings:
            if isinstance(telling, Doing):
                if telling.measured:
                    counted = counted or _counters(site)
                    course.begin(clock.monotonic())
                text = telling.text
                narrator.progress(text, Progress(None))
            elif isinstance(telling, Progress):
                course.take(telling, clock.monotonic())
                if clock.monotonic() - told_at >= TELL_EVERY_S:
                    told_at = clock.monotonic()
                    narrator.progress(text, telling)
            elif isinstance(telling, Ran):
                narrator.command_ended(telling.finished)
            elif isinstance(telling, Measured):
                primary = telling.metric.name == workload.metric.name
                narrator.sample(telling.metric, telling.value, workload=workload.name, primary=primary)
    if course.rates:
        narrator.course(course.unit, course.rates, workload=workload.name)
    return counted
