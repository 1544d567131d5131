"""The full-screen wizard: the only room that draws."""

from __future__ import annotations

import sys

from fswizard.errors import UsageError


def run_wizard() -> int:
    """Run the wizard to its end and return an exit code of `errors.ExitCode`; UsageError without a terminal."""
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise UsageError(
            "The wizard needs a terminal.", "Without one, `fswizard run quick` measures and prints a report."
        )
    from fswizard.tui.app import run_wizard as run

    return run()
