"""Interface of the disk that candidates are made on, and the errors that blame the disk or the candidate."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from fswizard.disks import disk_errors
from fswizard.disks.disk_errors import DiskErrors
from fswizard.drives.disk_facts import programs
from fswizard.engines import require_unkilled
from fswizard.errors import RunFailed
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.text import safe
from fswizard.system import block_stats
from fswizard.system.process import Finished, Process

Begun = Callable[[tuple[str, ...]], None]
"""Callback that gets the arguments of each mkfs command as it starts."""


class CandidateFailed(Exception):
    """A candidate could not be made, mounted or unmounted, or its own counters report errors."""

    def __init__(self, kind: str, text: str, details: str = "") -> None:
        super().__init__(text)
        self.kind = kind
        """`mkfs`, `mount`, `umount` or `health`."""
        self.text = text
        self.details = details


class DiskFailed(RunFailed):
    """An operation on a disk failed; it may be tried again."""


class Disk:
    """An image, a device, or several devices as one. Nothing is mounted on it at first."""

    as_root = False
    """Whether its operations run as root."""
    names: tuple[str, ...] = ()
    """Kernel names of its block devices, such as `loop0`; empty while none is attached."""
    direct_io = False
    """Whether the loop device bypasses the page cache of its image, as read back from the kernel."""
    pool = ""
    """Name for a ZFS pool, array or volume made of it."""
    directory = ""
    """Directory for the user's files while it is mounted; visible to programs that `start` starts."""

    def __init__(self, finish: Callable[[Sequence[str]], Awaitable[Finished]], errors: DiskErrors) -> None:
        """`finish` runs a program to its end, with the privileges that the disk is mounted with."""
        self._finish = finish
        self._errors = errors

    async def wipe(self) -> Sequence[Finished]:
        """Erase all signatures of each device, and zero both ends."""
        raise NotImplementedError

    async def make(self, candidate: Candidate, begun: Begun) -> Sequence[Finished]:
        """Make a candidate on the wiped disk. The exit code of the last command says whether that failed."""
        raise NotImplementedError

    async def copy_to(self, other: Disk) -> Finished:
        """Copy a scratch image, including its filesystem, over another one of the same kind and size."""
        raise NotImplementedError

    async def mount(self, candidate: Candidate) -> Finished:
        """Mount the candidate; the exit code says whether that failed."""
        raise NotImplementedError

    async def umount(self) -> Finished:
        """Unmount, never lazily: while files are open, the exit code is not 0 and the output contains `busy`."""
        raise NotImplementedError

    async def require_same(self) -> None:
        """Raise RunFailed if this is no longer the same disk."""
        raise NotImplementedError

    async def read(self) -> Finished:
        """Read every block of an image from its disk; the exit code says whether that failed."""
        raise NotImplementedError

    async def sample(self, command: Callable[[str], tuple[str, ...]], written_bytes: int) -> Process:
        """Start a program on the wiped disk, or the first of several; written data is left in place."""
        raise NotImplementedError

    async def start(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], memory_bytes: int = 0) -> Process:
        """Start a program as the user, without capabilities.

        With `memory_bytes`, all such programs share that limit, page cache included, if memory can be limited.
        """
        raise NotImplementedError

    async def detach(self) -> None:
        """Release the disk, and take apart arrays and volumes on it."""
        raise NotImplementedError

    async def sync(self) -> Finished:
        """Write everything back. The result's standard output is the number of bytes in use, metadata included.

        Raises DiskFailed if this or an earlier write-back failed.
        """
        finished = await self._finish(("sync", "--file-system", self.directory))
        require_unkilled(finished)
        succeeded(finished)
        space = os.statvfs(self.directory)
        return replace(finished, stdout=b"%d" % ((space.f_blocks - space.f_bfree) * space.f_frsize))

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


def users(directory: str) -> str:
    """A line that names the programs with files open below `directory`; empty if none can be seen.

    Only the links in /proc are read, as their targets may be on a disk or server that hangs.
    """

    def leads_below(link: str) -> bool:
        try:
            return f"{os.readlink(link)}/".startswith(f"{directory}/")
        except OSError:  # another user's, or it has ended
            return False

    names = ", ".join(f"{program} ({pid})" for program, pid in programs(leads_below))
    return f"\nused by {names}" if names else ""
