"""Speed of the built-in workloads in memory, without the limits of a disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from fswizard.disks.directory import DirectoryContext
from fswizard.disks.journal import Journal
from fswizard.disks.locations import filesystem_type
from fswizard.engines import WorkloadDisturbed, WorkloadFailed, engine
from fswizard.language import _
from fswizard.model.metrics import BUILT_IN_RATES, RATE_IN_MEMORY
from fswizard.model.plan import Plan
from fswizard.model.recipe import Job, Recipe, Workload
from fswizard.progress.emitter import Emitter
from fswizard.progress.workload_events import Measured, WorkloadEvent
from fswizard.system import host

MEMORY = Path("/dev/shm")
LARGEST_BYTES = 512 << 20
SHARE_OF_FREE = 0.25
"""Maximum share of the free memory to use."""
UNITS = 10
"""Amount of work without a fixed duration: 1,000 files of a tree."""
SECONDS = 1.0
"""Duration of work with a fixed duration."""
EXPECTED_S = 2.0
"""Expected duration per workload, including its preparation."""


def expected_s(recipe: Recipe) -> float:
    """Duration of `measure_limits` in seconds."""
    return EXPECTED_S * len(tuple(_limited(recipe)))


async def measure_limits(plan: Plan, emitter: Emitter, journal: Journal) -> None:
    """Run a small version of each built-in workload on a tmpfs. Workloads that fail or are interrupted yield no
    figure."""
    for workload, job in _limited(plan.recipe):
        emitter.begin("raw", _("{workload} in memory", workload=_(workload.title)), workload=workload.name)
        directory = journal.make_directory(MEMORY)
        (directory / "files").mkdir()
        context = DirectoryContext(str(directory / "files"), str(directory), set())
        with suppress(WorkloadFailed, WorkloadDisturbed):
            events: list[WorkloadEvent] = []
            await engine(job).run(context, events.append, seed=plan.seed)
            for event in events:
                if isinstance(event, Measured) and event.metric in BUILT_IN_RATES:
                    emitter.sample(RATE_IN_MEMORY, event.value, workload=workload.name)
        await journal.remove_directory(directory)


def _limited(recipe: Recipe) -> Iterator[tuple[Workload, Job]]:
    """The workloads with a measurable limit, each with the job that measures it."""
    if filesystem_type(str(MEMORY)) != "tmpfs" or not os.access(MEMORY, os.W_OK, effective_ids=True):
        return
    most_bytes = min(LARGEST_BYTES, SHARE_OF_FREE * host.this.space(MEMORY).free_bytes)
    for workload in recipe.workloads:
        job = workload.job
        if not job.built_in or job.fill_percent:
            continue
        if job.seconds:
            job = replace(job, seconds=min(job.seconds, SECONDS))
        elif job.units is not None:
            job = job.scaled(min(job.units, UNITS))
        if sum(size for _, size in job.leaves) <= most_bytes:
            yield workload, job
