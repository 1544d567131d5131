"""Registry of ongoing runs, one per disk: for each a link to its result file, and a pipe for orders.

A run is in progress as long as its pipe has a reader, whatever becomes of its result file.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from fswizard.errors import Refused, UsageError
from fswizard.language import _
from fswizard.model.events import RunStarted
from fswizard.model.plan import Plan
from fswizard.model.result_file import UNREADABLE
from fswizard.model.text import safe
from fswizard.results import event_in
from fswizard.system.files import state_directory, without_waiting
from fswizard.system.system_calls import closing

PIPE_ITSELF = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Refuse links, and do not wait for a reader or writer."""


@dataclass(frozen=True, slots=True)
class OngoingRun:
    """A run in progress in another process."""

    path: Path
    """Its result file."""
    plan: Plan
    since: datetime

    @property
    def text(self) -> str:
        """Description for the middle of a sentence."""
        drive = self.plan.drive
        disk = (drive and (drive.model or drive.name)) or _("a disk without a name")
        return _(
            "{recipe} on {disk}, since {time}", recipe=self.plan.recipe.name, disk=disk, time=f"{self.since:%H:%M}"
        )


def begun(path: Path) -> RunStarted:
    """The beginning of the run in a result file; raises OSError or one of UNREADABLE if it is not there."""
    with open(path, "rb", opener=without_waiting) as file:
        file.readline()
        started = event_in(file.readline())
    if not isinstance(started, RunStarted):
        raise ValueError(_("an event was expected"))
    return started


def ongoing() -> tuple[OngoingRun, ...]:
    """Runs of this user on this machine, newest first."""
    runs = []
    for pipe in _folder().glob("*.orders"):
        with contextlib.suppress(OSError, *UNREADABLE):
            if _tell(pipe):
                link = pipe.with_suffix(".jsonl")
                path, since = Path(os.readlink(link)), datetime.fromtimestamp(link.lstat().st_mtime)
                runs.append(OngoingRun(path, begun(path).plan, since))
    return tuple(sorted(runs, key=lambda run: run.since, reverse=True))


def find_ongoing(name: str = "") -> OngoingRun:
    """A run by part of its result file's name, by default the newest. Raises UsageError if none matches."""
    for run in ongoing():
        if name in str(run.path):
            return run
    raise UsageError(_("No such run is in progress."), _("`fswizard history` lists earlier results."))


@contextmanager
def entered(plan: Plan, result: Path, begin: Callable[[], None]) -> Iterator[int]:
    """Register a run while it is alive; yields a pipe from which its orders are read, one per line.

    `begin` locks the result file and writes the plan to it. Raises Refused if another run uses the same disk, and
    UsageError if the registry cannot be written.
    """
    folder, disk = _folder(), quote(plan.drive.name, safe="") if plan.drive else ""
    pipe = folder / f"{disk}@{_key(result)}.orders"
    with contextlib.ExitStack() as undo:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(folder / "lock", "ab") as alone:
                fcntl.flock(alone, fcntl.LOCK_EX)
                for other in folder.glob("*.orders"):
                    if not _tell(other):  # it was killed
                        _forget(other)
                    elif disk and other.name.startswith(f"{disk}@"):
                        raise Refused(
                            _("{disk} is being measured already. Two runs would disturb each other.", disk=disk),
                            _("`fswizard watch` shows that run; wait for its end, or stop it there."),
                        )
                begin()
                undo.callback(_forget, pipe)
                os.mkfifo(pipe, 0o600)
                orders = os.open(pipe, os.O_RDWR | PIPE_ITSELF)  # to write as well: so it never ends
                undo.callback(os.close, orders)
                pipe.with_suffix(".jsonl").symlink_to(result.absolute())
        except OSError as error:
            raise UsageError(
                _("{folder} cannot be written: {reason}.", folder=safe(str(folder)), reason=error.strerror),
                _("Set XDG_STATE_HOME to a directory that you can write."),
            ) from error
        yield orders


def give_order(result: Path, order: str) -> None:
    """Order the run that writes to a result file to stop or cancel; ignored if it has ended."""
    for pipe in _folder().glob(f"*@{_key(result)}.orders"):
        _tell(pipe, f"{order}\n")


def _tell(pipe: Path, order: str = "") -> bool:
    """Write an order to a pipe, without waiting; returns whether a run reads it."""
    with contextlib.suppress(OSError), closing(os.open(pipe, os.O_WRONLY | PIPE_ITSELF)) as orders:
        if stat.S_ISFIFO(os.fstat(orders).st_mode):
            os.write(orders, order.encode())
            return True
    return False


def _folder() -> Path:
    return state_directory() / "running"


def _key(result: Path) -> str:
    """Part of an entry's name that identifies the result file."""
    return hashlib.sha256(os.fsencode(result.absolute())).hexdigest()


def _forget(pipe: Path) -> None:
    pipe.with_suffix(".jsonl").unlink(missing_ok=True)
    pipe.unlink(missing_ok=True)
