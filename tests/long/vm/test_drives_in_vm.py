"""What the program says of disks that a stock kernel, udev and smartctl show it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.long.vm.disks import ARCHIVE, MEASURED, PLAIN, RED, STICK, VIRTIO, ZONED
from tests.long.vm.machine import Machine, awaited

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("machine")]

Listing = dict[str, dict[str, Any]]
"""What `fswizard drives --json` says, by serial number."""

NAMESPACE = f"/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_{ZONED.serial}"
VERDICTS = {
    ARCHIVE.serial: "drive-managed",
    RED.serial: "drive-managed",
    PLAIN.serial: "cmr",
    ZONED.serial: "host-managed",
}
NAMES = {
    ARCHIVE.serial: "/dev/disk/by-id/ata-ST8000AS0002-1NA17Z_Z8400ABC",
    RED.serial: "/dev/disk/by-id/ata-WDC_WD60EFAX-68JH4N1_WD-WX11D1",
    PLAIN.serial: "/dev/disk/by-id/ata-WDC_WD80EFZX-68UW8N0_VK0ABCDE",
    ZONED.serial: NAMESPACE,
    STICK.serial: "/dev/disk/by-id/usb-QEMU_QEMU_HARDDISK_STICK1-0:0",
    VIRTIO.serial: "/dev/disk/by-id/virtio-VIRTIO1",
    MEASURED.serial: "/dev/disk/by-id/ata-TESTDISK_MEASURED",
}


def drives(machine: Machine) -> Listing:
    """All disks, once each has answered: an emulated processor that has to wait may be too slow for the first time."""

    def look() -> Listing:
        return {drive["serial"]: drive for drive in json.loads(machine.ok("fswizard", "drives", "--json"))}

    return awaited(look, lambda found: not any("in time" in drive["pending"] for drive in found.values()))


def codes(drive: dict[str, Any]) -> set[str]:
    """Evidence that the disk is shingled."""
    return {piece["code"] for piece in drive["smr"]["evidence"] if piece["says"] == "drive-managed"}


def test_each_disk_is_known_for_what_it_is_by_the_name_that_udev_made(machine: Machine) -> None:
    listing = drives(machine)
    assert {serial: listing[serial]["smr"]["verdict"] for serial in VERDICTS} == VERDICTS
    assert {drive["serial"]: drive["stable_name"] for drive in listing.values() if drive["serial"] != "ROOT"} == NAMES
    archive, stick = listing[ARCHIVE.serial], listing[STICK.serial]
    shown = (archive["model"], archive["rpm"], archive["size_bytes"])
    assert shown == ("ST8000AS0002-1NA17Z", 5980, ARCHIVE.size_bytes)
    assert codes(archive) == {"model-table", "smartctl-family"}, "it tells nothing itself"
    assert "trim" in codes(listing[RED.serial])
    assert "mounted" in {use["code"] for use in listing["ROOT"]["uses"]}
    assert stick["bus"] == "usb" and "46f4:0001" in stick["bridge"]
    assert "asleep" not in stick["pending"], "its bridge passes no ATA command"


def test_a_disk_with_zones_is_refused_before_anything_is_written(machine: Machine) -> None:
    before = machine.ok("blkzone", "report", NAMESPACE)
    done = machine.run("fswizard", "run", "quick", "--target", f"device:{NAMESPACE}", "--erase", ZONED.serial)
    assert done.exit_code == 3, done.output
    assert b"zones (host-managed)" in done.stderr
    assert machine.ok("blkzone", "report", NAMESPACE) == before
