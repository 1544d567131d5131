"""Why a disk or partition cannot be formatted, as far as it can be seen without root.

The privileged helper repeats all of this as root, and asks the kernel for the device alone, before it writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from fswizard.drives.contents import content
from fswizard.drives.machine import HERE, Machine, Properties
from fswizard.drives.mounts import Mount, parse_mountinfo
from fswizard.drives.tables import tables_naming
from fswizard.drives.targets import DeviceTarget
from fswizard.drives.uses import MEMBERS, Names, Usage, is_name_of_a_run, read_usage, uses_of
from fswizard.model.text import safe
from fswizard.model.units import size_text
from fswizard.system import clock

_SYSTEM_PARTITIONS = {
    "c12a7328-f81f-11d2-ba4b-00a0c93ec93b": "the machine's boot partition (ESP)",
    "0xef": "the machine's boot partition (ESP)",
    "21686148-6449-6e6f-744e-656564454649": "a boot loader's partition",
    "e3c9e316-0b5c-4db8-817d-f92df00215ae": "a reserved partition of Windows (MSR)",
    "de94bba4-06d1-4d40-a16a-bfd50179d6ac": "a recovery partition of Windows",
    "0x27": "a recovery partition of Windows",
    "0x12": "a maker's recovery partition",
    "bfbfafe7-a34f-448a-9a5b-6213eb736c22": "a maker's recovery partition",
}
_SHARED = ("ceph_bluestore", "drbd", "oracleasm", "VMFS", "stratis", "LVM1_member")
"""Parts of a larger whole that libblkid does not list among RAID members."""
_SEVERAL_DEVICES = ("btrfs", "bcachefs")
_ASKING_S = 1.5
_UNMOUNT = "Unmount it there, or end the program that did."


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason not to write over a device: what uses it, and what the person can do."""

    code: str
    """Short stable name, such as `mounted`, `swap`, `raid-member`, `read-only`."""
    text: str
    hint: str = ""


def refusals(
    target: DeviceTarget, typed: str | None = None, *, minimum_bytes: int = 0, machine: Machine = HERE
) -> tuple[Refusal, ...]:
    """All that stands against formatting `target`, the weightiest first; empty where nothing does.

    `typed` is the serial number by which the person confirmed the loss, None where that is still to come.
    """
    found = (
        *_in_use(target, machine),
        *_named(target, machine),
        *_contents(target, machine),
        *_unfit(target, minimum_bytes, machine),
        *_unconfirmed(target, typed),
    )
    return tuple(dict.fromkeys(found))


def _in_use(target: DeviceTarget, machine: Machine) -> Iterator[Refusal]:
    usage = read_usage(machine)
    for name in dict.fromkeys((*target.names, target.disk)):
        found = content(target.properties.get(name, {}))
        held = bool(machine.names(f"/sys/class/block/{name}/holders"))
        for use in uses_of(name, found, usage):
            if use.code != "encrypted" or held:  # a locked volume in use; what is merely encrypted is a loss
                yield Refusal(use.code, f"{use.text}.", use.hint)
        if below := machine.names(f"/sys/class/block/{name}/slaves"):
            yield Refusal(
                "stacked", f"{safe(name)} is a volume or array made of {safe(', '.join(below))}.",
                "Only disks and partitions themselves can be formatted; a scratch image on it can be measured.",
            )  # fmt: skip
        yield from _by_kernel(name, machine)
    yield from _mounted_elsewhere(target, usage, machine)
    yield from _backing(target, machine)
    yield from _open(target, machine)


def _by_kernel(name: str, machine: Machine) -> Iterator[Refusal]:
    shown = safe(name)
    for line in machine.lines("/proc/mdstat"):
        if any(word.partition("[")[0] == name for word in line.partition(" : ")[2].split()):
            yield Refusal(
                "raid-member", f"{shown} is part of the array {safe(line.split()[0])}.", "Stop the array first."
            )
    udev = machine.properties(name)
    if udev.get("DM_MULTIPATH_DEVICE_PATH") == "1":
        yield Refusal(
            "multipath-member", f"{shown} is one path of a multipath disk.", "It cannot be formatted by itself."
        )


def _mounted_elsewhere(target: DeviceTarget, usage: Usage, machine: Machine) -> Iterator[Refusal]:
    """Mounts in other mount namespaces, as far as their processes can be looked at."""
    names, here = Names(machine), {mount for found in usage.mounts.values() for mount in found}
    seen: set[str] = set()
    for pid in filter(str.isdecimal, machine.names("/proc")):
        lines = machine.lines(f"/proc/{pid}/mountinfo")
        key = "\n".join(lines)
        if key in seen:
            continue
        seen.add(key)
        for mount in set(parse_mountinfo(lines)) - here:
            if _of_target(mount, target, names):
                program = machine.text(f"/proc/{pid}/comm")
                text = f"{target.name} is mounted on {safe(mount.mount_point)} for {program} (process {pid}) alone."
                yield Refusal("mounted-elsewhere", text, _UNMOUNT)
                return


def _of_target(mount: Mount, target: DeviceTarget, names: Names) -> bool:
    return mount.device == target.number or any(name in (*target.names, target.disk) for name in names.of(mount))


def _backing(target: DeviceTarget, machine: Machine) -> Iterator[Refusal]:
    """Loop devices that stand on the device."""
    for loop in machine.names("/sys/block"):
        file = machine.text(f"/sys/block/{loop}/loop/backing_file")
        if file.startswith("/dev/") and machine.real(file).removeprefix("/dev/") in (*target.names, target.disk):
            yield Refusal(
                "loop", f"The loop device {loop} stands on {target.name}.", f"Detach it first: losetup -d /dev/{loop}"
            )


def _open(target: DeviceTarget, machine: Machine) -> Iterator[Refusal]:
    """Programs that have the device open, as far as they can be looked at: a virtual machine, a copy that runs.

    One that only asks the disk something, as smartctl and blkid do for the list of disks, is gone in a moment.
    """
    deadline = clock.monotonic() + _ASKING_S
    while (found := tuple(_openers(target, machine))) and machine.live and clock.monotonic() < deadline:
        clock.sleep(0.1)
    yield from found


def _openers(target: DeviceTarget, machine: Machine) -> Iterator[Refusal]:
    paths = {f"/dev/{name.replace('!', '/')}" for name in (*target.names, target.disk)}
    for pid in filter(str.isdecimal, machine.names("/proc")):
        if any(_leads_to(f"/proc/{pid}/fd/{number}", machine) in paths for number in machine.names(f"/proc/{pid}/fd")):
            program = machine.text(f"/proc/{pid}/comm") or "a program"
            yield Refusal("open", f"{program} (process {pid}) has {target.name} open.", "End that program first.")


def _leads_to(link: str, machine: Machine) -> str:
    try:
        return str(machine.path(link).readlink())
    except OSError:
        return ""


def _named(target: DeviceTarget, machine: Machine) -> Iterator[Refusal]:
    for name, udev in target.properties.items():
        for table in tables_naming(name, machine.text(f"/sys/class/block/{name}/dev"), udev, machine):
            yield Refusal(
                "named", f"{safe(name)} is named in {table}.", f"This system expects it. Take it out of {table} first."
            )


def _contents(target: DeviceTarget, machine: Machine) -> Iterator[Refusal]:
    if target.drive.pending:
        yield Refusal("unknown", f"{target.drive.pending}", "Try again, or look at the disk's health.")
    for name, udev in target.properties.items():
        shown = safe(name)
        if name in target.unseen:
            ask = f"Ask `blkid -p /dev/{shown}` why." if os.geteuid() == 0 else "It may take root: use sudo."
            yield Refusal("unknown", f"What lies on {shown} could not be looked at.", ask)
        if udev.get("ID_FS_AMBIVALENT") or udev.get("ID_PART_TABLE_AMBIVALENT"):
            yield Refusal(
                "ambivalent", f"{shown} bears the marks of several filesystems at once.",
                f"Look with `wipefs /dev/{shown}`, and remove those that are left over.",
            )  # fmt: skip
        kind = content(udev).filesystem
        if (udev.get("ID_FS_USAGE") == "raid" and kind not in MEMBERS) or kind.startswith(_SHARED):
            yield Refusal("raid-member", f"{shown} is part of a larger whole ({kind}).", "Take it out of there first.")
        left_by_a_run = is_name_of_a_run(content(udev).label)
        if kind in _SEVERAL_DEVICES and not left_by_a_run and (others := _siblings(name, udev, target, machine)):
            yield Refusal(
                "btrfs-member", f"{shown} and {', '.join(others)} are one {kind}.", "Remove it from there first."
            )
        if part := _SYSTEM_PARTITIONS.get(udev.get("ID_PART_ENTRY_TYPE", "").lower()):
            yield Refusal("system-partition", f"{shown} is {part}.", "Choose another partition or disk.")
    if target.whole and len(target.names) > 1:
        count = len(target.names) - 1
        yield Refusal(
            "partitioned",
            f"{target.name} has {count} partition{'s' * (count != 1)}: {', '.join(target.names[1:])}.",
            "Name one of them, or, if all may go, delete them first with your partitioning program.",
        )


def _siblings(name: str, udev: Properties, target: DeviceTarget, machine: Machine) -> list[str]:
    """Other devices of the same filesystem, which is whole with all of them only."""
    found = content(udev)
    others = (other for other in machine.names("/sys/class/block") if other not in (name, target.disk))
    return [safe(o) for o in others if found.uuid and content(machine.properties(o)).uuid == found.uuid]


def _unfit(target: DeviceTarget, minimum_bytes: int, machine: Machine) -> Iterator[Refusal]:
    drive = target.drive
    if drive.read_only or machine.number(f"/sys/class/block/{target.name}/ro"):
        yield Refusal(
            "read-only", f"{target.disk} is read-only.", "A card may have a switch; a failing disk turns read-only."
        )
    if drive.zone_model not in ("none", "host-aware") and not (drive.zone_model == "host-managed" and target.whole):
        yield Refusal(
            "zoned", f"{target.disk} has zones ({drive.zone_model}) that must be written in order.",
            "A partition of such a disk cannot be formatted by this version: name the whole disk.",
        )  # fmt: skip
    if target.size_bytes < minimum_bytes:
        text = f"{target.name} has {size_text(target.size_bytes)}, and {size_text(minimum_bytes)} are needed."
        yield Refusal("too-small", text, "Choose a larger disk or partition, or another recipe.")
    if drive.health == "failing":
        yield Refusal(
            "failing", f"{target.disk} reports that it is failing.", "Copy what is on it elsewhere; do not use it."
        )


def _unconfirmed(target: DeviceTarget, typed: str | None) -> Iterator[Refusal]:
    if not target.identifiers:
        yield Refusal(
            "no-serial", f"{target.disk} tells neither a serial number nor a WWN, so it cannot be confirmed.",
            "Measure on a scratch image on it instead.",
        )  # fmt: skip
    elif typed is not None and typed not in target.identifiers:
        yield Refusal(
            "wrong-serial", f"'{safe(typed)}' is not the serial number of {target.name}.",
            "Look again which disk it is: `fswizard drives` shows the serial numbers.",
        )  # fmt: skip
