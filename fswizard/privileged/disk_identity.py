"""What confirms one disk or partition alone: a serial number or name that no other attached disk has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fswizard.privileged.block_device import Device
from fswizard.privileged.in_use import Finding

SERIAL, BY_ID, WWN, PARTUUID, FILE = "serial number", "name in /dev/disk/by-id", "WWN", "PARTUUID", "file's path"
PLACEHOLDERS = ("0123456789abcdef", "123456789012", "generic")
NUMBERS_ONLY = ("wwn-", "nvme-eui.", "nvme-nvme.", "nvme-uuid.")
"""Names in /dev/disk/by-id that say nothing to people."""
REGISTERED = ("naa.", "eui.", "uuid.")
"""WWNs of a maker's; the kernel makes the others out of model and serial number."""


def identifiers(device: Device) -> dict[str, str]:
    """Each text that confirms this device and no other, and what it is; what people know best comes first.

    Of a partition they are the numbers of its disk, its own names and its PARTUUID; of a loop device its file alone.
    """
    if file := device.backing_file:
        return {file: FILE} if file.isprintable() else {}
    taken = {text for other in _others(device) for text in other}
    return {text: kind for text, kind in _reported(device).items() if text not in taken and not _placeholder(text)}


def findings(device: Device) -> Iterator[Finding]:
    """Why nothing confirms `device`; none where something does."""
    if identifiers(device):
        return
    reported, others = _reported(device), _others(device)
    for number, kind in reported.items():
        if alike := sum(number in other for other in others):
            count = alike + 1
            text = f"{count} attached disks have the {kind} {number}, and nothing else tells them apart"
            hint = "Unplug the other one, then choose again." if alike == 1 else "Unplug the others, then choose again."
            yield Finding("no-serial", text, hint)
            return
    number, kind = next(iter(reported.items()), ("", ""))
    text = (
        f"{device.disk} has only a placeholder as {kind} ({number}), so you can't confirm which disk it is"
        if number
        else f"{device.disk} reports neither a serial number nor a WWN, so you can't confirm which disk it is"
    )
    yield Finding("no-serial", text, "Measure on a scratch image on it instead.")


def _reported(device: Device) -> dict[str, str]:
    """All that is known of it, whether or not others have it, too. What cannot be printed cannot be typed."""
    udev = _udev(device, device.name)
    names = [line.removeprefix("S:disk/by-id/") for line in udev if line.startswith("S:disk/by-id/")]
    names.sort(key=lambda name: (name.startswith(NUMBERS_ONLY), len(name), name))
    pairs = [
        *((text, SERIAL) for text in serials(device)),
        *((text, BY_ID) for text in names),
        *((text, WWN) for text in _wwns(device)),
        (_property(udev, "ID_PART_ENTRY_UUID") if device.name != device.disk else "", PARTUUID),
    ]
    numbers: dict[str, str] = {}
    for text, kind in pairs:
        if text and text.isprintable():
            numbers.setdefault(text, kind)
    return numbers


def serials(device: Device) -> Iterator[str]:
    """The serial numbers of its disk, some of which may be empty: the disk's own before that of a USB bridge."""
    tree, block = device.tree, f"/sys/block/{device.disk}"
    words = tree.bytes(f"{block}/device/vpd_pg89")[60 + 20 : 60 + 40]  # IDENTIFY DEVICE words 10 to 19 ...
    swapped = b"".join(words[at : at + 2][::-1] for at in range(0, len(words), 2))  # ... their bytes swapped
    yield swapped.decode("ascii", "backslashreplace").strip("\0 ")
    for path in ("serial", "device/serial"):
        yield tree.text(f"{block}/{path}")
    yield tree.bytes(f"{block}/device/vpd_pg80")[4:].decode("ascii", "backslashreplace").strip("\0 ")
    if directory := device.usb_directory:
        yield tree.text(f"{directory}/serial")
    yield _property(_udev(device, device.disk), "ID_SERIAL_SHORT")


def _wwns(device: Device) -> Iterator[str]:
    for path in ("wwid", "device/wwid"):
        yield device.tree.text(f"/sys/block/{device.disk}/{path}")


def _udev(device: Device, name: str) -> list[str]:
    """Lines of udev's record of a device. It lists all its names, also those whose link leads to another disk."""
    number = device.tree.text(f"/sys/class/block/{name}/dev")
    return device.tree.lines(f"/run/udev/data/b{number}")


def _property(udev: list[str], key: str) -> str:
    return next((line.partition("=")[2] for line in udev if line.startswith(f"E:{key}=")), "")


def _placeholder(text: str) -> bool:
    """A number that some makers give to each of their disks."""
    plain = re.sub(r"^(naa|eui|uuid)\.|[\s:-]", "", text.casefold())
    return len(set(plain)) < 2 or plain in PLACEHOLDERS


def _others(device: Device) -> list[dict[str, str]]:
    """The identifiers of every other attached disk and its partitions, each with its kind."""
    tree, others = device.tree, list[dict[str, str]]()
    for name in tree.names("/sys/block"):
        disk = Device(name, name, "", tree)
        if name != device.disk and _is_disk(disk) and not _same(device, disk):
            parts = [Device(part, name, "", tree) for part in disk.partitions]
            others.append({text: kind for each in (disk, *parts) for text, kind in _reported(each).items()})
    return others


def _is_disk(device: Device) -> bool:
    """Not a path of an NVMe disk, nor made of others, nor a drive for discs or an empty slot for cards, which have the
    serial number of the USB device that they are part of."""
    tree, block = device.tree, f"/sys/block/{device.name}"
    hidden, below = tree.number(f"{block}/hidden"), tree.names(f"{block}/slaves")
    return bool(device.size_bytes) and not (hidden or below or device.name.startswith("sr"))


def _same(device: Device, other: Device) -> bool:
    """Another path to the same disk. USB has none, and bridges may give one WWN to all their disks."""
    disk = Device(device.disk, device.disk, "", device.tree)
    wwns = {text for text in _wwns(disk) if text.startswith(REGISTERED) and not _placeholder(text)}
    usb = any("/usb" in each.tree.real(f"/sys/block/{each.name}") for each in (disk, other))
    return not (usb or wwns.isdisjoint(_wwns(other))) and disk.size_bytes == other.size_bytes
