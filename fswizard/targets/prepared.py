"""A prepared target: where candidates are tried out, one after the other, on the same blocks."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from fswizard.engines import WorkloadContext
from fswizard.model.filesystem import Candidate


class CandidateFailed(Exception):
    """A candidate could not be made, mounted or unmounted, or its own counters report errors."""

    def __init__(self, kind: str, text: str, details: str = "") -> None:
        super().__init__(text)
        self.kind = kind
        """`mkfs`, `mount`, `umount`, `health`."""
        self.text = text
        self.details = details


class PreparedTarget(Protocol):
    """A prepared target."""

    @property
    def devices(self) -> tuple[str, ...]:
        """Kernel names of the block devices that all is measured on; empty where they differ by candidate."""
        ...

    def open(self, candidate: Candidate) -> AbstractAsyncContextManager[WorkloadContext]:
        """Make the candidate afresh; leaving checks its health. Raises CandidateFailed."""
        ...

    async def check_device(self, *, reading: bool) -> None:
        """RunFailed where the device or the filesystem under the image is at fault, and no candidate to blame.

        With `reading`, every block is read: for errors that a failing disk may have caused.
        """
        ...
