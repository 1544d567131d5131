"""A context that is a directory of this machine: programs run here, as the user of the tests."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fswizard import engines
from fswizard.engines import WorkloadContext
from fswizard.model.recipe import Job
from fswizard.progress.workload_events import Measured, WorkloadEvent
from fswizard.system.commands import LocalProcess, start


async def figures_of(job: Job, context: WorkloadContext) -> dict[str, float]:
    """What a job measures, by metric."""
    told: list[WorkloadEvent] = []
    await engines.engine(job).run(context, told.append, seed=7)
    return {what.metric.name: what.value for what in told if isinstance(what, Measured)}


@dataclass
class LocalContext:
    directory: str
    scratch: str
    devices: tuple[str, ...] = ()
    started: list[LocalProcess] = field(default_factory=list)
    laid_out: set[str] = field(default_factory=set)

    async def start(self, argv: Sequence[str], *, env: Mapping[str, str], limited: bool = False) -> LocalProcess:
        process = await start(argv, cwd=self.directory, env=env)
        self.started.append(process)
        return process

    async def remount(self) -> None:
        """Nothing is mounted."""

    async def used_bytes(self) -> int | None:
        room = os.statvfs(self.directory)
        return room.f_frsize * (room.f_blocks - room.f_bfree)
