"""Find the disks below a path, partition, volume or array, by kernel name."""

from __future__ import annotations

import os

from fswizard.drives.disk_facts import Usage
from fswizard.drives.may_erase import Probed
from fswizard.system import mounts
from fswizard.system.block_device import HERE, Tree, look_at


def devices_at(path: str, tree: Tree = HERE) -> tuple[str, ...]:
    """The device of a path in /dev, or else all devices of the filesystem of the path."""
    path = os.path.realpath(path) if tree == HERE else path
    if device := tree.device_at(path):
        return (device,)
    mount = mounts.mount_of(path, mounts.current(tree))
    if mount is None:
        return ()
    if mount.kind == "zfs":
        pool = mount.source.partition("/")[0]
        members = []
        for name in tree.names("/sys/class/block"):
            probed = Probed(tree.properties(name))
            if probed.type == "zfs_member" and probed.label == pool:
                members.append(name)
        return tuple(members)
    return tuple(name for name, mounted in Usage(tree).mounts.items() if mount in mounted)


def disks_below(name: str, tree: Tree, *, physical: bool = False) -> tuple[str, ...]:
    """The disks below a partition or volume. An array or multipath disk is one, unless `physical`."""
    disk = look_at(name, tree).disk
    lower = tree.names(f"/sys/block/{disk}/slaves")
    whole = disk.startswith("md") or is_multipath(disk, tree)
    if not lower or (whole and not physical):
        return (disk,)
    below: list[str] = []
    for part in lower:
        below += disks_below(part, tree, physical=physical)
    return tuple(dict.fromkeys(below))


def is_multipath(name: str, tree: Tree) -> bool:
    return tree.text(f"/sys/block/{name}/dm/uuid").startswith("mpath-")
