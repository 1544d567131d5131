"""NILFS2's cleaner, which mount.nilfs2 would start; here the helper does, to be sure that it ends with the mount."""

from __future__ import annotations

import subprocess

from fswizard.privileged import processes, programs
from fswizard.privileged.commands import CLEANER, Command

END_LIMIT_S = 10.0


def start(command: Command) -> int:
    """Start the cleaner on a mounted NILFS2; the exit code."""
    return subprocess.call(programs.located(command), env=programs.ROOT_ENVIRONMENT, stdout=subprocess.DEVNULL)


def end() -> None:
    processes.end(CLEANER, END_LIMIT_S)
