"""Encrypted volumes below a filesystem, on a kernel with the device mapper and beside a udev that names volumes."""

from __future__ import annotations

import pytest

from tests.recipe_texts import writing
from tests.vm.disks import MEASURED
from tests.vm.machine import Machine
from tests.vm.runs import RUN_S, await_words, link, on_disk, on_target, prepared

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("machine")]

RECIPE = writing("512M", "16M", 1)
ENCRYPTED = ("luks+ext4", "luks,cipher=adiantum,sector=4096+btrfs", "luks,workqueues=off,discards=on+xfs:noatime")


def volumes(machine: Machine) -> bytes:
    return machine.run("sh", "-c", "ls /dev/mapper; cat /sys/block/dm-*/dm/name").stdout


def test_encrypted_candidates_are_measured_on_a_disk_and_closed_again(machine: Machine) -> None:
    run = on_disk(machine, MEASURED, "; ".join(("ext4", *ENCRYPTED)), "--rounds", "1..1", recipe=RECIPE)
    run.assert_whole(1, "ext4", *ENCRYPTED)
    assert volumes(machine).split() == [b"control"]
    assert machine.run("wipefs", "--no-act", link(MEASURED)).stdout == b""


def test_they_are_measured_in_an_image_beside_an_aged_one(machine: Machine) -> None:
    run = on_target(machine, "image:768M@/root", "ext4:aged; luks+ext4", "--rounds", "1..1", recipe=RECIPE)
    run.assert_whole(1, "ext4:aged", "luks+ext4")
    assert volumes(machine).split() == [b"control"]


def test_udev_leaves_a_volume_alone_and_clean_closes_that_of_a_killed_run(machine: Machine) -> None:
    argv = prepared(
        machine, f"device:{link(MEASURED)}", "luks+ext4", "--erase", MEASURED.serial, "--rounds", "3..3", recipe=RECIPE
    )
    running = machine.start(*argv, timeout_s=RUN_S)
    await_words(machine, running, '"sample":{"round":1')
    shown = machine.run("sh", "-c", "udevadm info /sys/block/dm-0; ls -l /dev/disk/by-uuid; ls -l /dev/mapper").stdout
    assert b"DM_NAME=fswizard-" in shown, shown
    assert b"ID_FS" not in shown and b"dm-0" not in shown.partition(b"by-uuid")[2]
    running.kill()
    running.wait()
    machine.run("fswizard", "clean")
    assert volumes(machine).split() == [b"control"]
    machine.run("wipefs", "--all", link(MEASURED))
