"""The full-screen wizard. All drawing code is in this package."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from fswizard.errors import ExitCode, UsageError
from fswizard.language import _

if TYPE_CHECKING:
    from fswizard.tui.app import FswizardApp


def run_wizard(make: Callable[..., FswizardApp] | None = None) -> int:
    """Run the app created by `make`, by default the wizard, to its end and return an exit code of `errors.ExitCode`.

    Raises UsageError without a terminal, or if the terminal is dumb.
    """
    terminals = all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
    if not terminals or os.environ.get("TERM", "dumb") == "dumb":
        raise UsageError(
            _("The wizard needs a terminal."), _("Without one, `fswizard run quick` measures and prints a report.")
        )
    from rich.console import Console

    from fswizard.tui.app import FswizardApp
    from fswizard.tui.terminal import end_with_terminal

    threading.Thread(target=end_with_terminal, args=(sys.stdin.fileno(),), daemon=True).start()
    app = (make or FswizardApp)(few_colours=Console().color_system == "standard")
    code = app.run()
    return app.return_code or code or int(ExitCode.OK)
