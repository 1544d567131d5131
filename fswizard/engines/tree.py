"""Everyday programs on a directory tree: `cp`, `rm`, `tar`, `find`, `du`, rsync, backups, an installation, a start.

Input from elsewhere, such as a video from a camera or packages from the network, is outside the candidate and read into
memory beforehand. Only `dpkg` syncs while it works; the final sync is what users wait for before they unplug a disk.
`shared/operations.py` has the operations.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import tomli
from msgspec import Meta

from fswizard.engines.shared import tree_worker
from fswizard.engines.shared.context import MIB, TIB
from fswizard.engines.shared.engine import Engine, Timed, duration_s
from fswizard.engines.shared.operations import OPERATIONS, Operation, TreeOperation
from fswizard.engines.shared.programs import Done
from fswizard.language import N_, _
from fswizard.model.codec import to_json
from fswizard.model.filesystem import Strain
from fswizard.model.frozen import frozen
from fswizard.model.keys import must_be, within
from fswizard.model.metrics import BYTES_WRITTEN, CPU, DURATION, RETURNED, WORST_STALL
from fswizard.model.recipe import Program
from fswizard.progress.workload_events import Measured

LARGE_FILE_BYTES = MIB
"""Mean file size from which content takes longer than names, so that the load is a stream."""
UNIT_BYTES = 8 * MIB
"""Unit of work for large files."""
DEEPEST = 63
"""Largest depth of a directory in a tree."""
NO_SPACE_FOR_BORG = {"Insufficient free space to complete transaction": errno.ENOSPC}
SHAPES = Path(tree_worker.__file__).with_name("shapes.toml")
STEPS = Meta(min_length=2, max_length=1025)


@frozen
class TreeShape:
    """Shape of a tree of real files, without names: quantiles at equal steps, from the smallest to the largest."""

    sizes: Annotated[tuple[Annotated[int, within(0, TIB)], ...], STEPS]
    """File sizes in bytes."""
    random_shares: Annotated[tuple[Annotated[float, within(0, 1)], ...], STEPS]
    """Incompressible share of the file at each of the sizes."""
    directories: Annotated[int, within(1, 1_000_000)]
    """Number of directories, the top directory included."""
    files_in_directory: Annotated[tuple[Annotated[int, within(0, 10_000_000)], ...], STEPS]
    """Number of files in a directory."""
    depths: Annotated[tuple[Annotated[int, within(0, DEEPEST)], ...], STEPS]
    """Depth of the directory at each of the numbers of files; that of the top directory is 0."""


@frozen
class TreeJob(Engine):
    """Work on a generated directory tree with the everyday programs."""

    engine = "tree"
    metrics = (DURATION, RETURNED, BYTES_WRITTEN, CPU, WORST_STALL)
    programs = (
        Program("cp", N_("trees of files"), required=True, packages={"": "coreutils"}),
        Program("tar", N_("archive workloads"), required=True, messages={"Wrote only ": errno.ENOSPC}),
        Program("dpkg", N_("installing packages"), required=True),
        Program("find", N_("workloads on trees"), required=True, packages={"": "findutils"}),
        Program("rsync", N_("copy workloads")),
        Program("borg", N_("backup workloads"), False, {"": "borgbackup", "arch": "borg"}, NO_SPACE_FOR_BORG),
    )
    operation: TreeOperation
    shape: Literal[
        "small-files", "mixed", "video", "source", "home", "mail", "mailboxes", "game", "packs", "photos", "thumbnails",
        "system", "modules", "own",
    ]  # fmt: skip
    """Package recipes, a project with pictures and films, films, one of `shapes.toml`, or the shape of the user's
    files."""
    files: Annotated[int, within(1, 10_000_000)]
    total_bytes: Annotated[int, within(1, 16 * TIB)]
    """Size of all files together; `total` in recipes."""
    own: TreeShape | None = None
    """The recipe's table `tree`, for the shape `own`."""
    fill_percent: Annotated[int, within(0, 99)] = 0

    def __post_init__(self) -> None:
        if self.shape == "own" and self.own is None:
            raise must_be("shape", _("'own' only with a table [tree] that describes your files"))

    @property
    def does(self) -> type[Operation]:
        return OPERATIONS[self.operation]

    @property
    def name(self) -> str:
        """A name that identifies the tree, shared by all jobs on it."""
        return f"{self.shape}-{self.files}-{self.total_bytes}"

    @property
    def described(self) -> bool:
        """Whether the worker gets a description of the shape, instead of its name."""
        return self.shape not in tree_worker.SPREADS

    @property
    def activity(self) -> str:
        return f"{self.operation} {self.fill_percent}"

    @property
    def strain(self) -> Strain:
        return self.does.strain or ("stream" if self.large else "small-files")

    @property
    def large(self) -> bool:
        return self.total_bytes >= self.files * LARGE_FILE_BYTES

    @property
    def unit_bytes(self) -> int:
        """Size of a unit of its work, if that is a number of bytes: of large files, except for packages."""
        return UNIT_BYTES if self.large and self.does.unit_files != tree_worker.PACKAGE_FILES else 0

    @property
    def units(self) -> int | None:
        """Amount of work in units of 20 files of packages, 8 MiB of large files, or 100 files of other trees."""
        if self.own or self.fill_percent:
            return None
        return max(1, self.total_bytes // self.unit_bytes if self.unit_bytes else self.files // self.does.unit_files)

    def scaled(self, units: int) -> TreeJob:
        if units >= (self.units or 1):
            return self
        if self.unit_bytes:
            total_bytes = units * self.unit_bytes
            return replace(self, files=max(1, self.files * total_bytes // self.total_bytes), total_bytes=total_bytes)
        files = units * self.does.unit_files
        return replace(self, files=files, total_bytes=self.total_bytes * files // self.files)

    def write_inputs(self, scratch: str, seed: int) -> None:
        if self.own:
            table = to_json(self.own)
        elif self.described:
            shapes = tomli.loads(SHAPES.read_text("utf-8"))
            table = {**shapes.get(shapes[self.shape].get("like", ""), {}), **shapes[self.shape]}
            table["directories"] = max(1, round(self.files / table["files_per_directory"]))
        else:
            return
        Path(scratch, f"{self.name}.json").write_text(json.dumps(table))

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        return self.does(self, directory, scratch, seed).timed()

    def figures(self, done: Sequence[Done]) -> Iterator[Measured]:
        yield Measured(DURATION, duration_s(done))
        yield Measured(RETURNED, duration_s(done[:-1]))
        copied = self.does.makes and self.does.written_share == 1
        yield Measured(BYTES_WRITTEN, self.total_bytes if copied else 0)
