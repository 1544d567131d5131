"""Runs that need root, started by somebody at the machine's own screen whom sudo asks for a password."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from fswizard.system.process import Finished
from tests.long.vm.disks import VIRTIO
from tests.long.vm.machine import Machine, awaited
from tests.long.vm.runs import ONE_ROUND, RECIPE, RUN_S
from tests.long.vm.screen import logged_in

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("desktop")]

USER, PASSWORD, HOME = "carol", "correct horse", "/home/carol"
TYPE = """import fcntl, sys
with open("/dev/tty1", "wb", buffering=0) as terminal:
    for byte in sys.argv[1].encode() + b"\\n":
        fcntl.ioctl(terminal, 0x5412, bytes([byte]))"""
"""TIOCSTI: as if it came from the keyboard."""
DISK = f"/dev/disk/by-id/virtio-{VIRTIO.serial}"
REFUSED = "ext4:data=writeback"
"""udisks2 does not mount that."""
LEFT = f"""losetup --list; grep --no-filename fswizard /proc/[0-9]*/mountinfo; ls -A {HOME} | grep fswizard-
grep --files-with-matches --text '[s]ession.process' /proc/[0-9]*/cmdline
grep --files-with-matches --line-regexp fio /proc/[0-9]*/comm; ls /dev/mapper | grep fswizard-"""
KILL = """for process in /proc/[0-9]*; do
    tr '\\0' ' ' < $process/cmdline | grep --quiet "$1" && kill -KILL ${process#/proc/}
done; true"""
PROCESSES = {"run": "^[^ ]*python3 -c .*session.process", "parent": "^unshare .*session.process"}
"""Of a run as root, by what its command line looks like."""


@dataclass
class Screen:
    """A user at tty1, who types and reads."""

    machine: Machine

    def type(self, line: str) -> None:
        self.machine.ok("python3", "-c", TYPE, line)

    def shows(self, words: str) -> None:
        def look() -> str:
            return self.machine.run("fold", "--width=80", "/dev/vcs1").stdout.decode(errors="replace")

        awaited(look, lambda text: words in text)

    def begin(self, name: str, *words: str) -> None:
        """Start a command on an empty screen, where sudo asks; what the command says goes to files called `name`."""
        self.type(f"clear; {' '.join(words)} > {name}.said 2> {name}.complained; echo {name} $? > {name}.ended")

    def ended(self, name: str) -> Finished:
        """How it ended, once it has."""

        def read(kind: str) -> bytes:
            return self.machine.run("cat", f"{HOME}/{name}.{kind}").stdout

        text = awaited(lambda: read("ended"), bytes.strip, RUN_S)
        return Finished((name,), int(text.split()[1]), read("said"), read("complained"), 0.0)

    def ends_well(self, name: str) -> Finished:
        """And leaves nothing in the kernel, nor below the user's directory."""
        done = self.ended(name)
        assert done.exit_code == 0, done.output
        assert self.left() == ""
        return done

    def left(self) -> str:
        """Of all runs."""
        return self.machine.run("sh", "-c", LEFT).stdout.decode()


def run(name: str, target: str, candidates: str, *more: str) -> tuple[str, ...]:
    options = ("--target", target, "--candidates", f"'{candidates}'", "--output", f"{name}.jsonl", *more)
    return ("fswizard", "run", f"{HOME}/short.toml", *options)


@pytest.fixture(scope="module")
def screen(machine: Machine) -> Iterator[Screen]:
    machine.ok("useradd", "--create-home", "--shell", "/bin/bash", "--groups", "sudo", USER)
    machine.sh(f"echo '{USER}:{PASSWORD}' | chpasswd")
    machine.write(f"{HOME}/short.toml", RECIPE)
    machine.write(f"{HOME}/.hushlogin", "")
    with logged_in(machine, USER):
        screen = Screen(machine)
        screen.shows(f"{USER}@")
        yield screen


def owner(machine: Machine, path: str) -> str:
    return machine.ok("stat", "--format=%U:%G", path).strip()


def test_what_udisks2_refuses_is_measured_once_the_password_was_typed(screen: Screen) -> None:
    screen.begin("image", *run("image", f"image:512M@{HOME}", REFUSED, *ONE_ROUND))
    screen.shows("password for")
    screen.type(PASSWORD)
    done = screen.ends_well("image")
    assert b"(data=writeback)" in done.stdout and b"data=writeback" in done.stderr
    assert owner(screen.machine, f"{HOME}/image.jsonl") == f"{USER}:{USER}"


def test_a_disk_is_erased_by_its_serial_number_and_then_set_up(screen: Screen) -> None:
    machine, erase = screen.machine, ("--erase", VIRTIO.serial)
    screen.begin("disk", *run("disk", f"device:{DISK}", "ext4", *ONE_ROUND, *erase))
    screen.ends_well("disk")
    assert owner(machine, f"{HOME}/disk.jsonl") == f"{USER}:{USER}"
    assert machine.run("wipefs", "--no-act", DISK).stdout == b""
    words = ("--disk", DISK, "--candidate", "ext4", "--mount-point", "/mnt/own", *erase)
    screen.begin("setup", "fswizard", "set-up", f"{HOME}/disk.jsonl", *words)
    done = screen.ended("setup")
    assert done.exit_code == 0, done.output
    assert owner(machine, "/mnt/own") == f"{USER}:{USER}"
    assert "/mnt/own" in machine.ok("cat", "/etc/fstab")
    machine.sh("umount /mnt/own && sed -i '/own/d' /etc/fstab && systemctl daemon-reload && rmdir /mnt/own")
    machine.ok("wipefs", "--all", "--force", DISK)


@pytest.mark.parametrize("process", PROCESSES)
def test_a_killed_run_leaves_no_mount_no_loop_device_and_no_process(screen: Screen, process: str) -> None:
    screen.begin(process, *run(process, f"image:512M@{HOME}", REFUSED, "--rounds", "9..9"))
    look = ("grep", "--quiet", '"primary":true', f"{HOME}/{process}.jsonl")
    awaited(lambda: screen.machine.run(*look).exit_code, lambda code: code == 0, RUN_S)
    assert "/dev/loop" in screen.left()
    screen.machine.ok("sh", "-c", KILL, "sh", PROCESSES[process])
    assert screen.ended(process).exit_code
    directory = screen.left().split()
    assert len(directory) == 1 and directory[0].startswith("fswizard-"), directory
    screen.begin("clean", "fswizard", "clean")
    screen.ends_well("clean")
    screen.machine.ok("rm", f"{HOME}/clean.ended")
