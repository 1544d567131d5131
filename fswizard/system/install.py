"""Offer to install system packages with the package manager of the distribution."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence

from fswizard.language import _
from fswizard.system import commands, programs


def obstacle() -> str:
    """Reason why nothing can be installed from here, to be followed by a command; empty if it can.

    Without a terminal, it is possible as root or with passwordless sudo.
    """
    program = programs.root_program()
    if os.geteuid() != 0 and not program:
        return _("Neither sudo nor su is installed. Please run as root:")
    asks = program == "su" or (program == "sudo" and commands.query(["sudo", "-n", "true"]).exit_code)
    if asks and not sys.stdin.isatty():
        return _("Installing takes a password, and there is no terminal to ask for it. Please run:")
    return ""


def offer(packages: Sequence[str]) -> bool:
    """Install packages if the user agrees and there is no `obstacle`; returns whether that succeeded.

    All messages, including those of the package manager, go to standard error.
    """
    names, command = ", ".join(packages), shlex.join(programs.install_command(packages))
    if not command:
        text = _(
            "fswizard doesn't know this distribution's package manager. Please install: {packages}.", packages=names
        )
        _print(text)
        return False
    missing = _("Missing: {packages}.", packages=names)
    if reason := obstacle():
        _print(f"{missing} {reason}\n  {command}")
        return False
    if sys.stdin.isatty():
        _print(_("{missing} This would install it:\n  {command}", missing=missing, command=command))
        print(_("Install now? [Y/n] "), end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline()
        if not answer or answer.strip().lower() not in ("", "y", "yes"):
            return False
    for step in programs.unattended_commands(packages):
        _print(f"$ {shlex.join(step)}")
        if commands.attend(step):
            _print(_("Installing failed. If this machine is offline, connect it to the network and try again."))
            return False
    return True


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
