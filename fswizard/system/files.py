"""Files that the user names, read whole, of bounded length, and never anything but a regular file; and where the
program keeps its own."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from fswizard.errors import FswizardError, Missing, UsageError
from fswizard.language import _
from fswizard.model.text import safe


def read_file(path: Path, longest_bytes: int, *, hint: str = "") -> bytes:
    """What the file at `path` holds; UsageError where it is not a regular file, cannot be read, or is too long.

    A named pipe is refused, not waited for.
    """
    name = safe(str(path))
    try:
        with open(path, "rb", opener=without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise UsageError(_("{name} is not a file.", name=name), hint)
            if status.st_size > longest_bytes:
                raise UsageError(
                    _(
                        "{name} is over {size} MB; no such file is that long.",
                        name=name,
                        size=longest_bytes // 1_000_000,
                    ),
                    hint,
                )
            return file.read(status.st_size or longest_bytes)  # room for the longest costs a millisecond
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or _("this is not a file's name")
        raise UsageError(_("{name} cannot be read: {reason}.", name=name, reason=reason), hint) from error


def home_directory() -> Path:
    """The user's home directory; Missing where an account has none, as in containers."""
    try:
        return Path.home()
    except RuntimeError as error:
        raise Missing(
            _("This account has no home directory."), _("Set HOME to a directory that it may write to.")
        ) from error


def without_waiting(path: str, flags: int) -> int:
    """An opener, as `open` takes one, that does not wait for the other end of a named pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def write_new(path: Path, content: bytes) -> None:
    """Write a file that the user exports and that does not exist yet; OSError, or ValueError, where that cannot be."""
    with path.open("xb") as file:
        file.write(content)


def turn_away_from(descriptors: Iterable[int]) -> None:
    """Nobody is at the other end any more: every further word, even at exit, would be an error."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def setting(name: str) -> str:
    """What the user chose last, such as the theme; empty where nothing was chosen."""
    try:
        return (state_directory() / name).read_text("utf-8").strip()
    except (OSError, UnicodeError, FswizardError):
        return ""


def keep_setting(name: str, value: str) -> None:
    """For the next time. Where it cannot be written, the default comes back."""
    with contextlib.suppress(OSError, FswizardError):
        state_directory().mkdir(mode=0o700, parents=True, exist_ok=True)
        (state_directory() / name).write_text(f"{value}\n", "utf-8")


def state_directory() -> Path:
    """Where the program keeps what outlives a run: $XDG_STATE_HOME/fswizard, or below ~/.local/state."""
    base = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (base if base.is_absolute() else home_directory() / ".local" / "state") / "fswizard"
