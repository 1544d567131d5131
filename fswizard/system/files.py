"""Read and write files named by the user, safely, and the files of the program in its state directory."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from fswizard.errors import FswizardError, Missing, RunFailed, UsageError
from fswizard.language import _
from fswizard.model.text import safe


def read_file(path: Path, longest_bytes: int, *, hint: str = "") -> bytes:
    """Content of a regular file. Raises UsageError if it is none, cannot be read, or is longer than `longest_bytes`.

    A named pipe is refused without waiting for a writer.
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
            return file.read(status.st_size or longest_bytes)  # a size of 0 may be wrong, as in /proc
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or _("this is not a file's name")
        raise UsageError(_("{name} cannot be read: {reason}.", name=name, reason=reason), hint) from error


def home_directory() -> Path:
    """Home directory of the user. Raises Missing if the account has none, as in containers."""
    try:
        return Path.home()
    except RuntimeError as error:
        raise Missing(
            _("This account has no home directory."), _("Set HOME to a directory that it may write to.")
        ) from error


def without_waiting(path: str, flags: int) -> int:
    """Opener for `open` that does not wait for the other end of a named pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def write_new(path: Path, content: str | bytes) -> None:
    """Write a new file. Raises UsageError if it exists or cannot be created, RunFailed if it cannot be written."""
    name = safe(str(path))
    try:
        with path.open("xb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
    except FileExistsError as error:
        raise UsageError(
            _("{path} exists already.", path=name), _("Choose another name, or move that file away.")
        ) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        kind = RunFailed if path.exists() else UsageError
        text = _("{path} cannot be written: {reason}.", path=name, reason=reason)
        raise kind(text, _("Choose a file elsewhere.")) from error


def redirect_to_null(descriptors: Iterable[int]) -> None:
    """Redirect closed descriptors to /dev/null, as any write to them, even at exit, would be an error."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(null, descriptor)
    os.close(null)


def setting(name: str) -> str:
    """Saved value of a setting, such as the theme; empty if there is none."""
    try:
        return (state_directory() / name).read_text("utf-8").strip()
    except (OSError, UnicodeError, FswizardError):
        return ""


def save_setting(name: str, value: str) -> None:
    """Save a setting for the next start; errors are ignored."""
    with contextlib.suppress(OSError, FswizardError):
        state_directory().mkdir(mode=0o700, parents=True, exist_ok=True)
        (state_directory() / name).write_text(f"{value}\n", "utf-8")


def state_directory() -> Path:
    """Directory for persistent state: $XDG_STATE_HOME/fswizard or ~/.local/state/fswizard."""
    base = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (base if base.is_absolute() else home_directory() / ".local" / "state") / "fswizard"
