"""Journal of what a run makes, written in advance, so that a killed run can be cleaned up.

Directories are identified by their inodes, so that nothing else with the same name is ever removed.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, NamedTuple

from fswizard.disks import stack
from fswizard.disks.bus import release
from fswizard.disks.locations import IN_MEMORY, filesystem_type, require_unchangeable
from fswizard.errors import FswizardError, RunFailed, UsageError
from fswizard.language import _, joined
from fswizard.model.codec import from_json, to_json
from fswizard.model.text import safe
from fswizard.results import state_directory
from fswizard.system import mounts, timeouts
from fswizard.system.commands import query
from fswizard.system.system_calls import closing

PREFIX = "fswizard-"
"""Name prefix of every directory that a run makes; only these are ever removed."""
EMPTY = ("find", ".", "-xdev", "-mindepth", "1", "-delete")
"""Empties the directory that it is started in, without following paths or leaving its filesystem."""
REMOVAL_S = 60.0
"""Timeout for removing what is left at the end of a run."""
RENUMBERED = frozenset({"vfat", "msdos", "exfat", "overlay"})
"""Filesystems without stable inode numbers; those of FUSE have none, either."""


class Identity(NamedTuple):
    """Identity of a directory, recorded when it was made."""

    device: int
    """Device number of its filesystem; it may change with the next mount or boot."""
    inode: int
    kind: str
    """Type of its filesystem, which decides whether the inode number is stable."""

    @property
    def stable(self) -> bool:
        """Whether the inode number never changes; otherwise only the random name identifies the directory."""
        return self.kind not in RENUMBERED and not self.kind.startswith("fuse")


Directories = dict[str, "Identity | None"]
"""Directories that a run has made, by path; None for one that was about to be made."""
MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
"""Error numbers of opening a directory that does not exist."""


class NotRemoved(RunFailed):
    """A directory still exists, or may exist once its disk is back."""


class Gone(NotRemoved):
    """A directory of the run no longer exists, even if something else has its name."""


@dataclass
class Leftover:
    """Everything that a run has made and that is left behind if it is killed."""

    directories: Directories = field(default_factory=dict)
    result: str = ""
    """Path of its result file; empty if there is none."""
    pools: list[str] = field(default_factory=list)
    """Names of ZFS pools, arrays and volumes that the kernel may still hold."""
    images: list[str] = field(default_factory=list)
    """Kernel names of image files, which may still be attached to a loop device by udisks2."""
    entry: Path = Path()
    """The file that it is recorded in."""

    @property
    def needs_root(self) -> bool:
        """Whether the kernel may hold a pool, array or volume of it, which only root can remove."""
        return bool(self.pools) and (
            stack.ZFS_MODULE.exists()
            or any(stack.BLOCKS.glob("md*/slaves/*"))
            or any(stack.find_volume(name) for name in self.pools)
        )


class Journal:
    """The journal entry of one run, locked while the run lives."""

    def __init__(self, result: Path | None) -> None:
        self._descriptor, entry = _new_entry()
        self._made = Leftover(result=str(result or ""), entry=entry)
        _write(self._descriptor, self._made)

    def make_directory(self, parent: Path) -> Path:
        """Make a private directory in `parent`, after recording it."""
        require_unchangeable(parent)
        path = parent / f"{PREFIX}{os.urandom(6).hex()}"
        self._note(path, None)
        try:
            self._note(path, _make(path))
        except OSError as error:
            raise RunFailed(
                _("No directory can be made in {parent}: {reason}.", parent=parent, reason=error.strerror),
                _("Choose another directory with --target."),
            ) from error
        return path

    def _note(self, path: Path, identity: Identity | None) -> None:
        self._made.directories[str(path)] = identity
        _write(self._descriptor, self._made)

    async def remove_directory(self, directory: Path) -> None:
        """Remove a directory; if it cannot be removed now, it stays recorded."""
        with suppress(NotRemoved):
            with suppress(Gone), _removing(directory, self._made.directories[str(directory)]) as cwd:
                await timeouts.finish(EMPTY, cwd=cwd)
            del self._made.directories[str(directory)]
            _write(self._descriptor, self._made)

    def note_pool(self, name: str) -> None:
        """Record a ZFS pool, array or volume before it is made, as it would outlive a killed run."""
        self._made.pools.append(name)
        _write(self._descriptor, self._made)

    def note_image(self, name: str) -> None:
        """Record an image, by the kernel's name of its file, before it is attached."""
        self._made.images.append(name)
        _write(self._descriptor, self._made)

    def close(self) -> str:
        """Remove everything that the run made, and the entry itself. Returns sentences about what is left and why."""
        _done, problems = _remove(self._made.directories, REMOVAL_S)
        if problems:
            with suppress(RunFailed):
                _write(self._descriptor, self._made)
        else:
            self._made.entry.unlink(missing_ok=True)
        os.close(self._descriptor)
        return joined([problem.message for problem in problems])


def leftovers() -> tuple[Leftover, ...]:
    """Leftovers of killed runs; running ones are skipped."""
    dead = []
    for entry in sorted(_folder().glob("run-*.json")):
        with _locked(entry) as file:
            if file:
                dead.append(_read(entry, file))
    return tuple(dead)


def clean(leftover: Leftover) -> tuple[str, ...]:
    """Remove a leftover. Only directories made by runs are touched, and none of a running one.

    Pools, arrays and volumes that the kernel still holds are removed first, as their images are in the directories.
    Returns a sentence for each directory that was removed or already gone. Raises Refused if something may belong to
    somebody else, Missing without root privileges, and RunFailed if anything may remain, which stays in the journal.
    """
    with _locked(leftover.entry) as file:
        if not file:
            return ()
        if leftover.needs_root:
            stack.reclaim_as_root(leftover.pools)
        if attached := release(leftover.images):
            raise RunFailed(
                _("{devices} could not be detached.", devices=", ".join(f"/dev/{name}" for name in attached)),
                _("End what uses it, then clean up again."),
            )
        rest = Leftover(dict(leftover.directories), leftover.result, entry=leftover.entry)
        done, problems = _remove(rest.directories, timeouts.LIMIT_S)
        if not problems:
            rest.entry.unlink(missing_ok=True)
            return tuple(done)
        _write(file.fileno(), rest)
        sentences = [*done, *(problem.message for problem in problems)]
        hints = dict.fromkeys(problem.hint for problem in problems if problem.hint)
        forget = _("To forget it, delete {entry}.", entry=safe(str(rest.entry)))
        raise RunFailed(joined(sentences), joined((*hints, forget)))


def _folder() -> Path:
    return state_directory() / "unfinished"


def _new_entry() -> tuple[int, Path]:
    """Make a new entry and lock it. If another process has already removed it as that of a dead run, make another."""
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
    """Open and lock an entry; yields None if its run is alive, or if it is another user's or already removed."""
    with ExitStack() as undo:
        locked = None
        with suppress(OSError):
            file = undo.enter_context(entry.open("r+b"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            locked = file if os.fstat(file.fileno()).st_nlink else None
        yield locked


def _write(descriptor: int, made: Leftover) -> None:
    """Write the entry. The new line is written before truncating, so that a kill leaves a valid first line."""
    text = json.dumps(to_json(replace(made, entry=Path()))).encode() + b"\n"  # which a reader knows
    try:
        os.pwrite(descriptor, text, 0)
        os.ftruncate(descriptor, len(text))
        os.fsync(descriptor)
    except OSError as error:
        parent = safe(str(made.entry.parent))
        raise RunFailed(
            _(
                "The list of what to clean up can't be written in {parent}: {reason}.",
                parent=parent,
                reason=error.strerror,
            ),
            _("Free some space there: without that list a killed run could not be undone."),
        ) from error


def _read(entry: Path, file: BinaryIO) -> Leftover:
    """Read an entry; empty if it is truncated or invalid."""
    with suppress(OSError, ValueError):
        return replace(from_json(Leftover, json.loads(file.readline())), entry=entry)
    return Leftover(entry=entry)


def _make(path: Path) -> Identity:
    """Make a private directory, and return its identity. Raises OSError on failure."""
    kind = filesystem_type(str(path.parent))
    with _opened(path.parent, os.O_PATH) as parent:
        os.mkdir(path.name, 0o700, dir_fd=parent)
        with _opened(path.name, os.O_NOFOLLOW, parent) as made:
            if os.listdir(made):  # somebody replaced it
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
            status = os.fstat(made)
    return Identity(status.st_dev, status.st_ino, kind)


def _remove(directories: Directories, limit_s: float) -> tuple[list[str], list[FswizardError]]:
    """Remove directories from the disk and from the dictionary.

    Returns sentences about those that are removed or were already gone, and errors for those that are left.
    """
    done: list[str] = []
    problems: list[FswizardError] = []
    for path, identity in tuple(directories.items()):
        name = safe(path)
        try:
            with _removing(Path(path), identity) as cwd:
                query(EMPTY, timeout_s=limit_s, cwd=cwd)  # a separate process, as the disk may hang
            done.append(_("Removed {path}.", path=name))
        except Gone:
            if identity:  # otherwise it may never have been made
                done.append(_("{name} is gone. If you moved it elsewhere, delete it there.", name=name))
        except FswizardError as error:
            text = _("{path} could not be removed: {reason}", path=name, reason=error.message)
            problems.append(NotRemoved(text, error.hint))
            continue
        del directories[path]
    return done, problems


@contextmanager
def _removing(path: Path, identity: Identity | None) -> Iterator[str]:
    """Yield a path to run EMPTY in that cannot be redirected, and remove the directory on exit.

    Raises Gone if it is not the directory of the run, and NotRemoved. After an error, nothing is removed, as EMPTY may
    hang with the directory's lock.
    """
    with ExitStack() as undo:
        try:
            parent = undo.enter_context(_opened(path.parent, os.O_PATH))
            directory = undo.enter_context(_opened(path.name, os.O_NOFOLLOW, parent))
        except OSError as error:
            if error.errno in MISSING:
                device = next(each.stat().st_dev for each in path.parents if each.exists())
                if not identity or device == identity.device or identity.kind in IN_MEMORY:
                    raise Gone("") from error
            hint = _("Mount its disk where it was, or check it, then clean up again.")
            raise NotRemoved(f"{error.strerror}.", hint) from error
        status = os.fstat(directory)
        same = status.st_ino == identity.inode if identity and identity.stable else status.st_uid == os.geteuid()
        if not (same and path.name.startswith(PREFIX)):
            raise Gone("")
        here = f"/proc/self/fd/{directory}"
        below = os.readlink(here).rstrip("/") + "/"
        if any(mount.path.startswith(below) for mount in mounts.current()):
            raise NotRemoved(_("Something is mounted below it."), _("Unmount it, then clean up again."))
        yield here
        try:
            if os.path.samestat(status, os.stat(path.name, dir_fd=parent, follow_symlinks=False)):
                os.rmdir(path.name, dir_fd=parent)
        except OSError as error:
            raise NotRemoved(f"{error.strerror}.", _("Check what is left, and delete it by hand.")) from error


def _opened(path: str | Path, flags: int, parent: int | None = None) -> AbstractContextManager[int]:
    return closing(os.open(path, flags | os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=parent))
