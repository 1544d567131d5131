"""Output of reports to standard output or to a new file."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from rich.cells import cell_len

from fswizard.errors import UsageError
from fswizard.language import _
from fswizard.model.text import safe
from fswizard.system.files import write_new

WIDTH = 78
_UNIT = re.compile(r"\s+|[\u2e80-\uffef][、。」）]*|[^\s\u2e80-\uffef]+")
"""An unbreakable unit: a word, or a character of a script without spaces and following closing punctuation."""


def wrapped(text: str, first: str = "  ", rest: str = "  ", width: int = WIDTH) -> list[str]:
    """Lines of `width` columns; longer words such as addresses are not broken, so that they can be copied."""
    lines = [""]
    for unit in _UNIT.findall(text):
        if cell_len(rest + lines[-1] + unit.rstrip()) > width and lines[-1]:
            lines.append("")
        lines[-1] += unit if lines[-1] else unit.lstrip()
    return [f"{rest if number else first}{line.rstrip()}" for number, line in enumerate(lines)]


def deliver(report: str | bytes, output: str | None) -> None:
    """Print a report, or write it to the file `output`.

    Raises UsageError if the file exists or cannot be created, or if a picture would be printed to a terminal, and
    RunFailed if the file cannot be written.
    """
    if not output:
        _print(report)
        return
    write_new(Path(output), report)
    print(_("Written to {path}.", path=safe(output)), file=sys.stderr)


def _print(report: str | bytes) -> None:
    if isinstance(report, str):
        print(report, end="")
    elif sys.stdout.isatty():
        raise UsageError(_("A terminal shows no PNG."), _("Send it to a file: add `> result.png`."))
    else:
        sys.stdout.buffer.write(report)
