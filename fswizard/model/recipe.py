"""What is measured: recipes and their workloads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fswizard.model.metrics import Metric
from fswizard.model.units import duration_text, size_text

Engine = Literal["fio", "tree", "fileserver", "backup", "rsync", "sqlite", "overflow"]
"""A way of measuring."""


@dataclass(frozen=True, slots=True)
class FioJob:
    """A block workload that fio carries out on one file."""

    rw: Literal["read", "write", "randread", "randwrite", "randrw"]
    block_bytes: int
    size_bytes: int
    """Size of the file, shared by all workloads of a recipe that name the same size."""
    seconds: float = 0.0
    """Time-based when above 0; else the whole file once."""
    jobs: int = 1
    depth: int = 1
    io_engine: Literal["psync", "libaio", "io_uring"] = "libaio"
    direct: bool = True
    fsync: int = 0
    """fsync after so many writes; 0 means once at the end."""

    @property
    def writes(self) -> bool:
        return self.rw not in ("read", "randread")

    @property
    def random(self) -> bool:
        return self.rw.startswith("rand")

    @property
    def makes_its_file(self) -> bool:
        """It writes a new file instead of working on one that was laid out beforehand."""
        return self.rw == "write" and not self.seconds and self.jobs == 1


TreeOperation = Literal["copy", "delete", "tar", "untar", "find", "du", "git-status", "install", "read"]


@dataclass(frozen=True, slots=True)
class TreeShape:
    """What a user's own tree looks like, without a name in it."""

    sizes: tuple[int, ...]
    """Quantiles of the files' sizes in bytes at equal steps, the smallest and the largest included."""
    files_at_depth: tuple[int, ...]
    """How many files lie in the top directory, in directories below it, and so on."""
    directories_at_depth: tuple[int, ...]
    """How many directories there are so deep; the first is the top one alone."""
    random_share: float
    """So much of every block is random and does not compress."""


@dataclass(frozen=True, slots=True)
class TreeJob:
    """Work on a generated directory tree with the everyday programs."""

    operation: TreeOperation
    """`install` writes every file with an fsync, as package managers do; `read` reads all in a random order."""
    shape: Literal["small-files", "source", "mixed", "own"]
    """Package recipes, a kernel's sources, a project with pictures and films, or the user's own."""
    files: int
    total_bytes: int
    own: TreeShape | None = None
    """Of the shape `own`, what it is."""

    @property
    def program(self) -> str:
        """What does it, for people."""
        programs = {"copy": "cp -a", "delete": "rm -rf", "tar": "tar --create", "untar": "tar --extract"}
        others = {"git-status": "git status", "install": "installation", "read": "reading"}
        return {**programs, **others}.get(self.operation, self.operation)

    @property
    def writes(self) -> bool:
        return self.operation in ("copy", "tar", "untar", "install")


@dataclass(frozen=True, slots=True)
class FileServerJob:
    """The file-server mix of filebench: create and write, append, read whole, delete, stat."""

    threads: int
    files: int
    mean_file_bytes: int
    mean_append_bytes: int
    seconds: float
    fill_percent: int = 0
    """Of the filesystem, so much is filled with other files before; 0 leaves it as it is."""


@dataclass(frozen=True, slots=True)
class BackupJob:
    """An archive made with borg: the first one of a tree, or one of a second, mostly equal copy."""

    archive: Literal["first", "second"]
    files: int
    total_bytes: int

    @property
    def words(self) -> str:
        """What is done, for people."""
        which = "a tree" if self.archive == "first" else "a second, mostly equal copy"
        return f"borg create of {which}: {self.files:,} files, {size_text(self.total_bytes)} together"


@dataclass(frozen=True, slots=True)
class RsyncJob:
    """A generated tree that rsync copies onto the candidate, or from it, where access times may be written."""

    direction: Literal["onto", "from"]
    shape: Literal["small-files", "mixed"]
    files: int
    total_bytes: int

    @property
    def words(self) -> str:
        """What is done, for people."""
        return f"rsync {self.direction} the disk: {self.files:,} files, {size_text(self.total_bytes)} together"


@dataclass(frozen=True, slots=True)
class SqliteJob:
    """Transactions of SQLite, each on the disk before the next one begins (`synchronous = FULL`)."""

    journal: Literal["wal", "delete"]
    transactions: int

    @property
    def words(self) -> str:
        """What is done, for people."""
        return f"sqlite3, {self.transactions:,} transactions, journal mode {self.journal.upper()}"


@dataclass(frozen=True, slots=True)
class OverflowJob:
    """Random writes for so long that a shingled disk's persistent cache overflows."""

    working_set_bytes: int
    """Beyond the cache, else it only fills it again and again."""
    seconds: float
    block_bytes: int = 4096
    depth: int = 32

    @property
    def words(self) -> str:
        """What is done, for people."""
        file = size_text(self.working_set_bytes)
        return f"fio writes here and there in a file of {file} for {duration_text(self.seconds)}"

    @property
    def fio(self) -> FioJob:
        """What fio does."""
        return FioJob("randwrite", self.block_bytes, self.working_set_bytes, self.seconds, depth=self.depth)


Job = FioJob | TreeJob | FileServerJob | BackupJob | RsyncJob | SqliteJob | OverflowJob


@dataclass(frozen=True, slots=True)
class Workload:
    """One thing that is measured, with the figure that counts."""

    name: str
    """Stable name within the recipe, such as `random-write`."""
    title: str
    engine: Engine
    job: Job
    metric: Metric
    """The primary metric: the one that ratios are made of."""
    weight: float = 1.0
    why: str = ""
    """What this stands for in a user's day, in a sentence."""
    seconds: float = 0.0
    """Expected duration including its preparation, on an ordinary disk."""
    writes_bytes: int = 0
    """Expected bytes written, preparation included: at most so much where time decides."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A set of workloads that stands for a way of using a disk."""

    name: str
    title: str
    why: str
    workloads: tuple[Workload, ...]
    image_bytes: int
    """Size of the scratch image that the workloads need."""
    minutes: float
    """Default time limit."""
    candidates: tuple[str, ...] = ()
    """Default candidates, by short name."""
    array_candidates: tuple[str, ...] = ()
    """The same on a target of several disks."""
    source: str = ""
    """Where the recipe comes from: a file's name."""

    def workload(self, name: str) -> Workload:
        return next(workload for workload in self.workloads if workload.name == name)
