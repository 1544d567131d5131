"""Limit the size of the ARC, the page cache of ZFS, while a pool of this run is mounted.

All pools of a machine share one ARC, and no cgroup accounts for it. The previous limits are saved in a file that only
root can open and that is locked while a run limits the ARC. After a SIGKILL, the next run that limits it restores them.

A parameter of 0 means the module's default, which cannot be restored while the module is loaded (zfs(4), zfs_arc_max).
Therefore the effective limits are set first, then the parameters as they read before.
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
"""The module ignores smaller values, and a maximum below the minimum (arc_tuning_update in module/zfs/arc.c)."""


class Arc:
    """The memory limit that this run puts on the ARC."""

    def __init__(self) -> None:
        self._descriptor = -1
        """Descriptor of the locked `FILE` while the limit is in force, else -1."""

    def hold(self, memory_bytes: int) -> None:
        """Limit the ARC until `end`. Does nothing if another run limits it, or if that is impossible."""
        with contextlib.suppress(OSError, LookupError, ValueError), contextlib.ExitStack() as undo:
            file = os.open(FILE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            undo.callback(os.close, file)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file).st_size == 0:  # otherwise a killed run saved them, and its own limits are still in force
                lines = map(str.split, STATISTICS.read_text("ascii").splitlines())
                in_force = {fields[0]: fields[-1] for fields in lines if fields}
                saved = [in_force["c_max"], in_force["c_min"]]
                saved += [(PARAMETERS / name).read_text().strip() for name in ("zfs_arc_max", "zfs_arc_min")]
                os.pwrite(file, " ".join(saved).encode(), 0)
            undo.pop_all()
            self._descriptor = file
            _set(max(memory_bytes, LEAST_MAXIMUM_BYTES), LEAST_MINIMUM_BYTES)

    def end(self) -> None:
        """Restore the previous limits."""
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


def _set(maximum: int, minimum: int) -> None:
    """Set both limits, the minimum first, as the module ignores a maximum below it."""
    _write("zfs_arc_min", minimum)
    _write("zfs_arc_max", maximum)


def _write(parameter: str, value: int) -> None:
    (PARAMETERS / parameter).write_text(f"{value}\n")
