"""The exact commands that make, mount and measure candidates, with placeholders for names that are not known yet.

They are listed before a run starts. A run by udisks2 also gets its mkfs command and its mount options from here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fswizard.filesystems import commands
from fswizard.filesystems.commands import Command, DeviceNames
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import FORMAT, MOUNTING, Target
from fswizard.model.recipe import PlannedCommand

ARRAY, VOLUME, POOL, LABEL = "ARRAY", "VOLUME", "POOL", "LABEL"
"""Placeholders for the random name of an array, volume, pool or btrfs."""
UUID, MD_DEVICE, MOUNT, KEPT = "UUID", "/dev/mdN", "MOUNT", "KEPT"
"""Placeholders for the UUID derived from that name, the kernel's path of the array, the mount point, and the further
images that hold aged candidates."""
DEVICE, OWNER = "DEVICE", "OWNER"
"""Placeholders for the loop device of udisks2, and for the file that makes the user the owner of the root directory: a
prototype file of XFS, or a directory copied to btrfs."""
WORK = "work"
"""Working directory of the user on a filesystem with a root directory that belongs to root."""
DISCARDING = frozenset({"btrfs", "f2fs"})
"""Filesystems that discard by default, which would punch holes into the image."""
NOT_NEEDED = frozenset({"noinit_itable"})
"""Mount options that udisks2 refuses and that are not needed, as mkfs writes the inode tables."""


def planned_commands(
    target: Target,
    candidates: Sequence[Candidate],
    work: Sequence[PlannedCommand],
    use: PlannedCommand | None,
    by_udisks: bool,
) -> tuple[PlannedCommand, ...]:
    """The commands that make and mount each candidate on `target`, and then `work`, those of the workloads.

    `use` is the command that ages a candidate, which is kept in an image of its own and copied back from it. With
    `by_udisks`, for a single image, no command runs as root.
    """
    if target.kind == "directory":
        return tuple(work)
    lines: list[PlannedCommand] = []
    image = commands.IMAGE if by_udisks else target.placeholders[0]
    for number, candidate in enumerate(candidates, 1):
        lines += making(candidate, target.placeholders, by_udisks)
        if candidate.aged and use:
            kept = f"{KEPT}-{number}"
            copies = (commands.copy(image, kept), commands.copy(kept, image))
            lines += [use, *(PlannedCommand(argv, as_root=not by_udisks, text="keep") for argv in copies)]
    return (*lines, *work)


def making(candidate: Candidate, devices: Sequence[str], by_udisks: bool = False) -> Iterator[PlannedCommand]:
    """Wipe the devices, make the candidate, and mount it.

    For udisks2, the image is attached as a device only after the candidate is made on it.
    """
    uid, gid = os.getuid(), os.getgid()
    forget = _("forget the previous candidate")
    if by_udisks:
        attach = ("udisksctl", "loop-setup", "--file", commands.IMAGE)  # as the call, which passes a descriptor
        steps: list[tuple[str, Command]] = [
            (forget, commands.wipe(commands.IMAGE)),
            (FORMAT, (*mkfs(candidate, uid, gid, OWNER), commands.IMAGE)),
            ("attach", attach),
            (MOUNTING, mount(DEVICE, mount_options(candidate))),
        ]
    else:
        name, device = (POOL if candidate.filesystem.pool else LABEL), devices[0]
        if below := candidate.below:
            name, device = (VOLUME, commands.volume_path(VOLUME)) if below.layout.alone else (ARRAY, MD_DEVICE)
        names = DeviceNames(tuple(devices), device, name, UUID, MOUNT)
        steps = [(forget, commands.wipe(each)) for each in devices]
        made = (*commands.make_below(candidate, names), *commands.make(candidate, names))
        steps += [(FORMAT, command) for command in made]
        steps += [(MOUNTING, command) for command in commands.mount(candidate, names, uid, gid)]
    for text, argv in steps:
        yield PlannedCommand(argv, as_root=not by_udisks, text=text, candidate=candidate.name)


def mkfs(candidate: Candidate, uid: int, gid: int, owner: str) -> Command:
    """The mkfs command, without the device, for a candidate that the user can write to.

    `owner` is the path of a file in the format of `mkfs.xfs -p`, or for btrfs of a directory that contains `WORK`.
    """
    ext = (("-E", f"root_owner={uid}:{gid},lazy_itable_init=0"),)
    pairs = {
        "ext2": ext, "ext3": ext, "ext4": ext, "xfs": (("-p", owner),), "btrfs": (("--rootdir", owner),),
        "f2fs": (("-R", f"{uid}:{gid}"),), "udf": ((f"--uid={uid}", ""), (f"--gid={gid}", "")),
    }  # fmt: skip
    filesystem = candidate.filesystem
    arguments = (*filesystem.scratch_arguments, *pairs.get(filesystem.name, ()))
    owned = replace(candidate, filesystem=replace(filesystem, scratch_arguments=arguments))
    return (filesystem.mkfs_program, *owned.mkfs_arguments(scratch=True))


def mount_options(candidate: Candidate) -> Command:
    """Mount options to request from udisks2, which adds nosuid, nodev and others by itself."""
    options = tuple(option for option in candidate.scratch_mount_options if option not in NOT_NEEDED)
    return (*options, "nodiscard") if candidate.filesystem.name in DISCARDING else options


def mount(device: str, options: Sequence[str]) -> Command:
    arguments = ("--options", ",".join(options)) if options else ()
    return ("udisksctl", "mount", "--block-device", device, *arguments)


def unmount(device: str) -> Command:
    return ("udisksctl", "unmount", "--block-device", device)
