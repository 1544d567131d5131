"""A prepared target: where candidates are measured in turn on the same blocks; and who is to blame."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from fswizard.disks import disk_errors
from fswizard.disks.disk_errors import DiskErrors
from fswizard.engines import BareDevice, WorkloadContext
from fswizard.errors import RunFailed
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.system.system_calls import closing


class CandidateFailed(Exception):
    """A candidate could not be made, mounted or unmounted, or its own counters report errors."""

    def __init__(self, kind: str, text: str, details: str = "") -> None:
        super().__init__(text)
        self.kind = kind
        """`mkfs`, `mount`, `umount`, `health`, `memory`."""
        self.text = text
        self.details = details


class PreparedTarget(Protocol):
    """A prepared target."""

    @property
    def devices(self) -> tuple[str, ...]:
        """Kernel names of the block devices that all is measured on; empty where they differ by candidate."""

    @property
    def limits_memory(self) -> bool:
        """Whether measured programs can be given a memory limit."""

    def written_bytes(self, candidate: Candidate | None = None) -> int | None:
        """Bytes written so far to what a candidate is measured on; None where nobody counts."""

    def open(self, candidate: Candidate) -> AbstractAsyncContextManager[WorkloadContext]:
        """Make the candidate afresh; leaving checks its health. Raises CandidateFailed."""

    async def bare(self) -> BareDevice | None:
        """The device as it is between two candidates, with nothing left of the one before.

        None for a directory.
        """

    async def check_device(self, *, reading: bool) -> None:
        """RunFailed where the device or the filesystem under the image is at fault, and no candidate to blame.

        With `reading`, every block is read: for errors that a failing disk may have caused.
        """


def errors_under(directory: str) -> DiskErrors:
    """Watches the disks that the filesystem of `directory` lies on from now on, as far as the user may."""
    with closing(os.open(directory, os.O_RDONLY | os.O_DIRECTORY)) as descriptor:
        names = disk_errors.disks_of(descriptor)
    return DiskErrors(lambda: names)


def require_no_errors(reported: Sequence[str]) -> None:
    """RunFailed with what the disk `reported`, where that is anything: then no candidate is to blame."""
    if reported:
        raise RunFailed(
            _("The disk reported errors."),
            _("Check its health first, for example with `smartctl -a`. The figures so far are kept."),
            "\n".join(reported),
        )
