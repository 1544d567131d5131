"""Writing of a result file during the run."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from fswizard.errors import RunFailed, UsageError
from fswizard.language import _
from fswizard.model import events
from fswizard.model.result_file import Header, encoded
from fswizard.model.text import safe
from fswizard.system.files import without_waiting

LONGEST_LINE_BYTES = 16 << 20


class ResultWriter:
    """Writes a run to a file, line by line as it happens. The file must not exist yet, unless the run is resumed.

    Raises UsageError if the file cannot be created or another run writes to it, and RunFailed if a line cannot be
    written.
    """

    def __init__(self, path: str | Path, *, resumed: bool = False) -> None:
        self.path = Path(path)
        self._resumed = resumed
        flags = os.O_RDWR if self._resumed else os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            self._descriptor = os.open(self.path, flags | os.O_CLOEXEC, 0o600)
        except FileExistsError as error:
            hint = _("Choose another name, or move that file away.")
            raise UsageError(_("The result file {path} exists already.", path=safe(str(path))), hint) from error
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            hint = _("Choose a file in an existing directory that you can write to.")
            text = _("The result file {path} cannot be made: {reason}.", path=safe(str(path)), reason=reason)
            raise UsageError(text, hint) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # other runs keep away while this one lives
            if self._resumed:
                mend(self._descriptor)
        except BaseException as error:
            os.close(self._descriptor)
            if isinstance(error, BlockingIOError):
                hint = _("Wait until it ends, or stop it first.")
                text = _("The run of {file} is still in progress.", file=safe(str(self.path)))
                raise UsageError(text, hint) from error
            raise

    def write(self, event: events.Event) -> None:
        """Append an event, with the header before the first one; it can be read when this returns."""
        data = encoded(event)
        if isinstance(event, events.RunStarted) and not self._resumed:
            data = encoded(Header.of(event.plan, event.environment)) + data
        start = os.lseek(self._descriptor, 0, os.SEEK_END)
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            os.ftruncate(self._descriptor, start)
            raise self._failed(error) from error

    def close(self) -> None:
        """Make the file durable; further calls do nothing."""
        if self._descriptor < 0:
            return
        descriptor, self._descriptor = self._descriptor, -1
        try:
            # Only here: a sync during the run would disturb what is being measured.
            os.fsync(descriptor)
        except OSError as error:
            raise self._failed(error) from error
        finally:
            # Closing alone keeps the lock while a child that is just being started has the file open, too.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def _failed(self, error: OSError) -> RunFailed:
        hint = _("What was written before can still be read. Free some space there, or choose a file elsewhere.")
        text = _(
            "The result file {path} cannot be written: {reason}.", path=safe(str(self.path)), reason=error.strerror
        )
        return RunFailed(text, hint)


def is_being_written(path: Path) -> bool:
    """Whether an active run writes to a result file."""
    try:
        with open(path, "rb", opener=without_waiting) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def mend(descriptor: int) -> None:
    """Remove an incomplete last line of a file."""
    size = os.lseek(descriptor, 0, os.SEEK_END)
    tail = os.pread(descriptor, LONGEST_LINE_BYTES, max(0, size - LONGEST_LINE_BYTES))
    os.ftruncate(descriptor, size - len(tail.rpartition(b"\n")[2]))
