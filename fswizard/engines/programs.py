"""Programs of our own that do the work: files of the standard library alone, copied to where the user may read."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath

from fswizard.engines.context import WorkloadContext

_SYSTEM_PYTHON = "/usr/bin/python3"
_OPTIONS = ("-I", "-S")
"""Without the user's own modules and settings."""


def interpreter() -> str:
    """A Python that any user of the machine can start: ours may lie in somebody's home directory."""
    return _SYSTEM_PYTHON if os.access(_SYSTEM_PYTHON, os.X_OK) else os.path.realpath(sys.executable)


def command(program: str, *arguments: str, scratch: str) -> tuple[str, ...]:
    """The command line of a program that was put into `scratch`."""
    return (interpreter(), *_OPTIONS, f"{scratch}/{program}", *arguments)


def name(argv: Sequence[str]) -> str:
    """What to call a program before people: one of our own by its file, not by the interpreter."""
    own = tuple(argv[1:3]) == _OPTIONS and len(argv) > 3
    return PurePath(argv[3]).stem if own else PurePath(argv[0]).name


def put(program: str, context: WorkloadContext) -> None:
    """Copy a program of this directory into the context's scratch directory."""
    target = Path(context.scratch, program)
    shutil.copyfile(Path(__file__).with_name(program), target)
    target.chmod(0o644)
