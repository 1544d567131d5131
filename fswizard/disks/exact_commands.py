"""The exact commands of a run, listed before it starts, with placeholders for names that are not known yet.

A run by udisks2 also gets its mkfs command and its mount options from here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fswizard.filesystems import commands
from fswizard.filesystems.commands import Command, DeviceNames
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import LUKS, MD
from fswizard.model.plan import FORMAT, MOUNTING, Target
from fswizard.model.recipe import PlannedCommand

ARRAY, VOLUME, POOL, LABEL = "ARRAY", "VOLUME", "POOL", "LABEL"
"""Placeholders for the random name of an array, volume, pool or btrfs."""
UUID, MD_DEVICE, MOUNT = "UUID", "/dev/mdN", "MOUNT"
"""Placeholders for the UUID derived from that name, the kernel's path of the array, and the mount point."""
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
    use: PlannedCommand | None = None,
    by_udisks: bool = False,
) -> tuple[PlannedCommand, ...]:
    """All commands that are run on `target`, including `work`, those of the workloads.

    `use` is the command that ages a candidate. With `by_udisks`, for a single image, no command runs as root.
    """
    if target.kind == "directory":
        return tuple(work)
    make, end = (_making_as_user, _ending_as_user) if by_udisks else (making, ending)
    images = tuple(device.replace("DEVICE", "IMAGE") for device in target.placeholders)
    devices = images if by_udisks else target.placeholders
    files, aged_images = dict(zip(devices, images)), dict[str, str]()
    lines: list[PlannedCommand] = []
    if target.kind == "image":
        for device, member in zip(devices, target.members):
            lines += _imaging(files[device], device, member.size_bytes)
    for candidate in candidates:
        if candidate.aged and use:
            device = aged_images[candidate.name] = f"KEPT-{len(aged_images) + 1}"
            files[device] = device if by_udisks else f"IMAGE-OF-{device}"
            lines += [*make(candidate, devices), use, *end((candidate,), devices)]
            lines += _imaging(files[device], device, target.size_bytes)
            lines.append(PlannedCommand(commands.copy(devices[0], device), not by_udisks, "keep", candidate.name))
    for candidate in candidates:
        lines += make(candidate, devices, aged_images.get(candidate.name, ""))
    lines += [*work, *end(candidates, devices)]
    if target.kind == "device":
        return (*lines, *(_as_root(commands.wipe(device), _("leave nothing behind")) for device in devices))
    if not by_udisks:
        lines.append(_as_root(("losetup", "--detach", *files), "detach"))
    return (*lines, PlannedCommand(("rm", *files.values()), text=_("remove the image")))


def _imaging(image: str, device: str, size_bytes: int) -> Iterator[PlannedCommand]:
    """Write an image and attach it as a loop device, unless `device` is the image itself."""
    reserve, fill = commands.make_image(size_bytes, image)
    yield PlannedCommand(reserve, text="reserve")
    yield PlannedCommand(fill, text="fill")
    if device != image:
        yield _as_root(commands.attach(device, image), "attach")


def making(candidate: Candidate, devices: Sequence[str], aged: str = "") -> Iterator[PlannedCommand]:
    """Wipe the devices, then make the candidate, or copy it from the device `aged`, and mount it."""
    for device in devices:
        yield _as_root(commands.wipe(device), _("forget the previous candidate"), candidate)
    name, device = (POOL if candidate.filesystem.pool else LABEL), devices[0]
    if below := candidate.below:
        name, device = (VOLUME, commands.volume_path(VOLUME)) if below.layout.alone else (ARRAY, MD_DEVICE)
    names = DeviceNames(tuple(devices), device, name, UUID, MOUNT)
    if aged:
        yield _as_root(commands.copy(aged, devices[0]), FORMAT, candidate)
    else:
        for command in (*commands.make_below(candidate, names), *commands.make(candidate, names)):
            yield _as_root(command, FORMAT, candidate)
    for command in commands.mount(candidate, names, os.getuid(), os.getgid()):
        yield _as_root(command, MOUNTING, candidate)


def ending(candidates: Sequence[Candidate], devices: Sequence[str]) -> Iterator[PlannedCommand]:
    """Unmount, export pools, and stop arrays and volumes; their contents stay on the devices."""
    yield _as_root(commands.umount(MOUNT), "unmount")
    if any(candidate.filesystem.pool for candidate in candidates):
        yield _as_root(commands.export_pool(POOL), _("export the pool"))
    makers = {candidate.below.layout.maker for candidate in candidates if candidate.below}
    if LUKS in makers:
        yield _as_root(commands.close_volume(VOLUME), _("close the volume"))
    for command in commands.stop_array(MD_DEVICE, devices) if MD in makers else ():
        yield _as_root(command, _("take the array apart"))


def _as_root(argv: Command, text: str, candidate: Candidate | None = None) -> PlannedCommand:
    return PlannedCommand(argv, as_root=True, text=text, candidate=candidate.name if candidate else "")


def _making_as_user(candidate: Candidate, images: Sequence[str], aged: str = "") -> Iterator[PlannedCommand]:
    """As `making`, but the image is attached as a device only after the candidate is made on it."""
    image = images[0]
    steps = {
        _("forget the previous candidate"): commands.wipe(image),
        FORMAT: commands.copy(aged, image) if aged else (*mkfs(candidate, os.getuid(), os.getgid(), OWNER), image),
        "attach": ("udisksctl", "loop-setup", "--file", image),  # as the call of udisks2, which gets a descriptor
        MOUNTING: mount(DEVICE, mount_options(candidate)),
    }
    for text, argv in steps.items():
        yield PlannedCommand(argv, text=text, candidate=candidate.name)


def _ending_as_user(candidates: Sequence[Candidate], images: Sequence[str]) -> Iterator[PlannedCommand]:
    yield PlannedCommand(unmount(DEVICE), text="unmount")
    yield PlannedCommand(("udisksctl", "loop-delete", "--block-device", DEVICE), text="detach")


def mkfs(candidate: Candidate, uid: int, gid: int, owner: str) -> Command:
    """The mkfs command, without the device, for a candidate that the user can write to.

    `owner` is the path of a file with the content of `prototype`, or for btrfs of a directory that contains `WORK`.
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


def prototype(uid: int, gid: int) -> str:
    """Prototype for `mkfs.xfs -p` of an empty root directory that belongs to the user (mkfs.xfs(8))."""
    return f"none\n0 0\nd--755 {uid} {gid}\n$\n"


def mount_options(candidate: Candidate) -> Command:
    """Mount options to request from udisks2, which adds nosuid, nodev and others by itself."""
    options = tuple(option for option in candidate.scratch_mount_options if option not in NOT_NEEDED)
    return (*options, "nodiscard") if candidate.filesystem.name in DISCARDING else options


def mount(device: str, options: Sequence[str]) -> Command:
    arguments = ("--options", ",".join(options)) if options else ()
    return ("udisksctl", "mount", "--block-device", device, *arguments)


def unmount(device: str) -> Command:
    return ("udisksctl", "unmount", "--block-device", device)
