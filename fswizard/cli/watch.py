"""`fswizard watch`: shows a run in another process."""

from __future__ import annotations

import asyncio
import sys
from functools import partial

from fswizard.cli.command import Command
from fswizard.cli.narration import ended, narrated
from fswizard.errors import ExitCode
from fswizard.language import _
from fswizard.model.run_state import RunState
from fswizard.session import FollowedRun, find_ongoing
from fswizard.tui import run_wizard


class Watch(Command):
    """Show a run that is in progress, started with `run --detach` or in another terminal.

    Of several the newest, unless you name one by a part of its result file's name. Quitting leaves the run alone.
    """

    def main(self, run: str = "") -> int:
        path = find_ongoing(run).path
        if sys.stdin.isatty() and sys.stdout.isatty():
            from fswizard.tui.app import FswizardApp

            return run_wizard(partial(FswizardApp, watching=FollowedRun(path)))
        try:
            followed = FollowedRun(path)
            state = asyncio.run(narrated(followed, RunState.of(followed.plan)))
        except KeyboardInterrupt:
            print(f"\n{_('The run goes on: `fswizard watch` shows it again.')}", file=sys.stderr)
            return ExitCode.OK
        return ended(path, state)
