"""Registry of ongoing runs, one per disk. Each has a locked entry while it is alive, and a pipe for orders."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from fswizard.errors import Refused, UsageError
from fswizard.language import _
from fswizard.model.codec import from_json
from fswizard.model.plan import Plan
from fswizard.model.result_file import UNREADABLE
from fswizard.model.text import safe
from fswizard.system import clock
from fswizard.system.files import state_directory
from fswizard.system.system_calls import closing

LONGEST_ENTRY_BYTES = 65536
PIPE_ITSELF = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Refuse links, and do not wait for a reader or writer."""


@dataclass(frozen=True, slots=True)
class OngoingRun:
    """A run in progress in another process."""

    result: str
    """Path of its result file."""
    recipe: str
    disk: str
    """Kernel name of the disk; empty if unknown."""
    title: str
    """Model of the disk."""
    started: str
    """Date and time of day."""
    pid: int
    name: str = ""
    """Name of its entry and its pipe."""

    @property
    def text(self) -> str:
        """Description for the middle of a sentence."""
        disk = self.title or self.disk or _("a disk without a name")
        return _("{recipe} on {disk}, since {time}", recipe=self.recipe, disk=disk, time=self.started[11:16])


def ongoing() -> tuple[OngoingRun, ...]:
    """Runs of this user on this machine, newest first."""
    runs = (run for entry in _folder().glob("*.json") if (run := _alive(entry)))
    return tuple(sorted(runs, key=lambda run: run.started, reverse=True))


def find_ongoing(name: str = "") -> OngoingRun:
    """A run by part of its result file's name, by default the newest. Raises UsageError if none matches."""
    runs = ongoing()
    if not runs:
        raise UsageError(_("No run is in progress."), _("`fswizard history` lists earlier results."))
    for run in runs:
        if name in run.result:
            return run
    others = "; ".join(f"{Path(run.result).stem} ({run.text})" for run in runs)
    raise UsageError(
        _("No run {name} is in progress.", name=repr(safe(name))), _("In progress: {others}.", others=safe(others))
    )


@contextmanager
def entered(plan: Plan, result: Path) -> Iterator[int]:
    """Register a run while it is alive; yields a pipe from which its orders are read, one per line.

    Raises Refused if another run uses the same disk, and UsageError if the registry cannot be written.
    """
    folder = _folder()
    with contextlib.ExitStack() as undo:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(folder / "lock", "ab") as alone:
                fcntl.flock(alone, fcntl.LOCK_EX)
                orders = _enter(plan, result, folder, undo)
        except OSError as error:
            raise UsageError(
                _("{folder} cannot be written: {reason}.", folder=safe(str(folder)), reason=error.strerror),
                _("Set XDG_STATE_HOME to a directory that you can write."),
            ) from error
        yield orders


def _enter(plan: Plan, result: Path, folder: Path, undo: contextlib.ExitStack) -> int:
    """Write the entry and open its pipe, with the registry locked."""
    disk, model = (plan.drive.name, plan.drive.model) if plan.drive else ("", "")
    for run in ongoing():
        if disk and run.disk == disk:
            text = _(
                "{disk} is being measured already: {text}. Two runs would disturb each other.",
                disk=disk,
                text=safe(run.text),
            )
            raise Refused(text, _("`fswizard watch` shows that run; wait for its end, or stop it there."))
    descriptor, new = tempfile.mkstemp(prefix="run-", dir=folder)
    undo.callback(os.close, descriptor)
    entry, pipe = Path(f"{new}.json"), Path(f"{new}.orders")
    undo.callback(pipe.unlink, missing_ok=True)
    undo.callback(entry.unlink, missing_ok=True)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    now = f"{clock.utc().astimezone():%Y-%m-%dT%H:%M:%S}"
    pid = int(os.readlink("/proc/self"))  # as the user sees it
    run = OngoingRun(str(result.absolute()), plan.recipe.name, disk, model, now, pid)
    os.write(descriptor, json.dumps(asdict(run)).encode())
    os.mkfifo(pipe, 0o600)
    orders = os.open(pipe, os.O_RDWR | PIPE_ITSELF)  # to write as well: so it never ends
    undo.callback(os.close, orders)
    os.rename(new, entry)  # only now: without its lock it would be taken for a dead run's
    return orders


def give_order(result: Path, order: str) -> None:
    """Order the run that writes to a result file to stop or cancel; ignored if it has ended."""
    for run in ongoing():
        if run.result == str(result.absolute()):
            pipe = _folder() / f"{run.name}.orders"
            with contextlib.suppress(OSError), closing(os.open(pipe, os.O_WRONLY | PIPE_ITSELF)) as orders:
                if stat.S_ISFIFO(os.fstat(orders).st_mode):
                    os.write(orders, f"{order}\n".encode())


def _folder() -> Path:
    return state_directory() / "running"


def _alive(entry: Path) -> OngoingRun | None:
    """The run of an entry, or None; entries of killed runs are removed."""
    with contextlib.suppress(OSError, *UNREADABLE), entry.open("rb") as file:
        data = file.read(LONGEST_ENTRY_BYTES)
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return replace(from_json(OngoingRun, json.loads(data)), name=entry.stem)
        entry.unlink(missing_ok=True)
        entry.with_suffix(".orders").unlink(missing_ok=True)
    return None
