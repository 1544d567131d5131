"""Base of engines that work on generated trees of files; `tree_worker.py` makes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from fswizard.engines.shared.engine import WorkloadContext
from fswizard.engines.shared.running import put_worker, worker_command
from fswizard.engines.shared.shapes import TreeShape, shipped_shape
from fswizard.engines.shared.timed import LaidOut, TimedEngine, cpu_s, duration_s
from fswizard.engines.shared.work import Work, reading, writing
from fswizard.language import _, n_
from fswizard.model.codec import to_json
from fswizard.model.estimates import FILES_MADE_PER_S, SEQUENTIAL_BYTES_PER_S
from fswizard.model.metrics import BYTES_WRITTEN, CPU, DURATION, FILE_RATE, RETURNED, WORST_STALL, Metric
from fswizard.model.units import size_text
from fswizard.progress.workload_events import Measured
from fswizard.system.process import Finished

WORKER = "tree_worker.py"
METADATA_BYTES = 4_400
"""Space that a file takes besides its content, half an unused block included: the mean of ext4, XFS and btrfs."""
FILES_COPIED_PER_S = 6_000
LEFT_BY_COMPRESSION = 0.52
"""Compressed size of generated files, over their size."""


class TreeEngine(TimedEngine):
    """A job on `files` files of `total_bytes` together, written as `files` and `total`, in a tree of a named shape."""

    __slots__ = ()
    metrics: ClassVar[tuple[Metric, ...]] = (DURATION, RETURNED, FILE_RATE, BYTES_WRITTEN, CPU, WORST_STALL)
    shape: str
    files: int
    total_bytes: int

    def written_bytes(self, finished: Sequence[Finished]) -> int:
        """Bytes that the timed programs had to write."""
        raise NotImplementedError

    @property
    def parts(self) -> Sequence[str]:
        """Names of the trees that exist after the job, all of one size; jobs may share some."""
        raise NotImplementedError

    @property
    def leaves(self) -> Iterator[tuple[object, int]]:
        for part in self.parts:
            yield (part, self.engine, self.files, self.total_bytes), self.tree_bytes

    @property
    def counted(self) -> str:
        """`1,200 files`."""
        return n_("{count} file", "{count} files", self.files)

    @property
    def in_total(self) -> str:
        """`1,200 files, 40 MB in total`."""
        size = size_text(self.total_bytes)
        return n_("{count} file, {size} in total", "{count} files, {size} in total", self.files, size=size)

    @property
    def tree_bytes(self) -> int:
        """Space of the tree on a disk."""
        return self.total_bytes + self.files * METADATA_BYTES

    @property
    def made_s(self) -> float:
        """Time to make the tree."""
        return self.files_s(FILES_MADE_PER_S)

    @property
    def copied_s(self) -> float:
        """Time to copy the tree, reading included."""
        return self.files_s(FILES_COPIED_PER_S) + self.total_bytes / SEQUENTIAL_BYTES_PER_S

    def files_s(self, files_per_s: float) -> float:
        """Time for the bytes of the tree, and for so many files in a second."""
        return self.total_bytes / SEQUENTIAL_BYTES_PER_S + self.files / files_per_s

    @property
    def described(self) -> TreeShape | None:
        """The shape, unless the worker knows it by name."""
        return shipped_shape(self.shape, self.files)

    @property
    def tree_name(self) -> str:
        """A name that all jobs on the same tree have, and no others."""
        return f"{self.shape}-{self.files}-{self.total_bytes}"

    def _shape_file(self, scratch: str) -> str:
        return f"{scratch}/{self.tree_name}.json"

    def bring(self, context: WorkloadContext, seed: int) -> None:
        put_worker(WORKER, context)
        if self.described is not None:
            Path(self._shape_file(context.scratch)).write_text(json.dumps(to_json(self.described)))

    def figures(self, finished: Sequence[Finished]) -> Iterator[Measured]:
        yield Measured(DURATION, duration_s(finished))
        yield Measured(RETURNED, duration_s(finished[:-1]))
        yield Measured(FILE_RATE, self.files / duration_s(finished))
        yield Measured(BYTES_WRITTEN, self.written_bytes(finished))
        yield Measured(CPU, cpu_s(finished))

    def worker(self, what: str, directory: str, scratch: str, *more: str) -> tuple[str, ...]:
        """The command line of `tree_worker.py` for this tree."""
        shape = self.shape if self.described is None else self._shape_file(scratch)
        arguments = (what, shape, str(self.files), str(self.total_bytes), directory, *more)
        return worker_command(WORKER, *arguments, scratch=scratch)

    def making_source(self, path: str, scratch: str, *more: str) -> Work:
        argv = self.worker("make", path, scratch, *more)
        return writing(argv, _("making the source"), self.total_bytes)

    def source(self, path: str, scratch: str, *more: str) -> LaidOut:
        """A tree outside the candidate, made once in a run."""
        return outside(path, scratch, self.making_source(path, scratch, *more))

    def into_memory(self, path: str) -> Work:
        """The program that reads a directory's files into memory."""
        # With /dev/null as its file tar would not read.
        argv = ("tar", "--create", "--file=/dev/zero", f"--directory={path}", ".")
        return reading(argv, _("reading the source into memory"), self.total_bytes)


def outside(path: str, scratch: str, *making: Work) -> LaidOut:
    """Files that are made in `scratch`, and synced, so that its disk has nothing to write later."""
    return LaidOut(path, (*making, Work(("sync", "--file-system", scratch), _("until it is on its disk"))))
