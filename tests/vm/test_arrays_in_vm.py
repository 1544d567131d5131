"""Arrays of md, pools and btrfs over four disks, on a kernel that has all of them and with a udev that assembles."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.recipe_texts import writing
from tests.vm import table
from tests.vm.disks import MEMBERS
from tests.vm.machine import PATIENCE_S, Machine, booted
from tests.vm.runs import RUN_S, Run, await_words, on_target, prepared

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("zfs")]

LINKS = [f"/dev/disk/by-id/virtio-{member.serial}" for member in MEMBERS]
TARGET = f"devices:{','.join(LINKS)}"
ERASE = ("--erase", ",".join(member.serial for member in MEMBERS))
WHOLE = (
    "md:raid5+ext4",
    "md:raid6+xfs",
    "md:raid10,chunk=64K+ext4",
    "zfs:raidz",
    "zfs:raidz2",
    "zfs:mirror",
    "btrfs:raid1",
    "btrfs:raid10",
    "ext4",
)
DEGRADED = ("md:raid5,degraded+ext4", "zfs:raidz,degraded", "btrfs:raid1,degraded")
RECIPE = writing("512M", "16M", 1)


def assert_measured(run: Run, *candidates: str) -> None:
    assert run.finished.exit_code == 0, run.finished.output
    for name in candidates:
        assert run.rounds(name) == {1}, (name, run.finished.output)
        assert min(run.rates(name)) > 0
        table.note(name, "whole run", f"1 round, {run.ratio(name):.2f} times {run.report['plan']['baseline']}")


def assert_nothing_left(machine: Machine, pools: bool = False) -> None:
    assert b"active" not in machine.run("cat", "/proc/mdstat").stdout
    for link in LINKS:
        assert machine.run("wipefs", "--no-act", link).stdout == b"", link
    if pools:
        assert machine.run("zpool", "list", "-H").stdout == b""


def test_every_layout_is_measured_and_taken_apart_again(zfs_machine: Machine) -> None:
    run = on_target(zfs_machine, TARGET, "; ".join(WHOLE), *ERASE, "--rounds", "1..1", recipe=RECIPE)
    assert_measured(run, *WHOLE)
    assert_nothing_left(zfs_machine, pools=True)


def test_arrays_that_miss_a_disk_are_measured(zfs_machine: Machine) -> None:
    run = on_target(zfs_machine, TARGET, "; ".join(DEGRADED), *ERASE, "--rounds", "1..1", recipe=RECIPE)
    assert_measured(run, *DEGRADED)
    assert_nothing_left(zfs_machine, pools=True)


def test_a_killed_run_leaves_no_array_behind(zfs_machine: Machine) -> None:
    argv = prepared(zfs_machine, TARGET, "md:raid5+ext4", *ERASE, "--rounds", "3..3", recipe=RECIPE)
    running = zfs_machine.start(*argv, timeout_s=RUN_S)
    await_words(zfs_machine, running, '"round": 1')
    running.kill()
    running.wait()
    zfs_machine.run("fswizard", "clean")
    deadline = time.monotonic() + PATIENCE_S
    while b"active" in (arrays := zfs_machine.run("cat", "/proc/mdstat").stdout):
        assert time.monotonic() < deadline, arrays
        time.sleep(1)
    for link in LINKS:
        zfs_machine.run("wipefs", "--all", link)


def test_after_a_power_failure_clean_stops_what_the_system_assembled(tmp_path: Path) -> None:
    with booted(tmp_path, MEMBERS, keeps_root=True) as machine:
        argv = prepared(machine, TARGET, "md:raid5+ext4", *ERASE, "--rounds", "3..3", recipe=RECIPE)
        await_words(machine, machine.start(*argv, timeout_s=RUN_S), '"round": 1')
        machine.cut_power()
    with booted(tmp_path, MEMBERS, keeps_root=True) as machine:
        cleaned = machine.run("fswizard", "clean")
        assert cleaned.exit_code == 0, cleaned.output
        assert b"active" not in machine.run("cat", "/proc/mdstat").stdout
        run = on_target(machine, TARGET, "md:raid10+ext4", *ERASE, "--rounds", "1..1", recipe=RECIPE)
        assert_measured(run, "md:raid10+ext4")
        assert_nothing_left(machine)
    table.note("md:raid5+ext4", "crash recovery", "array stopped by clean")
