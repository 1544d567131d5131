"""What a run measures on: a disk that candidates are made on in turn, whoever carries that out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from fswizard.engines import BareSample
from fswizard.errors import RunFailed
from fswizard.model.filesystem import Candidate
from fswizard.progress.emitter import Emitter
from fswizard.system.process import Finished, Process

Begun = Callable[[tuple[str, ...]], None]
"""Gets each command of a mkfs as it begins."""


class DiskFailed(RunFailed):
    """Something that was asked of a disk failed; it may be asked again."""


class Disk(Protocol):
    """An image or a device, or several as one. Nothing is mounted on it at first."""

    @property
    def names(self) -> tuple[str, ...]:
        """Kernel names of its block devices, such as `loop0`; empty while it has none."""

    @property
    def as_root(self) -> bool:
        """Whether root carries out what is asked of it."""

    @property
    def direct_io(self) -> bool:
        """As read back from the kernel: an image is not cached a second time."""

    @property
    def pool(self) -> str:
        """What a ZFS pool, an array or a volume of it is called, if one is made."""

    @property
    def directory(self) -> str:
        """Where the user's files go while it is mounted; programs that `start` starts see it."""

    async def wipe(self) -> Sequence[Finished]:
        """Take away every signature, and zero both ends, of each device."""

    async def make(self, candidate: Candidate, begun: Begun) -> Sequence[Finished]:
        """Make a candidate on it when it is wiped. The last exit code says whether that failed."""

    async def copy_to(self, other: Disk) -> Finished:
        """Write a scratch image, with the filesystem that is on it, over another one of the same kind and size."""

    async def mount(self, candidate: Candidate) -> Finished:
        """Mount what was made; the exit code says whether that failed."""

    async def umount(self) -> Finished:
        """Never lazily: while something is open the exit code is not 0 and the output says `busy`."""

    async def sync(self) -> Finished:
        """Write everything back; standard output is the bytes in use, the filesystem's own structures included.

        Raises DiskFailed where that, or an earlier write-back, failed.
        """

    async def errors(self, candidate: Candidate) -> Mapping[str, int]:
        """Counts above 0 of the candidate's own errors, by name."""

    async def disk_errors(self) -> Sequence[str]:
        """In words, every error that the disks below have reported since the run began."""

    async def inspect(self, *, reading: bool) -> Finished:
        """Whether the disk is as it was and, with `reading`, every block of an image can be read: exit code 0."""

    async def sample(self, sample: BareSample) -> Process:
        """Start fio on the wiped disk, or the first of several; what it writes stays there."""

    async def start(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], memory_bytes: int = 0) -> Process:
        """Start a program as the user, without capabilities.

        With `memory_bytes`, all that have it share so much memory, page cache included, where memory can be limited.
        """

    def written_bytes(self) -> int | None:
        """Bytes written to it since the run began; None where nobody counts."""

    async def detach(self) -> None:
        """Give the disk back."""


class Disks(Protocol):
    """Who carries out what is asked of disks."""

    @property
    def limits_memory(self) -> bool:
        """Whether measured programs can be given a memory limit."""

    async def image(self, directory: str, size_bytes: int, emitter: Emitter) -> Disk:
        """A new scratch image in a directory of the user's, of which every byte is written: that is emitted.

        Raises RunFailed or Refused where it cannot be made there.
        """

    async def joined(self, parts: Sequence[Any]) -> Disk:
        """Several of its disks as one, which alone takes orders from then on."""
