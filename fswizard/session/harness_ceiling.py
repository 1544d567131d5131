"""How fast the workloads that this program carries out itself are where no disk holds them back: in memory."""

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
"""More of the memory is not taken."""
UNITS = 10
"""Amount of work that has no duration: 1,000 files of a tree."""
SECONDS = 1.0
"""Duration of work that has one."""
EXPECTED_S = 2.0
"""Of each workload, its preparation included."""


def expected_s(recipe: Recipe) -> float:
    """How long `measure_limits` takes, in seconds."""
    return EXPECTED_S * len(tuple(_limited(recipe)))


async def measure_limits(plan: Plan, emitter: Emitter, journal: Journal) -> None:
    """Carry out a small version of each on a tmpfs. Where the memory does not suffice, or somebody ends one,
    nothing is said."""
    for workload, job in _limited(plan.recipe):
        emitter.begin(
            "raw", _("{workload} in memory", workload=_(workload.title)), workload=workload.name, expected_s=EXPECTED_S
        )
        place = journal.make_directory(MEMORY)
        (place / "files").mkdir()
        context = DirectoryContext(str(place / "files"), str(place), set())
        with suppress(WorkloadFailed, WorkloadDisturbed):
            events: list[WorkloadEvent] = []
            await engine(job).run(context, events.append, seed=plan.seed)
            for event in events:
                if isinstance(event, Measured) and event.metric in BUILT_IN_RATES:
                    emitter.sample(RATE_IN_MEMORY, event.value, workload=workload.name)
        await journal.remove_directory(place)


def _limited(recipe: Recipe) -> Iterator[tuple[Workload, Job]]:
    """The workloads whose limit can be measured here, each with the job that does so."""
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
        if sum(size for _, size in (*job.scratch_files, *job.leaves)) <= most_bytes:
            yield workload, job
