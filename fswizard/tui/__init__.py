"""The full-screen wizard: the only room that draws."""

from __future__ import annotations


def run_wizard() -> int:
    """Run the wizard to its end and return an exit code of `errors.ExitCode`."""
    from fswizard.tui.app import run_wizard as run

    return run()
