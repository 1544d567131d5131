"""Files that the user names, read whole, of bounded length, and never anything but a regular file; and where the
program keeps its own."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from fswizard.errors import UsageError
from fswizard.model.text import safe


def read_file(path: Path, longest_bytes: int, *, hint: str = "") -> bytes:
    """What the file at `path` holds; UsageError where it is no regular file, cannot be read, or is too long.

    A named pipe is refused, not waited for.
    """
    name = safe(str(path))
    try:
        with open(path, "rb", opener=without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise UsageError(f"{name} is not a file.", hint)
            if status.st_size > longest_bytes:
                raise UsageError(f"{name} is over {longest_bytes // 1_000_000} MB; no such file is that long.", hint)
            return file.read(status.st_size or longest_bytes)  # room for the longest costs a millisecond
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "this is not a file's name"
        raise UsageError(f"{name} cannot be read: {reason}.", hint) from error


def without_waiting(path: str, flags: int) -> int:
    """An opener, as `open` takes one, that does not wait for the other end of a named pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def state_directory() -> Path:
    """Where the program keeps what outlives a run: $XDG_STATE_HOME/fswizard, or below ~/.local/state."""
    base = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".local" / "state") / "fswizard"
