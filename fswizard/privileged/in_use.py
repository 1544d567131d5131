"""What on a machine uses a disk or partition: mounts, swap, and whatever is built on top of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fswizard.privileged import commands, mounts
from fswizard.privileged.block_device import Tree
from fswizard.privileged.mounts import Mount, unescape

MEMBERS = {
    "linux_raid_member": (
        "raid-member", "{name} is a member of a Linux RAID array",
        "Before you use it for something else, take it out of the array with mdadm.",
    ),
    "isw_raid_member": (
        "raid-member", "{name} is a member of a firmware RAID array",
        "Before you use it for something else, take it out of the array first.",
    ),
    "ddf_raid_member": (
        "raid-member", "{name} is a member of a firmware RAID array",
        "Before you use it for something else, take it out of the array first.",
    ),
    "LVM2_member": (
        "lvm-member", "{name} is a physical volume of LVM",
        "Before you use it for something else, move its extents away with pvmove, then vgreduce.",
    ),
    "zfs_member": (
        "zfs-member", "{name} is a member of a ZFS pool",
        "Before you use it for something else, take it out of the pool with zpool.",
    ),
    "bcache": (
        "bcache-member", "{name} belongs to a bcache set",
        "Before you use it for something else, detach it from the set first.",
    ),
    "mpath_member": (
        "multipath-member", "{name} is one path of a multipath disk",
        "Before you use it for something else, use the multipath disk itself.",
    ),
}  # fmt: skip
"""By libblkid's name: code, text and hint. bcachefs is a filesystem, and no member of anything."""
LEFT_BY_A_RUN = ("zfs_member", "linux_raid_member")
"""What a killed run may have left of a pool or an array on a disk that was given up to it."""
VOLUMES = {
    "CRYPT": ("encrypted", "encrypted volume"),
    "LVM": ("lvm-member", "LVM volume"),
    "mpath": ("multipath-member", "multipath disk"),
    "DMRAID": ("holder", "firmware RAID"),
}
"""By the prefix of the device mapper's UUID."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that stands against writing over a device, and what can be done about it. Texts may be hostile."""

    code: str
    """Short stable name, such as `mounted`, `swap`, `raid-member`, `read-only`."""
    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Probed:
    """Contents of a device: without root as udev's database has it, as root as blkid and wipefs read it."""

    properties: Mapping[str, str] = field(default_factory=dict)
    """In udev's words, which are those of `blkid -p -o udev`, too."""
    signatures: frozenset[str] = frozenset()
    """Types of everything that wipefs finds, also where one hides the other; empty without root."""
    devices: int = 0
    """How many the filesystem has, by its superblock, or, without root, as far as udev knows them."""

    @property
    def type(self) -> str:
        return self.properties.get("ID_FS_TYPE", "")

    @property
    def table(self) -> str:
        """Kind of its partition table, such as `gpt`."""
        return self.properties.get("ID_PART_TABLE_TYPE", "")

    @property
    def label(self) -> str:
        return decoded(self.properties.get("ID_FS_LABEL_ENC", self.properties.get("ID_FS_LABEL", "")))

    @property
    def types(self) -> list[str]:
        return sorted({self.type, *self.signatures} - {""})

    @property
    def left_by_a_run(self) -> bool:
        """Runs give pools, arrays and what they spread over several disks a name of ours; mdadm puts the machine's
        name before it."""
        return commands.RUN_NAME.fullmatch(self.label.rpartition(":")[2]) is not None

    def values(self, *keys: str) -> frozenset[str]:
        return frozenset(decoded(self.properties.get(key, "")).casefold() for key in keys) - {""}


def decoded(text: str) -> str:
    r"""Text as udev encodes it, with `\x20` for a blank."""
    encoded = text.encode("utf-8", "surrogateescape")
    plain = re.sub(rb"\\x([0-9a-fA-F]{2})", lambda match: bytes((int(match[1], 16),)), encoded)
    return plain.decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Usage:
    """Who uses what on one machine, read once for all its devices."""

    tree: Tree
    mounts: dict[str, list[Mount]] = field(default_factory=dict)
    """In this namespace, by kernel name of the device; a filesystem on several devices stands under each of them."""
    pools: dict[str, list[Mount]] = field(default_factory=dict)
    """Mounted datasets by the name of their ZFS pool."""
    swaps: frozenset[str] = frozenset()
    btrfs: dict[str, str] = field(default_factory=dict)
    """Kernel name of each member of a btrfs that the kernel knows, and its UUID."""


def read_usage(tree: Tree) -> Usage:
    members = {uuid: tree.names(f"/sys/fs/btrfs/{uuid}/devices") for uuid in tree.names("/sys/fs/btrfs") if "-" in uuid}
    btrfs = {name: uuid for uuid, devices in members.items() for name in devices}
    by_name: dict[str, list[Mount]] = {}
    by_pool: dict[str, list[Mount]] = {}
    for mount in mounts.parse(tree.lines("/proc/self/mountinfo")):
        if mount.kind == "zfs":
            by_pool.setdefault(mount.source.partition("/")[0], []).append(mount)
        for name in mounted_devices(mount, tree):
            for member in members.get(btrfs.get(name, ""), (name,)):
                by_name.setdefault(member, []).append(mount)
    swaps = (line.split()[0] for line in tree.lines("/proc/swaps")[1:] if line.split())
    names = frozenset(tree.device_at(unescape(path)) for path in swaps) - {""}
    return Usage(tree, by_name, by_pool, names, btrfs)


def mounted_devices(mount: Mount, tree: Tree) -> set[str]:
    """Kernel names; btrfs and bcachefs have a number of their own, and name devices, or some of them, as source."""
    return {tree.device_of(mount.device), *map(tree.device_at, mount.source.split(":"))} - {""}


def mounts_on(name: str, probed: Probed, usage: Usage) -> list[Mount]:
    """Mounts of the contents of a device, directly or through volumes and arrays on top of it."""
    table = list(usage.mounts.get(name, ()))
    if probed.type == "zfs_member":
        table += usage.pools.get(probed.label, ())
    for holder in usage.tree.names(f"/sys/class/block/{name}/holders"):
        table += mounts_on(holder, Probed(), usage)
    return table


def uses_of(name: str, probed: Probed, usage: Usage) -> Iterator[Finding]:
    """Who uses the device `name`."""
    for mount in usage.mounts.get(name, ()):
        system = mount.path == "/" or mount.path.startswith(("/boot", "/usr", "/home", "/var"))
        hint = "This system runs from it." if system else f"Unmount it first: umount {mount.path}"
        yield Finding("mounted", f"{name} is mounted on {mount.path}", hint)
    if name in usage.swaps:
        yield Finding("swap", f"{name} is used as swap", f"Stop using it first: swapoff /dev/{name}")
    holders = usage.tree.names(f"/sys/class/block/{name}/holders")
    for holder in holders:
        yield _held(name, holder, probed, usage)
    if name in usage.btrfs and name not in usage.mounts:
        yield Finding("btrfs-member", f"{name} is a device of a btrfs in use", "Unmount that btrfs first.")
    for kind in () if holders else probed.types:
        if kind in MEMBERS and not (kind in LEFT_BY_A_RUN and probed.left_by_a_run):
            code, text, hint = MEMBERS[kind]
            called = f"{name} ({probed.label})" if probed.label else name
            yield Finding(code, text.format(name=called), hint)


def _held(name: str, holder: str, probed: Probed, usage: Usage) -> Finding:
    tree = usage.tree
    where = ", ".join(dict.fromkeys(mount.path for mount in mounts_on(holder, Probed(), usage)))
    hint = f"Unmount {where} and close it first." if where else "Close what is on top of it first."
    if tree.names(f"/sys/block/{holder}/md"):
        level = tree.text(f"/sys/block/{holder}/md/level")
        text = (
            f"{name} is a member of the array {holder} ({level}), mounted on {where}"
            if where
            else f"{name} is a member of the array {holder} ({level})"
        )
        return Finding("raid-member", text, hint)
    prefix = tree.text(f"/sys/block/{holder}/dm/uuid").partition("-")[0]
    code, kind = VOLUMES.get(prefix, ("holder", "volume"))
    if probed.type == "bcache":
        code, kind = "bcache-member", "bcache disk"
    called = tree.text(f"/sys/block/{holder}/dm/name") or holder
    if commands.RUN_NAME.match(called):
        hint = "A run of fswizard made it: wait until that has ended, or run `fswizard clean` if it was killed."
    text = f"{name} holds the {kind} {called}, mounted on {where}" if where else f"{name} holds the {kind} {called}"
    return Finding(code, text, hint)
