"""The commands that carry out a recommendation."""

from __future__ import annotations

import shlex

from fswizard.filesystems.commands import LABELS, Commands, DeviceNames, crypttab_line, fstab_line, make, volume_path
from fswizard.language import N_, _
from fswizard.model.analysis import Reason
from fswizard.model.filesystem import TMPFS, Candidate
from fswizard.model.layout import LUKS, MD
from fswizard.model.plan import Plan
from fswizard.model.units import binary_size_text

DISK = "/dev/disk/by-id/DISK"
"""A placeholder, so that nobody pastes a command that erases a disk."""
TMPFS_OPTIONS = ("mode=1777", "nosuid", "nodev")
"""Anybody may make files in it, as in /tmp (tmpfs(5))."""
LABEL = "data"
"""Where the mount point suggests none; a volume is then `/dev/mapper/data`."""


def commands(plan: Plan, name: str) -> tuple[str, ...]:
    """Commands that format and the fstab line if there is one; only the line if nothing needs formatting."""
    candidate, point = plan.candidate(name), plan.recipe.mount_point
    if candidate.in_memory:
        size = f"size={binary_size_text(plan.recipe.image_bytes)}"
        return (fstab_line(TMPFS, point, TMPFS, (size, *TMPFS_OPTIONS), 0),)
    if candidate.directory or not candidate.filesystem.mkfs_program:
        return ()
    label = label_for(candidate, point)
    if only_mount_options_differ(plan):
        return (_fstab_line(candidate, label, point),)
    lines = tuple(map(shlex.join, making(candidate, label)))
    if how := candidate.encryption:
        opened = {name: how[name] for name in ("workqueues", "discards")}
        lines += (f"# {_('for /etc/crypttab:')}", crypttab_line(label, DISK, **opened), f"# {_('for /etc/fstab:')}")
    return lines if candidate.filesystem.pool else (*lines, _fstab_line(candidate, label, point))


def label_for(candidate: Candidate, mount_point: str) -> str:
    """The mount point's last name, as long as labels may be."""
    longest = LABELS[candidate.filesystem.name][1] if candidate.filesystem.name in LABELS else None
    return mount_point.rpartition("/")[2][:longest] or LABEL


def _fstab_line(candidate: Candidate, label: str, point: str) -> str:
    made = candidate.filesystem
    return fstab_line(f"LABEL={label}", point, made.mount_type, candidate.mount_options, made.fsck_pass)


def how_to_use(plan: Plan, name: str) -> tuple[Reason, ...]:
    """How to use the fstab line, if nothing needs formatting."""
    candidate = plan.candidate(name)
    if candidate.in_memory:
        text = N_(
            "What is in it is lost when the machine crashes or is switched off: keep what you can't make again on a "
            "disk."
        )
        return (Reason("use", _(text)),)
    if candidate.directory or not candidate.filesystem.mkfs_program or not only_mount_options_differ(plan):
        return ()
    options = ",".join(candidate.mount_options) or "defaults"
    text = N_(
        "Only mount options differ, so nothing needs formatting: put {options} into the fourth column of the "
        "filesystem's line in /etc/fstab, then unmount it and mount it again."
    )
    return (Reason("use", _(text, options=options)),)


def only_mount_options_differ(plan: Plan) -> bool:
    """Whether all candidates of the run would be formatted the same way."""
    first, *others = ((making(candidate), candidate.array) for candidate in plan.candidates)
    return bool(others) and all(other == first for other in others)


def making(candidate: Candidate, label: str = LABEL) -> Commands:
    """What makes it on devices that the user names, for use: nothing is marked or left out as in a run."""
    array, below = candidate.array, candidate.below
    devices = [f"{DISK}-{number}" for number in range(1, array.members + 1)] if array and not array.layout.alone else []
    name, device = ("POOL" if candidate.filesystem.pool else label), DISK
    if below:
        made = {MD: ("ARRAY", "/dev/md/ARRAY"), LUKS: (label, volume_path(label))}
        name, device = made[below.layout.maker]
    names = DeviceNames(tuple(devices) or (DISK,), device, name, "", "", label)
    orders, program = candidate.orders(scratch=False), candidate.filesystem.mkfs_program
    return tuple(
        command for order in orders for command in make(order.verb, names, program, **order.fields, copied=True)
    )
