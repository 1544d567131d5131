"""Everyday programs on a directory tree: `cp`, `rm`, `tar`, `find`, `du`, `git status`, an installation, a start, mail.

Files from elsewhere, such as a video from a camera or packages from the network, are outside the candidate and are
read into memory beforehand. Only `dpkg` and `deliver` sync; the sync at the end is what users wait for before they
unplug a disk.
"""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fswizard.engines.shared import tree_worker
from fswizard.engines.shared.engine import TIB
from fswizard.engines.shared.running import worker_command
from fswizard.engines.shared.shapes import TreeShape, own_shape, shipped_shape
from fswizard.engines.shared.timed import LaidOut, Timed, Work, reading, share_of, writing
from fswizard.engines.shared.trees import (
    BYTES_BESIDE_A_FILE,
    FILES_COPIED_PER_S,
    LEFT_BY_COMPRESSION,
    WORKER,
    ShapedEngine,
    TreeEngine,
    outside,
)
from fswizard.language import N_, _, n_
from fswizard.model.filesystem import Strain
from fswizard.model.keys import UNWRITTEN, Keys, size, whole
from fswizard.model.recipe import Cost, Job, Program
from fswizard.model.units import size_text
from fswizard.progress.workload_events import Measured
from fswizard.system.process import Finished

TreeOperation = Literal[
    "copy", "delete", "copy-onto", "read-back", "delete-onto", "tar", "untar", "find", "du", "git-status", "install",
    "start", "read", "deliver",
]  # fmt: skip
WORDS: Mapping[str, str] = {
    "copy": "cp -a",
    "delete": "rm -rf",
    "copy-onto": N_("cp -a onto the disk"),
    "read-back": N_("reading"),
    "delete-onto": "rm -rf",
    "tar": "tar --create",
    "untar": "tar --extract",
    "git-status": "git status",
    "install": N_("installation"),
    "start": N_("program start"),
    "read": N_("reading"),
    "deliver": N_("delivery"),
}
USES_ONTO = ("copy-onto", "read-back", "delete-onto")
USES_UNPACKED = ("untar", "tar", "find", "du", "read")
READING = ("read-back", "tar", "find", "du", "git-status", "start", "read")
"""Operations that mostly read."""
FILES_IN_A_PART = 1_000
LARGE_FILE_BYTES = 1 << 20
"""Files of this size on average are streams: their content takes longer than their names."""
LINE_BYTES = 16
"""Length of the line that `find` writes for each file."""
GIT_SETTINGS = (
    "user.name=fswizard",
    "user.email=fswizard@localhost",
    "core.hooksPath=/dev/null",
    "maintenance.auto=false",  # or a commit of thousands of files has them packed in the background
)


@dataclass(frozen=True, slots=True)
class TreeJob(ShapedEngine):
    """Work on a generated directory tree with the everyday programs."""

    engine = "tree"
    programs = (
        Program("cp", N_("trees of files"), required=True, packages={"": "coreutils"}),
        Program("git", N_("workloads on a repository")),
        Program("tar", N_("archive workloads"), required=True, messages={"Wrote only ": errno.ENOSPC}),
        Program("dpkg", N_("installing packages"), required=True),
        Program("find", N_("workloads on trees"), required=True, packages={"": "findutils"}),
    )
    operation: TreeOperation
    """`copy` is within the candidate, and `delete` deletes the copy; `copy-onto` is from memory, `read-back` reads that
    copy, one file with cp and several in random order, and `delete-onto` deletes it. `untar` unpacks an archive from
    memory; `tar`, `find`, `du` and `read` use the unpacked files. `install` is `dpkg --unpack` of packages from memory,
    and `start` reads the installed files. `deliver` brings mail into Maildir folders, each message synced."""
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
    def words(self) -> str:
        work = _(WORDS.get(self.operation, self.operation))
        if self.files == 1:
            return _("{work} of a file of {size}", work=work, size=size_text(self.total_bytes))
        return _("{work} of {files}", work=work, files=self.in_total)

    @property
    def activity(self) -> str:
        return f"{self.operation} {self.fill_percent}"

    @property
    def strain(self) -> Strain:
        if self.operation in ("install", "deliver"):
            return "sync"
        if self.operation in READING:
            return "read"
        return "stream" if self.total_bytes >= self.files * LARGE_FILE_BYTES else "small-files"

    @property
    def writes(self) -> bool:
        return self.operation in ("copy", "copy-onto", "tar", "untar", "install", "deliver")

    @property
    def works_on(self) -> Job:
        if self.operation in USES_ONTO:
            return replace(self, operation="copy-onto")
        if self.operation in USES_UNPACKED:
            return replace(self, operation="untar")
        first: Mapping[str, TreeOperation] = {"delete": "copy", "start": "install"}
        return replace(self, operation=first.get(self.operation, self.operation))

    def part(self, most_bytes: int) -> Job | None:
        if self.operation not in ("copy-onto", "untar") or self.own is not None or self.fill_percent:
            return None
        share = min(1.0, most_bytes / self.total_bytes, FILES_IN_A_PART / self.files)
        return replace(self, files=max(1, int(share * self.files)), total_bytes=int(share * self.total_bytes))

    def small(self, files: int, seconds: float) -> tuple[Job, float] | None:
        if not (self.operation == "install" or self._by_worker) or self.own is not None:
            return None
        files = min(self.files, files)
        total_bytes = self.total_bytes * files // self.files
        return replace(self, files=files, total_bytes=total_bytes, fill_percent=0), 4 * total_bytes

    @property
    def cost(self) -> Cost:
        made_s, tree_bytes, packed_s = self.made_s, self.tree_bytes, self.files_s(6_000)
        committed_s = self.files / 8_000 + self.total_bytes / 60e6  # git compresses
        committed_bytes = int((1 + LEFT_BY_COMPRESSION) * tree_bytes + self.files * BYTES_BESIDE_A_FILE / 2)
        looked_at_s, deleted_s = self.files / 14_000, self.files / 14_000 + self.total_bytes / 8e9
        unpacked_s, installed_s, delivered_s = self.files_s(25_000), self.files_s(1_000), self.files_s(2_000)
        onto_s = self.files_s(FILES_COPIED_PER_S)
        installed_bytes = delivered_bytes = tree_bytes + self.files * 50_000  # for each fsync
        packed_bytes = self.total_bytes + self.files * 2_200  # headers and padding
        looked_bytes = self.files * 1_000  # access times
        costs = {
            "copy": Cost(made_s, self.copied_s, tree_bytes, tree_bytes),
            "delete": Cost(made_s + self.copied_s, deleted_s, 2 * tree_bytes, 0),
            "copy-onto": Cost(0.0, onto_s, 0, tree_bytes),
            "read-back": Cost(onto_s, packed_s, tree_bytes, 0),
            "delete-onto": Cost(onto_s, deleted_s, tree_bytes, 0),
            "tar": Cost(unpacked_s, packed_s, tree_bytes, packed_bytes),
            "untar": Cost(0.0, unpacked_s, 0, tree_bytes),
            "git-status": Cost(made_s + committed_s, looked_at_s, committed_bytes, 0),
            "install": Cost(0.0, installed_s, 0, installed_bytes),
            "start": Cost(installed_s, packed_s, installed_bytes, 0),
            "read": Cost(unpacked_s, packed_s, tree_bytes, 0),
            "deliver": Cost(0.0, delivered_s, 0, delivered_bytes),
        }
        return costs.get(self.operation, Cost(unpacked_s, looked_at_s, tree_bytes, looked_bytes))

    @property
    def parts(self) -> Sequence[str]:
        parts: dict[str, tuple[str, ...]] = dict.fromkeys(("copy", "delete"), ("tree", "copy"))
        parts |= dict.fromkeys(USES_ONTO, ("onto",)) | dict.fromkeys(USES_UNPACKED, ("unpacked",))
        parts |= dict.fromkeys(("install", "start"), ("installed",)) | {"tar": ("unpacked", "packed")}
        parts["deliver"] = ("delivered",)
        parts["git-status"] = ("work tree", "objects")
        return [f"{self.shape} {part}" for part in parts[self.operation]]

    @property
    def brings(self) -> Sequence[tuple[object, int]]:
        if self.operation in ("install", "start"):
            return [((self.tree_name, "packages"), 2 * self.tree_bytes)]
        if self.operation not in (*USES_ONTO, *USES_UNPACKED):
            return ()
        parts = ("tree", "archive") if self.operation in USES_UNPACKED else ("tree",)
        return [((self.tree_name, part), self.tree_bytes) for part in parts]

    def written_bytes(self, finished: Sequence[Finished]) -> int:
        return self.total_bytes if self.writes else 0

    def figures(self, finished: Sequence[Finished]) -> Iterator[Measured]:
        # Our own program reports the duration, as the start of Python must not count.
        if self._by_worker:
            working, *others = finished
            finished = (replace(working, wall_s=float(working.stdout)), *others)
        return TreeEngine.figures(self, finished)

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        path, files, total_bytes = f"{directory}/{self.tree_name}", self._files, self.total_bytes
        tree, copy = LaidOut(path, (self._making(path, scratch),)), self._copied(path, f"{path}-copy")
        source, warm_up = self.source(self.shape_argument(scratch), f"{scratch}/{self.tree_name}", scratch)
        onto, unpacked = self._copied(source.path, f"{path}-onto"), f"{path}-unpacked"
        (packing,) = self._packed(source.path, f"{source.path}.tar", "--sort=name").works
        archive = outside(f"{source.path}.tar", scratch, packing)
        archive_read = reading(("cp", archive.path, "/dev/null"), _("reading the archive into memory"), total_bytes)
        unpacking = ("tar", "--extract", f"--file={archive.path}", f"--one-top-level={unpacked}")
        all_unpacked = (source, archive, self._made(_("unpacking"), unpacked, *unpacking))
        packages = self._packages(f"{source.path}-packages", scratch)
        installed = LaidOut(f"{path}-installed", self._installing(f"{path}-installed", f"{packages.path}/debs"))
        repository = self._repository(f"{path}-repository", scratch)
        # git looks at every known file before it walks.
        walked, asked = share_walked(unpacked), share_walked(repository.path, begins=0.5)
        status = _git(
            repository.path, scratch, _("asking git what has changed among {files}", files=files), "status", "--short"
        )
        # find looks at every file's size; the bytes that it writes to /dev/null show its progress.
        finding = ("-type", "f", "-size", "-1000000G", "-fprintf", "/dev/null", f"%{LINE_BYTES - 1}s\\n")
        listed, look = share_of("wchar", self.files * LINE_BYTES), _("looking at {files}", files=files)
        first = f"{onto.path}/{self._first}"
        reads = ("cp", first, "/dev/null") if self._first else self._worker("read", onto.path, scratch, seed)
        back = reading(reads, _("reading {files} back", files=files), total_bytes)
        store = f"{path}-delivered"
        delivered = self._made(_("delivering"), store, *self._worker("deliver", store, scratch))
        read = reading(self._worker("read", unpacked, scratch, seed), _("reading {files}", files=files), total_bytes)
        start = replace(
            read, argv=self._worker("read", installed.path, scratch, seed), text=_("starting from {files}", files=files)
        )
        timed: Mapping[str, Timed] = {
            "copy": self._writes(copy, tree),
            "delete": self._deletes(copy, tree),
            "copy-onto": self._writes(onto, source, warm_up=warm_up),
            "read-back": self._reads(back, source, onto),
            "delete-onto": self._deletes(onto, source),
            "tar": self._writes(self._packed(unpacked, f"{path}.tar"), *all_unpacked),
            "untar": self._writes(all_unpacked[2], *all_unpacked[:2], warm_up=archive_read),
            "find": self._reads(Work(("find", unpacked, *finding), look, listed, self.files, "1/s"), *all_unpacked),
            "du": self._reads(Work(("du", "--summarize", unpacked), look, walked), *all_unpacked),
            "git-status": self._reads(replace(status, share_done=asked), repository),
            "install": self._writes(installed, packages, warm_up=self.into_memory(f"{packages.path}/debs")),
            "start": self._reads(start, packages, installed),
            "read": self._reads(read, *all_unpacked),
            "deliver": self._writes(delivered),
        }
        return timed[self.operation]

    def _made(self, verb: str, path: str, *argv: str) -> LaidOut:
        return LaidOut(path, (writing(argv, f"{verb} {self._files}", self.total_bytes),))

    def _packages(self, path: str, scratch: str) -> LaidOut:
        """Packages that are not compressed, as unpacking them would measure the processor."""
        trees, debs = f"{path}/trees", f"{path}/debs"
        (writing_trees,) = self._made("writing", trees, *self._worker("packages", trees, scratch)).works
        each = ("dpkg-deb", "-Znone", "--build", "{}", debs)
        build = ("find", trees, "-mindepth", "1", "-maxdepth", "1", "-exec", *each, ";")
        return outside(
            path, scratch, writing_trees, Work(("mkdir", debs), _("their directory")), Work(build, _("packing them"))
        )

    def _installing(self, root: str, packages: str) -> tuple[Work, ...]:
        """dpkg without root, on an empty database. It syncs even where its settings say otherwise, as in containers."""
        options = ("--no-force-unsafe-io", "--force-not-root,bad-path", "--force-script-chrootless", "--log=/dev/null")
        argv = ("dpkg", f"--root={root}", *options, "--unpack", "--recursive", packages)
        making = Work(("mkdir", "--parents", f"{root}/var/lib/dpkg"), _("an empty database"))
        share = share_of("wchar", 3 * self.total_bytes)  # two processes hand on what a third one writes
        installing = Work(argv, _("installing {files}", files=self._files), share, self.total_bytes, env={"HOME": root})
        return making, installing

    def _copied(self, source: str, path: str) -> LaidOut:
        """A copy that shares no blocks with the source."""
        return self._made("copying", path, "cp", "-a", "--reflink=never", source, path)

    def _packed(self, source: str, path: str, *options: str) -> LaidOut:
        return self._made("packing", path, "tar", "--create", *options, f"--file={path}", f"--directory={source}", ".")

    def _writes(self, made: LaidOut, *lay_out: LaidOut, warm_up: Work | None = None) -> Timed:
        before = (warm_up,) if warm_up else ()
        text, size = made.works[-1].text, self.total_bytes
        return Timed(text, made.works, lay_out, before, makes=made.path, writes_bytes=size)

    def _deletes(self, made: LaidOut, *lay_out: LaidOut) -> Timed:
        share = _share_gone(made.path)
        work = Work(("rm", "-rf", made.path), _("deleting {files}", files=self._files), share, self.files, "1/s")
        return Timed(work.text, (work,), (*lay_out, made), takes_away=made.path)

    def _reads(self, work: Work, *lay_out: LaidOut) -> Timed:
        return Timed(work.text, (work,), lay_out)

    def _repository(self, path: str, scratch: str) -> LaidOut:
        adding = _git(path, scratch, _("adding its files"), "add", "--all")
        works = (
            self._making(path, scratch),
            _git(path, scratch, _("making it a repository"), "init", "--quiet"),
            replace(adding, share_done=share_of("rchar", self.total_bytes)),
            _git(path, scratch, _("committing them"), "commit", "--quiet", "--message=all"),
        )
        return LaidOut(path, works)

    def _making(self, path: str, scratch: str) -> Work:
        text = _("making {files}, {total}", files=self._files, total=size_text(self.total_bytes))
        return self.making(self.shape_argument(scratch), path, scratch, text)

    def _worker(self, what: str, directory: str, scratch: str, *more: str) -> tuple[str, ...]:
        arguments = (what, self.shape_argument(scratch), str(self.files), str(self.total_bytes), directory, *more)
        return worker_command(WORKER, *arguments, scratch=scratch)

    @property
    def described(self) -> TreeShape | None:
        return self.own or shipped_shape(self.shape, self.files)

    @property
    def _by_worker(self) -> bool:
        return self.operation in ("start", "read", "deliver") or (self.operation == "read-back" and not self._first)

    @property
    def _first(self) -> str:
        """The one file of a tree that the worker knows by name; empty for others."""
        return "" if self.described or self.files > 1 else tree_worker.entries(self.shape, 1, self.total_bytes)[0][0]

    @property
    def tree_name(self) -> str:
        which = f"-{zlib.crc32(repr(self.own).encode()):08x}" if self.own else ""
        return f"{self.shape}{which}-{self.files}-{self.total_bytes}"

    @property
    def _files(self) -> str:
        if self.own:
            return n_("{count} file like your own", "{count} files like your own", self.files)
        messages = n_("{count} message", "{count} messages", self.files)
        return {
            "small-files": n_("{count} small file", "{count} small files", self.files),
            "mixed": n_("{count} mixed file", "{count} mixed files", self.files),
            "video": n_("{count} video", "{count} videos", self.files),
            "source": n_("{count} source file", "{count} source files", self.files),
            "home": n_("{count} everyday file", "{count} everyday files", self.files),
            "mail": messages,
            "mailboxes": messages,
            "game": n_("{count} game file", "{count} game files", self.files),
            "packs": n_("{count} pack file", "{count} pack files", self.files),
            "photos": n_("{count} photo", "{count} photos", self.files),
            "thumbnails": n_("{count} thumbnail", "{count} thumbnails", self.files),
            "system": n_("{count} system file", "{count} system files", self.files),
            "modules": n_("{count} library file", "{count} library files", self.files),
        }[self.shape]


def share_walked(tree: str, *, begins: float = 0.0) -> Callable[[int], float]:
    """Progress by the directory that a process has open, as top directories are walked in the order of their listing.

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
    """Progress by the tree's top directories that are gone, as seen from the process's working directory."""
    at_first = 0

    def share_done(pid: int) -> float:
        nonlocal at_first
        left = len(os.listdir(f"/proc/{pid}/cwd/{os.path.basename(copy)}"))
        at_first = max(at_first, left)
        return 1 - left / at_first if at_first else 1.0

    return share_done


def _git(repository: str, scratch: str, text: str, *arguments: str) -> Work:
    """git without the user's own settings, which may sign, or start programs."""
    settings = [word for setting in GIT_SETTINGS for word in ("-c", setting)]
    argv = ("git", *settings, "-C", repository, *arguments)
    return Work(argv, text, env={"HOME": scratch, "XDG_CONFIG_HOME": scratch})
