"""What stands against formatting a disk or partition.

One set of rules for the plan, which shows all that it can see without root, and for the helper, which refuses with the
weightiest.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from fswizard.privileged import mounts
from fswizard.privileged.block_device import HERE, Device, Tree, path_of
from fswizard.privileged.in_use import MEMBERS, Finding, Probed, Usage, decoded, mounted_devices, read_usage, uses_of

MINIMUM_BYTES = 64 << 20
NO_FILES = ("socket:", "pipe:", "anon_inode:", "/memfd:", "net:", "mnt:")
SYSTEM_PARTITIONS = {
    "c12a7328-f81f-11d2-ba4b-00a0c93ec93b": "{name} is the machine's boot partition (ESP)",
    "0xef": "{name} is the machine's boot partition (ESP)",
    "21686148-6449-6e6f-744e-656564454649": "{name} is a boot loader's partition",
    "e3c9e316-0b5c-4db8-817d-f92df00215ae": "{name} is a reserved partition of Windows (MSR)",
    "de94bba4-06d1-4d40-a16a-bfd50179d6ac": "{name} is a recovery partition of Windows",
    "0x27": "{name} is a recovery partition of Windows",
    "0x12": "{name} is a maker's recovery partition",
    "bfbfafe7-a34f-448a-9a5b-6213eb736c22": "{name} is a maker's recovery partition",
}
PARTITION_TABLES = frozenset({"gpt", "dos", "PMBR", "mac", "sgi", "sun", "bsd", "atari"})
PARTS_OF_MORE = ("drbd", "ceph", "oracleasm", "stratis", "DM_", "vdo", "VMFS")
"""Beginnings of types that libblkid does not all list among RAID members."""
TABLES = (
    "/etc/fstab", "/etc/crypttab", "/etc/mdadm.conf", "/etc/mdadm/mdadm.conf",
    "/etc/initramfs-tools/conf.d/resume", "/etc/initramfs-tools/initramfs.conf",
)  # fmt: skip
KERNEL_TABLES = ("/proc/self/mountinfo", "/proc/swaps", "/proc/mdstat")
TAGS = {
    "uuid": ("ID_FS_UUID", "ID_FS_UUID_ENC"),
    "label": ("ID_FS_LABEL", "ID_FS_LABEL_ENC"),
    "partuuid": ("ID_PART_ENTRY_UUID",),
    "partlabel": ("ID_PART_ENTRY_NAME",),
}
"""As tables write them, in capitals or below /dev/disk/by-, and as udev does."""


def findings(
    device: Device, probed: Mapping[str, Probed], *, minimum_bytes: int = MINIMUM_BYTES
) -> tuple[Finding, ...]:
    """All that stands against formatting `device`, the weightiest first; empty where nothing does.

    `probed` has the contents, as far as known, of it, its partitions and its disk by kernel name. `openers` yields who
    has it open.
    """
    known = {name: probed.get(name, Probed()) for name in (device.name, *device.partitions, device.disk)}
    every = (
        *_in_use(device, known),
        *_named(device, known),
        *_contents(device, known),
        *_unfit(device, minimum_bytes),
    )
    return tuple(dict.fromkeys(every))


def _in_use(device: Device, probed: Mapping[str, Probed]) -> Iterator[Finding]:
    usage = read_usage(device.tree)
    for name, probe in probed.items():
        yield from uses_of(name, probe, usage)
        if below := device.tree.names(f"/sys/class/block/{name}/slaves"):
            yield Finding(
                "stacked", f"{name} is a volume or array made of {', '.join(below)}",
                "Only plain disks and partitions can be formatted; measure in a scratch image on it instead.",
            )  # fmt: skip
        for line in device.tree.lines("/proc/mdstat"):
            if any(word.partition("[")[0] == name for word in line.partition(" : ")[2].split()):
                yield Finding("raid-member", f"{name} is part of the array {line.split()[0]}", "Stop the array first.")
        if probe.properties.get("DM_MULTIPATH_DEVICE_PATH") == "1":
            yield Finding(
                "multipath-member", f"{name} is one path of a multipath disk", "It can't be formatted on its own."
            )
    yield from _mounted_elsewhere(device, probed, usage)
    yield from _loops(device, probed)


def _mounted_elsewhere(device: Device, names: Mapping[str, Probed], usage: Usage) -> Iterator[Finding]:
    """Mounts in other mount namespaces, as far as their processes can be looked at."""
    tree, here = device.tree, {mount for those in usage.mounts.values() for mount in those}
    processes: dict[bytes, str] = {}
    for pid in filter(str.isdecimal, tree.names("/proc")):
        processes.setdefault(tree.bytes(f"/proc/{pid}/mountinfo"), pid)
    for pid in processes.values():
        table = [mount for mount in mounts.parse(tree.lines(f"/proc/{pid}/mountinfo")) if mount not in here]
        if mount := next((one for one in table if mounted_devices(one, tree) & names.keys()), None):
            program = tree.text(f"/proc/{pid}/comm")
            text = f"{device.name} is mounted on {mount.path}, visible only to {program} (process {pid})"
            yield Finding("mounted-elsewhere", text, "Unmount it there, or end the program that did.")
            return


def _loops(device: Device, names: Mapping[str, Probed]) -> Iterator[Finding]:
    """Loop devices that stand on the device; one as target must not stand on a disk, nor be one of ours."""
    tree, own = device.tree, device.backing_file
    for loop in tree.names("/sys/block"):
        file = tree.text(f"/sys/block/{loop}/loop/backing_file")
        hint = f"Detach it first: losetup -d /dev/{loop}"
        if tree.device_at(file) in names:
            yield Finding("loop", f"The loop device {loop} is on {device.name}", hint)
        if own and file == own and loop != device.disk:
            yield Finding("loop", f"{loop} and {device.disk} use the same file", hint)
    if own.startswith("/dev/"):
        yield Finding("loop", f"{device.disk} is on {own}", "Name that device instead.")
    if own.endswith(" (deleted)") or Path(own).parent.name.startswith("fswizard-"):
        text = f"{device.disk} is backed by a file of this program, or by one that was deleted"
        yield Finding("loop", text, "It vanishes when the program that uses it ends.")


def _named(device: Device, probed: Mapping[str, Probed]) -> Iterator[Finding]:
    """In a table of the system, mounted or not."""
    tree, words = device.tree, [(table, word) for table, word in _words(device.tree) if word]
    leads = {word: tree.device_at(word) for _, word in words if word.startswith("/dev/")}
    for name, probe in probed.items():
        number, path = tree.text(f"/sys/class/block/{name}/dev"), path_of(name)
        tags = {(tag, value) for tag, keys in TAGS.items() for value in probe.values(*keys)}
        for table, word in words:
            if (
                word == number or _tag(word) in tags or leads.get(word) == name
                or (word in leads and fnmatch.fnmatchcase(path, word))
            ):  # fmt: skip
                hint = f"This system expects it. Take it out of {table} first."
                yield Finding("named", f"{name} is named in {table}", hint)
        if number and tree.text("/sys/power/resume") == number:
            yield Finding("named", f"This machine hibernates to {name}", "Set up hibernation elsewhere first.")
    yield from _unreadable(device)


def expecting_label(label: str, tree: Tree = HERE) -> str:
    """The table that names a filesystem by this label, whichever disk has it; empty where none does."""
    return next((table for table, word in _words(tree) if _tag(word) == ("label", label.casefold())), "")


def _words(tree: Tree) -> Iterator[tuple[str, str]]:
    """(table, a name in it that may be a device's), also the second half of `RESUME=/dev/sda2` and the like."""
    for table in TABLES:
        for line in tree.lines(table):
            if not line.lstrip().startswith("#"):
                for word in re.split(r"[\s,]+", re.sub(r"[\"']", "", line)):
                    name = mounts.unescape(word)
                    yield from ((table, name), (table, name.partition("=")[2]))
    for word in tree.text("/proc/cmdline").split():
        if word.startswith(("root=", "resume=")):
            parameter, equals, name = word.partition("=")
            yield f"the kernel's {parameter}{equals}", name


def _tag(word: str) -> tuple[str, str]:
    """`LABEL=archive` and `/dev/disk/by-label/archive` as ("label", "archive")."""
    if word.startswith("/dev/disk/by-"):
        tag, _, value = word.removeprefix("/dev/disk/by-").partition("/")
    else:
        tag, _, value = word.partition("=")
    return tag.casefold(), decoded(value).casefold()


def _unreadable(device: Device) -> Iterator[Finding]:
    """A table that cannot be read is not taken for an empty one; what only root can read the helper reads."""
    for table in (*TABLES, *KERNEL_TABLES):
        try:
            device.tree.path(table).read_bytes()
        except FileNotFoundError:
            continue
        except OSError as error:
            if not (isinstance(error, PermissionError) and os.geteuid()):
                yield Finding("unknown", f"{table} cannot be read: {error.strerror}", "Look at the file first.")


def _contents(device: Device, probed: Mapping[str, Probed]) -> Iterator[Finding]:
    for name, probe in probed.items():
        for kind in probe.types:
            raid = kind == probe.type and probe.properties.get("ID_FS_USAGE") == "raid"
            if kind not in MEMBERS and (raid or kind.endswith("_member") or kind.startswith(PARTS_OF_MORE)):
                yield Finding("raid-member", f"{name} is part of a larger whole ({kind})", "Take it out of that first.")
    for name in (device.name, *device.partitions):
        probe = probed[name]
        if (
            probe.properties.get("ID_FS_AMBIVALENT") or probe.properties.get("ID_PART_TABLE_AMBIVALENT")
            or len(probe.signatures - PARTITION_TABLES) > 1
        ):  # fmt: skip
            yield Finding(
                "ambivalent", f"{name} carries signatures of several filesystems at once",
                f"List them with `wipefs /dev/{name}`, and remove the stale ones.",
            )  # fmt: skip
        if probe.devices > 1 and not probe.left_by_a_run:
            text = f"{name} is one of {probe.devices} devices of a {probe.type}"
            yield Finding("btrfs-member", text, "Remove it from there first.")
        if part := SYSTEM_PARTITIONS.get(probe.properties.get("ID_PART_ENTRY_TYPE", "").lower()):
            yield Finding("system-partition", part.format(name=name), "Choose another partition or disk.")
    if parts := device.partitions:
        count, names = len(parts), ", ".join(parts)
        text = (
            f"{device.name} has 1 partition: {names}" if count == 1
            else f"{device.name} has {count} partitions: {names}"
        )  # fmt: skip
        hint = "Name one of them, or, if you need none of them, delete them first with your partitioning tool."
        yield Finding("partitioned", text, hint)


def _unfit(device: Device, minimum_bytes: int) -> Iterator[Finding]:
    tree, zones = device.tree, device.zone_model
    if any(tree.number(f"/sys/class/block/{name}/ro") for name in device.names):
        yield Finding(
            "read-only",
            f"{device.disk} is read-only",
            "A card may have a lock switch; a failing disk may turn read-only.",
        )
    if zones not in ("none", "host-aware"):
        yield Finding(
            "zoned", f"{device.disk} has zones ({zones or 'of an unknown kind'}) that must be written in order",
            "Filesystems aren't measured on such disks: choose another one.",
        )  # fmt: skip
    if device.size_bytes < (minimum_bytes := max(minimum_bytes, MINIMUM_BYTES)):
        text = f"{device.name} has {device.size_bytes >> 20} MiB, but {minimum_bytes >> 20} MiB are needed"
        yield Finding("too-small", text, "Choose a larger disk or partition, or another recipe.")
    if tree.text(f"/sys/block/{device.disk}/hidden") == "1":
        text = f"{device.disk} is one path of a multipath disk"
        yield Finding("multipath-member", text, "It can't be formatted on its own.")


def openers(device: Device, besides: str = "", *, anywhere: bool = False) -> Iterator[Finding]:
    """Processes that have it open, as far as they can be looked at: a virtual machine, a copy that runs.

    With `anywhere` also through a node that is not in our /dev: to look at each open file can take its time where one
    lies on a disk or a server that does not answer.
    """
    tree, names = device.tree, {*device.names, *device.partitions}
    for pid in filter(str.isdecimal, tree.names("/proc")):
        links = () if pid == besides else tree.names(f"/proc/{pid}/fd")
        if any(_opened(f"/proc/{pid}/fd/{link}", device, anywhere) in names for link in links):
            program = tree.text(f"/proc/{pid}/comm") or "a program"
            yield Finding("open", f"{program} (process {pid}) has {device.name} open", "End that program first.")


def _opened(link: str, device: Device, anywhere: bool) -> str:
    """Kernel name of the device that is open there; empty for anything else."""
    try:
        path = os.readlink(device.tree.path(link))
        if anywhere and not path.startswith(NO_FILES):
            return device.tree.device_by(device.tree.path(link).stat())
    except OSError:
        return ""
    return device.tree.device_at(path)
