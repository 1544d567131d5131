"""What an engine is, and where it works: on a candidate, mounted, with the means to run programs there as the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from fswizard.model.keys import Keys
from fswizard.model.recipe import Job, PlannedCommand
from fswizard.progress.workload_events import Tell
from fswizard.system.process import Process

if TYPE_CHECKING:
    from typing_extensions import Self

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
    """Somebody killed or stopped the program that measures: no candidate is to blame, and the round does not count."""

    def __init__(self, program: str, signal: str = "") -> None:
        """`signal` killed it; empty where it was stopped."""
        super().__init__(f"{program} was {f'killed ({signal})' if signal else 'stopped (SIGSTOP)'}")
        self.program = program
        self.signal = signal


class Engine(Job):
    """A job that knows how it is read from a recipe and carried out.

    A recipe's keys are its fields; see `fswizard.model.keys`.
    """

    __slots__ = ()

    def checked(self, keys: Keys) -> Self:
        """The same, complete; an error of `keys` where its keys do not fit together. `keys.outer` is the recipe."""
        return self

    def commands(self) -> tuple[PlannedCommand, ...]:
        """The programs that will run, in order; `MOUNT`, `SCRATCH` and `SEED` stand for what is known only then.

        What an earlier workload left in place is not made again.
        """
        raise NotImplementedError

    async def run(self, context: WorkloadContext, tell: Tell, *, seed: int) -> None:
        """Carry it out, and tell `Doing` and `Progress` while it goes on and `Measured` for each figure.

        What it works on is laid out first, and shared by the jobs of a cell that name it. Caches are emptied by
        `context.remount()` right before the measured part, so nobody else needs to. The same seed gives the same
        accesses; generated files are the same whatever the seed.
        WorkloadFailed where the candidate cannot do the work, WorkloadDisturbed where somebody killed or stopped what
        it started. When it is cancelled, that is killed.
        """
        raise NotImplementedError

    async def run_bare(
        self, device: BareDevice, tell: Tell, *, seed: int, seconds: float, bytes_per_s: float
    ) -> None:  # fmt: skip
        """Do the same on a device without a filesystem, for `seconds` in all; of a job that `runs_bare` alone.

        `bytes_per_s` is what candidates reached: a buffered sample writes no more in its time, as it all has to go to
        the disk in the end.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class BareSample:
    """What is measured on a device without a filesystem; the fields are those of fio."""

    rw: str
    block_bytes: int
    size_bytes: int
    """From the start of the device on."""
    io_bytes: int
    """It ends when this many bytes are read and written, or when its time is up."""
    milliseconds: int
    depth: int
    jobs: int
    io_engine: str
    direct: bool
    seed: int


class BareDevice(Protocol):
    """A device on which no filesystem is."""

    @property
    def devices(self) -> tuple[str, ...]:
        """As of WorkloadContext."""
        ...

    async def start(self, sample: BareSample) -> Process:
        """Start fio; what it says is its JSON, as in a workload."""
        ...


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
        self, argv: Sequence[str], *, cwd: str | None = None, env: Mapping[str, str] | None = None,
        limited: bool = False,
    ) -> Process:  # fmt: skip
        """Start a program as the user, without capabilities; `cwd` defaults to `directory`.

        A `limited` one gets the plan's memory limit, where the machine has one to give: for what is measured and goes
        through the page cache.
        """
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
