"""What can be done with a tree of files: a class for each operation says all about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

from fswizard.engines.shared.timed import LaidOut, Timed
from fswizard.engines.shared.trees import FILES_COPIED_PER_S, LEFT_BY_COMPRESSION, METADATA_BYTES, outside
from fswizard.engines.shared.work import Work, share_of
from fswizard.language import N_, _
from fswizard.model.estimates import SEQUENTIAL_BYTES_PER_S
from fswizard.model.filesystem import Strain
from fswizard.model.recipe import Cost
from fswizard.model.units import size_text

if TYPE_CHECKING:
    from fswizard.engines.tree import TreeJob

TreeOperation = Literal[
    "copy", "delete", "copy-onto", "read-back", "delete-onto", "tar", "untar", "find", "du", "git-status", "install",
    "start", "read", "deliver",
]  # fmt: skip
SYNC_BYTES = 50_000
"""What an fsync of a small file writes."""
TAR_BYTES = 2_200
"""Headers and padding of a file in an archive."""
ACCESS_TIME_BYTES = 1_000
LINE_BYTES = 16
"""Length of the line that `find` writes for each file."""
GIT_SETTINGS = (
    "user.name=fswizard",
    "user.email=fswizard@localhost",
    "core.hooksPath=/dev/null",
    "maintenance.auto=false",  # or a commit of thousands of files has them packed in the background
)


class Operation:
    """One of the operations that a `TreeJob` may have, on the trees of that job."""

    words: ClassVar[str]
    """Name for users, to be translated."""
    doing: ClassVar[str]
    """The work in words, to be translated where it says so."""
    load: ClassVar[Strain | None] = None
    """Dominant load; None if it depends on the size of the files."""
    counter: ClassVar[str] = ""
    """Count of the kernel's that shows its progress: `rchar`, `wchar` or none."""
    kind: ClassVar[Literal["", "timing"]] = ""
    """Of the program, as in `Work`."""
    makes: ClassVar[str] = ""
    """Name of the tree that it makes, of the job's size."""
    writes: ClassVar[bool] = False
    """Whether it writes the bytes of the tree."""
    deletes: ClassVar[bool] = False
    """Whether it deletes the tree that it works on."""
    files_per_s: ClassVar[float]
    bytes_per_s: ClassVar[float] = SEQUENTIAL_BYTES_PER_S
    """What it takes on an ordinary SSD is the sum of the time for its files and for their bytes."""
    file_bytes: ClassVar[int] = 0
    """What it writes for each file, besides its content if it `writes`."""
    works_on: ClassVar[TreeOperation | None] = None
    """The operation whose tree it needs; jobs on the same one share their preparation."""
    reads: ClassVar[bool] = True
    """Whether it reads what is on the candidate."""
    scratch_trees: ClassVar[Sequence[str]] = ()
    """Trees that are made once in a run in the scratch directory."""
    unit_files: ClassVar[int] = 100
    """Number of files in a unit of work; see `TreeJob.scaled`."""

    def __init__(self, job: TreeJob, directory: str = "", scratch: str = "", seed: str = "") -> None:
        self.job, self.scratch, self.seed = job, scratch, seed
        self.tree_path, self.source_path = f"{directory}/{job.tree_name}", f"{scratch}/{job.tree_name}"
        self.first = OPERATIONS[self.works_on](job, directory, scratch, seed) if self.works_on else None
        self.first_path = self.first.path if self.first else ""

    @property
    def path(self) -> str:
        return f"{self.tree_path}-{self.makes}"

    def argv(self) -> tuple[str, ...]:
        raise NotImplementedError

    def work(self) -> Work:
        work = self._work(self.argv(), self.doing, self.counter)
        return replace(work, kind=self.kind)

    def warm_up(self) -> Work | None:
        """The program that reads into memory what comes from elsewhere."""
        return None

    def lay_out(self) -> tuple[LaidOut, ...]:
        """What must exist before, the tree of `works_on` included."""
        return (*self.first.lay_out(), self.first.laid_out()) if self.first else ()

    def laid_out(self) -> LaidOut:
        """The tree that it makes."""
        return LaidOut(self.path, (self.work(),))

    def timed(self) -> Timed:
        return Timed(
            self.laid_out().works,
            self.lay_out(),
            self.warm_up(),
            makes=self.path if self.makes else "",
            deletes=self.first_path if self.deletes else "",
            reads=self.reads,
        )

    def cost(self) -> Cost:
        job, before = self.job, self.first.cost() if self.first else Cost(0.0, 0.0, 0, 0)
        return Cost(
            before.prepare_s + before.measure_s,
            job.files / self.files_per_s + job.total_bytes / self.bytes_per_s,
            before.prepare_bytes + before.measure_bytes,
            job.files * self.file_bytes + (job.total_bytes if self.writes else 0),
        )

    def leaves(self) -> list[str]:
        """Trees that exist on the candidate afterwards."""
        trees = self.first.leaves() if self.first else []
        return [*trees, self.makes] if self.makes else trees

    def _work(self, argv: tuple[str, ...], doing: str, counter: str) -> Work:
        job = self.job
        text = _(doing, files=job.described_files, total=size_text(job.total_bytes))
        if not counter:
            return Work(argv, text)
        return Work(argv, text, share_of(counter, job.total_bytes), job.total_bytes)

    def _worker(self, what: str, path: str, *more: str) -> tuple[str, ...]:
        return self.job.worker(what, path, self.scratch, *more)

    def _making(self, path: str) -> Work:
        return self._work(self._worker("make", path), N_("making {files}, {total}"), "wchar")

    def _source(self) -> LaidOut:
        return self.job.source(self.source_path, self.scratch)


class Copy(Operation):
    """A copy within the candidate, which shares no blocks with its source."""

    words, doing, counter = "cp -a", "copying {files}", "wchar"
    makes, writes = "copy", True
    files_per_s, file_bytes = FILES_COPIED_PER_S, METADATA_BYTES
    bytes_per_s = SEQUENTIAL_BYTES_PER_S / 2  # read and written

    def argv(self) -> tuple[str, ...]:
        return ("cp", "-a", "--reflink=never", self.tree_path, self.path)

    def lay_out(self) -> tuple[LaidOut, ...]:
        return (LaidOut(self.tree_path, (self._making(self.tree_path),)),)

    def cost(self) -> Cost:
        return replace(super().cost(), prepare_s=self.job.made_s, prepare_bytes=self.job.tree_bytes)

    def leaves(self) -> list[str]:
        return ["tree", "copy"]


class CopyOnto(Operation):
    """A copy from memory onto the candidate, as from a camera."""

    words, doing, counter = N_("cp -a onto the disk"), "copying {files}", "wchar"
    makes, writes, reads, scratch_trees = "onto", True, False, ("tree",)
    files_per_s, file_bytes = FILES_COPIED_PER_S, METADATA_BYTES

    def argv(self) -> tuple[str, ...]:
        return ("cp", "-a", "--reflink=never", self.source_path, self.path)

    def warm_up(self) -> Work:
        return self.job.into_memory(self.source_path)

    def lay_out(self) -> tuple[LaidOut, ...]:
        return (self._source(),)


class Unpack(Operation):
    """Unpacks an archive that is in memory."""

    words, doing, counter = "tar --extract", "unpacking {files}", "wchar"
    makes, writes, reads, scratch_trees = "unpacked", True, False, ("tree", "archive")
    files_per_s, file_bytes = 25_000, METADATA_BYTES

    def argv(self) -> tuple[str, ...]:
        return ("tar", "--extract", f"--file={self.source_path}.tar", f"--one-top-level={self.path}")

    def warm_up(self) -> Work:
        return self._work(
            ("cp", f"{self.source_path}.tar", "/dev/null"), N_("reading the archive into memory"), "rchar"
        )

    def lay_out(self) -> tuple[LaidOut, ...]:
        archive = f"{self.source_path}.tar"
        packing = ("tar", "--create", "--sort=name", f"--file={archive}", f"--directory={self.source_path}", ".")
        return self._source(), outside(archive, self.scratch, self._work(packing, "packing {files}", "wchar"))


class Install(Operation):
    """`dpkg --unpack` of packages that are in memory; it syncs each file."""

    words, doing, load = N_("installation"), N_("installing {files}"), "sync"
    makes, writes, reads, scratch_trees = "installed", True, False, ("packages",)
    files_per_s, file_bytes = 1_000, METADATA_BYTES + SYNC_BYTES
    unit_files = 20

    def argv(self) -> tuple[str, ...]:
        """dpkg without root. It syncs even where its settings say otherwise, as in containers."""
        options = ("--no-force-unsafe-io", "--force-not-root,bad-path", "--force-script-chrootless", "--log=/dev/null")
        return ("dpkg", f"--root={self.path}", *options, "--unpack", "--recursive", f"{self.source_path}-packages/debs")

    def work(self) -> Work:
        # Two processes hand on, as archives, what a third one writes.
        archived_bytes = self.job.total_bytes + self.job.files * TAR_BYTES
        share, whole = share_of("wchar", self.job.total_bytes + 2 * archived_bytes), self.job.total_bytes
        return replace(super().work(), share_done=share, whole=whole, env={"HOME": self.path})

    def laid_out(self) -> LaidOut:
        making = Work(("mkdir", "--parents", f"{self.path}/var/lib/dpkg"), _("an empty database"))
        return LaidOut(self.path, (making, self.work()))

    def warm_up(self) -> Work:
        return self.job.into_memory(f"{self.source_path}-packages/debs")

    def lay_out(self) -> tuple[LaidOut, ...]:
        """Packages that are not compressed, as unpacking them would measure the processor."""
        path = f"{self.source_path}-packages"
        trees, debs = f"{path}/trees", f"{path}/debs"
        each = ("-exec", "dpkg-deb", "-Znone", "--build", "{}", debs, ";")
        works = (
            self._work(self._worker("packages", trees), "writing {files}", "wchar"),
            Work(("mkdir", debs), _("their directory")),
            Work(("find", trees, "-mindepth", "1", "-maxdepth", "1", *each), _("packing them")),
        )
        return (outside(path, self.scratch, *works),)


class Deliver(Operation):
    """Brings mail into Maildir folders, each message synced."""

    words, doing, load = N_("delivery"), "delivering {files}", "sync"
    counter, kind = "wchar", "timing"
    makes, writes, reads = "delivered", True, False
    files_per_s, file_bytes = 2_000, METADATA_BYTES + SYNC_BYTES

    def argv(self) -> tuple[str, ...]:
        return self._worker("deliver", self.path)


class GitStatus(Operation):
    """Asks git what has changed in a repository, without the user's settings, which may sign, or start programs."""

    words, doing, load = "git status", N_("asking git what has changed among {files}"), "read"
    files_per_s, bytes_per_s = 14_000, math.inf

    def argv(self) -> tuple[str, ...]:
        return self.git("status", "--short")

    def work(self) -> Work:
        return replace(super().work(), env=self.env)

    def lay_out(self) -> tuple[LaidOut, ...]:
        steps = {
            _("making it a repository"): self.git("init", "--quiet"),
            _("adding its files"): self.git("add", "--all"),
            _("committing them"): self.git("commit", "--quiet", "--message=all"),
        }
        path = f"{self.tree_path}-repository"
        return (LaidOut(path, (self._making(path), *(Work(argv, text, env=self.env) for text, argv in steps.items()))),)

    def git(self, *arguments: str) -> tuple[str, ...]:
        settings = [word for setting in GIT_SETTINGS for word in ("-c", setting)]
        return ("git", *settings, "-C", f"{self.tree_path}-repository", *arguments)

    @property
    def env(self) -> dict[str, str]:
        return {"HOME": self.scratch, "XDG_CONFIG_HOME": self.scratch}

    def cost(self) -> Cost:
        job = self.job
        prepare_s = job.made_s + job.files / 8_000 + job.total_bytes / 60e6  # git compresses
        prepare_bytes = (1 + LEFT_BY_COMPRESSION) * job.tree_bytes + job.files * METADATA_BYTES / 2
        return replace(super().cost(), prepare_s=prepare_s, prepare_bytes=int(prepare_bytes))

    def leaves(self) -> list[str]:
        return ["work tree", "objects"]


class Delete(Operation):
    """Deletes the copy within the candidate."""

    words, doing = "rm -rf", N_("deleting {files}")
    works_on: ClassVar[TreeOperation | None] = "copy"
    deletes = True
    files_per_s, bytes_per_s = 14_000, 8e9

    def argv(self) -> tuple[str, ...]:
        return ("rm", "-rf", self.first_path)


class DeleteOnto(Delete):
    """Deletes the copy that came from memory."""

    works_on = "copy-onto"


class Read(Operation):
    """Reads the unpacked files in random order."""

    words, doing, load = N_("reading"), N_("reading {files}"), "read"
    works_on: ClassVar[TreeOperation | None] = "untar"
    counter, files_per_s = "rchar", 6_000
    kind: ClassVar[Literal["", "timing"]] = "timing"

    def argv(self) -> tuple[str, ...]:
        return self._worker("read", self.first_path, self.seed)


class ReadBack(Read):
    """Reads the copy that came from memory, a single file with cp and several in random order."""

    doing, works_on = N_("reading {files} back"), "copy-onto"

    def work(self) -> Work:
        only = self.job.only_file
        if not only:
            return super().work()
        return self._work(("cp", f"{self.first_path}/{only}", "/dev/null"), self.doing, "rchar")


class Start(Read):
    """Reads the installed files in random order, as starting programs does."""

    words, doing, works_on = N_("program start"), N_("starting from {files}"), "install"
    unit_files = 20


class Pack(Read):
    """Packs the unpacked files into an archive on the candidate."""

    words, doing, counter, kind = "tar --create", "packing {files}", "wchar", ""
    makes, writes, file_bytes = "packed", True, TAR_BYTES

    @property
    def path(self) -> str:
        return f"{self.tree_path}.tar"

    def argv(self) -> tuple[str, ...]:
        return ("tar", "--create", f"--file={self.path}", f"--directory={self.first_path}", ".")


class Find(Operation):
    """Looks at the size of every unpacked file."""

    words, doing, load = "find", N_("looking at {files}"), "read"
    works_on = "untar"
    files_per_s, bytes_per_s, file_bytes = 14_000, math.inf, ACCESS_TIME_BYTES

    def argv(self) -> tuple[str, ...]:
        condition = ("-type", "f", "-size", "-1000000G", "-fprintf", "/dev/null", f"%{LINE_BYTES - 1}s\\n")
        return ("find", self.first_path, *condition)

    def work(self) -> Work:
        # The bytes that it writes to /dev/null show its progress.
        files = self.job.files
        return replace(super().work(), share_done=share_of("wchar", files * LINE_BYTES), whole=files, unit="1/s")


class Du(Operation):
    """Adds up the sizes of the unpacked files."""

    words, doing, load = "du", N_("looking at {files}"), "read"
    works_on = "untar"
    files_per_s, bytes_per_s, file_bytes = 14_000, math.inf, ACCESS_TIME_BYTES

    def argv(self) -> tuple[str, ...]:
        return ("du", "--summarize", self.first_path)


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
    "git-status": GitStatus,
    "install": Install,
    "start": Start,
    "read": Read,
    "deliver": Deliver,
}
