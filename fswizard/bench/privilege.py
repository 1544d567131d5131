"""Whether root's rights can be had, and how: directly, through sudo or pkexec, or not at all."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fswizard import privileged
from fswizard.errors import Missing, RunFailed
from fswizard.privileged import identity, protocol
from fswizard.privileged.protocol import Refusal
from fswizard.system import commands

State = Literal["root", "sudo", "sudo-asks", "pkexec", "unknown-caller", "none"]
READY = ("root", "sudo", "pkexec")
"""The helper can be started without a question on the terminal."""
NO_WAY = ("unknown-caller", "none")

INSTALLED = Path("/usr/libexec/fswizard/privileged")
"""Where a package or `make install-helper` puts a copy that nobody but root can change."""
FORMATTING = "Making and mounting filesystems"
WITHOUT_ROOT = (
    "Directories on filesystems that are mounted already need no root: choose such a target (--target dir:PATH,PATH)."
)


REASONS: Mapping[State, str] = {
    "root": "as root, who started fswizard",
    "sudo": "with sudo, which needs no password now",
    "sudo-asks": "with sudo, which asks for your password once",
    "pkexec": "with pkexec, which asks in a window; sudo is not installed",
    "unknown-caller": "not at all: fswizard runs as root for somebody else; start it as yourself",
    "none": "not at all: sudo is not installed, nor pkexec in a desktop session",
}
"""How the helper gets root's rights, and why so."""
AS_YOURSELF = "Start fswizard as yourself: it calls sudo or pkexec where it needs root."


@dataclass(frozen=True, slots=True)
class HelperSource:
    """The copy of the helper that root would run."""

    path: Path
    trusted: bool
    """Nobody but root can change it. Else whoever can change this program's files can become root with it."""


def state() -> State:
    """`sudo` works without a question, `sudo-asks` may want a password, `pkexec` asks in a window of the desktop's.

    `unknown-caller` is root whom sudo, su or doas made of somebody else: the helper would not know whom it works for.
    """
    if os.geteuid() == 0:
        return "unknown-caller" if _who_else() else "root"
    if commands.find("sudo") is None:
        in_window = bool(os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY"))
        return "pkexec" if in_window and commands.find("pkexec") else "none"
    try:
        works = commands.query(["sudo", "-n", "unshare", "--version"]).exit_code == 0
    except RunFailed:
        works = False
    return "sudo" if works else "sudo-asks"


def authorise(purpose: str = FORMATTING, otherwise: str = WITHOUT_ROOT) -> State:
    """Let sudo ask for the password on the terminal, where that is needed, and tell how the helper will be started.

    Missing where root cannot be had. Call it only while no full screen is open, or inside `App.suspend()`. The helper
    lives as long as the run, so sudo's ticket may run out meanwhile.
    """
    found = state()
    if found == "sudo-asks" and sys.stdin.isatty() and commands.attend(["sudo", "-v"]) == 0:
        found = state()
    if found not in READY:
        raise missing(found, purpose, otherwise)
    return found


def missing(found: State, purpose: str = FORMATTING, otherwise: str = WITHOUT_ROOT) -> Missing:
    """Says which right is missing for what, and what works without it."""
    if found == "sudo-asks":
        return Missing(
            f"{purpose} needs root, and sudo did not give it.",
            f"Run `sudo -v` in this terminal first, or log in as root. {otherwise}",
        )
    if found == "unknown-caller":
        return Missing(
            f"{purpose} needs root, and fswizard runs as root for somebody else.", f"{AS_YOURSELF} {otherwise}",
            _who_else(),
        )  # fmt: skip
    return Missing(
        f"{purpose} needs root, and sudo is not installed.",
        f"Install sudo, or log in as root and start fswizard there. {otherwise}",
    )


def _who_else() -> str:
    """What the helper would say against this process as its caller; empty for nothing."""
    try:
        identity.invoking_person({})
    except Refusal as refusal:
        return refusal.text
    return ""


def privileged_path() -> HelperSource:
    """The installed copy where it is root's alone and speaks our protocol, else the one of this package."""
    if is_roots_alone(INSTALLED) and protocol_version(INSTALLED) == protocol.VERSION:
        return HelperSource(INSTALLED, trusted=True)
    own = Path(privileged.__file__).resolve().parent
    return HelperSource(own, is_roots_alone(own))


def is_roots_alone(directory: Path) -> bool:
    """Nobody but root can change anything in `directory`, or put another in its place."""
    try:
        return all(_is_roots(path) for path in (*directory.rglob("*"), directory, *directory.parents))
    except OSError:
        return False


def protocol_version(directory: Path) -> int | None:
    """The protocol that the helper in `directory` speaks; None where it does not say."""
    try:
        text = (directory / "protocol.py").read_text("utf-8")
    except (OSError, ValueError):
        return None
    match = re.search(r"^VERSION = (\d+)$", text, re.MULTILINE)
    return int(match[1]) if match else None


def python() -> str:
    """The interpreter for root: the system's where it is new enough, since a user's own is the user's to change."""
    for path in ("/usr/bin/python3", sys.executable):
        check = [path, "-I", "-S", "-c", "import sys; sys.exit(sys.version_info < (3, 10))"]
        if Path(path).exists() and commands.query(check).exit_code == 0:
            return path
    raise Missing("No Python 3.10 or later was found for the privileged helper.")


def _is_roots(path: Path) -> bool:
    status = path.lstat()
    sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
    writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid == 0 and not stat.S_ISLNK(status.st_mode) and (not writable or bool(sticky))
