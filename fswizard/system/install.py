"""Offer to install system packages with the package manager of the distribution."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence

from fswizard.language import _
from fswizard.system import commands, programs


def offer(packages: Sequence[str]) -> bool:
    """Install packages as root or by sudo if the user agrees; returns whether that succeeded.

    All messages, including those of the package manager, go to standard error.
    """
    _print(programs.install_hint(*packages))
    if os.geteuid():
        if not commands.find("sudo"):
            return False
        if not sys.stdin.isatty() and commands.query(["sudo", "-n", "true"]).exit_code:
            _print(_("Installing takes a password, and there is no terminal to ask for it."))
            return False
    if sys.stdin.isatty():
        print(_("Install now? [Y/n] "), end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline()
        if not answer or answer.strip().lower() not in ("", "y", "yes"):
            return False
    for step in programs.unattended_commands(packages):
        _print(f"$ {shlex.join(step)}")
        if commands.attend(step):
            _print(_("Installing failed. If this machine is offline, connect it to the network and try again."))
            return False
    return bool(programs.package_manager())


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
