"""Where a report goes: standard output, or a file that did not exist before."""

from __future__ import annotations

import sys
from pathlib import Path

from fswizard.errors import RunFailed, UsageError
from fswizard.model.text import plain, safe


def deliver(text: str, output: str | None) -> None:
    """Print `text`, in ASCII where the terminal knows no more, or write it to the file `output`.

    Raises UsageError where the file exists or cannot be made, RunFailed where it cannot be written.
    """
    if not output:
        print(printable(text, sys.stdout.encoding), end="")
        return
    path = Path(output)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{safe(output)} exists already.", "Choose another name, or move that file away.") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        kind = RunFailed if path.exists() else UsageError
        raise kind(f"{safe(output)} cannot be written: {reason}.", "Choose a file elsewhere.") from error
    print(f"Written to {safe(output)}.", file=sys.stderr)


def printable(text: str, encoding: str | None) -> str:
    """`text` as it is, or in ASCII where `encoding` cannot hold it."""
    try:
        text.encode(encoding or "ascii")
    except UnicodeEncodeError:
        return plain(text)
    return text
