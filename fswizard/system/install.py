"""Offers to install system packages with the distribution's own package manager.

`python3 -m fswizard.system.install PACKAGE...` does so before anything else is installed: it needs only Python itself.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence

from fswizard.language import _
from fswizard.system import commands, programs


def obstacle() -> str:
    """Why nothing can be installed from here, and who can, so that a command may follow; empty where it can be.

    On a terminal the user can be asked; root without one, or who gets root without a password, needs no question.
    """
    way = programs.way_to_root()
    if os.geteuid() != 0 and not way:
        return _("Neither sudo nor su is installed. Please run as root:")
    asks = way == "su" or (way == "sudo" and commands.query(["sudo", "-n", "true"]).exit_code)
    if asks and not sys.stdin.isatty():
        return _("Installing takes a password, and there is no terminal to ask for it. Please run:")
    return ""


def offer(packages: Sequence[str]) -> bool:
    """Install packages if the user agrees, where there is no `obstacle`; False when they are not installed afterwards.

    Its messages, and the package manager's own output, goes to standard error.
    """
    names, command = ", ".join(packages), shlex.join(programs.install_command(packages))
    if not command:
        text = _(
            "fswizard doesn't know this distribution's package manager. Please install: {packages}.", packages=names
        )
        _say(text)
        return False
    missing = _("Missing: {packages}.", packages=names)
    if reason := obstacle():
        _say(f"{missing} {reason}\n  {command}")
        return False
    if sys.stdin.isatty():
        _say(_("{missing} This would install it:\n  {command}", missing=missing, command=command))
        print(_("Install now? [Y/n] "), end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline()
        if not answer or answer.strip().lower() not in ("", "y", "yes"):
            return False
    for step in programs.unattended_commands(packages):
        _say(f"$ {shlex.join(step)}")
        if commands.attend(step):
            _say(_("Installing failed. If this machine is offline, connect it to the network and try again."))
            return False
    return True


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(0 if offer(sys.argv[1:]) else 4)
