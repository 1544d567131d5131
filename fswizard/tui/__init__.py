"""The full-screen wizard. All drawing code is in this package."""

from __future__ import annotations

import os
import sys
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
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise UsageError(
            _("The wizard needs a terminal."), _("Without one, `fswizard run quick` measures and prints a report.")
        )
    if os.environ.get("TERM", "dumb") == "dumb":
        raise UsageError(
            _("This terminal cannot show the wizard."), _("`fswizard run quick` measures and prints a report.")
        )
    from rich.console import Console

    from fswizard.tui.app import FswizardApp

    app = (make or FswizardApp)(few_colours=Console().color_system == "standard")
    code = app.run()
    if app.return_code:
        return app.return_code
    return code if code is not None else int(ExitCode.OK)
