"""Entry point: errors become one clear message and an exit code."""

from __future__ import annotations

import os
import sys

from fswizard.errors import ExitCode, FswizardError
from fswizard.model.text import safe_lines
from fswizard.tui import run_wizard


def main() -> None:
    """Run the wizard or, with arguments, the command line; leave with the exit codes of `errors.ExitCode`."""
    try:
        code = _command_line() if sys.argv[1:] else run_wizard()
        sys.stdout.flush()
    except FswizardError as error:
        _tell(error)
        code = error.exit_code
    except KeyboardInterrupt:
        print("Cancelled.", file=sys.stderr)
        code = ExitCode.CANCELLED
    except BrokenPipeError:  # whoever read the output had enough of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = ExitCode.OK
    sys.exit(code)


def _command_line() -> int:
    from fswizard.cli import Fswizard  # only here: the wizard's first picture need not wait for it

    _, code = Fswizard.run(exit=False)
    return int(code)


def _tell(error: FswizardError) -> None:
    print(f"fswizard: {safe_lines(error.message)}", file=sys.stderr)
    if error.hint:
        print(f"  {safe_lines(error.hint)}", file=sys.stderr)
    if error.details:
        print("\n".join(f"  | {line}" for line in error.details.splitlines()), file=sys.stderr)


if __name__ == "__main__":
    main()
