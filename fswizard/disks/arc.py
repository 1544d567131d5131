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

PARAMETERS = "/sys/module/zfs/parameters"
STATISTICS = "/proc/spl/kstat/zfs/arcstats"
FILE = "/run/fswizard.arc"
LEAST_MAXIMUM_BYTES = 64 << 20
LEAST_MINIMUM_BYTES = 32 << 20
"""The module passes over smaller ones (arc_tuning_update in module/zfs/arc.c), and a maximum below the minimum."""


class Arc:
    """The ARC, as far as this run holds it down."""

    def __init__(self, parameters: str = PARAMETERS, statistics: str = STATISTICS, file: str = FILE) -> None:
        self._parameters = Path(parameters)
        self._statistics = Path(statistics)
        self._file = file
        self._descriptor = -1
        self._holders = 0

    def hold(self, memory_bytes: int) -> None:
        """Until `release` was called as often; nothing where there is no ZFS, or another run holds it already."""
        self._holders += 1
        with contextlib.suppress(OSError, KeyError, ValueError):
            if self._descriptor < 0 and (self._parameters / "zfs_arc_max").exists():
                self._descriptor = self._kept()
                self._set(max(memory_bytes, LEAST_MAXIMUM_BYTES), LEAST_MINIMUM_BYTES)

    def release(self) -> None:
        """Put back what was, once nobody holds it any more."""
        self._holders -= 1
        if self._holders == 0:
            self.end()

    def end(self) -> None:
        """Put back what was, whoever holds it."""
        if self._descriptor < 0:
            return
        with contextlib.suppress(OSError, ValueError):
            maximum, minimum, *parameters = map(int, os.pread(self._descriptor, 4096, 0).split())
            self._write("zfs_arc_max", maximum)
            self._set(maximum, minimum)
            self._set(*parameters)
            os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)
        self._descriptor = -1

    def _kept(self) -> int:
        """The locked file with the limits as they were: those that a killed run noted, where it left them."""
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_size == 0:
                os.pwrite(descriptor, " ".join(map(str, self._now())).encode(), 0)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _now(self) -> tuple[int, int, int, int]:
        """Maximum and minimum that are in force, then the two parameters."""
        lines = (line.split() for line in self._statistics.read_text("ascii").splitlines())
        figures = {words[0]: words[2] for words in lines if len(words) == 3}
        maximum, minimum = (int((self._parameters / name).read_text()) for name in ("zfs_arc_max", "zfs_arc_min"))
        return int(figures["c_max"]), int(figures["c_min"]), maximum, minimum

    def _set(self, maximum: int, minimum: int) -> None:
        """The minimum first: the module passes over a maximum below it."""
        self._write("zfs_arc_min", minimum)
        self._write("zfs_arc_max", maximum)

    def _write(self, name: str, value: int) -> None:
        (self._parameters / name).write_text(f"{value}\n")
