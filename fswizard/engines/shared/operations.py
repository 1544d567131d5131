"""What the everyday programs do with a generated tree of files: one class for each operation of a `TreeJob`."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from fswizard.engines.shared.engine import Files, Timed
from fswizard.engines.shared.programs import Work, counted, worker
from fswizard.engines.shared.tree_worker import PACKAGE_FILES, Tree
from fswizard.language import N_, _, n_
from fswizard.model.estimates import FILES_MADE_PER_S, SEQUENTIAL_BYTES_PER_S
from fswizard.model.filesystem import Strain
from fswizard.model.units import size_text

if TYPE_CHECKING:
    from fswizard.engines.tree import TreeJob

TreeOperation = Literal[
    "copy", "delete", "copy-onto", "read-back", "delete-onto", "rsync-onto", "rsync-from", "backup", "backup-again",
    "tar", "untar", "find", "du", "install", "start", "read",
]  # fmt: skip
METADATA_BYTES = 4_400
"""Space used by a file in addition to its content, half an unused block included: the mean of ext4, XFS and btrfs."""
FILES_COPIED_PER_S = 6_000
SYNC_BYTES = 50_000
"""Bytes written by an fsync of a small file."""
TAR_BYTES = 2_200
"""Headers and padding of a file in an archive."""
ACCESS_TIME_BYTES = 1_000
LEAST_ACCESS_TIME_BYTES = 256
"""If nothing but the inode is written."""
LINE_BYTES = 16
"""Length of the line that `find` writes for each file."""
CHANGED_EVERY = 20
"""In a second copy, one file in this many has different content."""


class Operation:
    """An operation on the tree of a job, on the candidate at `directory`."""

    doing: ClassVar[str]
    """Description of the work in progress, to be translated."""
    command: ClassVar[str]
    """The program that is timed; see `words`."""
    strain: ClassVar[Strain | None] = None
    """Dominant load; None if it depends on the size of the files."""
    on: ClassVar[type[Operation] | None] = None
    """The operation that creates the tree on which this one works."""
    makes: ClassVar[str] = ""
    """What it appends to the tree's path for the path of what it writes; empty if it writes no files."""
    deletes = False
    """Whether it deletes its input tree."""
    counter: ClassVar[Literal["", "read_chars", "write_chars"]] = ""
    """What psutil counts of a process that shows its progress."""
    memory: ClassVar[str] = ""
    """The directory outside the candidate that is read into memory beforehand; see `words`."""
    files_per_s: ClassVar[float]
    bytes_per_s: ClassVar[float] = SEQUENTIAL_BYTES_PER_S
    """Speeds on an ordinary SSD; the duration is the sum of the time for files and the time for bytes."""
    file_bytes = 0
    """Bytes written for each file, in addition to its content."""
    written_share = 1.0
    """Bytes written for each byte of content, if it writes any."""
    unit_files = 100
    """Number of files in a unit of work; see `TreeJob.scaled`."""

    def __init__(self, job: TreeJob, directory: str, scratch: str, seed: str) -> None:
        self.job, self.scratch, self.seed = job, scratch, seed
        self.tree, self.source = f"{directory}/{job.name}", f"{scratch}/{job.name}"
        self.made = f"{self.tree}{self.makes}"
        self.files = n_("{count} file", "{count} files", job.files)
        self.tree_bytes = job.total_bytes + job.files * METADATA_BYTES
        """Space of the tree on a disk."""
        self.before = self.on(job, directory, scratch, seed) if self.on else None
        self.input = self.before.made if self.before else ""

    def words(self, command: str) -> tuple[str, ...]:
        """The words of a command, with paths: TREE on the candidate, SOURCE outside of it, INPUT, and MADE."""
        paths = {"TREE": self.tree, "SOURCE": self.source, "INPUT": self.input, "MADE": self.made}
        return tuple(re.sub("[A-Z]{4,}", lambda name: paths[name[0]], word) for word in command.split())

    def works(self) -> tuple[Work, ...]:
        """The programs that are timed."""
        return (self.work(),)

    def needs(self) -> tuple[Files, ...]:
        """Files that must exist before."""
        if self.before is None:
            return ()
        return (*self.before.needs(), Files(self.input, self.tree_bytes, self.before.works()))

    def warm_up(self) -> Work | None:
        """The program that reads its input into memory, if that is not on the candidate."""
        if not self.memory:
            return None
        # With /dev/null as its file tar would not read.
        argv = self.words(f"tar --create --file=/dev/zero --directory={self.memory} .")
        return self.program(argv, _("reading the source into memory"), "read_chars")

    def timed(self) -> Timed:
        makes = Files(self.made, self.tree_bytes) if self.makes else None
        warm_up, deletes = self.warm_up(), self.input if self.deletes else ""
        return Timed(self.works(), self.needs(), warm_up, makes, deletes, reads=warm_up is None)

    def work(self, argv: tuple[str, ...] = (), **more: Any) -> Work:
        """The program that is timed, by default `command`."""
        content_bytes = int(self.written_share * self.job.total_bytes) if self.makes else 0
        return self.program(
            argv or self.words(self.command), _(self.doing, files=self.files), self.counter,
            self.files_per_s, self.bytes_per_s, written_bytes=self.job.files * self.file_bytes + content_bytes, **more,
        )  # fmt: skip

    def program(
        self, argv: tuple[str, ...], text: str, counter: Literal["", "read_chars", "write_chars"] = "",
        files_per_s: float = math.inf, bytes_per_s: float = SEQUENTIAL_BYTES_PER_S, **more: Any,
    ) -> Work:  # fmt: skip
        """A program on all files of the tree."""
        seconds = self.job.files / files_per_s + self.job.total_bytes / bytes_per_s
        if counter:
            more = {"share_done": counted(counter, self.job.total_bytes), "whole": self.job.total_bytes, **more}
        return Work(argv, text, seconds, **more)

    def worker(self, what: str, directory: str, *more: object) -> tuple[str, ...]:
        """The command line of `tree_worker.py` for this tree."""
        shape = f"{self.source}.json" if self.job.described else self.job.shape
        return worker("tree", self.scratch, what, shape, self.job.files, self.job.total_bytes, directory, *more)

    def generated(self, path: str, *more: object, recreate: bool = False) -> Files:
        text = _("making {files}, {total}", files=self.files, total=size_text(self.job.total_bytes))
        argv = self.worker("make", path, *more)
        work = self.program(argv, text, "write_chars", FILES_MADE_PER_S, written_bytes=self.tree_bytes)
        return Files(path, self.tree_bytes, (work,), recreate)


class Copy(Operation):
    """A copy within the candidate, which shares no blocks with its source."""

    doing, command, counter, makes = N_("copying {files}"), "cp -a --reflink=never TREE MADE", "write_chars", "-copy"
    files_per_s, file_bytes = FILES_COPIED_PER_S, METADATA_BYTES
    bytes_per_s = SEQUENTIAL_BYTES_PER_S / 2  # read and written

    def needs(self) -> tuple[Files, ...]:
        return (self.generated(self.tree),)


class CopyOnto(Copy):
    """A copy from memory onto the candidate, as from a camera."""

    command, memory, makes = "cp -a --reflink=never SOURCE MADE", "SOURCE", "-onto"
    bytes_per_s = SEQUENTIAL_BYTES_PER_S

    def needs(self) -> tuple[Files, ...]:
        return (self.generated(self.source),)


class RsyncOnto(CopyOnto):
    """The same with rsync."""

    command, makes = "rsync --archive SOURCE/ MADE", "-rsync"


class RsyncFrom(Operation):
    """rsync of a tree to the scratch directory, which is not synced, so that its disk hardly matters."""

    doing, command, counter = N_("copying {files}"), "rsync --archive TREE-source/ SOURCE-copy", "write_chars"
    files_per_s, bytes_per_s, file_bytes = FILES_COPIED_PER_S, SEQUENTIAL_BYTES_PER_S / 2, LEAST_ACCESS_TIME_BYTES

    def needs(self) -> tuple[Files, ...]:
        # Only the first program that reads the tree updates the access times.
        return (self.generated(f"{self.tree}-source", recreate=True),)

    def timed(self) -> Timed:
        return replace(super().timed(), makes=Files(f"{self.source}-copy", self.tree_bytes))


class Backup(Operation):
    """The first borg archive in a repository on the candidate, of a source that is in memory."""

    doing, counter = N_("backing up {files}"), "read_chars"
    command, memory, makes = "borg create MADE::first SOURCE", "SOURCE", "-repository"
    files_per_s, bytes_per_s, written_share = 6_000, 350e6, 0.52  # cut into pieces, hashed and compressed

    def needs(self) -> tuple[Files, ...]:
        works = (
            Work(("rm", "-rf", f"{self.scratch}/.cache/borg"), _("forgetting earlier repositories")),
            Work(self.words("borg init --encryption=none MADE"), _("making a repository"), 0.7),
        )
        return self.generated(self.source), Files(self.made, self.tree_bytes, works, recreate=True)

    def timed(self) -> Timed:
        return replace(super().timed(), makes=None, reads=True)  # the repository


class BackupAgain(Backup):
    """An archive of a second, nearly identical copy; large files change only at their beginning."""

    command, memory = "borg create MADE::second-{now:%s%f} SOURCE-again", "SOURCE-again"
    on, written_share = Backup, Backup.written_share / CHANGED_EVERY / 2

    def needs(self) -> tuple[Files, ...]:
        assert self.before
        source, repository = self.before.needs()
        repository = replace(repository, works=(*repository.works, *self.before.works()), recreate=False)
        return source, repository, self.generated(f"{self.source}-again", CHANGED_EVERY)


class Unpack(Operation):
    """Extraction of an archive that is in memory."""

    doing, counter, makes = N_("unpacking {files}"), "write_chars", "-unpacked"
    command = "tar --extract --file=SOURCE.tar --one-top-level=MADE"
    files_per_s, file_bytes = 25_000, METADATA_BYTES

    def needs(self) -> tuple[Files, ...]:
        argv = self.words("tar --create --sort=name --file=SOURCE.tar --directory=SOURCE .")
        packing = self.program(argv, _("packing {files}", files=self.files), "write_chars")
        return self.generated(self.source), Files(f"{self.source}.tar", self.tree_bytes, (packing,))

    def warm_up(self) -> Work:
        return self.program(self.words("cp SOURCE.tar /dev/null"), _("reading the archive into memory"), "read_chars")


class Install(Operation):
    """`dpkg --unpack` of packages that are in memory; it syncs each file."""

    doing, strain, makes = N_("installing {files}"), "sync", "-installed"
    memory = "SOURCE-packages/debs"
    # Without root; it syncs even if its settings disable that, as in containers.
    command = (
        "dpkg --root=MADE --no-force-unsafe-io --force-not-root,bad-path --force-script-chrootless --log=/dev/null "
        "--unpack --recursive SOURCE-packages/debs"
    )
    files_per_s, file_bytes, unit_files = 1_000, METADATA_BYTES + SYNC_BYTES, PACKAGE_FILES

    def works(self) -> tuple[Work, ...]:
        files, total_bytes = self.job.files, self.job.total_bytes
        # Two processes hand on, as archives, what a third one writes.
        done = counted("write_chars", total_bytes + 2 * (total_bytes + files * TAR_BYTES))
        database = Work(self.words("mkdir --parents MADE/var/lib/dpkg"), _("an empty database"))
        return database, self.work(share_done=done, whole=total_bytes)

    def needs(self) -> tuple[Files, ...]:
        """Uncompressed packages, as decompression would measure the processor."""
        path = f"{self.source}-packages"
        writing, text = self.worker("packages", f"{path}/trees"), _("writing {files}", files=self.files)
        packing = "find SOURCE-packages/trees -mindepth 1 -maxdepth 1 -exec dpkg-deb -Znone --build {}"
        works = (
            self.program(writing, text, "write_chars"),
            Work(("mkdir", f"{path}/debs"), _("their directory")),
            Work(self.words(f"{packing} SOURCE-packages/debs ;"), _("packing them")),
        )
        return (Files(path, 2 * self.tree_bytes, works),)


class Delete(Operation):
    """Deletion of the copy within the candidate."""

    doing, command, on, deletes = N_("deleting {files}"), "rm -rf INPUT", Copy, True
    files_per_s, bytes_per_s = 14_000, 8e9


class DeleteOnto(Delete):
    """Deletion of the copy that came from memory."""

    on = CopyOnto


class Read(Operation):
    """Reading of the unpacked files in random order."""

    doing, strain, counter, files_per_s = N_("reading {files}"), "read", "read_chars", 6_000
    on: ClassVar[type[Operation] | None] = Unpack

    def works(self) -> tuple[Work, ...]:
        return (self.work(self.worker("read", self.input, self.seed), times_itself=True),)


class ReadBack(Read):
    """Reading of the copy that came from memory, a single file with cp and several in random order."""

    doing, on = N_("reading {files} back"), CopyOnto

    def works(self) -> tuple[Work, ...]:
        job = self.job
        if job.files > 1 or job.described:
            return super().works()
        ((name, _size, _share),) = Tree(job.shape, 1, job.total_bytes).entries
        return (self.work(("cp", f"{self.input}/{name}", "/dev/null")),)


class Start(Read):
    """Reading of the installed files in random order, like the start of programs."""

    doing, on, unit_files = N_("starting from {files}"), Install, PACKAGE_FILES


class Pack(Operation):
    """Creation of an archive of the unpacked files on the candidate."""

    doing, strain, counter, on, makes = N_("packing {files}"), "read", "write_chars", Unpack, ".tar"
    command = "tar --create --file=MADE --directory=INPUT ."
    files_per_s, file_bytes = 6_000, TAR_BYTES


class Du(Operation):
    """The total size of the unpacked files."""

    doing, command, strain, on = N_("looking at {files}"), "du --summarize INPUT", "read", Unpack
    files_per_s, bytes_per_s, file_bytes = 14_000, math.inf, ACCESS_TIME_BYTES


class Find(Du):
    """A search that reads the size of every unpacked file."""

    command = rf"find INPUT -type f -size -1000000G -fprintf /dev/null %{LINE_BYTES - 1}s\n"

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
    "rsync-onto": RsyncOnto,
    "rsync-from": RsyncFrom,
    "backup": Backup,
    "backup-again": BackupAgain,
    "tar": Pack,
    "untar": Unpack,
    "find": Find,
    "du": Du,
    "install": Install,
    "start": Start,
    "read": Read,
}
