"""What a run has put on disk, written down before it is put there, so that a killed run can be undone.

A directory is recognised by its inode, so that nothing else that bears its name is ever removed.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from fswizard.disks import stack
from fswizard.disks.bus import release
from fswizard.disks.locations import IN_MEMORY, filesystem_type, require_unchangeable
from fswizard.errors import FswizardError, RunFailed, UsageError
from fswizard.language import _, joined
from fswizard.model.text import safe
from fswizard.results import state_directory
from fswizard.system import mounts, timeouts
from fswizard.system.commands import query
from fswizard.system.system_calls import closing

PREFIX = "fswizard-"
"""Every directory that a run makes is named so; nothing else is ever removed."""
EMPTY = ("find", ".", "-xdev", "-mindepth", "1", "-delete")
"""Empties the directory that it is started in, by descriptors alone, and leaves its filesystem nowhere."""
REMOVAL_S = 60.0
"""For the little that is left of a run at its end."""
RENUMBERED = frozenset({"vfat", "msdos", "exfat", "overlay"})
"""Filesystems that may give a directory another inode number each time they read it; so do those of FUSE."""


class Identity(NamedTuple):
    """What a directory was when it was made."""

    device: int
    """Says only whether the same filesystem is still there: the next mount or boot may give it another number."""
    inode: int
    kind: str
    """Type of the filesystem, which says what its numbers are worth."""

    @property
    def lasting(self) -> bool:
        """Whether the inode's number is the same for good; otherwise the random name has to do."""
        return self.kind not in RENUMBERED and not self.kind.startswith("fuse")


Directories = dict[Path, Identity | None]
"""Those that a run has made; of one that was just being made no more is known."""


class NotRemoved(RunFailed):
    """It is still there, or may be once its disk is back."""


class Gone(NotRemoved):
    """What the run made is not there any more, whatever has its name now."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """What a run has made, and leaves behind where it is killed."""

    entry: Path
    directories: Directories
    result: Path | None
    pools: list[str] = field(default_factory=list)
    """Names of ZFS pools, arrays and volumes that the kernel may still hold."""
    images: list[str] = field(default_factory=list)
    """Names that the kernel gives the files of images, which may still have a loop device by udisks2."""

    @property
    def size_bytes(self) -> int:
        files = (path for directory in self.present for path in directory.rglob("*") if path.is_file())
        return sum(path.lstat().st_blocks * 512 for path in files if not path.is_symlink())

    @property
    def present(self) -> tuple[Path, ...]:
        """The directories that are where they were made."""
        there = []
        for path, identity in self.directories.items():
            with suppress(NotRemoved), _found(path, identity):
                there.append(path)
        return tuple(there)

    @property
    def needs_root(self) -> bool:
        """Whether something of it may be in the kernel, where only root can take it away."""
        return bool(self.pools) and (
            stack.ZFS_MODULE.exists()
            or any(stack.BLOCKS.glob("md*/slaves/*"))
            or any(stack.find_volume(name) for name in self.pools)
        )


class Journal:
    """The list of what one run has made, held under a lock while the run lives."""

    def __init__(self, result: Path | None) -> None:
        self._descriptor, entry = _new_entry()
        self._made = Leftover(entry, {}, result)
        self._write()

    def _write(self) -> None:
        _write(self._descriptor, self._made)

    def make_directory(self, parent: Path) -> Path:
        """Make a private directory below `parent`, after it was written down."""
        require_unchangeable(parent)
        path = parent / f"{PREFIX}{os.urandom(6).hex()}"
        self._made.directories[path] = None
        self._write()
        try:
            self._made.directories[path] = _make(path)
        except OSError as error:
            raise RunFailed(
                _("No directory can be made in {parent}: {reason}.", parent=parent, reason=error.strerror),
                _("Choose another directory with --target."),
            ) from error
        self._write()
        return path

    async def remove_directory(self, directory: Path) -> None:
        """Remove one that is not needed any more; what cannot be removed now stays written down."""
        with suppress(NotRemoved):
            with suppress(Gone), _removing(directory, self._made.directories[directory]) as held:
                await timeouts.finish(EMPTY, cwd=held)
            del self._made.directories[directory]
            self._write()

    def note_pool(self, name: str) -> None:
        """Write down the name of a ZFS pool, array or volume before it is made: the kernel would hold it for good."""
        self._made.pools.append(name)
        self._write()

    def note_image(self, name: str) -> None:
        """Write down an image before it becomes a device, as the kernel names its file."""
        self._made.images.append(name)
        self._write()

    def close(self) -> str:
        """Remove everything that the run made, and the entry itself; what of it is left, in words, and why."""
        problems = _remove(self._made.directories, REMOVAL_S)
        if self._made.directories:
            with suppress(RunFailed):
                self._write()
        else:
            self._made.entry.unlink(missing_ok=True)
        os.close(self._descriptor)
        return joined([problem.message for problem in problems if not isinstance(problem, Gone)])


def leftovers() -> tuple[Leftover, ...]:
    """What killed runs have left behind; runs that are alive are passed over."""
    dead = []
    for entry in sorted(_folder().glob("run-*.json")):
        with _locked(entry) as file:
            if file:
                dead.append(_read(entry, file))
    return tuple(dead)


def clean(leftover: Leftover) -> tuple[str, ...]:
    """Remove it. Only directories that a run made are touched, and no living run's.

    Pools, arrays and volumes that the kernel still holds come first, as they lie in what is then removed. Returns a
    sentence for each directory that was gone already. Refused if something may belong to somebody else, Missing if
    root's rights are not available, RunFailed if anything may still be there; it stays in the journal.
    """
    with _locked(leftover.entry) as file:
        if not file:
            return ()
        if leftover.needs_root:
            stack.reclaim_as_root(leftover.pools)
        if kept := release(leftover.images):
            raise RunFailed(
                _("{devices} could not be detached.", devices=", ".join(f"/dev/{loop.name}" for loop in kept)),
                _("End what uses it, then clean up again."),
            )
        directories = dict(leftover.directories)
        problems = _remove(directories, timeouts.LIMIT_S)
        sentences = tuple(problem.message for problem in problems)
        if not directories:
            leftover.entry.unlink(missing_ok=True)
            return sentences
        _write(file.fileno(), Leftover(leftover.entry, directories, leftover.result))
        hints = dict.fromkeys(problem.hint for problem in problems if problem.hint)
        forget = _("To forget it, delete {entry}.", entry=safe(str(leftover.entry)))
        raise RunFailed(joined(sentences), joined((*hints, forget)))


def _folder() -> Path:
    return state_directory() / "unfinished"


def _new_entry() -> tuple[int, Path]:
    """A new entry, under a lock from its first moment on: one that was taken for a dead run's meanwhile is given up."""
    folder = _folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        while True:
            descriptor, name = tempfile.mkstemp(prefix="run-", suffix=".json", dir=folder)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:
                return descriptor, Path(name)
            os.close(descriptor)
    except OSError as error:
        raise UsageError(
            _("{folder} cannot be written: {reason}.", folder=safe(str(folder)), reason=error.strerror),
            _("Set XDG_STATE_HOME to a directory that you can write."),
        ) from error


@contextmanager
def _locked(entry: Path) -> Iterator[BinaryIO | None]:
    """An entry, under its lock; None where its run is alive, it is another user's, or cleaned up by now."""
    with ExitStack() as undo:
        held = None
        with suppress(OSError):
            file = undo.enter_context(entry.open("r+b"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = file if os.fstat(file.fileno()).st_nlink else None
        yield held


def _write(descriptor: int, made: Leftover) -> None:
    """The new line is written before the rest is cut off, so that a kill leaves a whole first line."""
    content = {
        "directories": {str(path): identity for path, identity in made.directories.items()},
        "pools": made.pools,
        "images": made.images,
        "result": str(made.result or ""),
    }
    text = json.dumps(content).encode() + b"\n"
    try:
        os.pwrite(descriptor, text, 0)
        os.ftruncate(descriptor, len(text))
        os.fsync(descriptor)
    except OSError as error:
        folder = safe(str(made.entry.parent))
        raise RunFailed(
            _(
                "The list of what to clean up can't be written in {parent}: {reason}.",
                parent=folder,
                reason=error.strerror,
            ),
            _("Free some space there: without that list a killed run could not be undone."),
        ) from error


def _read(entry: Path, file: BinaryIO) -> Leftover:
    """What an entry says; nothing where it was cut off."""
    try:
        data = json.loads(file.readline())
        directories = {Path(path): known and Identity(*known) for path, known in data["directories"].items()}
        result = Path(data["result"]) if data["result"] else None
        return Leftover(entry, directories, result, data["pools"], data["images"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return Leftover(entry, {}, None)


def _make(path: Path) -> Identity:
    """Make a private directory; OSError where that fails."""
    kind = filesystem_type(str(path.parent))
    with _opened(path.parent, os.O_PATH) as above:
        os.mkdir(path.name, 0o700, dir_fd=above)
        with _opened(path.name, os.O_NOFOLLOW, above) as made:
            if os.listdir(made):  # somebody exchanged it for another one
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
            status = os.fstat(made)
    return Identity(status.st_dev, status.st_ino, kind)


def _remove(directories: Directories, limit_s: float) -> list[FswizardError]:
    """Remove directories and forget those that are gone. Returns the errors of those that were gone or that stay."""
    problems: list[FswizardError] = []
    for path, identity in tuple(directories.items()):
        try:
            with _removing(path, identity) as held:
                query(EMPTY, timeout_s=limit_s, cwd=held)  # in a process of its own: the disk may not answer any more
        except Gone as gone:
            if identity:  # else it may never have been made
                problems.append(gone)
        except NotRemoved as problem:
            problems.append(problem)
            continue
        except FswizardError as error:
            text = _("{path} could not be removed: {reason}", path=safe(str(path)), reason=error.message)
            problems.append(NotRemoved(text, error.hint))
            continue
        del directories[path]
    return problems


@contextmanager
def _removing(path: Path, identity: Identity | None) -> Iterator[str]:
    """The directory as one to start EMPTY in, which no other can take the place of; it is removed on leaving.

    Raises NotRemoved; on an error nothing is done on leaving, as EMPTY may hang and hold the directory's lock.
    """
    name = safe(str(path))
    with _found(path, identity) as (above, held):
        here = f"/proc/self/fd/{held}"
        below = os.readlink(here).rstrip("/") + "/"
        if any(mount.path.startswith(below) for mount in mounts.current().values()):
            raise NotRemoved(_("Something is mounted below {path}.", path=name), _("Unmount it, then clean up again."))
        yield here
        try:
            if os.path.samestat(os.fstat(held), os.stat(path.name, dir_fd=above, follow_symlinks=False)):
                os.rmdir(path.name, dir_fd=above)
        except OSError as error:
            raise NotRemoved(
                _("{path} could not be removed completely: {reason}.", path=name, reason=error.strerror),
                _("Check what is left, and delete it by hand."),
            ) from error


@contextmanager
def _found(path: Path, identity: Identity | None) -> Iterator[tuple[int, int]]:
    """Descriptors of the directory above it and of itself; NotRemoved where it is not there."""
    name = safe(str(path))
    gone = Gone(_("{name} is gone. If you moved it elsewhere, delete it there.", name=name))
    with ExitStack() as undo:
        try:
            above = undo.enter_context(_opened(path.parent, os.O_PATH))
            held = undo.enter_context(_opened(path.name, os.O_NOFOLLOW, above))
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                text = _("{name} cannot be opened: {reason}.", name=name, reason=error.strerror)
                raise NotRemoved(text, _("Its disk may be failing.")) from error
            device = next(each.stat().st_dev for each in path.parents if each.exists())
            if identity and device != identity.device and identity.kind not in IN_MEMORY:
                text = _("The disk with {name} is not mounted.", name=name)
                raise NotRemoved(text, _("Mount it where it was, then clean up again.")) from error
            raise gone from error
        status = os.fstat(held)
        same = status.st_ino == identity.inode if identity and identity.lasting else status.st_uid == os.geteuid()
        if not (same and path.name.startswith(PREFIX)):
            raise gone
        yield above, held


def _opened(path: str | Path, flags: int, above: int | None = None) -> AbstractContextManager[int]:
    return closing(os.open(path, flags | os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=above))
