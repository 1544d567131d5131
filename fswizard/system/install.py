"""Offers to install system packages with the distribution's own package manager.

`python3 -m fswizard.system.install PACKAGE...` does so before anything else is installed: it needs only Python itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from fswizard.system import commands, programs


def offer(packages: Sequence[str]) -> bool:
    """Install packages if the user agrees; False when they are not installed afterwards.

    On a terminal the user decides; root without one has decided already by starting it. All that is told, and the
    package manager's own output, goes to standard error.
    """
    command = " ".join(programs.install_command(packages))
    if not command:
        _say(f"fswizard doesn't know this distribution's package manager. Please install: {', '.join(packages)}.")
        return False
    if sys.stdin.isatty():
        _say(f"Missing: {', '.join(packages)}. This would install it:\n  {command}")
        if not _agreed():
            return False
    elif os.geteuid() != 0:
        _say(f"Missing: {', '.join(packages)}. There is no terminal to ask for a password on. Please run:")
        _say(f"  {command}")
        return False
    return all(_run(step) for step in programs.unattended_commands(packages))


def _agreed() -> bool:
    print("Install now? [Y/n] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    return answer.strip().lower() in ("", "y", "yes") and answer != ""


def _run(command: Sequence[str]) -> bool:
    _say(f"$ {' '.join(command)}")
    return commands.attend(command) == 0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(0 if offer(sys.argv[1:]) else 4)
