"""One file per way of measuring. Each has `run(job, site, seed=...)`, an async generator of what is told while it runs.

A way of measuring yields `Doing` and `Progress` while it goes on and `Measured` for each figure;
it raises `WorkloadFailed` when the candidate could not do the work. Leaving the generator kills what it started.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from fswizard.model.metrics import Metric
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
from fswizard.system.process import Finished

if TYPE_CHECKING:
    from fswizard.bench.site import Site


@dataclass(frozen=True, slots=True)
class Doing:
    """From here on something else happens: filling, measuring, syncing."""

    text: str
    """In words: `copying 2,000 small files`."""
    measured: bool = False
    """False while the workload only prepares itself."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the workload is; each one replaces the one before."""

    fraction: float | None
    """Of the whole workload, its preparation included; None where nobody can know."""
    rate: float | None = None
    rate_unit: Literal["B/s", "1/s"] = "B/s"
    latency_s: float | None = None
    worst_latency_s: float | None = None


@dataclass(frozen=True, slots=True)
class Ran:
    """A program ended; for the log."""

    finished: Finished


@dataclass(frozen=True, slots=True)
class Measured:
    """One figure. A workload may measure further metrics than the primary one of its recipe."""

    metric: Metric
    value: float


Told = Doing | Progress | Ran | Measured


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


def run(job: Job, site: Site, *, seed: int, bare: bool = False) -> AsyncGenerator[Told, None]:
    """Carry out a job on a site. What it works on is laid out first and shared by the jobs of a cell that name it.

    Caches are emptied by `site.remount()` right before the measured part, so nobody else needs to.
    The same seed gives the same accesses; generated files are the same whatever the seed.
    With `bare`, for fio's jobs alone, the site has no filesystem but a file `image` that stands for its device.
    """
    told: AsyncGenerator[Told, None] = (
        _engine(job).run(job, site, seed=seed, bare=True) if bare else _engine(job).run(job, site, seed=seed)
    )
    return told


def commands(job: Job) -> tuple[PlannedCommand, ...]:
    """The programs that will run, in order; `MOUNT`, `SCRATCH` and `SEED` stand for what is known only then."""
    planned: tuple[PlannedCommand, ...] = _engine(job).commands(job)
    return planned


def _engine(job: Job) -> Any:
    return importlib.import_module(f"{__name__}.{ENGINES[type(job)]}")
