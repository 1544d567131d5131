"""Which of root's rights can be had, and how: directly, through sudo or pkexec, or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from fswizard.errors import Missing, Refused, RunFailed
from fswizard.language import N_, _
from fswizard.model.plan import Plan
from fswizard.model.text import safe, safe_lines
from fswizard.privileged import identity, rights
from fswizard.privileged.protocol import Refusal
from fswizard.system import commands
from fswizard.targets import helper_copy

State = Literal[
    "udisks",
    "root",
    "sudo",
    "sudo-asks",
    "sudo-refuses",
    "pkexec",
    "unknown-caller",
    "wrong-helper",
    "unreadable-helper",
    "none",
]
READY = ("root", "sudo", "pkexec")
"""The helper can be started without a question on the terminal; `udisks` is that it is not needed."""
NO_WAY: tuple[State, ...] = ("sudo-refuses", "unknown-caller", "wrong-helper", "unreadable-helper", "none")


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
    rights.IMAGES, N_("Making and mounting filesystems"),
    N_("Comparing directories on mounted filesystems needs no root: --target dir:PATH,PATH."),
)  # fmt: skip
ERASE = Purpose(
    rights.ERASE, N_("Erasing a disk"),
    N_("A scratch image (--target image:SIZE@DIR) erases nothing, and directories (--target "
"dir:PATH,PATH) need no root."),
)  # fmt: skip
ERASE_UNATTENDED = replace(
    ERASE, right=rights.ERASE_UNATTENDED, text=N_("Erasing a disk without a terminal to confirm it on")
)
SET_UP = Purpose(rights.SET_UP, N_("Setting a disk up"), N_("The script does the same: read it, and have root run it."))
PURPOSES = (IMAGES, ERASE, SET_UP)


def purpose(plan: Plan) -> Purpose:
    """What the helper is started for to carry out `plan`."""
    if plan.target.kind != "device":
        return IMAGES
    if way() != "sudo":
        return ERASE
    if not sys.stdin.isatty():
        return ERASE_UNATTENDED
    return replace(ERASE, devices=tuple(member.number for member in plan.target.members))


def to_set_up(number: str) -> Purpose:
    """What the helper is started for to set up the device `major:minor`."""
    return replace(SET_UP, devices=(number,)) if way() == "sudo" else SET_UP


REASONS: Mapping[State, str] = {
    "udisks": N_("not needed for scratch images: udisks2 attaches and mounts them"),
    "root": N_("as root, who started fswizard"),
    "sudo": N_("with sudo, which needs no password now"),
    "sudo-asks": N_("with sudo, which asks for your password once"),
    "sudo-refuses": N_("none, as sudo doesn't let you start it"),
    "pkexec": N_("with pkexec, which asks in a window; sudo is not installed"),
    "unknown-caller": N_("none, as fswizard runs as root for somebody else: start it as yourself"),
    "wrong-helper": N_("none, as the installed helper is not this version's: `fswizard install-helper` renews it"),
    "unreadable-helper": N_("none, as root can't read fswizard here: `fswizard install-helper` gives root a copy"),
    "none": N_("none, as sudo is not installed, nor pkexec in a desktop session"),
}
"""How the helper gets root's rights, and why so."""
LOG_IN = N_("Log in directly as root (su is not enough), or have sudo installed and your account allowed to use it.")


def state(needed: Purpose = IMAGES) -> State:
    """`sudo` works without a question, `sudo-asks` may want a password, and `sudo-refuses` will have none.

    `pkexec` asks in a window of the desktop's. `unknown-caller` is root whom sudo, su or doas made of somebody else:
    the helper would not know whom it works for. `wrong-helper` is installed, and must not be used. `unreadable-helper`
    lies in a home that even root cannot read. sudo is asked by really starting the helper, which ends at once: it may
    allow one right and not another.
    """
    by = way()
    if by != "sudo":
        return by
    helper = helper_copy.command(needed.right)
    try:
        tried = commands.query(["sudo", "-n", "--", *helper])
        if tried.exit_code == 0 or tried.stderr.startswith(b"unshare"):  # a right that root may lack in a container
            return "sudo"
        if helper_copy.UNREADABLE in tried.stderr:
            return "unreadable-helper"
        allowed = commands.query(["sudo", "-n", "-l", "--", *helper])
    except RunFailed:
        return "sudo-asks"
    return "sudo-refuses" if allowed.exit_code and not allowed.stderr else "sudo-asks"


def way() -> State:
    """`sudo` where it is installed, whatever it allows."""
    if os.geteuid() == 0 and _who_else():
        return "unknown-caller"
    if helper_copy.fault():
        return "wrong-helper"
    if os.geteuid() == 0:
        return "root"
    if commands.find("sudo"):
        return "sudo"
    in_window = bool(os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY"))
    return "pkexec" if in_window and commands.find("pkexec") else "none"


def authorise(needed: Purpose = IMAGES) -> State:
    """Let sudo ask for the password on the terminal, where that is needed; returns how the helper will be started.

    Before it asks, standard error says what for. Where devices must be confirmed, the helper asks there, too. Missing
    where root cannot be had, and Refused where the user says no. Call it only while no full screen is open, or inside
    `App.suspend()`. The helper lives as long as the run, so sudo's ticket may run out meanwhile.
    """
    current = state(needed)
    if current in READY or sys.stdin.isatty():
        _warn(warning(current))
    if current == "sudo-asks" and (needed.devices or sys.stdin.isatty()):
        asks = N_("{what} needs root: sudo asks for your password.")
        and_then = N_("{what} needs root: sudo asks for your password, and then the helper asks whether to erase.")
        _say(_(and_then if needed.devices else asks, what=_(needed.text)))
    if current == "pkexec":
        _say(
            _(
                "{what} needs root: pkexec asks for your password in a window, which opens in some seconds.",
                what=_(needed.text),
            )
        )
    if needed.devices and current in ("sudo", "sudo-asks"):
        _confirm(needed)
        current = state(needed)
    if current == "sudo-asks" and sys.stdin.isatty() and commands.attend(["sudo", "-v"]) == 0:
        current = state(needed)
    if current not in READY:
        raise missing(current, needed)
    return current


def starting() -> str:
    """What is waited for while the helper starts."""
    if way() == "pkexec":
        return _("waiting for pkexec's window, where you type your password")
    return _("starting the privileged helper")


def instead() -> str:
    """What to do where the helper doesn't know whom it works for."""
    known = commands.find("sudo") or commands.find("pkexec")
    return _("Start fswizard as yourself: it calls sudo or pkexec where it needs root.") if known else _(LOG_IN)


def warning(by: State) -> str:
    """What to know before root is had this way; empty for nothing, as where root is who started fswizard."""
    return helper_copy.warning() if by in ("sudo", "sudo-asks", "pkexec") else ""


@cache
def _warn(text: str) -> None:
    """Once is enough."""
    if text:
        _say(text)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _confirm(needed: Purpose) -> None:
    """sudo asks for the password first, where it has to; the helper writes to standard output why it got no yes."""
    done = commands.ask_user(["sudo", "--", *helper_copy.command(rights.CONFIRM, *needed.devices)])
    if done.exit_code:
        reason = safe_lines(done.stdout).strip()
        raise (
            Refused(_("Not erased: {reason}.", reason=reason), _("Nothing was changed."))
            if reason
            else missing("sudo-asks", needed)
        )


def missing(current: State, needed: Purpose = IMAGES) -> Missing:
    """Says which right is missing for what, and what works without it."""
    if current == "wrong-helper":
        text = _("{what} needs root, and the installed helper {fault}.", what=_(needed.text), fault=helper_copy.fault())
        return Missing(text, f"{helper_copy.remedy()} {_(needed.otherwise)}")
    allow = _how_to_allow(needed)
    if current.startswith("sudo") and needed == ERASE_UNATTENDED:
        return Missing(
            _("{what} needs a rule of its own in sudoers.", what=_(needed.text)),
            f"{_('Start fswizard in a terminal, or have root {allow}.', allow=allow)} {_(needed.otherwise)}",
        )
    asked = (_("sudo did not give it"), _("Try again with your own password, or log in as root."))
    if not sys.stdin.isatty():
        asked = (_("there is no terminal where sudo could ask for your password"),
                 _("Start fswizard in a terminal, or have root {allow}.", allow=allow))  # fmt: skip
    reasons: Mapping[State, tuple[str, str]] = {
        "sudo-refuses": (_("sudo doesn't let you start the helper"), _("Have root {allow}.", allow=allow)),
        "sudo-asks": asked,
        "unknown-caller": (_("fswizard runs as root for somebody else"), instead()),
        "unreadable-helper": (
            _("root can't read {package}", package=safe(str(helper_copy.PACKAGE))),
            _("`fswizard install-helper` gives root a copy of its own."),
        ),
        "none": (_("sudo is not installed"), _(LOG_IN)),
    }
    reason, hint = reasons.get(current, reasons["none"])
    details = _who_else() if current == "unknown-caller" else ""
    return Missing(
        _("{what} needs root, and {reason}.", what=_(needed.text), reason=reason),
        f"{hint} {_(needed.otherwise)}",
        details,
    )


def _how_to_allow(needed: Purpose) -> str:
    """What root does so that sudo asks for no password; only ever for a helper that the user cannot change."""
    allow = N_("allow `{command}` in sudoers (NOPASSWD)")
    install = N_("run `fswizard install-helper` and allow `{command}` in sudoers (NOPASSWD)")
    message = install if helper_copy.path() == helper_copy.PACKAGE else allow
    return _(message, command=helper_copy.installed_command(needed.right))


def _who_else() -> str:
    """What the helper would say against this process as its caller; empty for nothing."""
    try:
        identity.invoking_user({})
    except Refusal as refusal:
        return refusal.text
    return ""
