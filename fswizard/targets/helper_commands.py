"""The commands of a run, the helper's from its own functions: stand-ins take the place of names that come later."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain

from fswizard.model.filesystem import Candidate
from fswizard.model.layout import BITMAP, CHUNK, MD, Array, chunk_kib
from fswizard.model.plan import FORMAT, MOUNTING, Member, Target
from fswizard.model.recipe import PlannedCommand
from fswizard.model.units import binary_size_text
from fswizard.privileged import commands, grammar, groups
from fswizard.privileged.commands import Command, Commands

ARRAY, POOL, LABEL = "ARRAY", "POOL", "LABEL"
"""Stand for the name that a run makes up, of an array, a pool or a btrfs."""
UUID, MD_DEVICE, MOUNT = "UUID", "/dev/mdN", "MOUNT"
"""Stand for what is made of that name, what the kernel calls the array, and where the helper mounts it."""


def planned_commands(
    target: Target, candidates: Sequence[Candidate], work: Sequence[PlannedCommand], *, zoned: bool
) -> tuple[PlannedCommand, ...]:
    """All that is run on `target`, with `work` of the workloads; on directories there is nothing else."""
    if target.kind == "directory":
        return tuple(work)
    devices = target.stand_ins
    each = (making(candidate, devices, zoned=zoned) for candidate in candidates)
    whole = (*chain(*each), *work, *ending(candidates, devices))
    if target.kind == "device":
        wiping = (_as_root(command, "leave nothing behind") for command in _wiping(devices, zoned=zoned))
        return (*whole, *wiping)
    images = [device.replace("DEVICE", "IMAGE") for device in devices]
    return (
        *chain(*map(_imaging, images, devices, target.members)),
        *whole,
        _as_root(("losetup", "--detach", *devices), "detach"),
        PlannedCommand(("rm", *images), text="remove the image"),
    )


def _imaging(image: str, device: str, member: Member) -> tuple[PlannedCommand, ...]:
    reserve, fill = commands.make_image(member.size_bytes, binary_size_text(member.size_bytes), image)
    return (
        PlannedCommand(reserve, text="reserve"),
        PlannedCommand(fill, text="fill"),
        _as_root(("losetup", "--direct-io=on", device, image), "attach"),
    )


def making(candidate: Candidate, devices: Sequence[str], *, zoned: bool) -> Iterator[PlannedCommand]:
    """From the devices as they are to the candidate, mounted."""
    for command in _wiping(devices, zoned=zoned):
        yield _as_root(command, "forget the previous candidate", candidate)
    for command in _made(candidate, devices):
        yield _as_root(command, FORMAT, candidate)
    array, filesystem = candidate.array, candidate.filesystem
    further: tuple[str, ...] = ()
    if array and array.layout.maker == "btrfs":
        further = commands.btrfs_options(devices, missing=array.degraded)
    added = grammar.added_options(filesystem.mount_type, os.getuid(), os.getgid())
    source = POOL if filesystem.pool else MD_DEVICE if _on_md(candidate) else devices[0]
    options = ",".join((*candidate.scratch_mount_options, *added, *further))
    for command in commands.mount(filesystem.mount_type, options, source, MOUNT):
        yield _as_root(command, MOUNTING, candidate)


def ending(candidates: Sequence[Candidate], devices: Sequence[str]) -> Iterator[PlannedCommand]:
    """Nothing is mounted after that, nor left of pools and arrays but what lies on the devices."""
    yield _as_root(("umount", MOUNT), "unmount")
    if any(candidate.filesystem.pool for candidate in candidates):
        yield _as_root(commands.export_pool(POOL), "export the pool")
    if any(_on_md(candidate) for candidate in candidates):
        for command in commands.stop_array(MD_DEVICE, devices):
            yield _as_root(command, "take the array apart")


def _wiping(devices: Sequence[str], *, zoned: bool) -> Iterator[Command]:
    for device in devices:
        yield from commands.wipe(device, zoned=zoned)


def _made(candidate: Candidate, devices: Sequence[str]) -> Commands:
    array, filesystem = candidate.array, candidate.filesystem
    arguments = candidate.mkfs_arguments(scratch=True)
    if filesystem.pool:
        nodes = commands.pool_nodes(POOL, len(devices) if array else 1)
        spread = groups.zpool_arguments(array.layout.level, nodes) if array else nodes
        return commands.create_pool(POOL, arguments, spread, nodes[-1] if array and array.degraded else "")
    mkfs = (filesystem.mkfs_program, *arguments)
    if array is None:
        return ((*mkfs, devices[0]),)
    if array.layout.maker == MD:
        return (_creating(array, devices), (*mkfs, MD_DEVICE))
    built = (*mkfs, *groups.btrfs_arguments(array.layout.level, LABEL), *devices)
    return (built, *(commands.wipe(devices[-1]) if array.degraded else ()))


def _creating(array: Array, devices: Sequence[str]) -> Command:
    chunk = array.option(CHUNK)
    return commands.create_array(
        ARRAY, UUID, array.layout.level, devices, chunk_kib=chunk_kib(chunk) if chunk else 0,
        bitmap=array.option(BITMAP), degraded=array.degraded,
    )  # fmt: skip


def _on_md(candidate: Candidate) -> bool:
    return candidate.array is not None and candidate.array.layout.maker == MD


def _as_root(argv: Command, text: str, candidate: Candidate | None = None) -> PlannedCommand:
    return PlannedCommand(argv, as_root=True, text=text, candidate=candidate.name if candidate else "")
