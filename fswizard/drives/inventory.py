"""The disks of this machine, their contents and users. No disk is woken up."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fswizard.drives import topology
from fswizard.drives.disk_facts import NUMBERS_ONLY, Usage
from fswizard.drives.identity import identify, known_facts
from fswizard.drives.machine import HERE, Machine
from fswizard.drives.may_erase import Probed, belongs
from fswizard.drives.smr import judge_composed, judge_smr
from fswizard.errors import FswizardError
from fswizard.language import N_, _
from fswizard.model.drive import Drive, DriveUse, Partition
from fswizard.model.text import safe
from fswizard.system.block_device import SECTOR_BYTES, look_at, path_of
from fswizard.system.commands import query

_NEVER_LISTED = re.compile(r"ram\d|fd\d|sr\d|nbd\d|mtdblock|mmcblk\d+(boot|rpmb)")
_ORDER = ("nvme", "sata", "sas", "scsi", "ide", "usb", "mmc", "virtio", "other", "md", "dm", "loop", "zram")
_WELL_KNOWN = ("ata-", "nvme-", "usb-", "mmc-", "virtio-")
"""Prefixes of the most familiar names in /dev/disk/by-id."""
_EXTENDED_PARTITION_BYTES = 1024
"""Size that Linux reports for an extended partition."""
_ENCRYPTED = {
    "crypto_LUKS": N_("{name} holds an encrypted volume (LUKS)"),
    "BitLocker": N_("{name} holds an encrypted Windows volume (BitLocker)"),
}


def inventory(machine: Machine = HERE) -> tuple[Drive, ...]:
    """All disks, physical ones first. `Drive.pending` says what could not be read."""
    drives = describe([name for name in machine.names("/sys/block") if _is_listed(name, machine)], machine)
    points = [part.mount_point for drive in drives for part in drive.partitions if part.mount_point]
    free_bytes = _free_bytes(points) if points and machine.live else {}
    listed = []
    for drive in drives:
        parts = [replace(part, free_bytes=free_bytes.get(part.mount_point)) for part in drive.partitions]
        listed.append(replace(drive, partitions=tuple(parts)))
    # sdaa after sdz, nvme10n1 after nvme9n1
    return tuple(sorted(listed, key=lambda drive: (_ORDER.index(drive.bus), len(drive.name), drive.name)))


def drive_of(path: str, machine: Machine = HERE) -> Drive | None:
    """Disk of a file, directory or device path (`/dev/sdb1`); None for tmpfs, network or several disks."""
    disks = {topology.disk_below(name, machine) for name in topology.devices_at(path, machine)}
    if len(disks) != 1 or "" in disks:
        return None
    return describe(disks, machine)[0]


def combined_drive(path: str, machine: Machine = HERE) -> Drive | None:
    """Like `drive_of`, but several disks are combined into one, with the worst verdict; None if unknown."""
    if disk := drive_of(path, machine):
        return disk
    devices = topology.devices_at(path, machine)
    disks = dict.fromkeys(disk for device in devices for disk in topology.disks_of(device, machine))
    return replace(composed(describe(disks, machine)), kind="array", bus="other") if disks else None


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


def _is_listed(name: str, machine: Machine) -> bool:
    block = machine.directory(f"/sys/block/{name}")
    if _NEVER_LISTED.match(name) or not block.number("size"):
        return False
    if block.number("hidden"):  # a path of a multipath NVMe disk, which is listed itself
        return False
    if name.startswith("dm-"):  # other volumes are listed as uses of their disks
        return topology.is_multipath(name, machine)
    if name.startswith("loop"):  # excludes snaps, mounted images and the scratch images of runs
        return not (block.number("ro") or block.number("loop/autoclear"))
    return True


def describe(names: Iterable[str], machine: Machine = HERE) -> tuple[Drive, ...]:
    """Describe whole disks, by kernel name; the SMR verdict on arrays and volumes is that on their members."""
    usage, stable_names = Usage(machine), _stable_names(machine)
    drives = []
    for name in names:
        drive = _describe(name, machine, usage, stable_names)
        members = topology.disks_of(name, machine)
        if members != (name,):
            judged = [_describe(member, machine, usage, stable_names) for member in members]
            drive = replace(drive, smr=judge_composed(judged))
        drives.append(drive)
    return tuple(drives)


def _describe(name: str, machine: Machine, usage: Usage, stable_names: Mapping[str, str]) -> Drive:
    """Describe a disk with its contents and users."""
    parts, unread = [], []
    for each in (name, *look_at(name, machine).partitions):
        contents = machine.contents(each)
        if contents is None:
            unread.append(each)
        part = _partition(each, Probed(contents or {}), machine, usage, stable_names)
        if part.size_bytes > _EXTENDED_PARTITION_BYTES or each == name:
            parts.append(part)
    # A path of a multipath disk or firmware array shows the same partitions.
    whole = parts[0]
    if not whole.uses and (len(parts) > 1 or not (whole.filesystem or whole.mount_point)):
        parts.remove(whole)
    uses = [use for part in parts for use in part.uses]
    drive = replace(
        identify(name, machine),
        stable_name=stable_names.get(path_of(name), ""),
        partitions=tuple(sorted(parts, key=lambda part: part.start_bytes)),
        uses=tuple(dict.fromkeys(uses)),
        pending="" if machine.udev_runs else _pending(unread),
    )
    return replace(drive, smr=judge_smr(known_facts(drive, machine)))


def _partition(
    name: str, contents: Probed, machine: Machine, usage: Usage, stable_names: Mapping[str, str]
) -> Partition:
    block = machine.directory(f"/sys/class/block/{name}")
    holders = block.names("holders")
    findings = list(usage.of(name))
    if not holders:
        findings += belongs(name, contents)
    uses = [DriveUse(use.code, safe(use.text), safe(use.hint)) for use in findings]
    if contents.type in _ENCRYPTED and not holders:
        text = _(_ENCRYPTED[contents.type], name=safe(name))
        uses.append(DriveUse("encrypted", text, N_("Using it for something else destroys its contents.")))
    directly, mounted = usage.mounts.get(name), usage.mounts_on(name, contents)
    whole = [mount for mount in mounted if mount.root == "/"]  # no bind mounts of subdirectories
    return Partition(
        name=safe(name),
        start_bytes=block.number("start") * SECTOR_BYTES,
        size_bytes=block.number("size") * SECTOR_BYTES,
        stable_name=stable_names.get(path_of(name), ""),
        filesystem=safe(contents.type or (directly[0].kind if directly else "")),
        label=safe(contents.label),
        mount_point=next((safe(mount.path) for mount in whole or mounted), ""),
        uses=tuple(uses),
    )


def _stable_names(machine: Machine) -> dict[str, str]:
    """The best link in /dev/disk by device path; links by PARTUUID are preferred for partitions."""
    names: dict[str, str] = {}
    for directory in ("by-id", "by-partuuid"):
        for link in sorted(machine.names(f"/dev/disk/{directory}"), key=_link_rank, reverse=True):
            path = f"/dev/disk/{directory}/{link}"
            if safe(path) == path:
                names[machine.real(path)] = path
    return names


def _link_rank(link: str) -> tuple[bool, bool, int, str]:
    """Sort key of a link; lower values are more familiar to people."""
    return (link.startswith(NUMBERS_ONLY), not link.startswith(_WELL_KNOWN), len(link), link)


def _pending(unread: Sequence[str]) -> str:
    """English sentence about devices with unknown contents; empty if there are none."""
    if not unread:
        return ""
    failed = N_("{devices} couldn't be read (blkid failed), so the contents are unknown.")
    forbidden = N_("{devices} couldn't be read (that needs root here), so the contents are unknown.")
    return _(failed if os.geteuid() == 0 else forbidden, devices=", ".join(unread))


def _free_bytes(points: Iterable[str]) -> dict[str, int]:
    """Free bytes by mount point from df; empty if it fails or a filesystem hangs."""
    try:
        answer = query(("df", "--block-size=1", "--output=avail,file", *points), timeout_s=2)
    except FswizardError:
        return {}
    rows = re.findall(r"^ *(\d+) +(.+)$", answer.stdout.decode("utf-8", "replace"), re.MULTILINE)
    return {point: int(free) for free, point in rows}
