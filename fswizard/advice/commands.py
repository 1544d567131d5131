"""The commands that implement a recommendation."""

from __future__ import annotations

import re
import shlex

from fswizard.errors import UsageError
from fswizard.filesystems import parse_candidate
from fswizard.filesystems.commands import (
    LABELS,
    Commands,
    DeviceNames,
    crypttab_line,
    fstab_line,
    make,
    make_below,
    volume_path,
)
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import LUKS, MD
from fswizard.model.plan import Plan

DISK = "/dev/disk/by-id/DISK"
"""A placeholder, so that nobody pastes a command that erases a disk."""
LABEL = "data"
"""Label if the mount point suggests none; a volume is then `/dev/mapper/data`."""
MOUNT_POINT = re.compile(r"(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+")
"""Mount points accepted in commands; any other one in a result's recipe is replaced by /mnt/data."""


def commands(plan: Plan, name: str) -> tuple[str, ...]:
    """Commands that format, and the fstab line if there is one; only the line if nothing needs formatting. None
    without a name.

    They are built from the catalogue by the candidate's name: a result may come from anybody, and people paste
    these.
    """
    if not name:
        return ()
    point = plan.recipe.mount_point if MOUNT_POINT.fullmatch(plan.recipe.mount_point) else "/mnt/data"
    candidate = plan.candidate(name)
    if candidate.directory or not candidate.filesystem.mkfs_program:
        return ()
    try:
        candidate = parse_candidate(candidate.as_new).on(candidate.array.members if candidate.array else 1)
    except UsageError:  # the catalogue has no such name, or no longer
        return ()
    filesystem = candidate.filesystem

    label = point.rpartition("/")[2] or LABEL
    if filesystem.name in LABELS:
        longest = LABELS[filesystem.name][1]
        label = label[:longest]
    mount = fstab_line(f"LABEL={label}", point, filesystem.mount_type, candidate.mount_options, filesystem.fsck_pass)
    if _only_mount_options_differ(plan):
        return (f"# {_('Nothing needs formatting. In /etc/fstab:')}", mount)

    lines = [shlex.join(command) for command in making(candidate, label)]
    if candidate.below and candidate.below.layout.maker == LUKS:
        opened = crypttab_line(label, DISK, candidate.below)
        lines += [f"# {_('for /etc/crypttab:')}", opened, f"# {_('for /etc/fstab:')}"]
    if not filesystem.pool:
        lines.append(mount)
    return tuple(lines)


def _only_mount_options_differ(plan: Plan) -> bool:
    """Whether there are several candidates, and all of them are formatted the same way.

    Compares them as stored in the result, with options that need not be in the catalogue.
    """
    formats = []
    for candidate in plan.candidates:
        mount_options = candidate.mount_options if candidate.filesystem.pool else ()  # with which a pool is created
        formats.append((candidate.filesystem.name, candidate.mkfs_options, mount_options, candidate.array))
    return len(formats) > 1 and formats.count(formats[0]) == len(formats)


def making(candidate: Candidate, label: str = LABEL) -> Commands:
    """Commands that create a candidate for use, on devices that the user names."""
    array = candidate.array
    below = candidate.below
    devices = [DISK]
    if array and array.members and not array.layout.alone:
        devices = [f"{DISK}-{number}" for number in range(1, array.members + 1)]
    name, device = label, DISK
    if candidate.filesystem.pool:
        name = "POOL"
    elif below and below.layout.maker == MD:
        name, device = "ARRAY", "/dev/md/ARRAY"
    elif below and below.layout.maker == LUKS:
        device = volume_path(label)
    names = DeviceNames(tuple(devices), device, name, uuid="", directory="", label=label)
    # Commands to be copied lack the marks of a run's disks, and any disk that was measured as missing.
    return (*make_below(candidate, names, copied=True), *make(candidate, names, copied=True))
