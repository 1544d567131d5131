"""The commands of a run before it begins: stand-ins take the place of names that come later."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain

from fswizard.disks import udisks_commands as unprivileged
from fswizard.filesystems import commands
from fswizard.filesystems.commands import Command, DeviceNames
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import LUKS, MD
from fswizard.model.plan import FORMAT, MOUNTING, Member, Target
from fswizard.model.recipe import PlannedCommand
from fswizard.model.units import binary_size_text

ARRAY, VOLUME, POOL, LABEL = "ARRAY", "VOLUME", "POOL", "LABEL"
"""Stand for the name that a run makes up, of an array, a volume, a pool or a btrfs."""
UUID, MD_DEVICE, MOUNT = "UUID", "/dev/mdN", "MOUNT"
"""Stand for what is made of that name, what the kernel calls the array, and where the run mounts it."""


def planned_commands(
    target: Target,
    candidates: Sequence[Candidate],
    work: Sequence[PlannedCommand],
    use: PlannedCommand | None = None,
    by_udisks: bool = False,
) -> tuple[PlannedCommand, ...]:
    """All that is run on `target`, with `work` of the workloads; on directories there is nothing else.

    `use` is what ages a candidate.
    """
    if target.kind == "directory":
        return tuple(work)
    if by_udisks:
        return unprivileged.planned(target, candidates, work, use, uid=os.getuid(), gid=os.getgid())
    devices = target.stand_ins
    kept = {each.name: f"KEPT-{number}" for number, each in enumerate((c for c in candidates if c.aged), 1)}
    each = (making(candidate, devices, kept.get(candidate.name, "")) for candidate in candidates)
    before = (_ageing(c, target, devices[0], kept[c.name], use) for c in candidates if use and c.aged)
    whole = (*chain(*before), *chain(*each), *work, *ending(candidates, devices))
    if target.kind == "device":
        wiping = (_as_root(commands.wipe(device), _("leave nothing behind")) for device in devices)
        return (*whole, *wiping)
    images = [device.replace("DEVICE", "IMAGE") for device in devices]
    return (
        *chain(*map(_imaging, images, devices, target.members)),
        *whole,
        _as_root(("losetup", "--detach", *devices, *kept.values()), "detach"),
        PlannedCommand(("rm", *images, *map(_image_of, kept.values())), text=_("remove the image")),
    )


def _image_of(kept: str) -> str:
    return f"IMAGE-OF-{kept}"


def _ageing(
    candidate: Candidate, target: Target, device: str, kept: str, use: PlannedCommand
) -> Iterator[PlannedCommand]:
    """From the device as it is to an image that keeps the candidate."""
    yield from making(candidate, (device,))
    yield use
    yield _as_root(commands.umount(MOUNT), "unmount")
    yield from _imaging(_image_of(kept), kept, target.members[0])
    yield _as_root(commands.copy(device, kept), "keep", candidate)


def _imaging(image: str, device: str, member: Member) -> tuple[PlannedCommand, ...]:
    reserve, fill = commands.make_image(member.size_bytes, binary_size_text(member.size_bytes), image)
    return (
        PlannedCommand(reserve, text="reserve"),
        PlannedCommand(fill, text="fill"),
        _as_root(commands.attach(device, image), "attach"),
    )


def making(candidate: Candidate, devices: Sequence[str], kept: str = "") -> Iterator[PlannedCommand]:
    """From the devices as they are to the candidate, mounted; one that is `kept` is copied from there."""
    for device in devices:
        yield _as_root(commands.wipe(device), _("forget the previous candidate"), candidate)
    filesystem, array = candidate.filesystem, candidate.array
    name, device = (POOL if filesystem.pool else LABEL), devices[0]
    if below := candidate.below:
        name, device = (VOLUME, commands.volume_path(VOLUME)) if below.layout.alone else (ARRAY, MD_DEVICE)
    names = DeviceNames(tuple(devices), device, name, UUID, MOUNT)
    if kept:
        yield _as_root(commands.copy(kept, devices[0]), FORMAT, candidate)
    for order in () if kept else candidate.orders(scratch=True):
        for command in commands.make(order.verb, names, filesystem.mkfs_program, **order.fields):
            yield _as_root(command, FORMAT, candidate)
    further: tuple[str, ...] = ()
    if array and array.layout.maker == "btrfs":
        further = commands.btrfs_options(devices, missing=array.degraded)
    options, user = candidate.scratch_mount_options, (os.getuid(), os.getgid())
    for command in commands.mount(names, filesystem.mount_type, options, *user, further=further):
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
