"""Everyday programs on a directory tree: `cp`, `rm`, `tar`, `find`, `du`, `git status`, an installation, a start."""

from __future__ import annotations

import errno
import json
import os
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from fswizard.engines.shared.engine import TIB, WorkloadContext
from fswizard.engines.shared.running import worker_command
from fswizard.engines.shared.timed import LaidOut, Timed, Work, reading, share_of, writing
from fswizard.engines.shared.trees import BYTES_BESIDE_A_FILE, LEFT_BY_COMPRESSION, WORKER, TreeEngine
from fswizard.model.codec import to_json
from fswizard.model.keys import UNWRITTEN, Keys, number, size, whole, wholes
from fswizard.model.recipe import Cost, Job, Program
from fswizard.model.units import size_text
from fswizard.system.process import Finished

TreeOperation = Literal["copy", "delete", "tar", "untar", "find", "du", "git-status", "install", "read"]
FOUND_BYTES = 16
"""What `find` writes for each file."""
GIT = ("git", "-c", "user.name=fswizard", "-c", "user.email=fswizard@localhost", "-c", "core.hooksPath=/dev/null")
DEEPEST = 64
"""Directories of a tree that lie within one another."""
MOST_DIRECTORIES = 1_000_000

FILES_DELETED_PER_S = 14_000
FILES_LOOKED_AT_PER_S = 14_000
FILES_READ_PER_S = 6_000
FILES_UNPACKED_PER_S = 25_000
FILES_SYNCED_PER_S = 1_000
DELETED_BYTES_PER_S = 8e9
FILES_COMMITTED_PER_S = 8_000
COMMITTED_BYTES_PER_S = 60e6
"""Of git, which compresses."""
BYTES_OF_AN_FSYNC = 32_768


@dataclass(frozen=True, slots=True)
class TreeShape:
    """What a user's own tree looks like, without a name in it."""

    sizes: Annotated[tuple[int, ...], wholes(2, 1025, TIB)]
    """Quantiles of the files' sizes in bytes at equal steps, the smallest and the largest included."""
    files_at_depth: Annotated[tuple[int, ...], wholes(1, DEEPEST, 10_000_000)]
    """How many files lie in the top directory, in directories below it, and so on."""
    directories_at_depth: Annotated[tuple[int, ...], wholes(1, DEEPEST, MOST_DIRECTORIES)]
    """How many directories there are so deep; the first is the top one alone."""
    random_share: Annotated[float, number(0, 1)]
    """So much of every block is random and does not compress."""


@dataclass(frozen=True, slots=True)
class TreeJob(TreeEngine):
    """Work on a generated directory tree with the everyday programs."""

    engine = "tree"
    programs = (
        Program("cp", "trees of files", required=True, packages={"": "coreutils"}),
        Program("git", "workloads on a repository"),
        Program("tar", "archive workloads", messages={"Wrote only ": errno.ENOSPC}),
        Program("find", "workloads on trees", packages={"": "findutils"}),
    )
    operation: TreeOperation
    """`install` writes every file with an fsync, as package managers do; `read` reads all in a random order."""
    shape: Literal["small-files", "source", "mixed", "own"]
    """Package recipes, a kernel's sources, a project with pictures and films, or the user's own."""
    files: Annotated[int, whole(1, 10_000_000)]
    total_bytes: Annotated[int, size(1, 16 * TIB)]
    own: Annotated[TreeShape | None, UNWRITTEN] = None
    """Of the shape `own`, what it is: the recipe's table `tree`."""

    def checked(self, keys: Keys) -> TreeJob:
        own = _own_tree(keys.outer)
        if self.shape != "own":
            return self
        if own is None:
            raise keys.error("shape", "a table [tree] that says what one's own files are like")
        if sum(own.files_at_depth) != self.files:
            raise keys.error("files", f"{sum(own.files_at_depth)}, the sum of 'files_at_depth',")
        return replace(self, own=own)

    @property
    def words(self) -> str:
        programs = {"copy": "cp -a", "delete": "rm -rf", "tar": "tar --create", "untar": "tar --extract"}
        others = {"git-status": "git status", "install": "installation", "read": "reading"}
        program = {**programs, **others}.get(self.operation, self.operation)
        return f"{program} of {self.files:,} files, {size_text(self.total_bytes)} together"

    @property
    def work(self) -> str:
        return f"{self.operation} {self.shape}"

    @property
    def writes(self) -> bool:
        return self.operation in ("copy", "tar", "untar", "install")

    @property
    def works_on(self) -> Job:
        return self if self.operation in ("git-status", "install") else replace(self, operation="copy")

    def small(self, files: int, seconds: float) -> tuple[Job, float] | None:
        if self.operation not in ("install", "read") or self.own is not None:
            return None
        files = min(self.files, files)
        total_bytes = self.total_bytes * files // self.files
        return replace(self, files=files, total_bytes=total_bytes), 2 * total_bytes

    @property
    def cost(self) -> Cost:
        made_s, tree_bytes, packed_s = self.made_s, self.tree_bytes, self.files_s(FILES_READ_PER_S)
        committed_s = self.files / FILES_COMMITTED_PER_S + self.total_bytes / COMMITTED_BYTES_PER_S
        committed_bytes = int((1 + LEFT_BY_COMPRESSION) * tree_bytes + self.files * BYTES_BESIDE_A_FILE / 2)
        looked_at_s = self.files / FILES_LOOKED_AT_PER_S
        deleted_s = self.files / FILES_DELETED_PER_S + self.total_bytes / DELETED_BYTES_PER_S
        unpacked_s, installed_s = self.files_s(FILES_UNPACKED_PER_S), self.files_s(FILES_SYNCED_PER_S)
        packed_bytes = self.total_bytes
        costs = {
            "copy": Cost(made_s, self.copied_s, tree_bytes, tree_bytes),
            "delete": Cost(made_s + self.copied_s, deleted_s, 2 * tree_bytes, 0),
            "tar": Cost(made_s, packed_s, tree_bytes, packed_bytes),
            "untar": Cost(made_s + packed_s, unpacked_s, tree_bytes + packed_bytes, tree_bytes),
            "git-status": Cost(made_s + committed_s, looked_at_s, committed_bytes, 0),
            "install": Cost(0.0, installed_s, 0, tree_bytes + self.files * BYTES_OF_AN_FSYNC),
            "read": Cost(made_s, packed_s, tree_bytes, 0),
        }
        return costs.get(self.operation, Cost(made_s, looked_at_s, tree_bytes, 0))

    @property
    def parts(self) -> Sequence[str]:
        more = {"delete": ("copy",), "untar": ("tar", "untar"), "find": (), "du": (), "read": ()}
        alone = {"git-status": ("work tree", "objects"), "install": ("installed",)}
        parts = alone.get(self.operation, ("tree", *more.get(self.operation, (self.operation,))))
        return [f"{self.shape} {part}" for part in parts]

    def written_bytes(self, finished: Sequence[Finished]) -> int:
        return self.total_bytes if self.writes else 0

    def bring(self, context: WorkloadContext, seed: int) -> None:
        TreeEngine.bring(self, context, seed)
        if self.own is not None:
            Path(self._shape(context.scratch)).write_text(json.dumps(to_json(self.own)))

    def source(self, directory: str, scratch: str) -> LaidOut:
        """The tree itself, below `directory`."""
        path = f"{directory}/{self._name}"
        return LaidOut(path, (self._making(path, scratch),))

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        tree, files, total_bytes = self.source(directory, scratch), self._files, self.total_bytes
        copy, archive = f"{tree.path}-copy", f"{tree.path}.tar"
        unpacked, installed = f"{tree.path}-unpacked", f"{tree.path}-installed"
        copying = ("cp", "-a", "--reflink=never", tree.path, copy)  # sharing blocks would be no copy
        packing = ("tar", "--create", f"--file={archive}", f"--directory={tree.path}", ".")
        unpacking = ("tar", "--extract", f"--file={archive}", f"--one-top-level={unpacked}")
        installing = self._worker("install", installed, scratch)
        copied = LaidOut(copy, (writing(copying, f"copying {files}", total_bytes),))
        packed = LaidOut(archive, (writing(packing, f"packing {files}", total_bytes),))
        writes = {
            "copy": (copied, (tree,)),
            "tar": (packed, (tree,)),
            "untar": (LaidOut(unpacked, (writing(unpacking, f"unpacking {files}", total_bytes),)), (tree, packed)),
            "install": (LaidOut(installed, (writing(installing, f"installing {files}", total_bytes),)), ()),
        }
        if self.operation in writes:
            made, lay_out = writes[self.operation]
            return Timed(made.works[0].text, made.works, lay_out, makes=made.path, writes_bytes=total_bytes)
        if self.operation == "delete":
            work = Work(("rm", "-rf", copy), f"deleting {files}", _share_gone(copy), self.files, "1/s")
            return Timed(work.text, (work,), (tree, copied), takes_away=copy)
        if self.operation == "git-status":
            repository = self._repository(f"{tree.path}-repository", scratch)
            status = _git(repository.path, scratch, "asking git what has changed", "status", "--short")
            share = share_walked(repository.path, begins=0.5)  # it asks for every known file before it walks
            return Timed(f"{status.text} among {files}", (replace(status, share_done=share),), (repository,))
        text = f"{'reading' if self.operation == 'read' else 'looking at'} {files}"
        # find asks for every file's size, and by what it has written into nothing it is told how far it is.
        finding = ("-type", "f", "-size", "-1000000G", "-fprintf", "/dev/null", f"%{FOUND_BYTES - 1}s\\n")
        share = share_of("wchar", self.files * FOUND_BYTES)
        works = {
            "read": reading(self._worker("read", tree.path, scratch, seed), text, total_bytes),
            "find": Work(("find", tree.path, *finding), text, share, self.files, "1/s"),
            "du": Work(("du", "--summarize", tree.path), text, share_walked(tree.path)),
        }
        return Timed(text, (works[self.operation],), (tree,))

    def _repository(self, path: str, scratch: str) -> LaidOut:
        adding = _git(path, scratch, "adding its files", "add", "--all")
        works = (
            self._making(path, scratch),
            _git(path, scratch, "making it a repository", "init", "--quiet"),
            replace(adding, share_done=share_of("rchar", self.total_bytes)),
            _git(path, scratch, "committing them", "commit", "--quiet", "--message=all"),
        )
        return LaidOut(path, works)

    def _making(self, path: str, scratch: str) -> Work:
        text = f"making a tree of {self.files:,} files, {size_text(self.total_bytes)}"
        return self.making(self._shape(scratch), path, scratch, text)

    def _worker(self, what: str, directory: str, scratch: str, *more: str) -> Sequence[str]:
        arguments = (what, self._shape(scratch), str(self.files), str(self.total_bytes), directory, *more)
        return worker_command(WORKER, *arguments, scratch=scratch)

    def _shape(self, scratch: str) -> str:
        """What the worker is told of the shape: its name, or a file that describes it."""
        return self.shape if self.own is None else f"{scratch}/{self._name}.json"

    @property
    def _name(self) -> str:
        """The same for all jobs on the same tree, and for no others."""
        which = f"-{zlib.crc32(repr(self.own).encode()):08x}" if self.own else ""
        return f"{self.shape}{which}-{self.files}-{self.total_bytes}"

    @property
    def _files(self) -> str:
        kinds = {"source": "source files", "mixed": "mixed files", "own": "files like your own"}
        return f"{self.files:,} {kinds.get(self.shape, 'small files')}"


def share_walked(tree: str, *, begins: float = 0.0) -> Callable[[int], float]:
    """By the directory that a process has open: those at the top of a tree are walked in the order of their listing.

    The walk begins when `begins` of the whole is done.
    """
    name = os.path.basename(tree)
    order: dict[str, int] = {}

    def share_done(pid: int) -> float:
        if not order:
            order.update((top, number) for number, top in enumerate(os.listdir(f"/proc/{pid}/cwd/{name}")))
        for descriptor in os.listdir(f"/proc/{pid}/fd"):
            with suppress(FileNotFoundError):  # closed meanwhile
                _, _, below = os.readlink(f"/proc/{pid}/fd/{descriptor}").partition(f"/{name}/")
                if (top := below.split("/")[0]) in order:
                    return begins + (1 - begins) * order[top] / len(order)
        return 0.0

    return share_done


def _share_gone(copy: str) -> Callable[[int], float]:
    """By the tree's top directories that are gone, seen through the process's own eyes."""
    at_first = 0

    def share_done(pid: int) -> float:
        nonlocal at_first
        left = len(os.listdir(f"/proc/{pid}/cwd/{os.path.basename(copy)}"))
        at_first = max(at_first, left)
        return 1 - left / at_first if at_first else 1.0

    return share_done


def _git(repository: str, scratch: str, text: str, *arguments: str) -> Work:
    """Without the user's own settings, which may sign, or start programs."""
    return Work((*GIT, "-C", repository, *arguments), text, env={"HOME": scratch, "XDG_CONFIG_HOME": scratch})


def _own_tree(recipe: Keys) -> TreeShape | None:
    """A recipe's table `tree`, which `fswizard recipes --from` writes."""
    if not recipe.table.get("tree"):
        return None
    keys = recipe.inner(recipe.table["tree"], "tree")
    shape = keys.read(TreeShape)
    if list(shape.sizes) != sorted(shape.sizes):
        raise keys.error("sizes", "a list of sizes, the smallest first,")
    if sum(shape.directories_at_depth) > MOST_DIRECTORIES:
        raise keys.error("directories_at_depth", f"at most {MOST_DIRECTORIES:,} directories")
    if shape.directories_at_depth[0] != 1 or 0 in shape.directories_at_depth:
        raise keys.error("directories_at_depth", "1 and then, for each depth, 1 or more,")
    if len(shape.files_at_depth) != len(shape.directories_at_depth):
        raise keys.error("files_at_depth", "a number for each depth of 'directories_at_depth'")
    return shape
