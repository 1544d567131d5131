"""Registry of ongoing runs, one per disk: for each a link to its result file, and a pipe for orders.

A run is in progress as long as its result file is locked.
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

from fswizard.errors import Refused, UsageError
from fswizard.language import _
from fswizard.model.events import RunStarted
from fswizard.model.plan import Plan
from fswizard.model.result_file import UNREADABLE
from fswizard.model.text import safe
from fswizard.results import event_in, is_being_written
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
    for entry in _folder().glob("*.jsonl"):
        with contextlib.suppress(OSError, *UNREADABLE):
            path, since = Path(os.readlink(entry)), datetime.fromtimestamp(entry.lstat().st_mtime)
            if is_being_written(path):
                runs.append(OngoingRun(path, begun(path).plan, since))
    return tuple(sorted(runs, key=lambda run: run.since, reverse=True))


def find_ongoing(name: str = "") -> OngoingRun:
    """A run by part of its result file's name, by default the newest. Raises UsageError if none matches."""
    runs = ongoing()
    if not runs:
        raise UsageError(_("No run is in progress."), _("`fswizard history` lists earlier results."))
    for run in runs:
        if name in str(run.path):
            return run
    others = "; ".join(f"{run.path.stem} ({run.text})" for run in runs)
    raise UsageError(
        _("No run {name} is in progress.", name=repr(safe(name))), _("In progress: {others}.", others=safe(others))
    )


@contextmanager
def entered(plan: Plan, result: Path, begin: Callable[[], None]) -> Iterator[int]:
    """Register a run while it is alive; yields a pipe from which its orders are read, one per line.

    `begin` locks the result file and writes the plan to it. Raises Refused if another run uses the same disk, and
    UsageError if the registry cannot be written.
    """
    folder, (entry, pipe) = _folder(), _entry(result)
    with contextlib.ExitStack() as undo:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(folder / "lock", "ab") as alone:
                fcntl.flock(alone, fcntl.LOCK_EX)
                _require_free(plan)
                for old in folder.glob("*.jsonl"):
                    if not is_being_written(old):  # it was killed
                        _forget(old, old.with_suffix(".orders"))
                begin()
                _forget(pipe)  # of a run of the same file that was killed before it had a link, or after
                undo.callback(_forget, entry, pipe)
                os.mkfifo(pipe, 0o600)
                orders = os.open(pipe, os.O_RDWR | PIPE_ITSELF)  # to write as well: so it never ends
                undo.callback(os.close, orders)
                entry.symlink_to(result.absolute())
        except OSError as error:
            raise UsageError(
                _("{folder} cannot be written: {reason}.", folder=safe(str(folder)), reason=error.strerror),
                _("Set XDG_STATE_HOME to a directory that you can write."),
            ) from error
        yield orders


def _require_free(plan: Plan) -> None:
    """Raises Refused if another run uses the disk of a plan."""
    disk = plan.drive.name if plan.drive else ""
    for run in ongoing():
        if disk and run.plan.drive and run.plan.drive.name == disk:
            text = _(
                "{disk} is being measured already: {text}. Two runs would disturb each other.",
                disk=disk,
                text=safe(run.text),
            )
            raise Refused(text, _("`fswizard watch` shows that run; wait for its end, or stop it there."))


def give_order(result: Path, order: str) -> None:
    """Order the run that writes to a result file to stop or cancel; ignored if it has ended."""
    with contextlib.suppress(OSError), closing(os.open(_entry(result)[1], os.O_WRONLY | PIPE_ITSELF)) as orders:
        if stat.S_ISFIFO(os.fstat(orders).st_mode):
            os.write(orders, f"{order}\n".encode())


def _folder() -> Path:
    return state_directory() / "running"


def _entry(result: Path) -> tuple[Path, Path]:
    """Link and pipe of the run that writes to a result file."""
    entry = _folder() / f"{hashlib.sha256(os.fsencode(result.absolute())).hexdigest()}.jsonl"
    return entry, entry.with_suffix(".orders")


def _forget(*entry: Path) -> None:
    for path in entry:
        path.unlink(missing_ok=True)
