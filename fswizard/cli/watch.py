"""`fswizard watch`: shows a run that goes on in another process."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from pathlib import Path

from plumbum import cli

from fswizard.cli.command import Command
from fswizard.cli.narration import EXIT_CODES, narrated, print_report
from fswizard.errors import ExitCode
from fswizard.language import _
from fswizard.model.run_state import RunState
from fswizard.model.text import safe
from fswizard.session import FollowedRun, OngoingRun, find_ongoing
from fswizard.tui import run_wizard


class Watch(Command):
    """Show a run that is in progress, started with `run --detach` or in another terminal.

    Of several the newest, unless you name one by a part of its result file's name. Quitting leaves the run alone.
    """

    plain = cli.Flag("--plain", help=_("print lines instead of the full screen, and then the report"))

    def main(self, run: str = "") -> int:
        shown = find_ongoing(run)
        if self.plain or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return follow(shown)
        from fswizard.tui.app import FswizardApp

        return run_wizard(partial(FswizardApp, watching=shown))


def follow(run: OngoingRun) -> int:
    """Tell of a run on standard error until it ends, then print its report; the exit code is the run's."""
    try:
        followed = FollowedRun(Path(run.result))
        state = asyncio.run(narrated(followed.events(), RunState.of(followed.plan)))
    except KeyboardInterrupt:
        print(f"\n{_('The run goes on: `fswizard watch` shows it again.')}", file=sys.stderr)
        return ExitCode.OK
    print(_("The result is in {path}.", path=safe(run.result)), file=sys.stderr)
    if state.problem is not None:
        raise state.problem
    print_report(run.result)
    return EXIT_CODES[state.outcome or "killed"]
