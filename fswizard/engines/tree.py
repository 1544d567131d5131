"""Everyday programs on a directory tree: `cp`, `rm`, `tar`, `find`, `du`, `git status`, an installation, a start, mail.

Files from elsewhere, such as a video from a camera or packages from the network, are outside the candidate and are
read into memory beforehand. Only `dpkg` and `deliver` sync; the sync at the end is what users wait for before they
unplug a disk.
"""

from __future__ import annotations

import errno
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fswizard.engines.shared import tree_worker
from fswizard.engines.shared.engine import MIB, TIB
from fswizard.engines.shared.shapes import TreeShape, own_shape, shipped_shape
from fswizard.engines.shared.timed import Timed
from fswizard.engines.shared.tree_operations import OPERATIONS, Operation, TreeOperation
from fswizard.engines.shared.trees import TreeEngine
from fswizard.language import N_, _, n_
from fswizard.model.filesystem import Strain
from fswizard.model.keys import UNWRITTEN, Keys, size, whole
from fswizard.model.recipe import Cost, Job, Program
from fswizard.model.units import size_text
from fswizard.system.process import Finished

LARGE_FILE_BYTES = MIB
"""Files of this size on average are streams: their content takes longer than their names."""
UNIT_BYTES = 8 * MIB
"""A unit of work on large files."""


@dataclass(frozen=True, slots=True)
class TreeJob(TreeEngine):
    """Work on a generated directory tree with the everyday programs; see `tree_operations.py`."""

    engine = "tree"
    programs = (
        Program("cp", N_("trees of files"), required=True, packages={"": "coreutils"}),
        Program("git", N_("workloads on a repository")),
        Program("tar", N_("archive workloads"), required=True, messages={"Wrote only ": errno.ENOSPC}),
        Program("dpkg", N_("installing packages"), required=True),
        Program("find", N_("workloads on trees"), required=True, packages={"": "findutils"}),
    )
    operation: TreeOperation
    shape: Literal[
        "small-files", "mixed", "video", "source", "home", "mail", "mailboxes", "game", "packs", "photos", "thumbnails",
        "system", "modules", "own",
    ]  # fmt: skip
    """Package recipes, a project with pictures and films, films, one of `shapes.toml`, or the user's own files."""
    files: Annotated[int, whole(1, 10_000_000)]
    total_bytes: Annotated[int, size(1, 16 * TIB)]
    own: Annotated[TreeShape | None, UNWRITTEN] = None
    """The recipe's table `tree`, for the shape `own`."""
    fill_percent: Annotated[int, whole(0, 99, key="fill")] = 0

    def checked(self, keys: Keys) -> TreeJob:
        own = own_shape(keys.outer)
        if self.shape != "own":
            return self
        if own is None:
            raise keys.error("shape", _("'own' only with a table [tree] that describes your files"))
        return replace(self, own=own)

    @property
    def does(self) -> Operation:
        return OPERATIONS[self.operation](self)

    @property
    def words(self) -> str:
        work = _(self.does.words)
        if self.files == 1:
            return _("{work} of a file of {size}", work=work, size=size_text(self.total_bytes))
        return _("{work} of {files}", work=work, files=self.in_total)

    @property
    def activity(self) -> str:
        return f"{self.operation} {self.fill_percent}"

    @property
    def strain(self) -> Strain:
        return self.does.load or ("stream" if self._large else "small-files")

    @property
    def works_on(self) -> Job:
        return replace(self, operation=self.does.works_on or self.operation)

    @property
    def built_in(self) -> bool:
        return self.operation == "install" or self.does.work().kind == "timing"

    @property
    def units(self) -> int | None:
        """20 files of packages, 8 MiB of large files, 100 files of other trees."""
        if self.own or self.fill_percent:
            return None
        if self._streams:
            return max(1, self.total_bytes // UNIT_BYTES)
        return max(1, self.files // self.does.unit_files)

    def scaled(self, units: int) -> TreeJob:
        if units >= (self.units or 1):
            return self
        if self._streams:
            total_bytes = units * UNIT_BYTES
            return replace(self, files=max(1, self.files * total_bytes // self.total_bytes), total_bytes=total_bytes)
        files = units * self.does.unit_files
        return replace(self, files=files, total_bytes=self.total_bytes * files // self.files)

    @property
    def cost(self) -> Cost:
        return self.does.cost()

    @property
    def parts(self) -> Sequence[str]:
        return [f"{self.shape} {part}" for part in self.does.leaves()]

    @property
    def brings(self) -> Sequence[tuple[object, int]]:
        # Packages are there as trees, too.
        return [
            ((self.tree_name, part), (2 if part == "packages" else 1) * self.tree_bytes)
            for part in (self.does.first or self.does).scratch_trees
        ]

    def written_bytes(self, finished: Sequence[Finished]) -> int:
        return self.total_bytes if self.does.writes else 0

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        return OPERATIONS[self.operation](self, directory, scratch, seed).timed()

    @property
    def described(self) -> TreeShape | None:
        return self.own or shipped_shape(self.shape, self.files)

    @property
    def only_file(self) -> str:
        """The one file of a tree that the worker knows by name; empty for others."""
        if self.described or self.files > 1:
            return ""
        return tree_worker.Tree(self.shape, 1, self.total_bytes).entries[0][0]

    @property
    def tree_name(self) -> str:
        which = f"-{zlib.crc32(repr(self.own).encode()):08x}" if self.own else ""
        return f"{self.shape}{which}-{self.files}-{self.total_bytes}"

    @property
    def described_files(self) -> str:
        """`1,200 small files`."""
        if self.own:
            return n_("{count} file like your own", "{count} files like your own", self.files)
        return {
            "small-files": n_("{count} small file", "{count} small files", self.files),
            "mixed": n_("{count} mixed file", "{count} mixed files", self.files),
            "video": n_("{count} video", "{count} videos", self.files),
            "source": n_("{count} source file", "{count} source files", self.files),
            "home": n_("{count} everyday file", "{count} everyday files", self.files),
            "mail": n_("{count} message", "{count} messages", self.files),
            "mailboxes": n_("{count} message", "{count} messages", self.files),
            "game": n_("{count} game file", "{count} game files", self.files),
            "packs": n_("{count} pack file", "{count} pack files", self.files),
            "photos": n_("{count} photo", "{count} photos", self.files),
            "thumbnails": n_("{count} thumbnail", "{count} thumbnails", self.files),
            "system": n_("{count} system file", "{count} system files", self.files),
            "modules": n_("{count} library file", "{count} library files", self.files),
        }[self.shape]

    @property
    def _large(self) -> bool:
        return self.total_bytes >= self.files * LARGE_FILE_BYTES

    @property
    def _streams(self) -> bool:
        """Whether its unit of work is a number of bytes."""
        return self._large and self.operation not in ("install", "start")
