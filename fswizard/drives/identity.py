"""Identify an attached disk: name, bus, kind and recording, from sysfs, udev and SCSI pages read by the kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fswizard.drives.disk_facts import serials, usb_directory
from fswizard.drives.models import names_a_volume, scsi_name
from fswizard.drives.smr import Medium, SmrFacts, Zoned
from fswizard.drives.vpd import pages_of
from fswizard.model.drive import Bus, Drive, DriveKind
from fswizard.model.text import safe
from fswizard.system.block_device import HERE, SECTOR_BYTES, Tree, decoded

_BUSES: tuple[tuple[str, Bus], ...] = (
    (r"/usb\d+/", "usb"),
    (r"/nvme\d+/|/nvme-subsystem/", "nvme"),
    (r"/ata\d+/", "sata"),
    (r"/mmc_host/", "mmc"),
    (r"/virtio\d+/", "virtio"),
    (r"/end_device-[\d:]+/", "sas"),
    (r"/host\d+/", "scsi"),
    (r"/virtual/block/loop", "loop"),
    (r"/virtual/block/md", "md"),
    (r"/virtual/block/dm-", "dm"),
)
"""Bus by a pattern of the disk's path in sysfs."""
_KINDS: dict[Bus, DriveKind] = {
    "loop": "virtual",
    "virtio": "virtual",
    "dm": "virtual",
    "md": "array",
    "mmc": "flash-card",
    "nvme": "nvme",
}
_NAMED_BY: dict[Bus, str] = {"loop": "loop/backing_file", "dm": "dm/name", "mmc": "device/name"}
_FIRMWARE = ("device/firmware_rev", "device/fwrev", "device/rev")
"""Attributes of NVMe disks, cards and SCSI disks."""
_MEDIA: dict[DriveKind, Medium] = {"hdd": "rotating", "ssd": "solid-state", "nvme": "nvme"}
_KERNEL_ZONED: dict[str, Zoned] = {"host-managed": "host-managed", "host-aware": "host-aware"}
_EMULATED_VENDORS = ("QEMU", "VBOX", "VMware", "Msft", "Google", "Xen")
_VIRTUAL_NAME = re.compile(r"xvd|zd\d|rbd|nbd|drbd")
"""Kernel names of Xen disks, ZFS volumes and network disks."""
_SERVED = re.compile(r"/nvme-fabrics/|/session\d+/|/rbd/")
"""Sysfs paths of disks that another machine serves: NVMe over fabrics, iSCSI, Ceph."""
_LOCAL_NVME = {"pcie", "apple-nvme", ""}
"""Transports of local NVMe disks; older kernels report none in sysfs."""
_NO_MOVING_PARTS = 1
"""Rotation rate of an SSD."""
_RPM = range(1025, 65535)
_SMALLEST_SHINGLED_BYTES = 480_000_000_000


def identify(name: str, tree: Tree = HERE) -> Drive:
    """Identify a disk, without its contents and SMR verdict. The disk is not queried."""
    block, udev = tree.directory(f"/sys/block/{name}"), tree.properties(name)
    bus = _bus(name, tree)
    page, by_udev = pages_of(block), udev.get("ID_ATA_ROTATION_RATE_RPM", "")  # of a USB disk only udev knows it
    rate = page.rotation_rate or ((int(by_udev) or _NO_MOVING_PARTS) if by_udev.isdecimal() else 0)
    kind = "virtual" if _served(name, tree) else _kind(name, block, bus, rate)
    return Drive(
        name=safe(name),
        size_bytes=block.number("size") * SECTOR_BYTES,
        model=safe(page.model or _model(block, bus, udev)),
        serial=next(filter(None, map(safe, serials(name, tree))), ""),
        firmware=safe(page.firmware or next(filter(None, map(block.text, _FIRMWARE)), "")),
        kind=kind,
        bus=bus,
        bridge=safe(_bridge(name, tree)) if bus == "usb" else "",
        rotational=kind == "hdd" or (kind in ("array", "virtual") and block.number("queue/rotational") == 1),
        rpm=rate if rate in _RPM else None,
        removable=block.number("removable") == 1,
        read_only=block.number("ro") == 1,
    )


def known_facts(drive: Drive, tree: Tree = HERE) -> SmrFacts:
    """Facts for the SMR verdict that the kernel knows about an attached disk."""
    block = tree.directory(f"/sys/block/{drive.name}")
    page, sata_disk = pages_of(block), drive.bus == "sata" and drive.kind == "hdd"
    return SmrFacts(
        source="machine",
        model=drive.model,
        capacity_bytes=drive.size_bytes if drive.bus == "sata" else 0,
        rpm=drive.rpm or 0,
        medium=_MEDIA.get(drive.kind, ""),
        zoned=_KERNEL_ZONED.get(block.text("queue/zoned")) or page.zoned,
        trim=page.trim or (sata_disk and block.number("queue/discard_max_bytes") > 0),
        bridge=drive.bridge,
        removable=drive.kind == "flash-card",
        volume=drive.kind in ("virtual", "array") or names_a_volume(drive.model),
    )


def _bus(name: str, tree: Tree) -> Bus:
    path = tree.real(f"/sys/block/{name}") + "/"
    for pattern, bus in _BUSES:
        if re.search(pattern, path):
            behind_sas = bus in ("sas", "scsi") and tree.text(f"/sys/block/{name}/device/vendor") == "ATA"
            return "sata" if behind_sas else bus
    return "other"


def _kind(name: str, block: Tree, bus: Bus, rate: int) -> DriveKind:
    if block.text("device/vendor").startswith(_EMULATED_VENDORS) or _VIRTUAL_NAME.match(name):
        return "virtual"
    if bus in _KINDS:
        return _KINDS[bus]
    if rate:
        return "ssd" if rate == _NO_MOVING_PARTS else "hdd"
    if bus == "usb":  # the kernel reports every USB stick as rotational, and bridges are unreliable
        small = block.number("size") * SECTOR_BYTES < _SMALLEST_SHINGLED_BYTES
        return "flash-card" if small and block.number("removable") else "unknown"
    if bus == "other":
        return "unknown"
    return "hdd" if block.number("queue/rotational") else "ssd"


def _model(block: Tree, bus: Bus, udev: Mapping[str, str]) -> str:
    if bus == "md":
        return f"{block.text('md/level')} array".strip()
    if bus in _NAMED_BY:
        return block.text(_NAMED_BY[bus])
    vendor, model = block.text("device/vendor"), block.text("device/model")
    if vendor and vendor != "ATA":
        return model if vendor.startswith("0x") else scsi_name(vendor, model)
    # SCSI names have 16 characters; udev has all 40
    longer = decoded(udev.get("ID_MODEL_ENC", "")).strip()
    return longer if longer.startswith(model) else model


def _served(name: str, tree: Tree) -> bool:
    """Whether another machine serves the disk."""
    if _SERVED.search(tree.real(f"/sys/block/{name}")):
        return True
    device = f"/sys/block/{name}/device"
    transports = {tree.text(f"{device}/{each}/transport") for each in (".", *tree.names(device))}
    return not transports <= _LOCAL_NVME


def _bridge(name: str, tree: Tree) -> str:
    """Maker, product and IDs of the USB bridge."""
    directory = usb_directory(name, tree)
    if not directory:
        return "USB"
    attributes = ("manufacturer", "product", "idVendor", "idProduct")
    maker, product, *numbers = (tree.text(f"{directory}/{each}") for each in attributes)
    return " ".join(filter(None, (maker, product, f"({':'.join(numbers)})")))
