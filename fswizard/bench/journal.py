"""What a run has put on disk, written down before it is put there, so that a killed run can be undone."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from fswizard.bench import patience
from fswizard.bench.places import changeable_by_others
from fswizard.drives.mounts import mounts
from fswizard.errors import FswizardError, Refused, RunFailed, UsageError
from fswizard.model.text import safe
from fswizard.results import state_directory
from fswizard.system.commands import query

REMOVAL_S = 60.0
"""For the little that is left of a run at its end."""
PREFIX = "fswizard-"
"""Every directory that a run makes is named so; nothing else is ever removed."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """What a run that is no longer alive has left behind."""

    entry: Path
    directories: tuple[Path, ...]
    result: Path | None
    pools: tuple[str, ...] = ()
    """Names of ZFS pools and arrays that the kernel may still hold."""

    @property
    def size_bytes(self) -> int:
        return sum(_allocated_bytes(directory) for directory in self.directories)


class Journal:
    """The list of directories of one run, held under a lock while the run lives."""

    def __init__(self, result: Path | None) -> None:
        self._descriptor, self._entry = _new_entry()
        self._result = result
        self._directories: list[Path] = []
        self._pools: list[str] = []
        self._write()

    def make_directory(self, parent: Path) -> Path:
        """Make a private directory below `parent`, after it was written down."""
        if others := changeable_by_others(parent):
            raise Refused(f"Others than root can change {safe(others)} by now.", "Nothing was made there.")
        name = parent / f"{PREFIX}{os.urandom(6).hex()}"
        self._directories.append(name)
        self._write()
        try:
            name.mkdir(mode=0o700)
        except OSError as error:
            raise RunFailed(
                f"No directory can be made in {parent}: {error.strerror}.", "Choose another directory with --target."
            ) from error
        return name

    def remove_directory(self, directory: Path) -> None:
        """Remove one that is not needed any more."""
        _remove(directory, REMOVAL_S)

    def note_pool(self, name: str) -> None:
        """Write down the name of a ZFS pool, or of an array, before it is made: the kernel would hold it for good."""
        self._pools.append(name)
        self._write()

    def close(self) -> None:
        """Remove everything that the run made, and the entry itself."""
        for directory in self._directories:
            _remove(directory, REMOVAL_S)
        if not any(directory.exists() for directory in self._directories):
            self._entry.unlink(missing_ok=True)
        os.close(self._descriptor)

    def _write(self) -> None:
        directories = [str(path) for path in self._directories]
        entry = {"directories": directories, "pools": self._pools, "result": str(self._result or "")}
        text = json.dumps(entry).encode()
        try:
            os.pwrite(self._descriptor, text, 0)
            os.ftruncate(self._descriptor, len(text))
            os.fsync(self._descriptor)
        except OSError as error:
            raise RunFailed(
                f"What the run makes cannot be written down in {safe(str(self._entry.parent))}: {error.strerror}.",
                "Make room there: without that a killed run could not be undone.",
            ) from error


def leftovers() -> tuple[Leftover, ...]:
    """What killed runs have left behind; runs that are alive are passed over."""
    return tuple(leftover for entry in sorted(_folder().glob("run-*.json")) for leftover in _dead(entry))


def clean(leftover: Leftover, reclaim: Callable[[tuple[str, ...]], None]) -> None:
    """Remove it. Only directories that a run made and that are the user's own are touched, and no living run's.

    `reclaim` is given its pools first, as they lie in what is then removed.
    """
    with _held(leftover.entry) as held:
        if not held:
            return
        reclaim(leftover.pools)
        for directory in leftover.directories:
            _remove(directory, patience.LIMIT_S)
            if directory.exists():
                raise RunFailed(f"{directory} could not be removed whole.", "Look at it, and remove it by hand.")
        leftover.entry.unlink(missing_ok=True)


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
        hint = "Set XDG_STATE_HOME to a directory that you can write."
        raise UsageError(f"{safe(str(folder))} cannot be written: {error.strerror}.", hint) from error


@contextmanager
def _held(entry: Path) -> Iterator[bool]:
    """Hold the lock of an entry; False where its run is alive."""
    held = True
    with ExitStack() as undo:
        with contextlib.suppress(FileNotFoundError):
            try:
                file = undo.enter_context(entry.open("r+b"))
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                held = False
            except PermissionError as error:
                raise RunFailed(f"{safe(str(entry))} belongs to somebody else.", "Clean up as that user.") from error
        yield held


def _dead(entry: Path) -> Iterator[Leftover]:
    try:
        with entry.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            data = json.loads(file.read() or b"{}")
    except (BlockingIOError, PermissionError):
        return  # alive, or somebody else's
    except (OSError, ValueError):
        data = {}
    data = data if isinstance(data, dict) else {}
    directories = tuple(Path(text) for text in data.get("directories", ()))
    result = Path(data["result"]) if data.get("result") else None
    yield Leftover(entry, directories, result, tuple(map(str, data.get("pools", ()))))


def _remove(directory: Path, limit_s: float) -> None:
    """Remove one of our directories; never follows a link, never leaves the filesystem it lies on."""
    with contextlib.suppress(OSError):  # what is still there is told by whoever asked for this
        status = directory.lstat()
        ours = directory.name.startswith(PREFIX) and status.st_uid == os.getuid() and not directory.is_symlink()
        below = f"{directory.resolve()}/"
        if ours and not any(mount.path.startswith(below) for mount in mounts()):
            with contextlib.suppress(FswizardError):  # in a program of its own: the disk may not answer any more
                query(("rm", "-rf", "--one-file-system", "--", str(directory)), timeout_s=limit_s)


def _allocated_bytes(directory: Path) -> int:
    return sum(
        path.lstat().st_blocks * 512 for path in directory.rglob("*") if path.is_file() and not path.is_symlink()
    )
