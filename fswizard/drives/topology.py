"""Which disks lie below a path, a partition, a volume or an array, by their kernel names."""

from __future__ import annotations

import os

from fswizard.drives.disk_facts import Usage
from fswizard.drives.machine import Machine, mount_of, mounts
from fswizard.drives.may_erase import Probed
from fswizard.system.block_device import look_at


def devices_at(path: str, machine: Machine) -> tuple[str, ...]:
    """The device at a path below /dev, or else all devices of the filesystem that the path lies on."""
    path = os.path.realpath(path) if machine.live else path
    if device := machine.device_at(path):
        return (device,)
    mount = mount_of(path, mounts(machine))
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
    """The disks that an array or volume is made of in the end; of a partition its disk."""
    disk = look_at(name, machine).disk
    disks: list[str] = []
    for below in machine.names(f"/sys/block/{disk}/slaves"):
        disks += disks_of(below, machine)
    return tuple(dict.fromkeys(disks)) or (disk,)


def disk_below(name: str, machine: Machine) -> str:
    """The one disk, array or multipath disk below a partition or volume; empty for several."""
    disk = look_at(name, machine).disk
    below = machine.names(f"/sys/block/{disk}/slaves")
    if not below or disk.startswith("md") or is_multipath(disk, machine):
        return disk
    return disk_below(below[0], machine) if len(below) == 1 else ""


def is_multipath(name: str, machine: Machine) -> bool:
    return machine.text(f"/sys/block/{name}/dm/uuid").startswith("mpath-")
