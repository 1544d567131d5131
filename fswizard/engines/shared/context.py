"""What an engine works with: a mounted candidate, a way to run programs there as the user, and what can go wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fswizard.language import _
from fswizard.system.process import Process

MIB, GIB, TIB = 1 << 20, 1 << 30, 1 << 40


class WorkloadFailed(Exception):
    """The candidate could not do the work."""

    def __init__(self, kind: str, text: str, details: str = "") -> None:
        super().__init__(text)
        self.kind = kind
        """`ENOSPC`, `EIO`, `EROFS`, `timed-out`, `program`."""
        self.text = text
        self.details = details


class WorkloadDisturbed(Exception):
    """Somebody killed or stopped the program that measures: the round does not count, and no candidate is to blame."""

    def __init__(self, program: str, signal: str = "") -> None:
        """`signal` is the one that killed it, or empty if it was stopped."""
        killed = _("{program} was killed ({signal})", program=program, signal=signal)
        super().__init__(killed if signal else _("{program} was stopped (SIGSTOP)", program=program))
        self.program = program
        self.signal = signal


class WorkloadContext(Protocol):
    """Everything that a workload may touch."""

    @property
    def directory(self) -> str:
        """The candidate's own directory, empty at the start of a cell, writable by the user.

        It may exist in the programs' mount namespace only: use programs to access it, or `/proc/PID/cwd` of one that
        runs there.
        """
        ...

    @property
    def scratch(self) -> str:
        """A private directory outside the candidate, for job files and TMPDIR; this process sees it too."""
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
        self, argv: Sequence[str], *, cwd: str | None = None, env: Mapping[str, str] | None = None,
        limited: bool = False,
    ) -> Process:  # fmt: skip
        """Start a program as the user, without capabilities; `cwd` defaults to `directory`.

        A `limited` program gets the plan's memory limit, if the machine supports one: for measured, buffered I/O.
        """
        ...

    async def remount(self) -> None:
        """Empty the candidate's caches: unmount and mount again, or what comes closest to it."""
        ...

    async def used_bytes(self) -> int | None:
        """Sync, and return the space used on the candidate's filesystem, metadata included; None if others use it
        too."""
        ...


def forget_cell(laid_out: set[str], scratch: str) -> None:
    """Forget paths on a candidate, which is gone; those in `scratch` remain for the next one."""
    laid_out.intersection_update([path for path in laid_out if path.startswith(f"{scratch}/")])


@dataclass(frozen=True, slots=True)
class BareSample:
    """A measurement on a device without a filesystem; the fields are those of fio."""

    rw: str
    block_bytes: int
    size_bytes: int
    """Part of the device that is used, from its start."""
    io_bytes: int
    """Bytes read and written after which it ends, if its time is not up before."""
    milliseconds: int
    depth: int
    jobs: int
    io_engine: str
    direct: bool
    seed: int


class BareDevice(Protocol):
    """A device without a filesystem."""

    @property
    def devices(self) -> tuple[str, ...]:
        """Kernel names, as in `WorkloadContext.devices`."""
        ...

    async def start(self, sample: BareSample) -> Process:
        """Start fio, which prints JSON as in a workload."""
        ...
