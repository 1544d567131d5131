"""`fswizard watch`: shows a run that goes on in another process."""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING

from plumbum import cli

from fswizard.cli.command import OnMachine
from fswizard.cli.narration import EXIT_CODES, Narration, print_report
from fswizard.errors import ExitCode
from fswizard.model.run_state import RunState
from fswizard.model.text import safe
from fswizard.session import FollowedRun, OngoingRun, find_ongoing
from fswizard.tui import run_wizard

if TYPE_CHECKING:
    from fswizard.remote import Host


class Watch(OnMachine):
    """Show a run that is in progress, started with `run --detach` or in another terminal.

    Of several the newest, unless you name one by a part of its result file's name. Quitting leaves the run alone.
    """

    plain = cli.Flag("--plain", help="print lines instead of the full screen, and then the report")

    def main(self, run: str = "") -> int:
        found = find_ongoing(run)
        if self.plain or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return follow(found)
        from fswizard.tui.app import FswizardApp

        return run_wizard(partial(FswizardApp, watching=found))

    def there(self, host: Host, words: list[str]) -> int:
        """The full screen is drawn here."""
        if "--plain" in words or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return host.attend(*words, *([] if "--plain" in words else ["--plain"]))
        from fswizard.remote import RemoteMachine
        from fswizard.session import chosen
        from fswizard.tui.app import FswizardApp

        machine = RemoteMachine(host)
        found = chosen(machine.ongoing(), next(iter(words[1:]), ""))
        return run_wizard(partial(FswizardApp, machine, watching=found))


def follow(run: OngoingRun) -> int:
    """Tell of a run on standard error until it ends, then print its report; the exit code is the run's."""
    try:
        followed, state = asyncio.run(_followed(run))
    except KeyboardInterrupt:
        print("\nThe run goes on: `fswizard watch` shows it again.", file=sys.stderr)
        return ExitCode.OK
    print(f"The result is in {safe(run.result)}.", file=sys.stderr)
    if followed.error is not None:
        raise followed.error
    print_report(run.result)
    return EXIT_CODES[state.outcome or "killed"]


async def _followed(run: OngoingRun) -> tuple[FollowedRun, RunState]:
    narration = Narration(sys.stderr)
    followed = await FollowedRun.here(run)
    state = RunState.of(followed.plan)
    async with aclosing(followed.events()) as events:
        async for event in events:
            state = state.after(event)
            narration.tell(event, state)
    return followed, state
