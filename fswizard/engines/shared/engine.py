"""What an engine is, and where it works: on a candidate, mounted, with the means to run programs there as the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args, get_origin, get_type_hints

from fswizard.model.keys import Keys
from fswizard.model.plan import PlannedCommand
from fswizard.model.recipe import Job
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


@dataclass(frozen=True, slots=True)
class Within:
    """Of a number in a job: the bounds that a recipe must keep to."""

    low: float
    high: float


class Engine(Job):
    """A job that knows how it is read from a recipe and carried out.

    A recipe's keys are the fields that are a choice (`Literal`), a `bool`, or a number `Within` bounds. They bear
    the field's name without its unit; one that ends in `_bytes` is written as a size, such as "64M".
    """

    __slots__ = ()

    @classmethod
    def read(cls, keys: Keys) -> Self:
        """The job that a workload of a recipe describes."""
        hints = get_type_hints(cls, include_extras=True)
        values = {field.name: _value(field.name, hints[field.name], field.default, keys) for field in fields(cls)}
        return cls(**{name: value for name, value in values.items() if value is not None}).checked(keys)

    def checked(self, keys: Keys) -> Self:
        """The same, complete; an error of `keys` where its keys do not fit together. `keys.outer` is the recipe."""
        return self

    def commands(self) -> tuple[PlannedCommand, ...]:
        """The programs that will run, in order; `MOUNT`, `SCRATCH` and `SEED` stand for what is known only then.

        What an earlier workload left in place is not made again.
        """
        raise NotImplementedError

    async def run(self, context: WorkloadContext, tell: Tell, *, seed: int, bare: bool = False) -> None:
        """Carry it out, and tell `Doing` and `Progress` while it goes on and `Measured` for each figure.

        What it works on is laid out first, and shared by the jobs of a cell that name it. Caches are emptied by
        `context.remount()` right before the measured part, so nobody else needs to. The same seed gives the same
        accesses; generated files are the same whatever the seed. With `bare`, which only a job that `runs_bare` is
        asked for, there is no filesystem but a file `image` that stands for its device.
        WorkloadFailed where the candidate cannot do the work. When it is cancelled, what it started is killed.
        """
        raise NotImplementedError


def _value(name: str, hint: Any, default: Any, keys: Keys) -> Any:
    """The value of a field in a recipe; None where recipes do not have it."""
    key = name.removesuffix("_bytes").removesuffix("_percent")
    default = None if default is MISSING else default
    if get_origin(hint) is Literal:
        return keys.choice(key, get_args(hint), default)
    if hint is bool:
        return keys.flag(key, default)
    within = next((extra for extra in getattr(hint, "__metadata__", ()) if isinstance(extra, Within)), None)
    if within is None:
        return None
    if get_args(hint)[0] is float:
        return keys.number(key, within.low, within.high, default)
    return (keys.size if name.endswith("_bytes") else keys.integer)(key, int(within.low), int(within.high), default)


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
