"""Which disks lie below a path, a partition, a volume or an array, by their kernel names."""

from __future__ import annotations

import itertools
import os

from fswizard.drives.disk_facts import Usage
from fswizard.drives.machine import Machine, mount_of, mounts
from fswizard.drives.may_erase import Probed


def devices_at(path: str, machine: Machine) -> tuple[str, ...]:
    """The device at a path below /dev, or else all devices of the filesystem that the path lies on."""
    path = os.path.realpath(path) if machine.live else path
    if device := machine.device_at(path):
        return (device,)
    mount = mount_of(path, mounts(machine))
    if mount is None:
        return ()
    if mount.kind == "zfs":
        return _members_of_pool(mount.source.partition("/")[0], machine)
    return tuple(name for name, mounted in Usage(machine).mounts.items() if mount in mounted)


def _members_of_pool(pool: str, machine: Machine) -> tuple[str, ...]:
    contents = {name: Probed(machine.properties(name)) for name in machine.names("/sys/class/block")}
    return tuple(name for name, each in contents.items() if each.type == "zfs_member" and each.label == pool)


def whole_disk(name: str, machine: Machine) -> str:
    """The disk of a partition, or the device itself."""
    directory = machine.real(f"/sys/class/block/{name}")
    return directory.split("/")[-2] if machine.number(f"{directory}/partition") else name


def disks_of(name: str, machine: Machine) -> tuple[str, ...]:
    """The disks that an array or volume is made of in the end; of a partition its disk."""
    disk = whole_disk(name, machine)
    devices = _made_of(disk, machine)
    if not devices:
        return (disk,)
    disks = (disks_of(device, machine) for device in devices)
    return tuple(dict.fromkeys(itertools.chain.from_iterable(disks)))


def disk_below(name: str, machine: Machine) -> str:
    """The one disk, array or multipath disk below a partition or volume; empty for several."""
    disk = whole_disk(name, machine)
    devices = _made_of(disk, machine)
    if not devices or disk.startswith("md") or is_multipath(disk, machine):
        return disk
    return disk_below(devices[0], machine) if len(devices) == 1 else ""


def _made_of(disk: str, machine: Machine) -> tuple[str, ...]:
    """The devices that a volume or array is directly made of; empty for a disk."""
    return machine.names(f"/sys/block/{disk}/slaves")


def is_multipath(name: str, machine: Machine) -> bool:
    return machine.text(f"/sys/block/{name}/dm/uuid").startswith("mpath-")
