"""Power that fails and disks that are pulled in the middle of a run, and what the filesystems themselves keep then."""

from __future__ import annotations

import pytest

from tests.long.vm.disks import KEPT, SLOW, Disk, nvme, usb
from tests.long.vm.machine import Machine, Running, awaited
from tests.long.vm.runs import (
    ERASE,
    RECIPE_PATH,
    RESULT_PATH,
    RUN_S,
    TARGET,
    await_arrays,
    await_words,
    forget_members,
    prepared,
    report,
    signal_runs,
)  # fmt: skip
from tests.recipe_texts import writing

pytestmark = [pytest.mark.vm, pytest.mark.slow]


STICK = usb("PULLED1").as_slow_as(**SLOW), "/dev/disk/by-id/usb-QEMU_QEMU_HARDDISK_PULLED1-0:0"
CARD = nvme("PULLED2").as_slow_as(**SLOW), "/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_PULLED2"
MAKING = {
    "ext4": "mkfs.ext4 -q",
    "xfs": "mkfs.xfs -q",
    "btrfs": "mkfs.btrfs -q",
    "f2fs": "mkfs.f2fs -q",
    "nilfs2": "mkfs.nilfs2 -q",
}
"""Those that need no fsck before they can be mounted again, as JFS does."""
DISK = f"/dev/disk/by-id/virtio-{KEPT.serial}"
PARTS = {name: f"{DISK}-part{number}" for number, name in enumerate(MAKING, 1)}
PARTITION_MIB = 1500
WRITER = """
import os, sys
directory, told = sys.argv[1:]
for number in range(1_000_000):
    with open(f"{directory}/{number}", "w") as file:
        file.write(f"{number}\\n" * 2000)
        file.flush()
        os.fsync(file.fileno())
    above = os.open(directory, os.O_RDONLY)
    os.fsync(above)
    os.close(above)
    with open(f"{told}.new", "w") as file:
        file.write(str(number))
    os.rename(f"{told}.new", told)
"""
"""Writes file after file; the number of the last one that the filesystem has promised to keep stands in `told`."""
READER = """
import sys
directory, last = sys.argv[1], int(sys.argv[2])
for number in range(last + 1):
    with open(f"{directory}/{number}") as file:
        assert file.read() == f"{number}\\n" * 2000, number
"""
ENOUGH = 10
RESUMED = ("f2fs", "zfs")
RECIPE = writing("512M", "16M", 1)
ARRAY_RESULT = "/root/array.jsonl"


@pytest.mark.parametrize(("disk", "link"), [STICK, CARD], ids=["usb", "nvme"])
def test_a_disk_that_is_pulled_ends_the_run_and_no_filesystem_is_blamed(
    machine: Machine, disk: Disk, link: str
) -> None:
    machine.plug(disk)
    machine.ok("udevadm", "wait", "--timeout=600", link)
    argv = prepared(machine, f"device:{link}", "ext4; f2fs", "--erase", disk.serial, "--rounds", "3..3")
    running = machine.start(*argv, timeout_s=RUN_S)
    await_words(machine, running, '"sample":{"round":1')
    machine.pull(disk)
    done = running.wait()
    assert done.exit_code == 1, done.output
    assert b"Traceback" not in done.stderr
    assert b"unplugged" in done.stderr, done.output
    assert report(machine)["failures"] == []
    assert machine.run("sh", "-c", "grep fswizard /proc/*/mountinfo").stdout == b""


@pytest.mark.xdist_group("zfs")
def test_after_a_power_failure_promises_were_kept_and_the_run_goes_on(zfs_machine: Machine) -> None:
    _make_filesystems(zfs_machine)
    interrupted = _array_at_work(zfs_machine)
    zfs_machine.run("mkdir", "/srv/room")
    more = ("--rounds", "2..2", "--seed", "7")
    argv = prepared(zfs_machine, "image:512M@/srv/room", "; ".join(RESUMED), *more, recipe=RECIPE)
    running = zfs_machine.start(*argv, timeout_s=RUN_S)
    await_words(zfs_machine, running, '"sample":{"round":2')
    for name in MAKING:
        zfs_machine.start("python3", "/root/writer.py", f"/mnt/{name}", f"/run/{name}")
    promised = _promised(zfs_machine)
    assert running.alive
    assert interrupted.alive
    zfs_machine.cut_power()
    zfs_machine.boot()
    _assert_kept(zfs_machine, promised)
    _assert_cleaned(zfs_machine)
    _assert_resumed(zfs_machine)
    zfs_machine.run("sh", "-c", f"umount {' '.join(PARTS.values())}; wipefs --all {DISK}")


def _make_filesystems(machine: Machine) -> None:
    """Each on a part of a disk, mounted."""
    machine.write("/root/writer.py", WRITER)
    machine.write("/root/parts", "label: gpt\n" + f",{PARTITION_MIB}M\n" * len(PARTS))
    machine.sh(f"sfdisk --quiet {DISK} < /root/parts")
    machine.ok("udevadm", "wait", "--timeout=600", *PARTS.values())
    for name, part in PARTS.items():
        machine.sh(f"{MAKING[name]} {part} && mkdir /mnt/{name} && mount {part} /mnt/{name}")


def _assert_kept(machine: Machine, promised: dict[str, int]) -> None:
    machine.write("/root/reader.py", READER)
    for name, part in PARTS.items():
        machine.ok("mount", "-t", name, part, f"/mnt/{name}")
        machine.ok("python3", "/root/reader.py", f"/mnt/{name}", str(promised[name]))


def _array_at_work(machine: Machine) -> Running:
    """A run over several disks that stands still while one of its arrays is active."""
    argv = prepared(machine, TARGET, "md:raid5+ext4", *ERASE, "--rounds", "3..3", recipe=RECIPE, result=ARRAY_RESULT)
    running = machine.start(*argv, timeout_s=RUN_S)
    await_arrays(machine, there=True)
    signal_runs(machine, "STOP")
    return running


def _assert_cleaned(machine: Machine) -> None:
    await_arrays(machine, there=True)  # by the system, as it does with any
    left = machine.run("sh", "-c", "ls /srv/room; losetup --list; grep fswizard /proc/mounts").stdout.decode()
    assert "fswizard-" in left, "the image of the run is still there"
    cleaned = machine.run("fswizard", "clean")
    assert cleaned.exit_code == 0, cleaned.output
    assert f"fswizard run --resume {RESULT_PATH}" in cleaned.stderr.decode()
    assert machine.run("ls", "/srv/room").stdout == b""
    await_arrays(machine, there=False)
    machine.ok(
        "fswizard", "run", "--dry-run", RECIPE_PATH, "--target", TARGET, "--candidates", "md:raid10+ext4", *ERASE
    )
    forget_members(machine)


def _assert_resumed(machine: Machine) -> None:
    machine.ok("fswizard", "run", "--resume", RESULT_PATH, timeout_s=RUN_S)
    found = report(machine)
    assert found["plan"]["seed"] == 7
    assert {ratio["rounds"] for ratio in found["overall"]} == {2}
    assert machine.run("ls", "/srv/room").stdout == b""
    assert machine.run("zpool", "list", "-H").stdout == b""


def _promised(machine: Machine) -> dict[str, int]:
    """By filesystem, once each has promised to keep enough."""

    def look() -> dict[str, int]:
        return {name: int(machine.run("cat", f"/run/{name}").stdout or 0) for name in MAKING}

    return awaited(look, lambda promised: min(promised.values()) >= ENOUGH)
