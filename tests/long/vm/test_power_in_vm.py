"""Power that fails and a disk that is pulled in the middle of a run."""

from __future__ import annotations

import pytest

from tests.long.vm.disks import SLOW, usb
from tests.long.vm.machine import Machine
from tests.long.vm.runs import (
    ERASE,
    LINKS,
    RESULT_PATH,
    RUN_S,
    TARGET,
    await_arrays,
    await_words,
    prepared,
    result_of,
    signal_runs,
)  # fmt: skip

pytestmark = [pytest.mark.vm, pytest.mark.slow]

STICK = usb("PULLED1").as_slow_as(**SLOW)
STICK_LINK = "/dev/disk/by-id/usb-QEMU_QEMU_HARDDISK_PULLED1-0:0"
ARRAY_RESULT = "/root/array.jsonl"


@pytest.mark.xdist_group("machine")
def test_a_disk_that_is_pulled_ends_the_run_and_no_filesystem_is_blamed(machine: Machine) -> None:
    machine.plug(STICK)
    machine.ok("udevadm", "wait", "--timeout=600", STICK_LINK)
    argv = prepared(machine, f"device:{STICK_LINK}", "f2fs", "--erase", STICK.serial, "--rounds", "3..3")
    running = machine.start(*argv, timeout_s=RUN_S)
    await_words(machine, running, '"sample":{"round":1')
    machine.pull(STICK)
    done = running.wait()
    assert done.exit_code == 1, done.output
    assert b"Traceback" not in done.stderr
    assert b"plug it in again" in done.stderr, done.output
    assert result_of(machine).failures == ()
    assert machine.run("sh", "-c", "grep fswizard /proc/*/mountinfo").stdout == b""


@pytest.mark.xdist_group("zfs")
def test_after_a_power_failure_what_is_left_is_removed_and_the_run_goes_on(zfs_machine: Machine) -> None:
    """Of two runs, one of which stands still while an array of its disks is active."""
    argv = prepared(zfs_machine, TARGET, "md:raid5+ext4", *ERASE, "--rounds", "3..3", result=ARRAY_RESULT)
    interrupted = zfs_machine.start(*argv, timeout_s=RUN_S)
    await_arrays(zfs_machine, there=True)
    signal_runs(zfs_machine, "STOP")
    zfs_machine.run("mkdir", "/srv/room")
    argv = prepared(zfs_machine, "image:512M@/srv/room", "zfs", "--rounds", "3..3", "--seed", "7")
    running = zfs_machine.start(*argv, timeout_s=RUN_S)
    await_words(zfs_machine, running, '"sample":{"round":2')
    assert running.alive and interrupted.alive
    zfs_machine.ok("sync", RESULT_PATH)  # as the kernel does within half a minute
    zfs_machine.cut_power()
    zfs_machine.boot()
    await_arrays(zfs_machine, there=True)  # by the system, as it does with any
    left = zfs_machine.run("sh", "-c", "ls /srv/room; losetup --list; grep fswizard /proc/mounts").stdout.decode()
    assert "fswizard-" in left, "the image of the run is still there"
    cleaned = zfs_machine.run("fswizard", "clean")
    assert cleaned.exit_code == 0, cleaned.output
    assert f"fswizard run --resume {RESULT_PATH}" in cleaned.stderr.decode()
    assert zfs_machine.run("ls", "/srv/room").stdout == b""
    await_arrays(zfs_machine, there=False)
    for link in LINKS:
        zfs_machine.run("wipefs", "--all", link)
    zfs_machine.ok("fswizard", "run", "--resume", RESULT_PATH, timeout_s=RUN_S)
    result = result_of(zfs_machine)
    assert (result.plan.seed, result.whole_rounds, result.outcome) == (7, 3, "finished")
    assert zfs_machine.run("ls", "/srv/room").stdout == b""
    assert zfs_machine.run("zpool", "list", "-H").stdout == b""
