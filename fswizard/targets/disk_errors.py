"""Errors of the disk below what is measured, as far as the user may see them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from fswizard.errors import RunFailed
from fswizard.privileged import disk_errors
from fswizard.privileged.disk_errors import DiskErrors


def errors_under(directory: str) -> DiskErrors:
    """Watches the disks that the filesystem of `directory` lies on from now on, as far as the user may."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        names = disk_errors.disks_of(descriptor)
    finally:
        os.close(descriptor)
    return DiskErrors(lambda: names)


def require_no_errors(reported: Sequence[str]) -> None:
    """RunFailed with what the disk `reported`, where that is anything: then no candidate is to blame."""
    if reported:
        raise RunFailed(
            "The disk reported errors.",
            "Look at its health first, for example with `smartctl -a`. What was measured is kept.",
            "\n".join(reported),
        )
