"""A host-managed disk: what is said of it, that no run touches it, and that the advice for it holds."""

from __future__ import annotations

import pytest

from fswizard.drives import formatting_advice, unsuitable
from fswizard.model.drive import SmrVerdict
from tests.vm.disks import VIRTIO
from tests.vm.machine import Machine

pytestmark = [pytest.mark.vm, pytest.mark.slow]

ZONES = "/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_ZNS1"
ORDINARY = f"/dev/disk/by-id/virtio-{VIRTIO.serial}"
HOST_MANAGED = SmrVerdict("host-managed", "certain")
POINT = "/mnt/zones"
WORK = (
    f"fio --name=work --directory={POINT} --rw=randwrite --bs=64k --size=64M --direct=1 --end_fsync=1"
    f" && rm {POINT}/work* && echo kept > {POINT}/file && umount {POINT}"
)


def sh(machine: Machine, script: str) -> str:
    """What a script says that ends well."""
    done = machine.run("sh", "-c", script)
    assert done.exit_code == 0, (script, done.output)
    return done.stdout.decode()


def tried(machine: Machine, *commands: str) -> bool:
    """Whether a filesystem can be made, mounted and worked on."""
    try:
        return machine.run("sh", "-c", f"mkdir --parents {POINT}; {' && '.join(commands)}").exit_code == 0
    finally:
        machine.run("sh", "-c", f"umount {POINT}; wipefs --all {ORDINARY}; blkzone reset {ZONES}")


def test_a_disk_with_zones_is_refused_and_nothing_is_written(machine: Machine) -> None:
    before = sh(machine, f"blkzone report {ZONES}")
    for erase in ((), ("--erase", "ZNS1")):
        done = machine.run("fswizard", "run", "quick", "--target", f"device:{ZONES}", *erase)
        assert done.exit_code == 3, done.output
        assert b"zones (host-managed) that must be written in order" in done.stderr
    assert sh(machine, f"blkzone report {ZONES}") == before


def test_ext4_is_said_to_be_unsuitable_and_is(machine: Machine) -> None:
    assert "ext4" in unsuitable(HOST_MANAGED)
    assert not tried(machine, f"mkfs.ext4 -q -F {ZONES}", f"mount {ZONES} {POINT}", WORK)


def test_btrfs_is_advised_and_works(machine: Machine) -> None:
    advised = {advice.filesystem: advice.options for advice in formatting_advice(HOST_MANAGED)}
    assert tried(machine, f"mkfs.btrfs -q -f {advised['btrfs']} {ZONES}", f"mount {ZONES} {POINT}", WORK)


def test_f2fs_is_advised_and_works_with_an_ordinary_disk_for_its_metadata(machine: Machine) -> None:
    advised = {advice.filesystem: advice.options for advice in formatting_advice(HOST_MANAGED)}
    make = f"mkfs.f2fs -q -f {advised['f2fs']} -c $(realpath {ZONES}) {ORDINARY}"
    assert tried(machine, "modprobe f2fs", make, f"mount {ORDINARY} {POINT}", WORK)
