"""`fswizard clean`: undoes changes of killed runs."""

from __future__ import annotations

import shlex
import sys

from fswizard.cli.command import Command
from fswizard.disks import rights
from fswizard.disks.journal import clean, leftovers
from fswizard.errors import ExitCode, FswizardError
from fswizard.language import _
from fswizard.model.text import safe, safe_lines
from fswizard.model.units import size_text
from fswizard.session import why_not


class Clean(Command):
    """Remove scratch images and directories left behind by killed runs. Runs in progress are left alone."""

    def main(self) -> int:
        dead = leftovers()
        if not dead:
            print(_("Nothing was left behind."), file=sys.stderr)
        code = ExitCode.OK
        for leftover in dead:
            size, present = size_text(leftover.size_bytes), leftover.present
            try:
                if leftover.needs_root:
                    rights.authorise()
                for sentence in clean(leftover):
                    print(_(sentence), file=sys.stderr)
            except FswizardError as error:
                lines = filter(None, (f"fswizard: {_(error.message)}", _(error.hint), error.details))
                print(*map(safe_lines, lines), sep="\n  ", file=sys.stderr)
                code = error.exit_code
            for directory in present:
                if not directory.exists():
                    print(_("removed {path} ({size})", path=safe(str(directory)), size=size))
            if leftover.result is not None and leftover.result.exists():
                name = shlex.quote(safe(str(leftover.result)))
                print(_("Its figures so far:"), f"fswizard report {name}", file=sys.stderr)
                if not why_not(leftover.result):
                    print(_("To resume it:"), f"fswizard run --resume {name}", file=sys.stderr)
        return code
