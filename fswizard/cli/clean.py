"""`fswizard clean`: undoes what a killed run left behind."""

from __future__ import annotations

import shlex
import sys

from fswizard.cli.command import OnMachine
from fswizard.errors import ExitCode, FswizardError
from fswizard.model.text import safe, safe_lines
from fswizard.model.units import size_text
from fswizard.session import why_not
from fswizard.targets import clean, leftovers, privilege


class Clean(OnMachine):
    """Remove scratch images and directories left behind by killed runs. Runs in progress are left alone."""

    def main(self) -> int:
        dead = leftovers()
        if not dead:
            print("Nothing was left behind.", file=sys.stderr)
        code = ExitCode.OK
        for leftover in dead:
            size, there = size_text(leftover.size_bytes), leftover.present
            try:
                if leftover.needs_root:
                    privilege.authorise()
                for sentence in clean(leftover):
                    print(sentence, file=sys.stderr)
            except FswizardError as error:
                words = filter(None, (f"fswizard: {error.message}", error.hint, error.details))
                print(*map(safe_lines, words), sep="\n  ", file=sys.stderr)
                code = error.exit_code
            for directory in there:
                if not directory.exists():
                    print(f"removed {safe(str(directory))} ({size})")
            if leftover.result is not None and leftover.result.exists():
                name = shlex.quote(safe(str(leftover.result)))
                print(f"Its figures so far: fswizard report {name}", file=sys.stderr)
                if not why_not(leftover.result):
                    print(f"To resume it:       fswizard run --resume {name}", file=sys.stderr)
        return code
