"""Puts the helper where nobody but root can change it, and takes it away again.

`__main__.py install` copies the files beside this one, and `__main__.py remove` leaves nothing of them. Whoever starts
a helper meanwhile finds the old one or the new one, whole: the new one is written under another name, then renamed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from fswizard.privileged.identity import ROOT
from fswizard.privileged.protocol import Refusal
from fswizard.privileged.system_calls import closing

INSTALLED = Path("/usr/libexec/fswizard/privileged")
"""Packages of distributions put it there, too."""
PROGRAM = "__main__.py"
POLICY = "org.fswizard.policy"
POLICIES = Path("/usr/share/polkit-1/actions")
"""Where polkit looks for actions."""
MAXIMUM_BYTES = 1 << 20
"""No file of the helper is larger."""
OTHERS = stat.S_IWGRP | stat.S_IWOTH
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def files_in(directory: Path) -> dict[str, bytes]:
    """The helper's own files in `directory`, by name; OSError where one cannot be read, Refusal for no file."""
    return {path.name: _read(path) for path in sorted(directory.glob("*.py"))}


def install(source: Path = Path(__file__).parent, root: Path = Path("/")) -> None:
    """Copy the helper from `source`; Refusal where somebody else could change a directory that it would lie in."""
    programs, policy = files_in(source), _read(source / POLICY)
    with _held(root, INSTALLED.parent) as place:
        new, old = place / ".new", place / ".old"
        _discard(new, old)
        new.mkdir(0o700)
        for name, text in programs.items():
            _write(new / name, text, 0o755 if name == PROGRAM else 0o644)
        new.chmod(0o755)
        with contextlib.suppress(FileNotFoundError):
            (place / INSTALLED.name).rename(old)
        new.rename(place / INSTALLED.name)
        _discard(old)
    with _held(root, POLICIES) as place:
        new = place / f".{POLICY}.new"
        _discard(new)
        _write(new, policy, 0o644)
        new.rename(place / POLICY)


def remove(root: Path = Path("/")) -> None:
    """Leave nothing of it, and no directory that is empty without it."""
    for path in (INSTALLED, POLICIES / POLICY):
        there = root / path.relative_to("/")
        if not there.parent.is_dir():
            continue
        with _held(root, path.parent) as place:
            _discard(there, place / ".new", place / ".old", place / f".{POLICY}.new")
        with contextlib.suppress(OSError):  # the first that is not empty
            for directory in takewhile(root.__ne__, there.parents):
                directory.rmdir()


@contextlib.contextmanager
def _held(root: Path, directory: Path) -> Iterator[Path]:
    """`directory` below `root`, made where it is missing, while nobody else installs anything there.

    Refusal where a directory on the way is not root's alone: then its contents could be replaced.
    """
    path, place = root, os.open(root, _DIRECTORY)
    for name in directory.relative_to("/").parts:
        path /= name
        with closing(place):
            place = _below(place, path)
    with closing(place):
        fcntl.flock(place, fcntl.LOCK_EX)
        yield path
        os.fsync(place)


def _below(place: int, path: Path) -> int:
    """Descriptor of the directory `path`, which lies in the one that `place` is."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(path.name, 0o755, dir_fd=place)
    try:
        below = os.open(path.name, _DIRECTORY, dir_fd=place)
    except OSError as error:
        raise Refusal("refused", f"{path} isn't a directory: {error.strerror}") from None
    status = os.fstat(below)
    if status.st_uid != ROOT or status.st_mode & OTHERS:
        os.close(below)
        raise Refusal("refused", f"other accounts can change {path}")
    return below


def _read(path: Path) -> bytes:
    """A file as it is; a link would have root copy what its caller cannot read."""
    with closing(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)) as file:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAXIMUM_BYTES:
            raise Refusal("refused", f"{path} isn't one of the helper's files")
        return os.read(file, MAXIMUM_BYTES)


def _write(path: Path, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o600), "wb") as file:
        file.write(data)
        os.fchmod(file.fileno(), mode)
        file.flush()
        os.fsync(file.fileno())


def _discard(*paths: Path) -> None:
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
