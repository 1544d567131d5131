"""Latency of saving a small file while a large one is copied: perceived as a desktop that hangs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Annotated

from fswizard.engines.shared.context import MIB, TIB
from fswizard.engines.shared.engine import Engine, Files, Timed
from fswizard.engines.shared.fsync_worker import LARGEST, SAVE
from fswizard.engines.shared.programs import Done, Work, last_line, worker
from fswizard.language import _
from fswizard.model.frozen import frozen
from fswizard.model.keys import within
from fswizard.model.metrics import BYTES_WRITTEN, CPU, FSYNC_MEDIAN, FSYNC_WORST
from fswizard.progress.workload_events import Measured

UNIT_BYTES = 8 * MIB


@frozen
class FsyncJob(Engine):
    """Small saves with fsync while a large file is written at a steady pace.

    If copying was measured before, the pace is that of the baseline, so that the disk is just busy.
    """

    engine = "fsync"
    metrics = (FSYNC_MEDIAN, FSYNC_WORST, BYTES_WRITTEN, CPU)
    strain = "sync"
    total_bytes: Annotated[int, within(8 * MIB, 16 * TIB)]
    """Upper limit of the bytes written to the large file."""
    seconds: Annotated[float, within(1, 3600)] = field()  # required, although jobs have a default

    @property
    def units(self) -> int:
        """Amount of work in units of 8 MiB of the large file."""
        return max(1, self.total_bytes // UNIT_BYTES)

    def scaled(self, units: int) -> FsyncJob:
        return replace(self, total_bytes=min(units * UNIT_BYTES, self.total_bytes))

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        path = f"{directory}/fsync"
        argv = worker("fsync", scratch, path, self.total_bytes, f"{self.seconds:g}")
        text = _("saving while a large file is written")
        work = Work(argv, text, self.seconds, self.total_bytes, reader=last_line)
        makes = Files(path, min(self.total_bytes, LARGEST) + MIB)
        return Timed((work,), makes=makes, reads=False)

    def figures(self, done: Sequence[Done]) -> Iterator[Measured]:
        figures = done[0].answers[-1]
        yield Measured(FSYNC_MEDIAN, figures["median_s"])
        yield Measured(FSYNC_WORST, figures["worst_s"])
        yield Measured(BYTES_WRITTEN, figures["written"] + SAVE)
