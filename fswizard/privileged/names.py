"""Names of pools, arrays and cgroups, which the kernel keeps when a helper dies: locked while their helper lives.

A name is a byte of a file that only root can open. The kernel gives its lock back with the helper, however that ends;
what the helper started does not inherit it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
from collections.abc import Iterator

from fswizard.privileged.protocol import Refusal

NAME = re.compile(r"fswizard-[0-9a-f]{16}")
FILE = "/run/fswizard.names"


def new() -> str:
    return f"fswizard-{os.urandom(8).hex()}"


def require(name: str) -> None:
    """Refusal where it is not a run's."""
    if not NAME.fullmatch(name):
        raise Refusal("refused", f"{name!r:.40} is not the name of a run")


class Names:
    """Those that this helper holds."""

    def __init__(self, file: str = FILE) -> None:
        self._file = file
        self._descriptor = -1
        self._held: set[str] = set()

    def hold(self, name: str) -> None:
        """Until `release`, or until the helper is gone; Refusal where it is not a run's."""
        require(name)
        self._lock(name)
        self._held.add(name)

    def release(self, name: str) -> None:
        """Also of one that is not held."""
        if name in self._held:
            self._held.remove(name)
            self._unlock(name)

    @contextlib.contextmanager
    def reclaiming(self, name: str) -> Iterator[None]:
        """Nobody else takes the name meanwhile; Refusal where a helper that is alive holds it, this one too."""
        require(name)
        if name in self._held:
            raise _in_use(name)
        self._lock(name)
        try:
            yield
        finally:
            self._unlock(name)

    def _lock(self, name: str) -> None:
        if self._descriptor < 0:
            self._descriptor = _opened(self._file)
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _byte(name))
        except (BlockingIOError, PermissionError) as error:  # fcntl(2): either of them
            raise _in_use(name) from error

    def _unlock(self, name: str) -> None:
        fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, _byte(name))


def _in_use(name: str) -> Refusal:
    return Refusal("busy", f"{name} belongs to an fswizard that is running; wait until it has ended")


def _byte(name: str) -> int:
    """The number that the name is, as far as a file may reach."""
    return int(name.rpartition("-")[2], 16) >> 1


def _opened(file: str) -> int:
    """Never closed: the kernel would give back all locks with it."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) != 0o600:
        os.close(descriptor)
        raise Refusal("refused", f"{file} is not root's alone")
    return descriptor
