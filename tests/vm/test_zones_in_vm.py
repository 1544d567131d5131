"""Disks with zones that must be written in order: what is made on them, what is refused, and that advice holds."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from fswizard.filesystems import catalogue
from tests.recipe_texts import writing
from tests.vm.disks import VIRTIO, ZONED
from tests.vm.machine import Machine
from tests.vm.runs import RECIPE_PATH, on_target

pytestmark = [pytest.mark.vm, pytest.mark.slow]

NAMESPACE = f"/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_{ZONED.serial}"
ORDINARY = f"/dev/disk/by-id/virtio-{VIRTIO.serial}"
POINT = "/mnt/zones"
WORK = (
    f"fio --name=work --directory={POINT} --rw=randwrite --bs=64k --size=64M --direct=1 --end_fsync=1"
    f" && rm {POINT}/work* && echo kept > {POINT}/file && umount {POINT}"
)
SHINGLED = "zbc=host-managed dev_size_mb=640 zone_size_mb=4 zone_nr_conv=8 zone_max_open=0 delay=0"
"""A SCSI disk of the kernel's, in memory, that names itself as host-managed hard disks do (VPD page B6)."""
SINGLE = "btrfs:metadata=single"
"""mkfs.btrfs 6.2 breaks off where it has to write metadata twice into zones of 4 MiB."""
RECIPE = writing("256M", "16M", 1)


def tried(machine: Machine, *commands: str) -> bool:
    """Whether a filesystem can be made, mounted and worked on."""
    try:
        return machine.run("sh", "-c", f"mkdir --parents {POINT}; {' && '.join(commands)}").exit_code == 0
    finally:
        machine.run("sh", "-c", f"umount {POINT}; wipefs --all {ORDINARY}; blkzone reset {NAMESPACE}")


def zones(machine: Machine, device: str) -> str:
    return machine.ok("blkzone", "report", device)


def assert_left_empty(machine: Machine, device: str) -> None:
    for line in zones(machine, device).splitlines():
        assert "(nw)" in line or "(em)" in line, line
    assert machine.sh(f"wipefs --no-act {device}") == ""


@pytest.fixture
def disk(machine: Machine) -> Iterator[tuple[str, str]]:
    """A host-managed hard disk, some zones of which can be written anywhere: its path and its serial number."""
    machine.write(RECIPE_PATH, RECIPE)
    machine.sh(f"modprobe scsi_debug {SHINGLED} && udevadm settle --timeout=600")
    try:
        listed = json.loads(machine.run("fswizard", "drives", "--json").stdout)
        (found,) = (drive for drive in listed if "scsi_debug" in drive["model"])
        assert (found["zone_model"], found["smr"]["verdict"]) == ("host-managed", "host-managed")
        path = f"/dev/{found['name']}"
        refused = machine.run("fswizard", "run", RECIPE_PATH, "--target", f"device:{path}").stderr.decode()
        yield path, refused.partition("--erase ")[2].split()[0]
    finally:
        machine.run("modprobe", "--remove", "scsi_debug")


def test_nothing_is_written_before_the_serial_number_is_typed(machine: Machine) -> None:
    before = zones(machine, NAMESPACE)
    done = machine.run("fswizard", "run", "quick", "--target", f"device:{NAMESPACE}")
    assert done.exit_code == 3, done.output
    assert f"--erase {ZONED.serial}".encode() in done.stderr
    assert zones(machine, NAMESPACE) == before


@pytest.mark.parametrize(
    ("candidate", "words"),
    [("ext4", "must be written in order"), ("xfs", "must be written in order"), ("f2fs", "can be written anywhere")],
)
def test_what_cannot_be_made_on_zones_is_refused_with_the_reason(machine: Machine, candidate: str, words: str) -> None:
    before = zones(machine, NAMESPACE)
    options = ("--target", f"device:{NAMESPACE}", "--erase", ZONED.serial, "--candidates", candidate)
    done = machine.run("fswizard", "run", "quick", *options)
    assert done.exit_code == 2, done.output
    assert words in done.stderr.decode()
    assert zones(machine, NAMESPACE) == before


def test_btrfs_is_measured_on_a_zoned_namespace_that_is_left_empty(machine: Machine) -> None:
    names = ("btrfs", SINGLE)
    run = on_target(
        machine, f"device:{NAMESPACE}", "; ".join(names), "--erase", ZONED.serial, "--rounds", "1..1", recipe=RECIPE
    )
    run.assert_whole(1, *names)
    assert_left_empty(machine, NAMESPACE)


def test_f2fs_is_measured_where_some_zones_can_be_written_anywhere(machine: Machine, disk: tuple[str, str]) -> None:
    path, serial = disk
    planned = machine.run("fswizard", "plan", RECIPE_PATH, "--target", f"device:{path}").stdout.decode()
    for command in ("blkzone reset", "mkfs.f2fs -m", "mkfs.btrfs -O zoned"):
        assert command in planned, planned
    assert "mkfs.ext4" not in planned
    names = (SINGLE, "f2fs")
    run = on_target(machine, f"device:{path}", "; ".join(names), "--erase", serial, "--rounds", "2..2", recipe=RECIPE)
    run.assert_whole(2, *names)
    assert_left_empty(machine, path)


def test_ext4_has_no_way_of_keeping_to_zones_and_fails(machine: Machine) -> None:
    assert catalogue()["ext4"].zones is None
    assert not tried(machine, f"mkfs.ext4 -q -F {NAMESPACE}", f"mount {NAMESPACE} {POINT}", WORK)


def test_f2fs_works_with_an_ordinary_disk_for_its_metadata(machine: Machine) -> None:
    zones = catalogue()["f2fs"].zones
    assert zones is not None
    ((flag, _),) = zones.arguments
    make = f"mkfs.f2fs -q -f {flag} -c $(realpath {NAMESPACE}) {ORDINARY}"
    assert tried(machine, "modprobe f2fs", make, f"mount {ORDINARY} {POINT}", WORK)
