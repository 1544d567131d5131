"""One file per way of measuring, each with `run(job, context, seed=...)`, an async generator of WorkloadEvents.

A way of measuring yields `Doing` and `Progress` while it goes on and `Measured` for each figure;
it raises `WorkloadFailed` when the candidate could not do the work. Leaving the generator kills what it started.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any

from fswizard.model.plan import PlannedCommand
from fswizard.model.recipe import (
    BackupJob,
    Engine,
    FileServerJob,
    FioJob,
    Job,
    OverflowJob,
    RsyncJob,
    SqliteJob,
    TreeJob,
)
from fswizard.progress.workload_events import WorkloadEvent

if TYPE_CHECKING:
    from fswizard.engines.context import WorkloadContext


class WorkloadFailed(Exception):
    """The candidate could not do the work."""

    def __init__(self, kind: str, text: str, details: str = "") -> None:
        super().__init__(text)
        self.kind = kind
        """`ENOSPC`, `EIO`, `EROFS`, `timed-out`, `program`."""
        self.text = text
        self.details = details


ENGINES: Mapping[type[Job], Engine] = {
    FioJob: "fio",
    TreeJob: "tree",
    FileServerJob: "fileserver",
    BackupJob: "backup",
    RsyncJob: "rsync",
    SqliteJob: "sqlite",
    OverflowJob: "overflow",
}
"""The module here that carries out each kind of job."""


def run(job: Job, context: WorkloadContext, *, seed: int, bare: bool = False) -> AsyncGenerator[WorkloadEvent, None]:
    """Carry out a job. What it works on is laid out first, and shared by the jobs of a cell that name it.

    Caches are emptied by `context.remount()` right before the measured part, so nobody else needs to.
    The same seed gives the same accesses; generated files are the same whatever the seed.
    With `bare`, for fio's jobs alone, there is no filesystem but a file `image` that stands for its device.
    """
    told: AsyncGenerator[WorkloadEvent, None] = (
        _engine(job).run(job, context, seed=seed, bare=True) if bare else _engine(job).run(job, context, seed=seed)
    )
    return told


def commands(job: Job) -> tuple[PlannedCommand, ...]:
    """The programs that will run, in order; `MOUNT`, `SCRATCH` and `SEED` stand for what is known only then."""
    planned: tuple[PlannedCommand, ...] = _engine(job).commands(job)
    return planned


def _engine(job: Job) -> Any:
    return importlib.import_module(f"{__name__}.{ENGINES[type(job)]}")
