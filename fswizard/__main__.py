"""Entry point: errors become one clear message and an exit code."""

from __future__ import annotations

import os
import sys

from fswizard.cli import Fswizard
from fswizard.errors import ExitCode, FswizardError
from fswizard.model.text import safe_lines


def main() -> None:
    """Run the command line and leave with the exit codes of `errors.ExitCode`."""
    try:
        _, code = Fswizard.run(exit=False)
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
    sys.exit(int(code))


def _tell(error: FswizardError) -> None:
    print(f"fswizard: {safe_lines(error.message)}", file=sys.stderr)
    if error.hint:
        print(f"  {safe_lines(error.hint)}", file=sys.stderr)
    if error.details:
        print("\n".join(f"  | {line}" for line in error.details.splitlines()), file=sys.stderr)


if __name__ == "__main__":
    main()
