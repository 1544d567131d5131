"""Encrypted volumes below a filesystem, on a kernel with the device mapper and a udev that names them."""

from __future__ import annotations

import shlex

import pytest

from fswizard.advice.commands import DISK, making
from fswizard.filesystems import parse_candidate
from tests.long.vm.disks import MEASURED
from tests.long.vm.machine import Machine
from tests.long.vm.runs import RUN_S, await_words, link, measured, on_disk, prepared, signal_runs

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("machine")]

TUNED = "luks,cipher=adiantum,sector=4096,workqueues=off,discards=on+ext4"


def volumes(machine: Machine) -> list[bytes]:
    return machine.run("sh", "-c", "ls /dev/mapper; cat /sys/block/dm-*/dm/name 2>/dev/null").stdout.split()


def test_udev_sees_nothing_on_a_volume_and_clean_closes_that_of_a_killed_run(machine: Machine) -> None:
    erase = ("--erase", MEASURED.serial, "--rounds", "3..3")
    argv = prepared(machine, f"device:{link(MEASURED)}", "luks+ext4", *erase)
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


def test_a_candidate_on_a_volume_is_measured_on_a_disk_which_is_left_empty(machine: Machine) -> None:
    assert measured(on_disk(machine, MEASURED, TUNED)) == {TUNED}
    assert volumes(machine) == [b"control"]
    assert machine.run("wipefs", "--no-act", link(MEASURED)).stdout == b""


def test_the_reports_commands_make_what_was_measured_for_good(machine: Machine) -> None:
    for command in making(parse_candidate("luks,sector=4096,workqueues=off,discards=on+ext4").on(1)):
        words = shlex.join(command).replace(DISK, link(MEASURED))
        machine.sh(f"echo passphrase | {words}" if command[0] == "cryptsetup" else f"{words} < /dev/null")
    assert machine.sh("blkid --label data").strip().startswith("/dev/mapper/data")
    machine.sh(f"cryptsetup close data && wipefs --all {link(MEASURED)}")
