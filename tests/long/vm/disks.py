"""Disks that QEMU shows to the test machine, with the identities of real ones.

What the properties mean: https://www.qemu.org/docs/master/system/devices/nvme.html and `qemu-system-x86_64 -device
ide-hd,help`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

GIB = 1 << 30
SLOW = {"bytes_per_s": 60 << 20, "requests_per_s": 600}
"""So slow that the disk is what limits a run, not the emulated processor."""


@dataclass(frozen=True)
class Disk:
    """One disk: a sparse file of the host and the devices that stand before it, in QEMU's words."""

    serial: str
    """Also QEMU's name for it."""
    size_bytes: int
    devices: tuple[Mapping[str, Any], ...]
    """The last one is the disk, those before it are what it hangs on."""
    bytes_per_s: int = 0
    """It reads and writes no faster, nor more often than the next; 0 for as fast as the host is."""
    requests_per_s: int = 0

    def as_slow_as(self, *, bytes_per_s: int, requests_per_s: int) -> Disk:
        """The same disk with the speed of a real one, so that the emulated processor has time to wait for it."""
        return replace(self, bytes_per_s=bytes_per_s, requests_per_s=requests_per_s)


def sata(
    serial: str, port: int, model: str, *, size_bytes: int, rpm: int, firmware: str = "TEST", trim: bool = False
) -> Disk:
    """A hard disk on one of the six ports (0 to 5) of AHCI."""
    identity = {"serial": serial, "model": model, "ver": firmware, "rotation_rate": rpm}
    granularity = 512 if trim else 0  # QEMU offers TRIM on every ATA disk that can discard
    return _disk(serial, size_bytes, driver="ide-hd", bus=f"ide.{port}", discard_granularity=granularity, **identity)


def usb(serial: str) -> Disk:
    """A disk behind a bridge that passes no ATA commands, called `QEMU HARDDISK`."""
    return _disk(serial, 4 * GIB, driver="usb-storage", bus="usb.0", serial=serial)


def virtio(serial: str, *, size_bytes: int = 4 * GIB) -> Disk:
    return _disk(serial, size_bytes, driver="virtio-blk-pci", serial=serial)


def zoned_nvme(serial: str) -> Disk:
    """An NVMe namespace of the Zoned Namespace command set: host-managed."""
    controller = {"driver": "nvme", "id": f"{serial}-controller", "serial": serial}
    zones = {"zoned": True, "zoned.zone_size": 64 << 20, "zoned.max_open": 16, "zoned.max_active": 16}
    return _disk(serial, 4 * GIB, controller, driver="nvme-ns", bus=f"{serial}-controller", **zones)


def _disk(name: str, size_bytes: int, *before: Mapping[str, Any], **properties: Any) -> Disk:
    return Disk(name, size_bytes, (*before, {**properties, "id": name, "drive": f"{name}-medium"}))


ARCHIVE = sata("Z8400ABC", 0, "ST8000AS0002-1NA17Z", size_bytes=8_001_563_222_016, rpm=5980, firmware="AR17")
"""Shingled, and silent about it: it offers no TRIM and reports no zones."""
RED = sata(
    "WD-WX11D1", 1, "WDC WD60EFAX-68JH4N1", size_bytes=6_001_175_126_016, rpm=5400, firmware="82.00A82", trim=True
)
"""Shingled; gives itself away by TRIM."""
PLAIN = sata("VK0ABCDE", 2, "WDC WD80EFZX-68UW8N0", size_bytes=8_001_563_222_016, rpm=5400, firmware="83.H0A83")
ZONED = zoned_nvme("ZNS1")
VIRTIO = virtio("VIRTIO1")
STICK = usb("STICK1")
MEASURED = sata("MEASURED", 3, "TESTDISK", size_bytes=8 * GIB, rpm=7200).as_slow_as(**SLOW)
MEMBERS = tuple(virtio(f"MEMBER{number}", size_bytes=2 * GIB).as_slow_as(**SLOW) for number in range(1, 5))
USUAL = (ARCHIVE, RED, PLAIN, ZONED, VIRTIO, STICK, MEASURED)
