"""Which of root's rights can be had, and how: directly, through sudo or pkexec, or not at all."""

from __future__ import annotations

import os
import re
import shlex
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from fswizard import privileged
from fswizard.errors import Missing, Refused, RunFailed
from fswizard.model.plan import Plan
from fswizard.model.text import safe_lines
from fswizard.privileged import identity, protocol, rights
from fswizard.privileged.protocol import Refusal
from fswizard.system import commands

State = Literal["root", "sudo", "sudo-asks", "sudo-refuses", "pkexec", "unknown-caller", "none"]
READY = ("root", "sudo", "pkexec")
"""The helper can be started without a question on the terminal."""
NO_WAY: tuple[State, ...] = ("sudo-refuses", "unknown-caller", "none")

INSTALLED = Path("/usr/libexec/fswizard/privileged")
"""Where a package or `make install-helper` puts a copy that nobody but root can change."""
SYSTEM_PYTHON = "/usr/bin/python3"
PYTHON_OPTIONS = ("-I", "-S", "-B", "-X", "utf8")


@dataclass(frozen=True, slots=True)
class Purpose:
    """What one of the helper's rights is needed for."""

    right: str
    """As `privileged.rights` names it."""
    text: str
    """The beginning of a sentence."""
    otherwise: str
    """What works without."""
    devices: tuple[str, ...] = ()
    """Those that the user must confirm on the terminal, `major:minor` each."""


IMAGES = Purpose(
    rights.IMAGES, "Making and mounting filesystems",
    "Directories on filesystems that are mounted already need no root: choose such a target (--target dir:PATH,PATH).",
)  # fmt: skip
PROBE = Purpose(rights.PROBE, "Writing to a device", "Probing a directory on the disk needs no root.")
ERASE = Purpose(
    rights.ERASE, "Erasing a disk",
    "A scratch image (--target image:SIZE@DIR) erases nothing, and directories (--target dir:PATH,PATH) need no root.",
)  # fmt: skip
ERASE_UNATTENDED = replace(
    ERASE, right=rights.ERASE_UNATTENDED, text="Erasing a disk without a terminal to confirm it on"
)
PURPOSES = (IMAGES, PROBE, ERASE)


def purpose(plan: Plan) -> Purpose:
    """What the helper is started for to carry out `plan`."""
    if plan.target.kind != "device":
        return IMAGES
    if way() != "sudo":
        return ERASE
    if not sys.stdin.isatty():
        return ERASE_UNATTENDED
    return replace(ERASE, devices=tuple(member.number for member in plan.target.members))


REASONS: Mapping[State, str] = {
    "root": "as root, who started fswizard",
    "sudo": "with sudo, which needs no password now",
    "sudo-asks": "with sudo, which asks for your password once",
    "sudo-refuses": "not at all: sudo is not allowed to start it for you",
    "pkexec": "with pkexec, which asks in a window; sudo is not installed",
    "unknown-caller": "not at all: fswizard runs as root for somebody else; start it as yourself",
    "none": "not at all: sudo is not installed, nor pkexec in a desktop session",
}
"""How the helper gets root's rights, and why so."""
AS_YOURSELF = "Start fswizard as yourself: it calls sudo or pkexec where it needs root."


def state(needed: Purpose = IMAGES) -> State:
    """`sudo` works without a question, `sudo-asks` may want a password, and `sudo-refuses` will have none.

    `pkexec` asks in a window of the desktop's. `unknown-caller` is root whom sudo, su or doas made of somebody else:
    the helper would not know whom it works for. sudo is asked by really starting the helper, which ends at once: it may
    allow one right and not another.
    """
    by = way()
    if by != "sudo":
        return by
    helper = helper_command(needed.right)
    try:
        tried = commands.query(["sudo", "-n", "--", *helper])
        if tried.exit_code == 0 or tried.stderr.startswith(b"unshare"):  # a right that root may lack in a container
            return "sudo"
        allowed = commands.query(["sudo", "-n", "-l", "--", *helper])
    except RunFailed:
        return "sudo-asks"
    return "sudo-refuses" if allowed.exit_code and not allowed.stderr else "sudo-asks"


def way() -> State:
    """`sudo` where it is installed, whatever it allows."""
    if os.geteuid() == 0:
        return "unknown-caller" if _who_else() else "root"
    if commands.find("sudo"):
        return "sudo"
    in_window = bool(os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY"))
    return "pkexec" if in_window and commands.find("pkexec") else "none"


def authorise(needed: Purpose = IMAGES) -> State:
    """Let sudo ask for the password on the terminal, where that is needed; returns how the helper will be started.

    Where devices are to be confirmed, the helper asks there, too. Missing where root cannot be had, and Refused where
    the user says no. Call it only while no full screen is open, or inside `App.suspend()`. The helper lives as long as
    the run, so sudo's ticket may run out meanwhile.
    """
    current = state(needed)
    if needed.devices and current in ("sudo", "sudo-asks"):
        _confirm(needed)
        current = state(needed)
    if current == "sudo-asks" and sys.stdin.isatty() and commands.attend(["sudo", "-v"]) == 0:
        current = state(needed)
    if current not in READY:
        raise missing(current, needed)
    return current


def _confirm(needed: Purpose) -> None:
    """sudo asks for the password first, where it has to; the helper writes to standard output why it got no yes."""
    done = commands.ask_user(["sudo", "--", *helper_command(rights.CONFIRM, *needed.devices)])
    if done.exit_code:
        reason = safe_lines(done.stdout).strip()
        raise Refused(f"Not erased: {reason}.", "Nothing was changed.") if reason else missing("sudo-asks", needed)


def missing(current: State, needed: Purpose = IMAGES) -> Missing:
    """Says which right is missing for what, and what works without it."""
    allow = f"allow `{shlex.join(helper_command(needed.right))}` in sudoers" if current.startswith("sudo") else ""
    if allow and needed == ERASE_UNATTENDED:
        return Missing(
            f"{needed.text} needs a rule of its own in sudoers.",
            f"Start fswizard in a terminal, or {allow}. {needed.otherwise}",
        )
    reasons: Mapping[State, tuple[str, str]] = {
        "sudo-refuses": ("sudo is not allowed to start it for you", f"Root can {allow}."),
        "sudo-asks": ("sudo did not give it", "Run `sudo -v` in this terminal first, or log in as root."),
        "unknown-caller": ("fswizard runs as root for somebody else", AS_YOURSELF),
        "none": ("sudo is not installed", "Install sudo, or log in as root and start fswizard there."),
    }
    reason, hint = reasons.get(current, reasons["none"])
    details = _who_else() if current == "unknown-caller" else ""
    return Missing(f"{needed.text} needs root, and {reason}.", f"{hint} {needed.otherwise}", details)


def _who_else() -> str:
    """What the helper would say against this process as its caller; empty for nothing."""
    try:
        identity.invoking_user({})
    except Refusal as refusal:
        return refusal.text
    return ""


def privileged_path() -> Path:
    """The installed copy where it is root's alone and speaks our protocol, else the one of this package.

    Whoever can change this program's files can become root with the latter.
    """
    if is_roots_alone(INSTALLED) and protocol_version(INSTALLED) == protocol.VERSION:
        return INSTALLED
    return Path(privileged.__file__).resolve().parent


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


def helper_command(*words: str) -> tuple[str, ...]:
    """The helper's command line for a right, as sudoers and polkit see it: short for the installed copy."""
    source, interpreter = privileged_path(), python()
    program = source / "__main__.py"
    if source == INSTALLED and interpreter == SYSTEM_PYTHON and os.access(program, os.X_OK):
        return (str(program), *words)
    return (interpreter, *PYTHON_OPTIONS, str(program), *words)


def python() -> str:
    """The interpreter for root: the system's where it is new enough, since a user's own is the user's to change."""
    for path in (SYSTEM_PYTHON, sys.executable):
        check = [path, "-I", "-S", "-c", "import sys; sys.exit(sys.version_info < (3, 10))"]
        if Path(path).exists() and commands.query(check, timeout_s=60).exit_code == 0:
            return path
    raise Missing("No Python 3.10 or later was found for the privileged helper.")


def _is_roots(path: Path) -> bool:
    status = path.lstat()
    sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
    writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid == 0 and not stat.S_ISLNK(status.st_mode) and (not writable or bool(sticky))
