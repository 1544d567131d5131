"""Where a workload runs: a candidate, mounted, with the means to run programs there as the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from fswizard.system.process import Process


class WorkloadContext(Protocol):
    """Everything that a workload may touch."""

    @property
    def directory(self) -> str:
        """The candidate's own directory, empty at the start of a cell, writable by the user.

        It may exist in the programs' mount namespace only: look into it through programs,
        or through `/proc/PID/cwd` of one that runs there.
        """
        ...

    @property
    def scratch(self) -> str:
        """A private directory outside what is measured, for job files and TMPDIR; visible from here too."""
        ...

    @property
    def devices(self) -> tuple[str, ...]:
        """Kernel names of the block devices below, whose /sys/class/block/NAME/stat count; empty if unknown."""
        ...

    @property
    def laid_out(self) -> set[str]:
        """Paths that workloads have made and left: below `directory` in this cell, below `scratch` in this run."""
        ...

    async def start(
        self, argv: Sequence[str], *, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> Process:
        """Start a program as the user, without capabilities; `cwd` defaults to `directory`."""
        ...

    async def remount(self) -> None:
        """Empty the candidate's caches: unmount and mount again, or what comes closest to it."""
        ...

    async def used_bytes(self) -> int | None:
        """Sync, and tell the room that is taken on the candidate's filesystem, its own structures included.

        None where others use it, too.
        """
        ...


def forget_cell(laid_out: set[str], scratch: str) -> None:
    """What was laid out on a candidate is gone with it; what lies in `scratch` stays for the next one."""
    laid_out.intersection_update([path for path in laid_out if path.startswith(f"{scratch}/")])
