"""Runs that need root, started by somebody at the machine's own screen whom sudo asks for a password."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.long.vm.disks import VIRTIO
from tests.long.vm.machine import Machine
from tests.long.vm.runs import ONE_ROUND
from tests.long.vm.screen import Screen, logged_in

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("desktop")]

USER, PASSWORD, HOME = "carol", "correct horse", "/home/carol"
DISK = f"/dev/disk/by-id/virtio-{VIRTIO.serial}"
REFUSED = "ext4:data=writeback"
"""udisks2 does not mount that."""
KILL = """for process in /proc/[0-9]*; do
    tr '\\0' ' ' < $process/cmdline | grep --quiet "$1" && kill -KILL ${process#/proc/}
done; true"""
PROCESSES = {"run": "^[^ ]*python3 -c .*session.process", "parent": "^unshare .*session.process"}
"""Of a run as root, by what its command line looks like."""


@pytest.fixture(scope="module")
def screen(machine: Machine) -> Iterator[Screen]:
    with logged_in(machine, USER, "--groups", "sudo") as screen:
        machine.sh(f"echo '{USER}:{PASSWORD}' | chpasswd")
        yield screen


def owner(machine: Machine, path: str) -> str:
    return machine.ok("stat", "--format=%U:%G", path).strip()


def test_what_udisks2_refuses_is_measured_once_the_password_was_typed(screen: Screen) -> None:
    screen.begin_run("image", f"image:512M@{HOME}", REFUSED, *ONE_ROUND)
    screen.shows("password for")
    screen.type(PASSWORD)
    done = screen.ends_well("image")
    assert b"(data=writeback)" in done.stdout and b"data=writeback" in done.stderr
    assert owner(screen.machine, f"{HOME}/image.jsonl") == f"{USER}:{USER}"


def test_a_disk_is_erased_by_its_serial_number_and_then_set_up(screen: Screen) -> None:
    machine, erase = screen.machine, ("--erase", VIRTIO.serial)
    screen.begin_run("disk", f"device:{DISK}", "ext4", *ONE_ROUND, *erase)
    screen.ends_well("disk")
    assert owner(machine, f"{HOME}/disk.jsonl") == f"{USER}:{USER}"
    assert machine.run("wipefs", "--no-act", DISK).stdout == b""
    options = f"--disk {DISK} --candidate ext4 --mount-point /mnt/own {' '.join(erase)}"
    screen.begin("setup", f"fswizard set-up {HOME}/disk.jsonl {options}")
    done = screen.ended("setup")
    assert done.exit_code == 0, done.output
    assert owner(machine, "/mnt/own") == f"{USER}:{USER}"
    assert "/mnt/own" in machine.ok("cat", "/etc/fstab")
    machine.sh("umount /mnt/own && sed -i '/own/d' /etc/fstab && systemctl daemon-reload && rmdir /mnt/own")
    machine.ok("wipefs", "--all", "--force", DISK)


@pytest.mark.parametrize("process", PROCESSES)
def test_a_killed_run_leaves_no_mount_no_loop_device_and_no_process(screen: Screen, process: str) -> None:
    screen.begin_run(process, f"image:512M@{HOME}", REFUSED, "--rounds", "9..9")
    screen.await_figure(process)
    assert "/dev/loop" in screen.left()
    screen.machine.ok("sh", "-c", KILL, "sh", PROCESSES[process])
    assert screen.ended(process).exit_code
    directory = screen.left().split()
    assert len(directory) == 1 and directory[0].startswith("fswizard-"), directory
    screen.begin("clean", "fswizard clean")
    screen.ends_well("clean")
    screen.machine.ok("rm", f"{HOME}/clean.ended")
