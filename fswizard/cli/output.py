"""Where a report goes: standard output, or a file that did not exist before."""

from __future__ import annotations

import sys
from pathlib import Path

from fswizard.errors import RunFailed, UsageError
from fswizard.model.text import safe
from fswizard.system.files import write_new


def deliver(report: str | bytes, output: str | None) -> None:
    """Print a report, or write it to the file `output`.

    Raises UsageError where the file exists or cannot be made, or where a picture would go to a terminal, and RunFailed
    where the file cannot be written.
    """
    if not output:
        _print(report)
        return
    path = Path(output)
    try:
        write_new(path, report if isinstance(report, bytes) else report.encode())
    except FileExistsError as error:
        raise UsageError(f"{safe(output)} exists already.", "Choose another name, or move that file away.") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        kind = RunFailed if path.exists() else UsageError
        raise kind(f"{safe(output)} cannot be written: {reason}.", "Choose a file elsewhere.") from error
    print(f"Written to {safe(output)}.", file=sys.stderr)


def _print(report: str | bytes) -> None:
    if isinstance(report, str):
        print(report, end="")
    elif sys.stdout.isatty():
        raise UsageError("A terminal shows no PNG.", "Send it to a file: add `> result.png`.")
    else:
        sys.stdout.buffer.write(report)
