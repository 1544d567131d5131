"""ZFS's own page cache, the ARC: held to a memory limit while a measured program runs on a pool of this run.

It is one for all pools of a machine, and no cgroup counts it. What its limits were is kept in a file that only root can
open, locked while a run holds the ARC down: after SIGKILL the next run that limits it puts them back.

A limit of 0 means the module's own, and cannot be set back to that while the module is loaded (zfs(4), zfs_arc_max):
so the limits that were in force are set, then the parameters as they read before.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

PARAMETERS = Path("/sys/module/zfs/parameters")
STATISTICS = Path("/proc/spl/kstat/zfs/arcstats")
FILE = "/run/fswizard.arc"
LEAST_MAXIMUM_BYTES = 64 << 20
LEAST_MINIMUM_BYTES = 32 << 20
"""The module passes over smaller ones (arc_tuning_update in module/zfs/arc.c), and a maximum below the minimum."""


class Arc:
    """The ARC, as far as this run holds it down."""

    def __init__(self) -> None:
        self._descriptor = -1
        """Of the locked file, while it does."""

    def hold(self, memory_bytes: int) -> None:
        """Until `end`; nothing where there is no ZFS, or where this run or another one holds it already."""
        if self._descriptor >= 0 or not (PARAMETERS / "zfs_arc_max").exists():
            return
        with contextlib.ExitStack() as undo, contextlib.suppress(OSError, KeyError, ValueError):
            file = os.open(FILE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            undo.callback(os.close, file)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file).st_size == 0:  # else a killed run has noted them, and left its own in force
                os.pwrite(file, " ".join(map(str, _in_force())).encode(), 0)
            self._descriptor = file
            undo.pop_all()
            _set(max(memory_bytes, LEAST_MAXIMUM_BYTES), LEAST_MINIMUM_BYTES)

    def end(self) -> None:
        """Put back what was."""
        if self._descriptor < 0:
            return
        with contextlib.suppress(OSError, ValueError):
            maximum, minimum, *parameters = map(int, os.pread(self._descriptor, 4096, 0).split())
            _write("zfs_arc_max", maximum)
            _set(maximum, minimum)
            _set(*parameters)
            os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)
        self._descriptor = -1


def _in_force() -> tuple[int, int, int, int]:
    """Maximum and minimum that are in force, then the two parameters."""
    lines = (line.split() for line in STATISTICS.read_text("ascii").splitlines())
    figures = {words[0]: words[2] for words in lines if len(words) == 3}
    maximum, minimum = (int((PARAMETERS / name).read_text()) for name in ("zfs_arc_max", "zfs_arc_min"))
    return int(figures["c_max"]), int(figures["c_min"]), maximum, minimum


def _set(maximum: int, minimum: int) -> None:
    """The minimum first: the module passes over a maximum below it."""
    _write("zfs_arc_min", minimum)
    _write("zfs_arc_max", maximum)


def _write(parameter: str, value: int) -> None:
    (PARAMETERS / parameter).write_text(f"{value}\n")
