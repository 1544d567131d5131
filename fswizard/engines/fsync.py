"""How long saving a small file takes while a large one is copied: what people feel as a desktop that hangs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fswizard.engines.shared.engine import MIB, TIB, WorkloadContext
from fswizard.engines.shared.fsync_worker import LARGEST, SAVE
from fswizard.engines.shared.running import put_worker, worker_command
from fswizard.engines.shared.timed import Timed, TimedEngine, cpu_s
from fswizard.engines.shared.work import Work
from fswizard.language import _
from fswizard.model.filesystem import Strain
from fswizard.model.keys import number, size
from fswizard.model.metrics import BYTES_WRITTEN, CPU, FSYNC_MEDIAN, FSYNC_WORST
from fswizard.model.recipe import Cost
from fswizard.model.units import duration_text, size_text
from fswizard.progress.workload_events import Measured
from fswizard.system.process import Finished

WORKER = "fsync_worker.py"
UNIT_BYTES = 8 * MIB


@dataclass(frozen=True, slots=True)
class FsyncJob(TimedEngine):
    """Small saves with fsync while a large file is written at an even pace.

    Where copying was measured before, its pace is that of the baseline, so that the disk is just busy.
    """

    engine = "fsync"
    metrics = (FSYNC_MEDIAN, FSYNC_WORST, BYTES_WRITTEN, CPU)
    total_bytes: Annotated[int, size(8 * MIB, 16 * TIB)]
    """So much is written of the large file, at most."""
    seconds: Annotated[float, number(1, 3600)]

    @property
    def words(self) -> str:
        size, seconds = size_text(self.total_bytes), duration_text(self.seconds)
        return _("fsync of 4 KiB while up to {size} are written in {seconds}", size=size, seconds=seconds)

    @property
    def strain(self) -> Strain:
        return "sync"

    @property
    def built_in(self) -> bool:
        return False  # its pace is given

    @property
    def units(self) -> int:
        """8 MiB of the large file."""
        return max(1, self.total_bytes // UNIT_BYTES)

    def scaled(self, units: int) -> FsyncJob:
        return replace(self, total_bytes=min(units * UNIT_BYTES, self.total_bytes))

    @property
    def cost(self) -> Cost:
        return Cost(0.0, self.seconds, 0, self.total_bytes)

    @property
    def leaves(self) -> Iterable[tuple[object, int]]:
        return [(self.engine, min(self.total_bytes, LARGEST) + MIB)]

    def bring(self, context: WorkloadContext, seed: int) -> None:
        put_worker(WORKER, context)

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        path = f"{directory}/fsync"
        argv = worker_command(WORKER, path, str(self.total_bytes), f"{self.seconds:g}", scratch=scratch)
        work = Work(argv, _("saving while a large file is written"), kind="json")
        return Timed((work,), makes=path, reads=False)

    def figures(self, finished: Sequence[Finished]) -> Iterator[Measured]:
        figures = json.loads(finished[0].stdout)
        yield Measured(FSYNC_MEDIAN, figures["median_s"])
        yield Measured(FSYNC_WORST, figures["worst_s"])
        yield Measured(BYTES_WRITTEN, figures["written"] + SAVE)
        yield Measured(CPU, cpu_s(finished))
