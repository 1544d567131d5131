"""Entry point: errors become one clear message and an exit code."""

from __future__ import annotations

import codecs
import io
import os
import sys

from fswizard import language
from fswizard.errors import ExitCode, FswizardError, RunFailed, UsageError
from fswizard.language import _
from fswizard.model.text import plain, safe_lines
from fswizard.system import files
from fswizard.tui import run_wizard


def main() -> None:
    """Run the wizard or, with arguments, the command line; leave with the exit codes of `errors.ExitCode`."""
    try:
        closed = _output_is_closed()
        _print_in_any_encoding()
        language.choose(files.setting(language.SETTING) or language.of_environment())
        if closed:
            raise UsageError(_("Standard output is closed."), _("Send it to a file or a program: > FILE, | less."))
        code = _command_line() if sys.argv[1:] else _wizard()
        sys.stdout.flush()
    except FswizardError as error:
        _emit(error)
        code = error.exit_code
    except KeyboardInterrupt:
        print(_("Cancelled."), file=sys.stderr)
        code = ExitCode.CANCELLED
    except OSError as error:
        code = _failed_at_output(error)
    sys.exit(code)


def _wizard() -> int:
    files.home_directory()  # it needs one
    return run_wizard()


def _command_line() -> int:
    from fswizard.cli import Fswizard  # only here: the wizard's first picture need not wait for it
    from fswizard.cli.command import SystemRefused

    try:
        __, code = Fswizard.run(exit=False)
    except SystemRefused as refused:
        raise refused.error from None
    return int(code)


def _output_is_closed() -> bool:
    """Whether standard output is closed; then no file that is opened next takes its place."""
    closed = sys.stdout is None
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - open until the end
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    return closed


def _print_in_any_encoding() -> None:
    """Characters that the terminal's encoding lacks are printed in ASCII."""
    codecs.register_error("plain", _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "backslashreplace"):
            stream.reconfigure(errors="plain")


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return plain(error.object[error.start : error.end]), error.end


def _failed_at_output(error: OSError) -> int:
    """The exit code. Nothing more is written to where it failed, not even at the interpreter's end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):  # whoever read the output has seen enough
        return ExitCode.OK
    reason = error.strerror or str(error)
    failed = (
        RunFailed(f"{error.filename}: {reason}.")
        if error.filename
        else RunFailed(
            _("Standard output cannot be written: {reason}.", reason=reason),
            _("Free some space, or write somewhere else."),
        )
    )
    _emit(failed)
    return failed.exit_code


def _emit(error: FswizardError) -> None:
    """An error of a run's process is in English."""
    print(f"fswizard: {safe_lines(_(error.message))}", file=sys.stderr)
    if error.hint:
        print(f"  {safe_lines(_(error.hint))}", file=sys.stderr)
    if error.details:
        print("\n".join(f"  | {line}" for line in error.details.splitlines()), file=sys.stderr)


if __name__ == "__main__":
    main()
