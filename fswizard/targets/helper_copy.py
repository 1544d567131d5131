"""Which copy of the helper root runs: the installed one, which root alone can change, or that of this package."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fswizard import privileged
from fswizard.errors import Missing, Refused
from fswizard.language import N_, _
from fswizard.model.text import safe_lines
from fswizard.privileged import rights
from fswizard.privileged.install import INSTALLED, OTHERS, PROGRAM, files_in
from fswizard.privileged.protocol import Refusal
from fswizard.system import commands, programs

PACKAGE = Path(privileged.__file__).resolve().parent
SYSTEM_PYTHON = "/usr/bin/python3"
PYTHON_OPTIONS = ("-I", "-S", "-B", "-X", "utf8")
UNREADABLE = b"can't open file"
"""What Python says of a program that it cannot read, as root in homes on a network or in a FUSE."""
_TAKES_ROOT = {
    rights.INSTALL: N_("To install {path} takes root: {question}"),
    rights.REMOVE: N_("To remove {path} takes root: {question}"),
}
PASSWORDS = {"sudo": N_("sudo may ask for your password."), "su": N_("su asks for root's password.")}


def path() -> Path:
    """The installed copy where there is one; use it only where `fault` finds none."""
    return INSTALLED if os.path.lexists(INSTALLED) else PACKAGE


def fault() -> str:
    """Why the copy that is installed must not be used, as what it is; empty where it can be, or none is installed."""
    if path() == PACKAGE:
        return ""
    if not is_roots_alone(INSTALLED):
        return _("can be changed by other accounts")
    try:
        same = files_in(INSTALLED) == files_in(PACKAGE)
    except (OSError, Refusal):
        same = False
    return "" if same else _("does not belong to this version of fswizard")


def warning() -> str:
    """What to know before a password is typed; empty where root alone can change what root runs."""
    if is_roots_alone(path()):
        return ""
    return _(
        "Root runs this copy of fswizard, which your account can change; `fswizard install-helper` gives "
        "root a copy of its own."
    )


def is_roots_alone(directory: Path) -> bool:
    """Nobody but root can change anything in `directory`, or put another in its place."""
    try:
        return all(_is_roots(path) for path in (*directory.rglob("*"), directory, *directory.parents))
    except OSError:
        return False


def command(*words: str) -> tuple[str, ...]:
    """The helper's command line for a right, as sudoers and polkit see it: short for the installed copy."""
    source, interpreter = path(), python()
    program = source / PROGRAM
    if source == INSTALLED and interpreter == SYSTEM_PYTHON and os.access(program, os.X_OK):
        return (str(program), *words)
    return (interpreter, *PYTHON_OPTIONS, str(program), *words)


def installed_command(right: str) -> str:
    """What root may allow in sudoers without a password, as the user cannot change it."""
    return f"{INSTALLED / PROGRAM} {right}"


def python() -> str:
    """The interpreter for root: the system's where it is new enough, since a user's own is the user's to change."""
    for path in (SYSTEM_PYTHON, sys.executable):
        check = [path, "-I", "-S", "-c", "import sys; sys.exit(sys.version_info < (3, 10))"]
        if Path(path).exists() and commands.query(check, timeout_s=60).exit_code == 0:
            return path
    raise Missing(_("No Python 3.10 or later was found for the privileged helper."))


def remedy() -> str:
    """What to do about a `fault`."""
    if owner := programs.owner_of(INSTALLED / PROGRAM):
        return _(
            "It came with the package {owner}: install that package and this fswizard in the same version.", owner=owner
        )
    return _("`fswizard install-helper` renews it, and `fswizard install-helper --remove` removes it.")


def install() -> None:
    """Give root a copy of this package's helper; Missing without root, Refused where that would not be safe."""
    _have_root(rights.INSTALL)


def remove() -> None:
    """Leave nothing of that copy; as `install`."""
    _have_root(rights.REMOVE)


def _have_root(what: str) -> None:
    if owner := programs.owner_of(INSTALLED / PROGRAM):
        raise Refused(
            _("The package {owner} brought the installed helper.", owner=owner),
            _("Update or remove that package instead."),
        )
    if question := PASSWORDS.get(programs.way_to_root()):
        print(
            _(_TAKES_ROOT[what], path=INSTALLED, question=_(question)),
            file=sys.stderr,
            flush=True,
        )
    with _readable_by_root() as source:
        done = commands.ask_user(programs.as_root((python(), *PYTHON_OPTIONS, str(source / PROGRAM), what)))
    if reason := safe_lines(done.stdout).strip():
        raise Refused(
            _("Nothing was done: {reason}.", reason=reason), _("Find out why: only root should be able to change it.")
        )
    if done.exit_code:
        raise Missing(_("Root's rights were not given."), _("Log in as root and run the same command there."))


@contextmanager
def _readable_by_root() -> Iterator[Path]:
    """This package's helper; where it is the user's, a copy of it, as root may be unable to read the user's home."""
    if is_roots_alone(PACKAGE):
        yield PACKAGE
        return
    with tempfile.TemporaryDirectory(prefix="fswizard-helper-") as directory:
        os.chmod(directory, 0o755)
        copy = Path(directory, *privileged.__name__.split("."))
        yield shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))


def _is_roots(path: Path) -> bool:
    status = path.lstat()
    sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
    writable = status.st_mode & OTHERS
    return status.st_uid == 0 and not stat.S_ISLNK(status.st_mode) and (not writable or bool(sticky))
