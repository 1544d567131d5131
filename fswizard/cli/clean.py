"""`fswizard clean`: undoes changes of killed runs."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from fswizard.cli.command import Command
from fswizard.disks import rights
from fswizard.disks.journal import clean, leftovers
from fswizard.errors import ExitCode, FswizardError
from fswizard.language import _
from fswizard.model.text import safe, safe_lines
from fswizard.session import why_not


class Clean(Command):
    """Remove scratch images and directories left behind by killed runs. Runs in progress are left alone."""

    def main(self) -> int:
        dead = leftovers()
        if not dead:
            print(_("Nothing was left behind."), file=sys.stderr)
        code = ExitCode.OK
        for leftover in dead:
            try:
                if leftover.needs_root:
                    rights.authorise()
                for sentence in clean(leftover):
                    print(_(sentence))
            except FswizardError as error:
                lines = filter(None, (f"fswizard: {_(error.message)}", _(error.hint), error.details))
                print(*map(safe_lines, lines), sep="\n  ", file=sys.stderr)
                code = error.exit_code
            result = Path(leftover.result)
            if result.is_file():
                name = shlex.quote(safe(leftover.result))
                print(_("Its figures so far:"), f"fswizard report {name}", file=sys.stderr)
                if not why_not(result):
                    print(_("To resume it:"), f"fswizard run --resume {name}", file=sys.stderr)
        return code
