"""Everyday programs on a directory tree: `cp`, `rm`, `tar`, `find`, `du`, an installation, a start.

Input from elsewhere, such as a video from a camera or packages from the network, is outside the candidate and read into
memory beforehand. Only `dpkg` syncs while it works; the final sync is what users wait for before they unplug a disk.
Each operation is fully defined by one class.
"""

from __future__ import annotations

import errno
import math
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from fswizard.engines.shared import tree_worker
from fswizard.engines.shared.context import MIB, TIB
from fswizard.engines.shared.engine import Files, Timed
from fswizard.engines.shared.programs import Work, counted
from fswizard.engines.shared.trees import FILES_COPIED_PER_S, METADATA_BYTES, TreeEngine, TreeShape, shipped_shape
from fswizard.language import N_, _
from fswizard.model.estimates import SEQUENTIAL_BYTES_PER_S
from fswizard.model.filesystem import Strain
from fswizard.model.frozen import frozen
from fswizard.model.keys import must_be, within
from fswizard.model.recipe import Program

TreeOperation = Literal[
    "copy", "delete", "copy-onto", "read-back", "delete-onto", "tar", "untar", "find", "du", "install", "start", "read",
]  # fmt: skip
LARGE_FILE_BYTES = MIB
"""Mean file size from which content takes longer than names, so that the load is a stream."""
UNIT_BYTES = 8 * MIB
"""Unit of work for large files."""
PACKAGE_FILES = 20
"""Unit of work for packages; for other trees it is 100 files."""
SYNC_BYTES = 50_000
"""Bytes written by an fsync of a small file."""
TAR_BYTES = 2_200
"""Headers and padding of a file in an archive."""
ACCESS_TIME_BYTES = 1_000
LINE_BYTES = 16
"""Length of the line that `find` writes for each file."""


@frozen
class TreeJob(TreeEngine):
    """Work on a generated directory tree with the everyday programs."""

    engine = "tree"
    programs = (
        Program("cp", N_("trees of files"), required=True, packages={"": "coreutils"}),
        Program("tar", N_("archive workloads"), required=True, messages={"Wrote only ": errno.ENOSPC}),
        Program("dpkg", N_("installing packages"), required=True),
        Program("find", N_("workloads on trees"), required=True, packages={"": "findutils"}),
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
    def activity(self) -> str:
        return f"{self.operation} {self.fill_percent}"

    @property
    def strain(self) -> Strain:
        return self.does.strain or ("stream" if self._large else "small-files")

    @property
    def writes(self) -> bool:
        return self.does.writes

    @property
    def units(self) -> int | None:
        """Amount of work in units of 20 files of packages, 8 MiB of large files, or 100 files of other trees."""
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

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        return self.does(self, directory, scratch, seed).timed()

    @property
    def described(self) -> TreeShape | None:
        return self.own or shipped_shape(self.shape, self.files)

    @property
    def _large(self) -> bool:
        return self.total_bytes >= self.files * LARGE_FILE_BYTES

    @property
    def _streams(self) -> bool:
        """Whether its unit of work is a number of bytes."""
        return self._large and self.does.unit_files != PACKAGE_FILES


class Operation:
    """One of the operations of a `TreeJob`, on the trees of that job."""

    doing: ClassVar[str]
    """Description of the work in progress, to be translated."""
    strain: ClassVar[Strain | None] = None
    """Dominant load; None if it depends on the size of the files."""
    on: ClassVar[type[Operation] | None] = None
    """The operation that creates the tree on which this one works."""
    makes: ClassVar[str] = ""
    """What it appends to the tree's path for the path of what it creates; empty if it creates nothing."""
    writes = False
    """Whether it writes the bytes of the tree."""
    deletes = False
    """Whether it deletes its input tree."""
    reads = True
    """Whether it reads files on the candidate."""
    counter: ClassVar[Literal["", "read_chars", "write_chars"]] = ""
    """Field of /proc/PID/io that shows its progress."""
    times_itself = False
    files_per_s: ClassVar[float]
    bytes_per_s: ClassVar[float] = SEQUENTIAL_BYTES_PER_S
    """Speeds on an ordinary SSD; the duration is the sum of the time for files and the time for bytes."""
    file_bytes = 0
    """Bytes written for each file, in addition to its content if it `writes`."""
    unit_files = 100
    """Number of files in a unit of work; see `TreeJob.scaled`."""

    def __init__(self, job: TreeJob, directory: str, scratch: str, seed: str) -> None:
        self.job, self.scratch, self.seed = job, scratch, seed
        self.tree, self.source = f"{directory}/{job.tree_name}", f"{scratch}/{job.tree_name}"
        self.path = f"{self.tree}{self.makes}"
        self.before = self.on(job, directory, scratch, seed) if self.on else None
        self.there = self.before.path if self.before else ""

    def argv(self) -> tuple[str, ...]:
        raise NotImplementedError

    def work(self, **more: Any) -> Work:
        job = self.job
        return job.work(
            self.argv(), _(self.doing, files=job.counted_files), self.counter,
            files_per_s=self.files_per_s, bytes_per_s=self.bytes_per_s,
            written_bytes=job.files * self.file_bytes + (job.total_bytes if self.writes else 0),
            times_itself=self.times_itself, **more,
        )  # fmt: skip

    def works(self) -> tuple[Work, ...]:
        """The programs that are timed."""
        return (self.work(),)

    def needs(self) -> tuple[Files, ...]:
        """Files that must exist before."""
        if self.before is None:
            return ()
        return (*self.before.needs(), Files(self.there, self.job.tree_bytes, self.before.works()))

    def warm_up(self) -> Work | None:
        """The program that reads external input into memory."""
        return None

    def timed(self) -> Timed:
        makes = Files(self.path, self.job.tree_bytes) if self.makes else None
        deletes = self.there if self.deletes else ""
        return Timed(self.works(), self.needs(), self.warm_up(), makes, deletes, self.reads)


class Copy(Operation):
    """A copy within the candidate, which shares no blocks with its source."""

    doing, counter = N_("copying {files}"), "write_chars"
    makes, writes = "-copy", True
    files_per_s, file_bytes = FILES_COPIED_PER_S, METADATA_BYTES
    bytes_per_s = SEQUENTIAL_BYTES_PER_S / 2  # read and written

    def argv(self) -> tuple[str, ...]:
        return ("cp", "-a", "--reflink=never", self.tree, self.path)

    def needs(self) -> tuple[Files, ...]:
        return (self.job.on_candidate(self.tree, self.scratch),)


class CopyOnto(Copy):
    """A copy from memory onto the candidate, as from a camera."""

    makes, reads = "-onto", False
    bytes_per_s = SEQUENTIAL_BYTES_PER_S

    def argv(self) -> tuple[str, ...]:
        return ("cp", "-a", "--reflink=never", self.source, self.path)

    def needs(self) -> tuple[Files, ...]:
        return (self.job.source(self.source, self.scratch),)

    def warm_up(self) -> Work:
        return self.job.into_memory(self.source)


class Unpack(Operation):
    """Extraction of an archive that is in memory."""

    doing, counter = N_("unpacking {files}"), "write_chars"
    makes, writes, reads = "-unpacked", True, False
    files_per_s, file_bytes = 25_000, METADATA_BYTES

    def argv(self) -> tuple[str, ...]:
        return ("tar", "--extract", f"--file={self.source}.tar", f"--one-top-level={self.path}")

    def needs(self) -> tuple[Files, ...]:
        job, archive = self.job, f"{self.source}.tar"
        argv = ("tar", "--create", "--sort=name", f"--file={archive}", f"--directory={self.source}", ".")
        packing = job.work(argv, _("packing {files}", files=job.counted_files), "write_chars")
        source = job.source(self.source, self.scratch)
        # One sync for both: on a hard disk each takes a second.
        return replace(source, works=source.works[:1]), job.outside(archive, self.scratch, packing)

    def warm_up(self) -> Work:
        argv = ("cp", f"{self.source}.tar", "/dev/null")
        return self.job.work(argv, _("reading the archive into memory"), "read_chars")


class Install(Operation):
    """`dpkg --unpack` of packages that are in memory; it syncs each file."""

    doing, strain = N_("installing {files}"), "sync"
    makes, writes, reads = "-installed", True, False
    files_per_s, file_bytes = 1_000, METADATA_BYTES + SYNC_BYTES
    unit_files = PACKAGE_FILES

    def argv(self) -> tuple[str, ...]:
        """dpkg without root. It syncs even if its settings disable that, as in containers."""
        options = ("--no-force-unsafe-io", "--force-not-root,bad-path", "--force-script-chrootless", "--log=/dev/null")
        return ("dpkg", f"--root={self.path}", *options, "--unpack", "--recursive", f"{self.source}-packages/debs")

    def works(self) -> tuple[Work, ...]:
        job = self.job
        # Two processes hand on, as archives, what a third one writes.
        done = counted("write_chars", job.total_bytes + 2 * (job.total_bytes + job.files * TAR_BYTES))
        database = Work(("mkdir", "--parents", f"{self.path}/var/lib/dpkg"), _("an empty database"))
        return database, self.work(share_done=done, whole=job.total_bytes, env={"HOME": self.path})

    def needs(self) -> tuple[Files, ...]:
        """Uncompressed packages, as decompression would measure the processor."""
        job, path = self.job, f"{self.source}-packages"
        trees, debs = f"{path}/trees", f"{path}/debs"
        each = ("-exec", "dpkg-deb", "-Znone", "--build", "{}", debs, ";")
        text = _("writing {files}", files=job.counted_files)
        works = (
            job.work(job.worker("packages", trees, self.scratch), text, "write_chars"),
            Work(("mkdir", debs), _("their directory")),
            Work(("find", trees, "-mindepth", "1", "-maxdepth", "1", *each), _("packing them")),
        )
        return (job.outside(path, self.scratch, *works, copies=2),)

    def warm_up(self) -> Work:
        return self.job.into_memory(f"{self.source}-packages/debs")


class Delete(Operation):
    """Deletion of the copy within the candidate."""

    doing, deletes = N_("deleting {files}"), True
    on: ClassVar[type[Operation] | None] = Copy
    files_per_s, bytes_per_s = 14_000, 8e9

    def argv(self) -> tuple[str, ...]:
        return ("rm", "-rf", self.there)


class DeleteOnto(Delete):
    """Deletion of the copy that came from memory."""

    on = CopyOnto


class Read(Operation):
    """Reading of the unpacked files in random order."""

    doing, strain = N_("reading {files}"), "read"
    on: ClassVar[type[Operation] | None] = Unpack
    counter, times_itself = "read_chars", True
    files_per_s = 6_000

    def argv(self) -> tuple[str, ...]:
        return self.job.worker("read", self.there, self.scratch, self.seed)


class ReadBack(Read):
    """Reading of the copy that came from memory, a single file with cp and several in random order."""

    doing, on = N_("reading {files} back"), CopyOnto

    def __init__(self, job: TreeJob, directory: str, scratch: str, seed: str) -> None:
        super().__init__(job, directory, scratch, seed)
        self.times_itself = job.files > 1 or job.described is not None

    def argv(self) -> tuple[str, ...]:
        if self.times_itself:
            return super().argv()
        ((name, _size, _share),) = tree_worker.Tree(self.job.shape, 1, self.job.total_bytes).entries
        return ("cp", f"{self.there}/{name}", "/dev/null")


class Start(Read):
    """Reading of the installed files in random order, like the start of programs."""

    doing, on = N_("starting from {files}"), Install
    unit_files = PACKAGE_FILES


class Pack(Operation):
    """Creation of an archive of the unpacked files on the candidate."""

    doing, strain, on = N_("packing {files}"), "read", Unpack
    makes, writes, counter = ".tar", True, "write_chars"
    files_per_s, file_bytes = 6_000, TAR_BYTES

    def argv(self) -> tuple[str, ...]:
        return ("tar", "--create", f"--file={self.path}", f"--directory={self.there}", ".")


class Du(Operation):
    """The total size of the unpacked files."""

    doing, strain, on = N_("looking at {files}"), "read", Unpack
    files_per_s, bytes_per_s, file_bytes = 14_000, math.inf, ACCESS_TIME_BYTES

    def argv(self) -> tuple[str, ...]:
        return ("du", "--summarize", self.there)


class Find(Du):
    """A search that reads the size of every unpacked file."""

    def argv(self) -> tuple[str, ...]:
        condition = ("-type", "f", "-size", "-1000000G", "-fprintf", "/dev/null", f"%{LINE_BYTES - 1}s\\n")
        return ("find", self.there, *condition)

    def works(self) -> tuple[Work, ...]:
        # The bytes that it writes to /dev/null show its progress.
        files = self.job.files
        return (self.work(share_done=counted("write_chars", files * LINE_BYTES), whole=files, unit="1/s"),)


OPERATIONS: dict[TreeOperation, type[Operation]] = {
    "copy": Copy,
    "delete": Delete,
    "copy-onto": CopyOnto,
    "read-back": ReadBack,
    "delete-onto": DeleteOnto,
    "tar": Pack,
    "untar": Unpack,
    "find": Find,
    "du": Du,
    "install": Install,
    "start": Start,
    "read": Read,
}
