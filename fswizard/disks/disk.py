"""What both kinds of disks have that candidates are made on, and the errors that blame the disk or the candidate."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from fswizard.disks import disk_errors
from fswizard.disks.disk_errors import DiskErrors
from fswizard.engines import WorkloadFailed, require_unkilled
from fswizard.errors import RunFailed
from fswizard.language import _
from fswizard.model.text import safe
from fswizard.system import block_stats
from fswizard.system.process import Finished

if TYPE_CHECKING:
    from fswizard.disks.scratch_file import ScratchFile

Begun = Callable[[tuple[str, ...]], None]
"""Callback that gets the arguments of each mkfs command as it starts."""


class CandidateFailed(WorkloadFailed):
    """A candidate could not be made, mounted or unmounted, or its own counters report errors.

    `kind` is `mkfs`, `mount`, `umount` or `health`.
    """


class DiskFailed(RunFailed):
    """An operation on a disk failed; it may be tried again."""


class Disk:
    """An image, a device, or several devices as one. Nothing is mounted on it at first.

    Each kind can also `wipe` it, `make` and `mount` a candidate on it, `umount`, `copy_to` another image, `start` a
    program as the user, `sample` it without a filesystem, and `detach` it.
    """

    as_root = False
    """Whether its operations run as root."""
    names: tuple[str, ...] = ()
    """Kernel names of its block devices, such as `loop0`; empty while none is attached."""
    pool = ""
    """Name for a ZFS pool, array or volume made of it."""
    directory = ""
    """Directory for the user's files while it is mounted; visible to programs that `start` starts."""

    def __init__(
        self,
        finish: Callable[[Sequence[str]], Awaitable[Finished]],
        errors: DiskErrors,
        image: ScratchFile | None,
    ) -> None:
        """`finish` runs a program to its end, with the privileges that the disk is mounted with."""
        self.image = image
        self._finish = finish
        self._errors = errors

    async def sync(self) -> Finished:
        """Write everything back. Raises DiskFailed if this or an earlier write-back failed."""
        finished = await self._finish(("sync", "--file-system", self.directory))
        require_unkilled(finished)
        return succeeded(finished)

    async def errors(self) -> Mapping[str, int]:
        """Error counters of the mounted filesystem that are above 0, by name."""
        counted = await self._count()
        self._errors.note(counted)
        return {name: count for name, count in counted.items() if count}

    async def _count(self) -> dict[str, int]:
        """Read the error counters of the mounted filesystem."""
        return disk_errors.of_filesystem(self.names[0])

    async def disk_errors(self) -> Sequence[str]:
        """One line for each error that the disks below have reported since the run began."""
        return tuple(safe(line) for line in self._errors.of_disks())

    def written_bytes(self) -> int | None:
        """Bytes written to it since some time before the run; None if they are not counted."""
        counted = block_stats.counters(*self.names)
        return counted.written_bytes if counted else None


def succeeded(finished: Finished, error: type[RunFailed] = DiskFailed) -> Finished:
    """Return `finished`. Raises `error` if its exit code is not 0."""
    if finished.exit_code:
        raise error(_("{program} failed.", program=finished.argv[0]), _("The disk may be failing."), finished.output)
    return finished


def require_no_errors(reported: Sequence[str]) -> None:
    """Raise RunFailed if the disk `reported` errors: then no candidate is to blame."""
    if reported:
        raise RunFailed(
            _("The disk reported errors."),
            _("Check its health first, for example with `smartctl -a`. The figures so far are kept."),
            "\n".join(reported),
        )
