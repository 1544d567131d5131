"""What a run has put on disk, written down before it is put there, so that a killed run can be undone."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fswizard.disks import own_directory, reclaim
from fswizard.disks.locations import changeable_by_others
from fswizard.disks.own_directory import EMPTY, PREFIX, Gone, Identity, NotRemoved
from fswizard.disks.undo import release
from fswizard.errors import FswizardError, Refused, RunFailed, UsageError
from fswizard.language import _
from fswizard.model.text import safe
from fswizard.results import state_directory
from fswizard.system import timeouts
from fswizard.system.commands import query

REMOVAL_S = 60.0
"""For the little that is left of a run at its end."""
ZFS_MODULE, BLOCKS = Path("/sys/module/zfs"), Path("/sys/block")


@dataclass(frozen=True, slots=True)
class Leftover:
    """What a run that is no longer alive has left behind."""

    entry: Path
    directories: tuple[Path, ...]
    result: Path | None
    pools: tuple[str, ...] = ()
    """Names of ZFS pools, arrays and volumes that the kernel may still hold."""
    identities: Mapping[Path, Identity | None] = field(default_factory=dict)
    """What each directory was; of one that was just being made, or in entries of earlier versions, it is unknown."""
    images: tuple[str, ...] = ()
    """Names that the kernel gives the files of images, which may still have a loop device by udisks2."""

    @property
    def size_bytes(self) -> int:
        files = (path for directory in self.present for path in directory.rglob("*") if path.is_file())
        return sum(path.lstat().st_blocks * 512 for path in files if not path.is_symlink())

    @property
    def present(self) -> tuple[Path, ...]:
        """The directories that are where they were made."""
        return tuple(each for each in self.directories if own_directory.is_there(each, self.identities.get(each)))

    @property
    def needs_root(self) -> bool:
        """Whether something of it may be in the kernel, where only root can take it away."""
        if not self.pools:
            return False
        volumes = (path.read_text() for path in BLOCKS.glob("dm-*/dm/name"))
        return (
            ZFS_MODULE.exists()
            or any(BLOCKS.glob("md*/slaves/*"))
            or any(name.strip() in self.pools for name in volumes)
        )


class Journal:
    """The list of directories of one run, held under a lock while the run lives."""

    def __init__(self, result: Path | None) -> None:
        self._descriptor, self._entry = _new_entry()
        self._result = result
        self._directories: dict[Path, Identity | None] = {}
        self._pools: list[str] = []
        self._images: list[str] = []
        self._write()

    def make_directory(self, parent: Path) -> Path:
        """Make a private directory below `parent`, after it was written down."""
        if others := changeable_by_others(parent):
            raise Refused(
                _("Users other than root can now change {others}.", others=safe(others)), _("Nothing was made there.")
            )
        name = parent / f"{PREFIX}{os.urandom(6).hex()}"
        self._directories[name] = None
        self._write()
        try:
            self._directories[name] = own_directory.make(name)
        except OSError as error:
            raise RunFailed(
                _("No directory can be made in {parent}: {reason}.", parent=parent, reason=error.strerror),
                _("Choose another directory with --target."),
            ) from error
        self._write()
        return name

    async def remove_directory(self, directory: Path) -> None:
        """Remove one that is not needed any more; what cannot be removed now stays written down."""
        with contextlib.suppress(NotRemoved):
            with contextlib.suppress(Gone), own_directory.removing(directory, self._directories[directory]) as held:
                await timeouts.finish(EMPTY, cwd=held)
            del self._directories[directory]
            self._write()

    def note_pool(self, name: str) -> None:
        """Write down the name of a ZFS pool, array or volume before it is made: the kernel would hold it for good."""
        self._pools.append(name)
        self._write()

    def note_image(self, name: str) -> None:
        """Write down an image before it becomes a device, as the kernel names its file."""
        self._images.append(name)
        self._write()

    def close(self) -> str:
        """Remove everything that the run made, and the entry itself; what of it is left, in words, and why."""
        problems = _remove(self._directories, REMOVAL_S)
        self._directories = {each: self._directories[each] for each in _left(problems)}
        if self._directories:
            with contextlib.suppress(RunFailed):
                self._write()
        else:
            self._entry.unlink(missing_ok=True)
        os.close(self._descriptor)
        return " ".join(problems[each].message for each in self._directories)

    def _write(self) -> None:
        try:
            _write(self._descriptor, self._directories, self._pools, self._images, self._result)
        except OSError as error:
            raise RunFailed(
                _(
                    "The list of what to clean up can't be written in {parent}: {reason}.",
                    parent=safe(str(self._entry.parent)),
                    reason=error.strerror,
                ),
                _("Free some space there: without that list a killed run could not be undone."),
            ) from error


def leftovers() -> tuple[Leftover, ...]:
    """What killed runs have left behind; runs that are alive are passed over."""
    return tuple(leftover for entry in sorted(_folder().glob("run-*.json")) for leftover in _dead(entry))


def clean(leftover: Leftover) -> tuple[str, ...]:
    """Remove it. Only directories that a run made are touched, and no living run's.

    Pools, arrays and volumes that the kernel still holds come first, as they lie in what is then removed. The sentences
    name what is gone without this. Refused where something may be another's, Missing where root's rights cannot be had,
    RunFailed where anything may still be there; it stays written down.
    """
    with _held(leftover.entry) as held:
        if held is None:
            return ()
        if leftover.needs_root:
            reclaim.ask(leftover.pools)
        if kept := release(leftover.images):
            raise RunFailed(
                _("{devices} could not be detached.", devices=", ".join(f"/dev/{loop.name}" for loop in kept)),
                _("End what uses it, then clean up again."),
            )
        directories = {each: leftover.identities.get(each) for each in leftover.directories}
        problems = _remove(directories, timeouts.LIMIT_S)
        left = _left(problems)
        known = {each: problem for each, problem in problems.items() if each in left or directories[each]}
        sentences = tuple(problem.message for problem in known.values())
        if not left:
            leftover.entry.unlink(missing_ok=True)
            return sentences
        _write(held, {each: directories[each] for each in left}, (), (), leftover.result)
        hints = filter(None, dict.fromkeys(problems[each].hint for each in left))
        raise RunFailed(
            " ".join(sentences), " ".join((*hints, _("To forget it, delete {entry}.", entry=safe(str(leftover.entry)))))
        )


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
        hint = _("Set XDG_STATE_HOME to a directory that you can write.")
        raise UsageError(
            _("{folder} cannot be written: {reason}.", folder=safe(str(folder)), reason=error.strerror), hint
        ) from error


@contextmanager
def _held(entry: Path) -> Iterator[int | None]:
    """Descriptor of an entry, under its lock; None where its run is alive, or somebody else has cleaned it up."""
    held = None
    with ExitStack() as undo:
        try:
            held = undo.enter_context(entry.open("r+b")).fileno()
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (FileNotFoundError, BlockingIOError):
            held = None
        except PermissionError as error:
            raise RunFailed(
                _("{entry} belongs to another user.", entry=safe(str(entry))), _("Run `fswizard clean` as that user.")
            ) from error
        yield held if held is not None and os.fstat(held).st_nlink else None


def _write(
    entry: int, directories: Mapping[Path, Identity | None], pools: Sequence[str], images: Sequence[str],
    result: Path | None,
) -> None:  # fmt: skip
    """One line: what a kill leaves of an earlier, longer one is another."""
    noted = {str(path): identity for path, identity in directories.items()}
    content = {"directories": noted, "pools": pools, "images": images, "result": str(result or "")}
    text = json.dumps(content).encode() + b"\n"
    os.pwrite(entry, text, 0)
    os.ftruncate(entry, len(text))
    os.fsync(entry)


def _dead(entry: Path) -> Iterator[Leftover]:
    try:
        with entry.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            data = json.loads(file.readline() or b"{}")
    except (BlockingIOError, PermissionError):
        return  # alive, or somebody else's
    except (OSError, ValueError):
        data = {}
    data = data if isinstance(data, dict) else {}
    noted = data.get("directories", ())  # of earlier versions a list
    identities: dict[Path, Identity | None] = {}
    for path, known in noted.items() if isinstance(noted, dict) else ():
        whole = isinstance(known, list) and len(known) == len(Identity._fields)
        identities[Path(path)] = Identity(*known) if whole else None
    result = Path(data["result"]) if data.get("result") else None
    pools, images = (tuple(map(str, data.get(key, ()))) for key in ("pools", "images"))
    yield Leftover(entry, tuple(map(Path, noted)), result, pools, identities, images)


def _remove(directories: Mapping[Path, Identity | None], limit_s: float) -> dict[Path, FswizardError]:
    """Remove directories that a run made; what speaks against it, for each where something does."""
    problems: dict[Path, FswizardError] = {}
    for path, identity in directories.items():
        try:
            with own_directory.removing(path, identity) as held:
                query(EMPTY, timeout_s=limit_s, cwd=held)  # by itself: the disk may not answer any more
        except NotRemoved as problem:
            problems[path] = problem
        except FswizardError as error:
            problems[path] = NotRemoved(
                _("{path} could not be removed: {reason}", path=safe(str(path)), reason=error.message), error.hint
            )
    return problems


def _left(problems: Mapping[Path, FswizardError]) -> list[Path]:
    """Those that may still be there."""
    return [path for path, problem in problems.items() if not isinstance(problem, Gone)]
