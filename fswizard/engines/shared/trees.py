"""Generated trees of files: their shapes, and the base class of engines that use them. `tree_worker.py` creates
them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from fswizard.engines import shared
from fswizard.engines.shared.context import TIB
from fswizard.engines.shared.engine import Engine, Files, cpu_s, duration_s
from fswizard.engines.shared.programs import Done, Work, counted, worker
from fswizard.language import _, n_
from fswizard.model.codec import from_json, to_json
from fswizard.model.estimates import FILES_MADE_PER_S, SEQUENTIAL_BYTES_PER_S
from fswizard.model.frozen import frozen
from fswizard.model.keys import must_be, within
from fswizard.model.metrics import BYTES_WRITTEN, CPU, DURATION, FILE_RATE, RETURNED, WORST_STALL, Metric
from fswizard.model.units import size_text
from fswizard.progress.workload_events import Measured

METADATA_BYTES = 4_400
"""Space used by a file in addition to its content, half an unused block included: the mean of ext4, XFS and btrfs."""
FILES_COPIED_PER_S = 6_000
LEFT_BY_COMPRESSION = 0.52
"""Compressed size of generated files, over their size."""
DEEPEST = 63
"""Largest depth of a directory in a tree."""
MOST_DIRECTORIES = 1_000_000
STEPS = Meta(min_length=2, max_length=1025)


@frozen
class TreeShape:
    """Shape of a tree of real files, without names: quantiles at equal steps, from the smallest to the largest."""

    sizes: Annotated[tuple[Annotated[int, within(0, TIB)], ...], STEPS]
    """File sizes in bytes."""
    random_shares: Annotated[tuple[Annotated[float, within(0, 1)], ...], STEPS]
    """Incompressible share of the file at each of the sizes."""
    directories: Annotated[int, within(1, MOST_DIRECTORIES)]
    """Number of directories, the top directory included."""
    files_in_directory: Annotated[tuple[Annotated[int, within(0, 10_000_000)], ...], STEPS]
    """Number of files in a directory."""
    depths: Annotated[tuple[Annotated[int, within(0, DEEPEST)], ...], STEPS]
    """Depth of the directory at each of the numbers of files; that of the top directory is 0."""

    def __post_init__(self) -> None:
        for key in ("sizes", "files_in_directory"):
            if list(getattr(self, key)) != sorted(getattr(self, key)):
                raise must_be(key, _("a list of numbers, the smallest first,"))
        for key, other in (("random_shares", "sizes"), ("depths", "files_in_directory")):
            if len(getattr(self, key)) != len(getattr(self, other)):
                raise must_be(key, _("as many numbers as '{beside}' has", beside=other))


def shipped_shape(name: str, files: int) -> TreeShape | None:
    """A shape of `shapes.toml` for that many files; None for other names."""
    shapes = shipped_shapes()
    if name not in shapes:
        return None
    table = {**shapes.get(shapes[name].get("like", ""), {}), **shapes[name]}
    table["directories"] = max(1, round(files / table["files_per_directory"]))
    return from_json(TreeShape, table)  # which passes over the other keys


@cache
def shipped_shapes() -> Mapping[str, Mapping[str, Any]]:
    import tomli

    return tomli.loads(resources.files(shared).joinpath("shapes.toml").read_text("utf-8"))


class TreeEngine(Engine):
    """A job on `files` files of `total_bytes` together, in a tree of a named shape. Recipes spell the latter
    `total`."""

    __slots__ = ()
    metrics: ClassVar[tuple[Metric, ...]] = (DURATION, RETURNED, FILE_RATE, BYTES_WRITTEN, CPU, WORST_STALL)
    shape: str
    files: int
    total_bytes: int

    @property
    def writes(self) -> bool:
        """Whether the timed programs write the bytes of the tree."""
        raise NotImplementedError

    @property
    def counted_files(self) -> str:
        """`1,200 files`."""
        return n_("{count} file", "{count} files", self.files)

    @property
    def tree_bytes(self) -> int:
        """Space of the tree on a disk."""
        return self.total_bytes + self.files * METADATA_BYTES

    @property
    def described(self) -> TreeShape | None:
        """The shape, unless the worker knows it by name."""
        return shipped_shape(self.shape, self.files)

    @property
    def tree_name(self) -> str:
        """A name that identifies the tree, shared by all jobs on it."""
        return f"{self.shape}-{self.files}-{self.total_bytes}"

    def write_inputs(self, scratch: str, seed: int) -> None:
        if self.described is not None:
            Path(self._shape_file(scratch)).write_text(json.dumps(to_json(self.described)))

    def _shape_file(self, scratch: str) -> str:
        return f"{scratch}/{self.tree_name}.json"

    def work(
        self, argv: Sequence[str], text: str, counter: Literal["", "read_chars", "write_chars"] = "", *,
        files_per_s: float = math.inf, bytes_per_s: float = SEQUENTIAL_BYTES_PER_S, written_bytes: int = 0,
        **more: Any,
    ) -> Work:  # fmt: skip
        """A program on all files of the tree. Its expected duration is the sum of the time for files and the time for
        bytes."""
        seconds = self.files / files_per_s + self.total_bytes / bytes_per_s
        if counter:
            more = {"share_done": counted(counter, self.total_bytes), "whole": self.total_bytes, **more}
        return Work(tuple(argv), text, seconds, written_bytes, **more)

    def worker(self, what: str, directory: str, scratch: str, *more: str) -> tuple[str, ...]:
        """The command line of `tree_worker.py` for this tree."""
        shape = self.shape if self.described is None else self._shape_file(scratch)
        return worker("tree", scratch, what, shape, self.files, self.total_bytes, directory, *more)

    def on_candidate(self, path: str, scratch: str) -> Files:
        text = _("making {files}, {total}", files=self.counted_files, total=size_text(self.total_bytes))
        return Files(path, self.tree_bytes, (self._making(path, scratch, text),))

    def source(self, path: str, scratch: str, *more: str) -> Files:
        """A tree outside the candidate."""
        return self.outside(path, scratch, self._making(path, scratch, _("making the source"), *more))

    def _making(self, path: str, scratch: str, text: str, *more: str) -> Work:
        argv = self.worker("make", path, scratch, *more)
        return self.work(argv, text, "write_chars", files_per_s=FILES_MADE_PER_S, written_bytes=self.tree_bytes)

    def outside(self, path: str, scratch: str, *making: Work, copies: int = 1) -> Files:
        """Files created in `scratch`, once per run, and synced, so that its disk has no pending writes later."""
        syncing = Work(("sync", "--file-system", scratch), _("until it is on its disk"))
        return Files(path, copies * self.tree_bytes, (*making, syncing))

    def into_memory(self, path: str) -> Work:
        """The program that reads a directory's files into memory."""
        # With /dev/null as its file tar would not read.
        argv = ("tar", "--create", "--file=/dev/zero", f"--directory={path}", ".")
        return self.work(argv, _("reading the source into memory"), "read_chars")

    def figures(self, done: Sequence[Done]) -> Iterator[Measured]:
        yield Measured(DURATION, duration_s(done))
        yield Measured(RETURNED, duration_s(done[:-1]))
        yield Measured(FILE_RATE, self.files / duration_s(done))
        yield Measured(BYTES_WRITTEN, self.total_bytes if self.writes else 0)
        yield Measured(CPU, cpu_s(done))
