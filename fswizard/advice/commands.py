"""The commands that put a recommendation to use."""

from __future__ import annotations

import shlex

from fswizard.model.filesystem import Candidate
from fswizard.model.judgement import Reason
from fswizard.model.plan import Plan

DEVICE, SOURCE = "/dev/DEVICE", "UUID=..."
DISK = "/dev/disk/by-id/DISK"
"""Placeholders: nobody should be able to paste a command that erases a disk."""


def commands(plan: Plan, name: str) -> tuple[str, ...]:
    """mkfs line and fstab line, where one is needed; the fstab line alone where nothing needs formatting."""
    candidate = plan.candidate(name)
    if candidate.directory or not candidate.filesystem.mkfs_program:
        return ()
    fstab = candidate.fstab_line(SOURCE, plan.recipe.mount_point)
    if only_mount_options_differ(plan):
        return (fstab,)
    making = tuple(map(shlex.join, candidate.making_commands(*_devices(candidate), scratch=False)))
    return (*making, fstab) if fstab else making


def how_to_use(plan: Plan, name: str) -> tuple[Reason, ...]:
    """What to do with the fstab line where nothing needs formatting."""
    candidate = plan.candidate(name)
    if candidate.directory or not candidate.filesystem.mkfs_program or not only_mount_options_differ(plan):
        return ()
    options = ",".join(candidate.mount_options) or "defaults"
    return (
        Reason(
            "use",
            f"Only mount options differ, so nothing needs formatting: put {options} into the fourth column of the "
            "filesystem's line in /etc/fstab, then unmount it and mount it again.",
        ),
    )


def only_mount_options_differ(plan: Plan) -> bool:
    """All candidates of the run would be formatted the same way."""
    first, *others = ((_format(candidate), candidate.array) for candidate in plan.candidates)
    return bool(others) and all(other == first for other in others)


def _format(candidate: Candidate) -> tuple[tuple[str, ...], ...]:
    return candidate.making_commands(*_devices(candidate), scratch=False)


def _devices(candidate: Candidate) -> tuple[str, ...]:
    if candidate.array is None:
        return (DEVICE,)
    return tuple(f"{DISK}-{number}" for number in range(1, candidate.array.members + 1))
