"""Identity and connection of a disk, from sysfs, udev's database and the pages that the kernel keeps of the disk.

Pages are below /sys/block/X/device, readable without root. Layouts: SPC-5 and SBC-4 for the vital product data pages,
ACS-4 for IDENTIFY DEVICE.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fswizard.drives.machine import Machine, Properties
from fswizard.drives.models import names_a_volume, scsi_name
from fswizard.drives.smr import Medium, SmrFacts, Zoned
from fswizard.language import N_
from fswizard.model.drive import Bus, Drive, DriveKind
from fswizard.model.text import safe
from fswizard.privileged import disk_identity
from fswizard.privileged.block_device import Device
from fswizard.privileged.in_use import decoded
from fswizard.system.block_stats import SECTOR_BYTES

_BUSES: tuple[tuple[str, Bus], ...] = (
    (r"/usb\d+/", "usb"),
    (r"/nvme\d+/|/nvme-subsystem/", "nvme"),
    (r"/ata\d+/", "sata"),
    (r"/mmc_host/", "mmc"),
    (r"/virtio\d+/", "virtio"),
    (r"/end_device-[\d:]+/", "sas"),
    (r"/ide\d+/", "ide"),
    (r"/host\d+/", "scsi"),
)
_VIRTUAL_BUSES: tuple[tuple[str, Bus], ...] = (("loop", "loop"), ("md", "md"), ("dm-", "dm"), ("zram", "zram"))
_KINDS: dict[Bus, DriveKind] = {
    "loop": "virtual",
    "zram": "virtual",
    "virtio": "virtual",
    "dm": "virtual",
    "md": "array",
    "mmc": "flash-card",
    "nvme": "nvme",
}
_NAMED_BY: dict[Bus, str] = {"loop": "loop/backing_file", "dm": "dm/name", "mmc": "device/name"}
SSD_ROTATION_RATE = 1
_IDENTIFY_OFFSET = 60
_IDENTIFY_BYTES = 512
_ZONED: dict[int, Zoned] = {1: "host-aware", 2: "drive-managed"}
_EMULATED_VENDORS = ("QEMU", "VBOX", "VMware", "Msft", "Google", "Xen")
_VIRTUAL_NAME = re.compile(r"xvd|zd\d|rbd|nbd|drbd")
"""Disks of Xen, ZFS volumes, disks over the network."""
_SMALLEST_SHINGLED_BYTES = 480_000_000_000
_SLOWEST_RPM, _FASTEST_RPM = 1025, 65534


@dataclass(frozen=True, slots=True)
class Identity:
    """Fields of `model.drive.Drive`, and the disk's own data on zones and TRIM."""

    bus: Bus
    kind: DriveKind
    model: str = ""
    serial: str = ""
    firmware: str = ""
    bridge: str = ""
    rpm: int | None = None
    zoned: Zoned = ""
    """`host-aware`, `drive-managed`, or empty."""
    zoned_page: str = ""
    """Name of the page with `zoned`."""
    trim: bool = False
    """Whether IDENTIFY DEVICE offers TRIM."""
    network: bool = False
    """Whether another machine serves it."""
    identified: bool = False
    """Whether IDENTIFY DEVICE could be read."""


def identify(name: str, machine: Machine, udev: Properties) -> Identity:
    """Data on a disk without querying it."""
    block = f"/sys/block/{name}"
    bus = _bus(name, machine)
    page = parse_identify(machine.bytes(f"{block}/device/vpd_pg89"))
    rate, zoned = parse_characteristics(machine.bytes(f"{block}/device/vpd_pgb1"))
    zoned_page = N_("VPD page B1") if zoned else ""
    if page is not None:
        rate = page.rotation_rate or rate
        if page.zoned and not zoned:
            zoned, zoned_page = page.zoned, N_("IDENTIFY DEVICE word 69")
    if not rate and udev.get("ID_ATA_ROTATION_RATE_RPM", "").isdecimal():
        rate = int(udev["ID_ATA_ROTATION_RATE_RPM"]) or SSD_ROTATION_RATE
    disk = Device(name, name, "", machine)
    bridge = _bridge(disk) if bus == "usb" else ""
    vendor = machine.text(f"{block}/device/vendor")
    network = _served(name, machine, vendor)
    return Identity(
        bus=bus,
        kind="virtual" if network else _kind(name, machine, bus, rate, vendor),
        model=(page.model if page else "") or _model(name, machine, bus, vendor, udev),
        serial=next(filter(None, map(safe, disk_identity.serials(disk))), "") or safe(udev.get("ID_SERIAL_SHORT", "")),
        firmware=(page.firmware if page else "") or _firmware(name, machine, udev),
        bridge=bridge,
        rpm=rate if _SLOWEST_RPM <= rate <= _FASTEST_RPM else None,
        zoned=zoned,
        zoned_page=zoned_page,
        trim=page.trim if page else False,
        network=network,
        identified=page is not None,
    )


def known_facts(drive: Drive, identity: Identity) -> SmrFacts:
    """The kernel's facts about how an attached disk records."""
    medium: dict[str, Medium] = {"hdd": "rotating", "ssd": "solid-state", "nvme": "nvme"}
    if drive.bus == "mmc":
        medium["flash-card"] = "solid-state"
    if drive.bus == "zram":
        medium["virtual"] = "memory"
    discards = drive.discard and drive.bus == "sata" and drive.kind == "hdd"
    return SmrFacts(
        source="machine",
        model=drive.model,
        firmware=drive.firmware,
        capacity_bytes=drive.size_bytes if drive.bus == "sata" else 0,
        rpm=drive.rpm or 0,
        medium=medium.get(drive.kind, ""),
        zone_model=drive.zone_model if drive.zone_model != "none" else "",
        zoned=identity.zoned,
        zoned_where=identity.zoned_page,
        trim=identity.trim or discards,
        trim_where=N_("IDENTIFY DEVICE word 169") if identity.trim else N_("queue/discard_max_bytes in sysfs"),
        trim_would_show=identity.identified or drive.bus == "sata",
        bridge=drive.bridge,
        removable=drive.kind == "flash-card",
        network=identity.network,
        volume=drive.kind in ("virtual", "array") or names_a_volume(drive.model),
    )


def _bus(name: str, machine: Machine) -> Bus:
    path = machine.real(f"/sys/block/{name}") + "/"
    if "/devices/virtual/block/" in path:
        return next((bus for prefix, bus in _VIRTUAL_BUSES if name.startswith(prefix)), "other")
    by_path: Bus = next((bus for pattern, bus in _BUSES if re.search(pattern, path)), "other")
    behind_sas = by_path in ("sas", "scsi") and machine.text(f"/sys/block/{name}/device/vendor") == "ATA"
    return "sata" if behind_sas else by_path


def _kind(name: str, machine: Machine, bus: Bus, rate: int, vendor: str) -> DriveKind:
    if vendor.startswith(_EMULATED_VENDORS) or _VIRTUAL_NAME.match(name):
        return "virtual"
    if bus in _KINDS:
        return _KINDS[bus]
    if rate:
        return "ssd" if rate == SSD_ROTATION_RATE else "hdd"
    rotational = machine.number(f"/sys/block/{name}/queue/rotational")
    if bus == "usb":  # the kernel takes every stick for a rotating disk, and bridges say what they like
        small = machine.number(f"/sys/block/{name}/size") * SECTOR_BYTES < _SMALLEST_SHINGLED_BYTES
        return "flash-card" if small and machine.number(f"/sys/block/{name}/removable") else "unknown"
    if bus == "other":
        return "unknown"
    return "hdd" if rotational else "ssd"


def _model(name: str, machine: Machine, bus: Bus, vendor: str, udev: Properties) -> str:
    block = f"/sys/block/{name}"
    if bus == "md":
        return f"{machine.text(f'{block}/md/level')} array".strip()
    if attribute := _NAMED_BY.get(bus):
        return machine.text(f"{block}/{attribute}")
    model = machine.text(f"{block}/device/model")
    if vendor == "ATA" or not vendor:  # SCSI has room for 16 characters only; udev keeps all 40
        longer = safe(decoded(udev.get("ID_MODEL_ENC", ""))).strip()
        return longer if longer.startswith(model) else model
    return scsi_name(vendor, model) if not vendor.startswith("0x") else model


def _served(name: str, machine: Machine, vendor: str) -> bool:
    """Whether another machine serves it: NVMe over fabrics, iSCSI, Ceph, a network block device."""
    device = f"/sys/block/{name}/device"
    paths = (device, *(f"{device}/{path}" for path in machine.names(device) if re.fullmatch(r"nvme\d+", path)))
    carriers = {machine.text(f"{path}/transport") for path in paths} - {""}
    where = machine.real(f"/sys/block/{name}")
    return bool(carriers - {"pcie", "apple-nvme"}) or re.search(r"/nvme-fabrics/|/session\d+/|/rbd/", where) is not None


def _firmware(name: str, machine: Machine, udev: Properties) -> str:
    for attribute in ("firmware_rev", "fwrev", "rev"):
        if firmware := machine.text(f"/sys/block/{name}/device/{attribute}"):
            longer = safe(udev.get("ID_REVISION", ""))
            return longer if longer.startswith(firmware) else firmware
    return safe(udev.get("ID_REVISION", ""))


def _bridge(disk: Device) -> str:
    """Name and numbers of the USB device."""
    directory, text = disk.usb_directory, disk.tree.text
    if not directory:
        return "USB"
    words = [text(f"{directory}/{attribute}") for attribute in ("manufacturer", "product")]
    numbers = ":".join(text(f"{directory}/{attribute}") for attribute in ("idVendor", "idProduct"))
    return " ".join(word for word in (*words, f"({numbers})") if word)


@dataclass(frozen=True, slots=True)
class Identify:
    """The parts of ATA IDENTIFY DEVICE data that matter here."""

    model: str
    firmware: str
    rotation_rate: int
    """Rotations per minute; 1 for a disk without moving parts, 0 if not reported."""
    zoned: Zoned
    """`host-aware`, `drive-managed`, or empty: word 69 bits 1:0."""
    trim: bool
    """Whether DATA SET MANAGEMENT with TRIM is offered: word 169 bit 0."""


def parse_identify(page: bytes) -> Identify | None:
    """IDENTIFY DEVICE from VPD page 89h (ATA Information); None for anything else."""
    data = page[_IDENTIFY_OFFSET : _IDENTIFY_OFFSET + _IDENTIFY_BYTES]
    if len(data) < _IDENTIFY_BYTES or page[1] != 0x89 or not any(data):
        return None

    def word(number: int) -> int:
        return int.from_bytes(data[2 * number : 2 * number + 2], "little")

    def string(first: int, last: int) -> str:
        swapped = data[2 * first : 2 * last + 2]
        pairs = (swapped[i : i + 2][::-1] for i in range(0, len(swapped), 2))
        return safe(b"".join(pairs).strip(b"\0 "))

    return Identify(
        model=string(27, 46),
        firmware=string(23, 26),
        rotation_rate=word(217),
        zoned=_ZONED.get(word(69) & 0b11, ""),
        trim=bool(word(169) & 1),
    )


def parse_characteristics(page: bytes) -> tuple[int, Zoned]:
    """(rotation rate, zoned) from VPD page B1h (Block Device Characteristics), as in `Identify`."""
    if len(page) < 9 or page[1] != 0xB1:
        return 0, ""
    return int.from_bytes(page[4:6], "big"), _ZONED.get(page[8] >> 4 & 0b11, "")
