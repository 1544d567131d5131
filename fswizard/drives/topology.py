"""Find the disks below a path, partition, volume or array, by kernel name."""

from __future__ import annotations

import os

from fswizard.drives.disk_facts import Usage
from fswizard.drives.machine import Machine, mount_of
from fswizard.drives.may_erase import Probed
from fswizard.system import mounts
from fswizard.system.block_device import look_at


def devices_at(path: str, machine: Machine) -> tuple[str, ...]:
    """The device of a path in /dev, or else all devices of the filesystem of the path."""
    path = os.path.realpath(path) if machine.live else path
    if device := machine.device_at(path):
        return (device,)
    mount = mount_of(path, mounts.current(machine))
    if mount is None:
        return ()
    if mount.kind == "zfs":
        pool = mount.source.partition("/")[0]
        members = []
        for name in machine.names("/sys/class/block"):
            contents = Probed(machine.properties(name))
            if contents.type == "zfs_member" and contents.label == pool:
                members.append(name)
        return tuple(members)
    return tuple(name for name, mounted in Usage(machine).mounts.items() if mount in mounted)


def disks_of(name: str, machine: Machine) -> tuple[str, ...]:
    """The physical disks of an array or volume; for a partition, its disk."""
    disk = look_at(name, machine).disk
    disks: list[str] = []
    for lower in machine.names(f"/sys/block/{disk}/slaves"):
        disks += disks_of(lower, machine)
    return tuple(dict.fromkeys(disks)) or (disk,)


def disk_below(name: str, machine: Machine) -> str:
    """The disk, array or multipath disk below a partition or volume; empty if there are several."""
    disk = look_at(name, machine).disk
    lower = machine.names(f"/sys/block/{disk}/slaves")
    if not lower or disk.startswith("md") or is_multipath(disk, machine):
        return disk
    return disk_below(lower[0], machine) if len(lower) == 1 else ""


def is_multipath(name: str, machine: Machine) -> bool:
    return machine.text(f"/sys/block/{name}/dm/uuid").startswith("mpath-")
