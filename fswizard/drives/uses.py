"""What on this machine uses a disk or partition: mounts, swap, and whatever is built on top of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from fswizard.drives.contents import Content
from fswizard.drives.machine import Machine
from fswizard.drives.mounts import Mount, mounts, unescape
from fswizard.model.drive import DriveUse
from fswizard.model.text import safe

MEMBERS = {
    "linux_raid_member": ("raid-member", "is a member of a Linux RAID array", "take it out of the array with mdadm"),
    "isw_raid_member": ("raid-member", "is a member of a firmware RAID array", "take it out of the array first"),
    "ddf_raid_member": ("raid-member", "is a member of a firmware RAID array", "take it out of the array first"),
    "LVM2_member": ("lvm-member", "is a physical volume of LVM", "move its extents away with pvmove, then vgreduce"),
    "crypto_LUKS": ("encrypted", "holds an encrypted volume (LUKS)", "what is inside would be lost"),
    "BitLocker": ("encrypted", "holds an encrypted Windows volume (BitLocker)", "what is inside would be lost"),
    "zfs_member": ("zfs-member", "is a member of a ZFS pool", "take it out of the pool with zpool"),
    "bcache": ("bcache-member", "belongs to a bcache set", "detach it from the set first"),
    "mpath_member": ("multipath-member", "is one path of a multipath disk", "use the multipath disk itself"),
}
NAME_OF_A_RUN = re.compile(r"fswizard-[0-9a-f]{16}")
_VOLUMES = {"CRYPT": "encrypted volume", "LVM": "LVM volume", "mpath": "multipath disk", "DMRAID": "firmware RAID"}


@dataclass(frozen=True, slots=True)
class Usage:
    """Who uses what on one machine, read once for all its devices."""

    machine: Machine
    mounts: dict[str, list[Mount]] = field(default_factory=dict)
    """By kernel name of the device; a filesystem on several devices stands under each of them."""
    pools: dict[str, list[Mount]] = field(default_factory=dict)
    """Mounted datasets by the name of their ZFS pool."""
    swaps: frozenset[str] = frozenset()
    btrfs: dict[str, str] = field(default_factory=dict)
    """Kernel name of each member of a btrfs that the kernel knows, and its UUID."""


def read_usage(machine: Machine) -> Usage:
    names = Names(machine)
    members = {
        uuid: machine.names(f"/sys/fs/btrfs/{uuid}/devices") for uuid in machine.names("/sys/fs/btrfs") if "-" in uuid
    }
    btrfs = {name: uuid for uuid, devices in members.items() for name in devices}
    by_name: dict[str, list[Mount]] = {}
    pools: dict[str, list[Mount]] = {}
    for mount in mounts(machine):
        if mount.filesystem == "zfs":
            pools.setdefault(mount.source.partition("/")[0], []).append(mount)
        for name in names.of(mount):
            for member in members.get(btrfs.get(name, ""), (name,)):
                by_name.setdefault(member, []).append(mount)
    swaps = (names.of_path(unescape(line.split()[0])) for line in machine.lines("/proc/swaps")[1:] if line.split())
    return Usage(machine, by_name, pools, frozenset(name for name in swaps if name), btrfs)


class Names:
    """Kernel names of devices that the kernel's tables mention by number or path."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._mapped = {
            machine.text(f"/sys/block/{name}/dm/name"): name
            for name in machine.names("/sys/block")
            if name.startswith("dm-")
        }

    def of(self, mount: Mount) -> Iterator[str]:
        number = f"/sys/dev/block/{mount.device}"
        if self._machine.path(number).exists():
            yield self._machine.real(number).rpartition("/")[2]
        elif mount.source.startswith("/dev/"):  # btrfs and bcachefs: a number of their own, several sources
            yield from filter(None, map(self.of_path, mount.source.split(":")))

    def of_path(self, path: str) -> str:
        if not path.startswith("/dev/"):
            return ""
        if path.startswith("/dev/mapper/") and (name := self._mapped.get(path.rpartition("/")[2])):
            return name
        name = self._machine.real(path).removeprefix("/dev/").replace("/", "!")
        return name if self._machine.path(f"/sys/class/block/{name}").exists() else ""


def mounts_on(name: str, content: Content, usage: Usage) -> list[Mount]:
    """Mounts of what lies on a device, directly or through volumes and arrays on top of it."""
    found = list(usage.mounts.get(name, ()))
    if content.filesystem == "zfs_member":
        found += usage.pools.get(content.label, ())
    for holder in usage.machine.names(f"/sys/class/block/{name}/holders"):
        found += mounts_on(holder, Content(), usage)
    return found


def uses_of(name: str, content: Content, usage: Usage) -> tuple[DriveUse, ...]:
    """Everything that stands against writing over a device."""
    return tuple(_uses_of(name, content, usage))


def _uses_of(name: str, content: Content, usage: Usage) -> Iterator[DriveUse]:
    shown = safe(name)
    for mount in usage.mounts.get(name, ()):
        where = safe(mount.mount_point)
        system = where == "/" or where.startswith(("/boot", "/usr", "/home", "/var"))
        hint = "This system runs from it." if system else f"Unmount it first: umount {where}"
        yield DriveUse("mounted", f"{shown} is mounted on {where}", hint)
    if name in usage.swaps:
        yield DriveUse("swap", f"{shown} is used as swap", f"Stop using it first: swapoff /dev/{shown}")
    holders = usage.machine.names(f"/sys/class/block/{name}/holders")
    for holder in holders:
        yield _held(shown, holder, content, usage)
    if name in usage.btrfs and name not in usage.mounts:
        yield DriveUse("btrfs-member", f"{shown} is a device of a btrfs in use", "Unmount that btrfs first.")
    if content.filesystem in MEMBERS and not holders and not _left_by_a_run(content):
        code, text, hint = MEMBERS[content.filesystem]
        label = f" ({content.label})" if content.label and code != "encrypted" else ""
        yield DriveUse(code, f"{shown} {text}{label}", f"To use it for something else, {hint}.")


def _left_by_a_run(content: Content) -> bool:
    """A pool or an array that a run of ours made on a disk that was given up to it, and could not wipe any more."""
    return content.filesystem in ("zfs_member", "linux_raid_member") and is_name_of_a_run(content.label)


def is_name_of_a_run(label: str) -> bool:
    """As runs name pools, arrays and what they spread over several disks; mdadm puts the machine's name before it."""
    return NAME_OF_A_RUN.fullmatch(label.rpartition(":")[2]) is not None


def _held(shown: str, holder: str, content: Content, usage: Usage) -> DriveUse:
    machine = usage.machine
    where = ", ".join(dict.fromkeys(safe(mount.mount_point) for mount in mounts_on(holder, Content(), usage)))
    mounted = f", mounted on {where}" if where else ""
    hint = "Close what lies on top of it first." if not where else f"Unmount {where} and close it first."
    if machine.names(f"/sys/block/{holder}/md"):
        level = machine.text(f"/sys/block/{holder}/md/level")
        return DriveUse("raid-member", f"{shown} is a member of the array {safe(holder)} ({level}){mounted}", hint)
    name = machine.text(f"/sys/block/{holder}/dm/name")
    prefix = machine.text(f"/sys/block/{holder}/dm/uuid").partition("-")[0]
    code = {"CRYPT": "encrypted", "LVM": "lvm-member", "mpath": "multipath-member"}.get(prefix, "holder")
    kind = _VOLUMES.get(prefix, "volume")
    if content.filesystem == "bcache":
        code, kind = "bcache-member", "bcache disk"
    return DriveUse(code, f"{shown} holds the {kind} {name or safe(holder)}{mounted}", hint)
