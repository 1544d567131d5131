"""Encrypted volumes below a filesystem, on a kernel with the device mapper beside a udev that names them."""

from __future__ import annotations

import shlex

import pytest

from fswizard.advice.commands import DISK, making
from fswizard.filesystems import parse_candidate
from tests.long.vm.disks import MEASURED
from tests.long.vm.machine import Machine
from tests.long.vm.runs import RUN_S, await_words, link, on_disk, on_target, prepared, signal_runs
from tests.recipe_texts import writing

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("machine")]

RECIPE = writing("512M", "16M", 1)
ON_VOLUMES = ("luks,cipher=adiantum,sector=4096+btrfs", "luks,workqueues=off,discards=on+ext4")


def volumes(machine: Machine) -> list[bytes]:
    return machine.run("sh", "-c", "ls /dev/mapper; cat /sys/block/dm-*/dm/name 2>/dev/null").stdout.split()


def test_udev_sees_nothing_on_a_volume_and_clean_closes_that_of_a_killed_run(machine: Machine) -> None:
    erase = ("--erase", MEASURED.serial, "--rounds", "3..3")
    argv = prepared(machine, f"device:{link(MEASURED)}", "luks+ext4", *erase, recipe=RECIPE)
    running = machine.start(*argv, timeout_s=RUN_S)
    await_words(machine, running, '"sample":{"round":1')
    held = volumes(machine)
    assert b"control" in held and any(each.startswith(b"fswizard-") for each in held)
    shown = machine.run("sh", "-c", "udevadm info --export-db | grep --after-context=30 'P: .*/dm-'").stdout
    assert b"DM_NAME=fswizard-" in shown and b"ID_FS_" not in shown
    signal_runs(machine, "KILL")
    running.wait()
    assert volumes(machine) == held, "the kernel keeps them"
    machine.run("fswizard", "clean", timeout_s=RUN_S)
    assert volumes(machine) == [b"control"]
    machine.run("wipefs", "--all", link(MEASURED))


def test_candidates_on_volumes_are_measured_on_a_disk_which_is_left_empty(machine: Machine) -> None:
    run = on_disk(machine, MEASURED, "; ".join(ON_VOLUMES), "--rounds", "1..1", recipe=RECIPE)
    assert all(run.rounds(name) for name in ON_VOLUMES), run.said  # a busy host may have the first one discarded
    assert volumes(machine) == [b"control"]
    assert machine.run("wipefs", "--no-act", link(MEASURED)).stdout == b""


def test_they_are_measured_in_an_image_beside_an_aged_one(machine: Machine) -> None:
    run = on_target(machine, "image:768M@/root", "ext4:aged; luks+ext4", "--rounds", "1..1", recipe=RECIPE)
    assert run.rounds("ext4:aged") and run.rounds("luks+ext4"), run.said
    assert volumes(machine) == [b"control"]


def test_the_reports_commands_make_what_was_measured_for_good(machine: Machine) -> None:
    for command in making(parse_candidate("luks,sector=4096,workqueues=off,discards=on+ext4").on(1)):
        words = shlex.join(command).replace(DISK, link(MEASURED))
        machine.sh(f"echo passphrase | {words}" if command[0] == "cryptsetup" else f"{words} < /dev/null")
    assert machine.sh("blkid --label data").strip().startswith("/dev/mapper/data")
    machine.sh(f"cryptsetup close data && wipefs --all {link(MEASURED)}")
