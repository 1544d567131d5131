"""The disks of this machine, their contents and users. No disk is woken up."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import pyudev

from fswizard.drives import topology
from fswizard.drives.contents import contents, udev_runs
from fswizard.drives.disk_facts import Usage, links
from fswizard.drives.identity import identify, known_facts
from fswizard.drives.may_erase import Probed, belongs
from fswizard.drives.smr import judge_composed, judge_smr
from fswizard.errors import FswizardError
from fswizard.language import _
from fswizard.model.drive import Drive, DriveUse, Partition
from fswizard.model.text import safe
from fswizard.system import clock
from fswizard.system.block_device import HERE, SECTOR_BYTES, Tree, look_at
from fswizard.system.commands import query

_NEVER_LISTED = re.compile(r"z?ram\d|fd\d|sr\d|nbd\d|mtdblock|mmcblk\d+(boot|rpmb)")
_ORDER = ("nvme", "sata", "sas", "scsi", "usb", "mmc", "virtio", "other", "md", "dm", "loop")
_EXTENDED_PARTITION_BYTES = 1024
"""Size that Linux reports for an extended partition."""
_POLL_S = 2.0
_SETTLE_S = 0.3
"""One disk causes many events, and udev needs about that long to process them."""


def inventory(tree: Tree = HERE) -> tuple[Drive, ...]:
    """All disks, physical ones first. `Drive.pending` says what could not be read."""
    drives = describe([name for name in tree.names("/sys/block") if _is_listed(name, tree)], tree)
    points: list[str] = []
    for drive in drives:
        points += [part.mount_point for part in drive.partitions if part.mount_point]
    free_bytes = _free_bytes(points) if points and tree == HERE else {}
    listed = []
    for drive in drives:
        parts = [replace(part, free_bytes=free_bytes.get(part.mount_point)) for part in drive.partitions]
        listed.append(replace(drive, partitions=tuple(parts)))

    def place(drive: Drive) -> tuple[int, int, str]:
        return _ORDER.index(drive.bus), len(drive.name), drive.name  # sdaa after sdz, nvme10n1 after nvme9n1

    return tuple(sorted(listed, key=place))


def watch(stopped: Callable[[], bool]) -> Iterator[tuple[Drive, ...]]:
    """The inventory now, and again whenever it changed, until `stopped()`. Blocks for up to `_POLL_S`.

    Sysfs is read at intervals, too, as a mount, for example, is no event of a disk.
    """
    monitor = None
    with suppress(OSError):  # no right to listen, in a container
        monitor = pyudev.Monitor.from_netlink(pyudev.Context(), "kernel")
        monitor.filter_by("block")
        monitor.start()
    previous = inventory()
    yield previous
    while not stopped():
        if monitor is None:
            clock.sleep(_POLL_S)
        elif monitor.poll(_POLL_S) is not None:
            clock.sleep(_SETTLE_S)
            while monitor.poll(0) is not None:
                pass
        current = inventory()
        if current != previous:
            previous = current
            yield previous


def drive_of(path: str, tree: Tree = HERE) -> Drive | None:
    """Disk of a file, directory or device path (`/dev/sdb1`); several are combined. None for memory and network."""
    disks: list[str] = []
    for name in topology.devices_at(path, tree):
        disks += topology.disks_below(name, tree)
    drives = describe(dict.fromkeys(disks), tree)
    if len(drives) > 1:
        return replace(composed(drives), kind="array", bus="other")
    return drives[0] if drives else None


def composed(members: Sequence[Drive]) -> Drive:
    """Combine several disks into one, with the worst verdict and their common kind and bus."""
    models = Counter(sorted(member.model or member.name for member in members))
    kinds, buses = {member.kind for member in members}, {member.bus for member in members}
    return Drive(
        name="+".join(member.name for member in members),
        size_bytes=sum(member.size_bytes for member in members),
        model=" + ".join(f"{count} × {model}" if count > 1 else model for model, count in models.items()),
        kind=kinds.pop() if len(kinds) == 1 else "array",
        bus=buses.pop() if len(buses) == 1 else "other",
        rotational=any(member.rotational for member in members),
        smr=judge_composed(members),
        pending=" ".join(filter(None, (member.pending for member in members))),
    )


def is_file_of_others(drive: Drive) -> bool:
    """Whether it is a loop device on a file of another user or on a deleted file, which is not offered as a target."""
    if drive.bus != "loop":
        return False
    try:
        owner = os.stat(drive.model).st_uid
    except OSError:
        return True
    return owner not in (os.getuid(), int(os.environ.get("SUDO_UID") or os.getuid()))


def _is_listed(name: str, tree: Tree) -> bool:
    block = tree.directory(f"/sys/block/{name}")
    if _NEVER_LISTED.match(name) or not block.number("size"):
        return False
    if block.number("hidden"):  # a path of a multipath NVMe disk, which is listed itself
        return False
    if name.startswith("dm-"):  # other volumes are listed as uses of their disks
        return topology.is_multipath(name, tree)
    if name.startswith("loop"):  # excludes snaps, mounted images and the scratch images of runs
        return not (block.number("ro") or block.number("loop/autoclear"))
    return True


def describe(names: Iterable[str], tree: Tree = HERE) -> tuple[Drive, ...]:
    """Describe whole disks, by kernel name; the SMR verdict on arrays and volumes is that on their members."""
    usage = Usage(tree)
    drives = []
    for name in names:
        drive = _describe(name, tree, usage)
        members = topology.disks_below(name, tree, physical=True)
        if members != (name,):
            drive = replace(drive, smr=judge_composed([_describe(member, tree, usage) for member in members]))
        drives.append(drive)
    return tuple(drives)


def _describe(name: str, tree: Tree, usage: Usage) -> Drive:
    """Describe a disk with its contents and users."""
    parts, unread = [], []
    for each in (name, *look_at(name, tree).partitions):
        found = contents(each, tree)
        if found is None:
            unread.append(each)
        part = _partition(each, Probed(found or {}), tree, usage)
        if part.size_bytes > _EXTENDED_PARTITION_BYTES or each == name:
            parts.append(part)
    # A path of a multipath disk or firmware array shows the same partitions.
    whole = parts[0]
    if not whole.uses and (len(parts) > 1 or not (whole.filesystem or whole.mount_point)):
        parts.remove(whole)
    uses: list[DriveUse] = []
    for part in parts:
        uses += part.uses
    pending = ""
    if unread and not udev_runs(tree):
        pending = _("{devices} couldn't be read, so the contents are unknown.", devices=", ".join(unread))
    drive = replace(
        identify(name, tree),
        stable_name=stable_name(name, tree),
        partitions=tuple(sorted(parts, key=lambda part: part.start_bytes)),
        uses=tuple(dict.fromkeys(uses)),
        pending=pending,
    )
    return replace(drive, smr=judge_smr(known_facts(drive, tree)))


def _partition(name: str, found: Probed, tree: Tree, usage: Usage) -> Partition:
    block = tree.directory(f"/sys/class/block/{name}")
    findings = [*usage.of(name), *(() if block.names("holders") else belongs(name, found))]
    directly, mounted = usage.mounts.get(name), usage.mounts_on(name, found)
    whole = [mount for mount in mounted if mount.root == "/"]  # no bind mounts of subdirectories
    return Partition(
        name=safe(name),
        start_bytes=block.number("start") * SECTOR_BYTES,
        size_bytes=block.number("size") * SECTOR_BYTES,
        stable_name=stable_name(name, tree),
        filesystem=safe(found.type or (directly[0].kind if directly else "")),
        label=safe(found.label),
        mount_point=next((safe(mount.path) for mount in whole or mounted), ""),
        uses=tuple(DriveUse(use.code, safe(use.text), safe(use.hint)) for use in findings),
    )


def stable_name(name: str, tree: Tree) -> str:
    """The best link to a device in /dev/disk, for a partition by its PARTUUID; empty if there is none."""
    for directory in ("by-partuuid", "by-id"):
        for link in links(name, directory, tree):
            path = f"/dev/disk/{directory}/{link}"
            if tree.device_at(path) == name and safe(path) == path:
                return path
    return ""


def _free_bytes(points: Iterable[str]) -> dict[str, int]:
    """Free bytes by mount point from df; empty if it fails or a filesystem hangs."""
    try:
        answer = query(("df", "--block-size=1", "--output=avail,file", *points), timeout_s=2)
    except FswizardError:
        return {}
    rows = re.findall(r"^ *(\d+) +(.+)$", answer.stdout.decode("utf-8", "replace"), re.MULTILINE)
    return {point: int(free) for free, point in rows}
