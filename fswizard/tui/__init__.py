"""The full-screen wizard: the only room that draws."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from fswizard.errors import UsageError

if TYPE_CHECKING:
    from fswizard.tui.app import FswizardApp


def run_wizard(make: Callable[..., FswizardApp] | None = None) -> int:
    """Run the wizard that `make` makes, or the usual one, to its end and return an exit code of `errors.ExitCode`.

    UsageError without a terminal.
    """
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise UsageError(
            "The wizard needs a terminal.", "Without one, `fswizard run quick` measures and prints a report."
        )
    from fswizard.tui.app import FswizardApp
    from fswizard.tui.app import run_wizard as run

    return run(make or FswizardApp)
