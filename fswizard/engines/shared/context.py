"""The environment of an engine: a mounted candidate, a way to run programs there as the user, and possible errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from fswizard.language import _
from fswizard.system.process import Process

MIB, GIB, TIB = 1 << 20, 1 << 30, 1 << 40
BareDevice = Callable[[Callable[[str], tuple[str, ...]], int], Awaitable[Process]]
"""Starts a command, which gets the path of a device without a filesystem and writes at most that many bytes."""


class WorkloadFailed(Exception):
    """The candidate could not do the work."""

    def __init__(self, kind: str, text: str, details: str = "") -> None:
        """`kind`: `ENOSPC`, `EIO`, `EROFS`, `timed-out`, `program`."""
        super().__init__(text)
        self.kind, self.text, self.details = kind, text, details


class WorkloadDisturbed(Exception):
    """Someone killed or stopped a measured program: the round does not count, and no candidate is to blame."""

    def __init__(self, program: str, signal: str = "") -> None:
        """`signal`: name of the signal that killed it; empty if it was stopped."""
        killed = _("{program} was killed ({signal})", program=program, signal=signal)
        super().__init__(killed if signal else _("{program} was stopped (SIGSTOP)", program=program))
        self.program, self.signal = program, signal


class WorkloadContext(Protocol):
    """Everything that a workload may touch."""

    @property
    def directory(self) -> str:
        """Directory on the candidate, empty at the start of a cell, writable by the user.

        It may exist only in the mount namespace of the programs: use programs to access it, or `/proc/PID/cwd` of a
        program that runs there.
        """

    scratch: str
    """A private directory outside the candidate, for job files and TMPDIR, accessible to this process, too."""

    @property
    def devices(self) -> tuple[str, ...]:
        """Kernel names of the underlying block devices, for /sys/class/block/NAME/stat; empty if unknown."""

    laid_out: set[str]
    """Paths created by workloads that still exist: below `directory` in this cell, below `scratch` in this run."""

    async def start(self, argv: Sequence[str], *, env: Mapping[str, str], limited: bool = False) -> Process:
        """Start a program as the user, without capabilities, in `directory`.

        A `limited` program gets the plan's memory limit, if the machine supports one: for measured, buffered I/O.
        """

    async def remount(self) -> None:
        """Empty the candidate's caches by unmounting and mounting again, or by the closest alternative."""

    async def used_bytes(self) -> int | None:
        """Sync, and return the space used on the candidate's filesystem, metadata included; None if others use it,
        too."""


def forget_cell(laid_out: set[str], scratch: str) -> None:
    """Forget paths on a candidate that is gone; those in `scratch` remain for the next one."""
    laid_out.intersection_update([path for path in laid_out if path.startswith(f"{scratch}/")])
