"""`fswizard serve`: what `--on` starts on the other machine."""

from __future__ import annotations

from fswizard.cli.command import Command
from fswizard.errors import UsageError
from fswizard.session import ongoing


class Serve(Command):
    """Answer the fswizard of another machine on standard input and output; `--on HOST` there starts it."""

    def main(self, run: str = "") -> int:
        from fswizard.remote import relay, serve

        if not run:
            serve()
            return 0
        found = next((each for each in ongoing() if each.name == run), None)
        if found is None:
            raise UsageError("That run has ended.")
        relay(found)
        return 0
