"""The disks of this machine, without asking them anything: what the kernel and udev already know."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fswizard.drives.contents import ask_all, probe, udev_runs, uses
from fswizard.drives.identity import identify, known_facts
from fswizard.drives.machine import HERE, Machine, Properties, mount_of, mounts
from fswizard.drives.smr import judge_composed, judge_smr
from fswizard.language import N_
from fswizard.model.drive import Drive, Partition
from fswizard.model.text import safe
from fswizard.privileged.block_device import path_of
from fswizard.privileged.in_use import Probed, Usage, mounts_on, read_usage
from fswizard.privileged.mounts import Mount
from fswizard.system import host
from fswizard.system.block_stats import SECTOR_BYTES
from fswizard.system.host import Space

_NEVER_LISTED = re.compile(r"ram\d|fd\d|sr\d|nbd\d|mtdblock|mmcblk\d+(boot|rpmb)")
_ORDER = ("nvme", "sata", "sas", "scsi", "ide", "usb", "mmc", "virtio", "other", "md", "dm", "loop", "zram")
_LINK_ORDER = ("ata-", "nvme-", "usb-", "mmc-", "virtio-", "scsi-", "md-", "dm-", "")


def inventory(machine: Machine = HERE) -> tuple[Drive, ...]:
    """Every disk, physical ones first, by the kernel's data. No disk is woken, and none can block this.

    `Drive.pending` says what did not answer in time.
    """
    drives = describe_all(_listed(machine), machine)
    return tuple(sorted(drives, key=lambda drive: (_ORDER.index(drive.bus), _natural(drive.name))))


def drive_of(path: str, machine: Machine = HERE) -> Drive | None:
    """The disk of a file or directory, or of a device's path (`/dev/sdb1`); None for tmpfs, network or several
    disks."""
    disks = {_bottom(name, machine) for name in _devices_at(path, machine)}
    disk = disks.pop() if len(disks) == 1 else ""
    return next(iter(describe_all((disk,), machine)), None) if disk else None


def members_of(path: str, machine: Machine = HERE) -> tuple[Drive, ...]:
    """The disks of a volume, array or multipath disk by its path, or of a directory's filesystem; none for a single
    disk."""
    names = _devices_at(path, machine)
    several = len(names) > 1
    disks = (_members(name, machine) or ((whole_disk(name, machine),) if several else ()) for name in names)
    return describe_all(tuple(dict.fromkeys(itertools.chain.from_iterable(disks))), machine)


def place_of(path: str, machine: Machine = HERE) -> Drive | None:
    """The disk of a directory, or its several disks as one, judged by the worst of them; None if unknown."""
    disk = drive_of(path, machine)
    members = () if disk else members_of(path, machine)
    if not members:
        return disk
    return replace(composed(members), kind="array", bus="other")


def composed(members: Sequence[Drive]) -> Drive:
    """Several disks as one, judged by the worst of them, with their common kind and bus."""
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


def _devices_at(path: str, machine: Machine) -> tuple[str, ...]:
    """Kernel names of the device at a path, or of all devices of its filesystem."""
    path = os.path.realpath(path) if machine.live else path
    if path.startswith("/dev/"):
        name = path.removeprefix("/dev/").replace("/", "!")
        if machine.path(f"/sys/class/block/{name}/dev").exists():
            return (name,)
    mount = mount_of(path, mounts(machine))
    if mount is None:
        return ()
    if mount.kind == "zfs":
        pool = mount.source.partition("/")[0]
        known = ((name, Probed(machine.properties(name))) for name in machine.names("/sys/class/block"))
        return tuple(name for name, its in known if (its.type, its.label) == ("zfs_member", pool))
    return tuple(name for name, mounted in read_usage(machine).mounts.items() if mount in mounted)


def describe_all(names: Iterable[str], machine: Machine, *, timeout_s: float = 0.7) -> tuple[Drive, ...]:
    """Drives for kernel names of whole disks; arrays are judged by their members."""
    below = {name: _members(name, machine) for name in names}
    drives = _described((*below, *itertools.chain.from_iterable(below.values())), machine, timeout_s)
    return tuple(
        replace(drives[name], smr=judge_composed([drives[member] for member in members])) if members else drives[name]
        for name, members in below.items()
    )


def _described(names: Iterable[str], machine: Machine, timeout_s: float) -> dict[str, Drive]:
    devices = {name: (name, *_partition_names(name, machine)) for name in names}
    every = [device for group in devices.values() for device in group]
    udev = {device: machine.properties(device) for device in every}
    late, unseen = set[str](), set[str]()
    if machine.live and not udev_runs(machine):
        answers = ask_all({device: functools.partial(probe, path_of(device)) for device in every}, timeout_s)
        late = set(every) - set(answers)
        unseen = {device for device, answer in answers.items() if answer is None}
        udev = {device: {**udev[device], **(answers.get(device) or {})} for device in every}
    usage = read_usage(machine)
    spaces = _spaces(every, udev, usage, timeout_s) if machine.live else {}
    describer = _Describer(machine, udev, usage, spaces, _links(machine, "by-id"), _links(machine, "by-partuuid"))
    return {
        name: replace(
            describer.drive(name, group), pending=_pending(late.intersection(group), unseen.intersection(group))
        )
        for name, group in devices.items()
    }


def _listed(machine: Machine) -> Iterable[str]:
    for name in machine.names("/sys/block"):
        block = f"/sys/block/{name}"
        if _NEVER_LISTED.match(name) or not machine.number(f"{block}/size"):
            continue
        if machine.number(f"{block}/hidden"):  # one path of an NVMe disk whose head is listed
            continue
        if name.startswith("dm-") and not machine.text(f"{block}/dm/uuid").startswith("mpath-"):
            continue  # volumes are uses of the disks below them
        if name.startswith("loop") and (machine.number(f"{block}/ro") or machine.number(f"{block}/loop/autoclear")):
            continue  # snaps, mounted images, the scratch image of a run
        yield name


def is_file_of_others(drive: Drive) -> bool:
    """Whether it is a loop device on a file that is not the user's, or is gone: no disk to choose from."""
    if drive.bus != "loop":
        return False
    own = {os.getuid(), int(os.environ.get("SUDO_UID") or os.getuid())}
    try:
        return os.stat(drive.model).st_uid not in own
    except OSError:
        return True


def _natural(name: str) -> tuple[object, ...]:
    """sdaa after sdz, nvme10n1 after nvme9n1."""
    return (len(name), *(int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)))


def _partition_names(name: str, machine: Machine) -> tuple[str, ...]:
    children = (child for child in machine.names(f"/sys/block/{name}") if child.startswith(name))
    partitions = (child for child in children if machine.number(f"/sys/block/{name}/{child}/partition"))
    return tuple(sorted(partitions, key=lambda child: machine.number(f"/sys/block/{name}/{child}/start")))


def _bottom(name: str, machine: Machine) -> str:
    """The one disk below a partition or volume; empty for several."""
    while name:
        name = whole_disk(name, machine)
        directory = machine.real(f"/sys/class/block/{name}")
        below = machine.names(f"{directory}/slaves")
        if not below or name.startswith("md") or machine.text(f"{directory}/dm/uuid").startswith("mpath-"):
            return name
        name = below[0] if len(below) == 1 else ""
    return ""


def _members(name: str, machine: Machine) -> tuple[str, ...]:
    """Kernel names of the disks of an array or volume; empty for a disk and its partitions."""
    below = machine.names(f"{machine.real(f'/sys/class/block/{whole_disk(name, machine)}')}/slaves")
    disks = (_members(device, machine) or (whole_disk(device, machine),) for device in below)
    return tuple(dict.fromkeys(itertools.chain.from_iterable(disks)))


def whole_disk(name: str, machine: Machine) -> str:
    """The disk of a partition, or the device itself."""
    directory = machine.real(f"/sys/class/block/{name}")
    return directory.split("/")[-2] if machine.number(f"{directory}/partition") else name


def _spaces(devices: Iterable[str], udev: dict[str, Properties], usage: Usage, timeout_s: float) -> dict[str, Space]:
    """Space by mount point, for those that answer."""
    points = {_point(mounts_on(device, Probed(udev[device]), usage)) for device in devices}
    answers = ask_all({point: functools.partial(_space, point) for point in points if point}, timeout_s)
    return {point: space for point, space in answers.items() if space}


def _space(point: str) -> Space | None:
    with contextlib.suppress(OSError):
        return host.this.space(point)
    return None


def _point(mounted: list[Mount]) -> str:
    """The mount point to show: of the whole filesystem rather than a bind mount of a part."""
    whole = [mount for mount in mounted if mount.root == "/"] or mounted
    return whole[0].path if whole else ""


def _links(machine: Machine, directory: str) -> dict[str, list[str]]:
    """Links below /dev/disk/`directory` by the kernel name that they lead to, the best known first."""
    by_name: dict[str, list[str]] = {}
    for link in machine.names(f"/dev/disk/{directory}"):
        path = f"/dev/disk/{directory}/{link}"
        if safe(path) == path:
            by_name.setdefault(machine.real(path).rpartition("/")[2], []).append(path)
    for paths in by_name.values():
        paths.sort(key=_link_rank)
    return by_name


def _link_rank(path: str) -> tuple[int, int, str]:
    link = path.rpartition("/")[2]
    numbers_only = re.match(r"nvme-(eui|nvme|uuid)\.|wwn-", link)
    rank = next(i for i, prefix in enumerate(_LINK_ORDER) if link.startswith(prefix))
    return (len(_LINK_ORDER) if numbers_only else rank, len(link), link)


def _pending(late: Iterable[str], unseen: Iterable[str]) -> str:
    """Sentences on devices whose contents are unknown, in English."""
    sentences = []
    if names := ", ".join(sorted(late)):
        sentences.append(N_("{devices} did not answer in time, so the contents are unknown.").format(devices=names))
    if names := ", ".join(sorted(unseen)):
        failed = N_("{devices} couldn't be read (blkid failed), so the contents are unknown.")
        forbidden = N_("{devices} couldn't be read (that needs root here), so the contents are unknown.")
        sentences.append((failed if os.geteuid() == 0 else forbidden).format(devices=names))
    return " ".join(sentences)


@dataclass(frozen=True, slots=True)
class _Describer:
    """Data of a machine, from which drives are described."""

    machine: Machine
    udev: dict[str, Properties]
    usage: Usage
    spaces: dict[str, Space]
    """Space by mount point."""
    by_id: dict[str, list[str]]
    by_partuuid: dict[str, list[str]]

    def drive(self, name: str, devices: tuple[str, ...]) -> Drive:
        block, number, text = f"/sys/block/{name}", self.machine.number, self.machine.text
        identity = identify(name, self.machine, self.udev[name])
        parts = [self._part(device) for device in devices[1:]]
        whole = self._part(name)
        if not parts and (whole.filesystem or whole.uses or whole.mount_point):
            parts = [whole]
        elif whole.uses:  # a multipath disk or firmware array keeps the partitions of the path it is made of
            parts = [whole, *parts]
        drive = Drive(
            name=safe(name),
            size_bytes=number(f"{block}/size") * SECTOR_BYTES,
            model=identity.model,
            serial=identity.serial,
            firmware=identity.firmware,
            stable_name=next(iter(self.by_id.get(name, ())), ""),
            kind=identity.kind,
            bus=identity.bus,
            bridge=identity.bridge,
            rotational=identity.kind == "hdd"
            or (identity.kind in ("array", "virtual") and bool(number(f"{block}/queue/rotational"))),
            rpm=identity.rpm,
            logical_sector_bytes=number(f"{block}/queue/logical_block_size", 512),
            physical_sector_bytes=number(f"{block}/queue/physical_block_size", 512),
            removable=bool(number(f"{block}/removable")),
            read_only=bool(number(f"{block}/ro")),
            discard=number(f"{block}/queue/discard_max_bytes") > 0,
            zone_model=text(f"{block}/queue/zoned") or "none",
            zone_count=number(f"{block}/queue/nr_zones") or None,
            partitions=tuple(part for part in parts if part.size_bytes > 1024),  # not an extended partition's frame
            uses=tuple(dict.fromkeys(use for part in parts for use in part.uses)),
        )
        return replace(drive, smr=judge_smr(known_facts(drive, identity)))

    def _part(self, name: str) -> Partition:
        directory = f"/sys/class/block/{name}"
        inside = Probed(self.udev[name])
        mounted = mounts_on(name, inside, self.usage)
        point = _point(mounted)
        space = self.spaces.get(point)
        direct = self.usage.mounts.get(name)
        return Partition(
            name=safe(name),
            start_bytes=self.machine.number(f"{directory}/start") * SECTOR_BYTES,
            size_bytes=self.machine.number(f"{directory}/size") * SECTOR_BYTES,
            stable_name=next(iter(self.by_partuuid.get(name, self.by_id.get(name, ()))), ""),
            filesystem=safe(inside.type or (direct[0].kind if direct else "")),
            label=safe(inside.label),
            uuid=safe(self.udev[name].get("ID_FS_UUID", "")),
            mount_point=safe(point),
            used_bytes=space.used_bytes if space else None,
            free_bytes=space.free_bytes if space else None,
            uses=uses(name, self.udev[name], self.usage),
        )
