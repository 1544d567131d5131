"""The commands of a run before it begins: stand-ins take the place of names that come later.

Those without root's rights are made here for a run by udisks2 as well, which carries them out.
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
"""Stand for the name that a run makes up, of an array, a volume, a pool or a btrfs."""
UUID, MD_DEVICE, MOUNT = "UUID", "/dev/mdN", "MOUNT"
"""Stand for what is made of that name, what the kernel calls the array, and where the run mounts it."""
DEVICE, OWNER = "DEVICE", "OWNER"
"""Stand for the loop device of udisks2, and for what says to mkfs that the root directory is the user's: a prototype of
XFS', a directory to be copied to btrfs."""
WORK = "work"
"""The user's working directory on a filesystem whose root directory belongs to root."""
DISCARDING = frozenset({"btrfs", "f2fs"})
"""Filesystems that discard by themselves, which would punch holes into the image."""
NOT_NEEDED = frozenset({"noinit_itable"})
"""Mount options that udisks2 refuses, and that need not be: mkfs writes the inode tables."""


def planned_commands(
    target: Target,
    candidates: Sequence[Candidate],
    work: Sequence[PlannedCommand],
    use: PlannedCommand | None = None,
    by_udisks: bool = False,
) -> tuple[PlannedCommand, ...]:
    """All that is run on `target`, with `work` of the workloads; on directories there is nothing else.

    `use` is what ages a candidate, where some are aged. `by_udisks`, on one image, nothing is root's.
    """
    if target.kind == "directory":
        return tuple(work)
    make, end = (_making_as_user, _ending_as_user) if by_udisks else (making, ending)
    images = tuple(device.replace("DEVICE", "IMAGE") for device in target.stand_ins)
    devices = images if by_udisks else target.stand_ins
    files, kept = dict(zip(devices, images)), dict[str, str]()
    lines: list[PlannedCommand] = []
    if target.kind == "image":
        for device, member in zip(devices, target.members):
            lines += _imaging(files[device], device, member.size_bytes)
    for candidate in candidates:
        if candidate.aged and use:
            device = kept[candidate.name] = f"KEPT-{len(kept) + 1}"
            files[device] = device if by_udisks else f"IMAGE-OF-{device}"
            lines += [*make(candidate, devices), use, *end((candidate,), devices)]
            lines += _imaging(files[device], device, target.size_bytes)
            lines.append(PlannedCommand(commands.copy(devices[0], device), not by_udisks, "keep", candidate.name))
    for candidate in candidates:
        lines += make(candidate, devices, kept.get(candidate.name, ""))
    lines += [*work, *end(candidates, devices)]
    if target.kind == "device":
        return (*lines, *(_as_root(commands.wipe(device), _("leave nothing behind")) for device in devices))
    if not by_udisks:
        lines.append(_as_root(("losetup", "--detach", *files), "detach"))
    return (*lines, PlannedCommand(("rm", *files.values()), text=_("remove the image")))


def _imaging(image: str, device: str, size_bytes: int) -> Iterator[PlannedCommand]:
    """Write an image, and make it a device, unless it is worked on as the file that it is."""
    reserve, fill = commands.make_image(size_bytes, image)
    yield PlannedCommand(reserve, text="reserve")
    yield PlannedCommand(fill, text="fill")
    if device != image:
        yield _as_root(commands.attach(device, image), "attach")


def making(candidate: Candidate, devices: Sequence[str], kept: str = "") -> Iterator[PlannedCommand]:
    """From the devices as they are to the candidate, mounted; one that is `kept` is copied from there."""
    for device in devices:
        yield _as_root(commands.wipe(device), _("forget the previous candidate"), candidate)
    name, device = (POOL if candidate.filesystem.pool else LABEL), devices[0]
    if below := candidate.below:
        name, device = (VOLUME, commands.volume_path(VOLUME)) if below.layout.alone else (ARRAY, MD_DEVICE)
    names = DeviceNames(tuple(devices), device, name, UUID, MOUNT)
    if kept:
        yield _as_root(commands.copy(kept, devices[0]), FORMAT, candidate)
    else:
        for command in (*commands.make_below(candidate, names), *commands.make(candidate, names)):
            yield _as_root(command, FORMAT, candidate)
    for command in commands.mount(candidate, names, os.getuid(), os.getgid()):
        yield _as_root(command, MOUNTING, candidate)


def ending(candidates: Sequence[Candidate], devices: Sequence[str]) -> Iterator[PlannedCommand]:
    """Nothing is mounted after that, and of pools, arrays and volumes only their contents on the devices are left."""
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


def _making_as_user(candidate: Candidate, images: Sequence[str], kept: str = "") -> Iterator[PlannedCommand]:
    """As `making`, on an image that is no device before the candidate is on it."""
    image = images[0]
    steps = {
        _("forget the previous candidate"): commands.wipe(image),
        FORMAT: commands.copy(kept, image) if kept else (*mkfs(candidate, os.getuid(), os.getgid(), OWNER), image),
        "attach": ("udisksctl", "loop-setup", "--file", image),  # as the call of udisks2, which gets a descriptor
        MOUNTING: mount(DEVICE, mount_options(candidate)),
    }
    for text, argv in steps.items():
        yield PlannedCommand(argv, text=text, candidate=candidate.name)


def _ending_as_user(candidates: Sequence[Candidate], images: Sequence[str]) -> Iterator[PlannedCommand]:
    yield PlannedCommand(unmount(DEVICE), text="unmount")
    yield PlannedCommand(("udisksctl", "loop-delete", "--block-device", DEVICE), text="detach")


def mkfs(candidate: Candidate, uid: int, gid: int, owner: str) -> Command:
    """The command that makes a candidate such that the user may write to it, but for the device.

    `owner` is the path of what `prototype` says, or for btrfs of a directory that `WORK` is in.
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
    """An empty root directory of the user's, as `mkfs.xfs -p` reads it (mkfs.xfs(8))."""
    return f"none\n0 0\nd--755 {uid} {gid}\n$\n"


def mount_options(candidate: Candidate) -> Command:
    """What udisks2 is asked to mount a candidate with; it adds nosuid, nodev and the like itself."""
    options = tuple(option for option in candidate.scratch_mount_options if option not in NOT_NEEDED)
    return (*options, "nodiscard") if candidate.filesystem.name in DISCARDING else options


def mount(device: str, options: Sequence[str]) -> Command:
    words = ("--options", ",".join(options)) if options else ()
    return ("udisksctl", "mount", "--block-device", device, *words)


def unmount(device: str) -> Command:
    return ("udisksctl", "unmount", "--block-device", device)
