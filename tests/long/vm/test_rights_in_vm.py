"""Runs that need root, started by somebody at the machine's own screen whom sudo asks for a password, and by root."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from fswizard.system.process import Finished
from tests.long.vm.disks import VIRTIO
from tests.long.vm.machine import Machine, awaited
from tests.long.vm.runs import RUN_S
from tests.recipe_texts import writing

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("desktop")]

USER, PASSWORD, HOME = "carol", "correct horse", "/home/carol"
LOGIN = f"""[Service]
ExecStart=
ExecStart=-/sbin/agetty --autologin {USER} tty1 linux
"""
DROP_IN = "/run/systemd/system/getty@tty1.service.d"
TYPE = """import fcntl, sys
with open("/dev/tty1", "wb", buffering=0) as terminal:
    for byte in sys.argv[1].encode() + b"\\n":
        fcntl.ioctl(terminal, 0x5412, bytes([byte]))"""
"""TIOCSTI: as if it came from the keyboard."""
DEVICE = f"device:/dev/disk/by-id/virtio-{VIRTIO.serial}"
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

    def shows(self, words: str, times: int = 1) -> None:
        def look() -> str:
            return self.machine.run("fold", "--width=80", "/dev/vcs1").stdout.decode(errors="replace")

        awaited(look, lambda text: text.count(words) >= times)

    def begin(self, name: str, *words: str) -> None:
        """Start a command on an empty screen, where sudo asks; what the command says goes to files called `name`."""
        self.type(f"clear; {' '.join(words)} > {name}.said 2> {name}.complained; echo {name} $? > {name}.ended")

    def ended(self, name: str) -> Finished:
        """How it ended, once it has."""

        def read(kind: str) -> bytes:
            return self.machine.run("cat", f"{HOME}/{name}.{kind}").stdout

        text = awaited(lambda: read("ended"), bytes.strip, RUN_S)
        return Finished((name,), int(text.split()[1]), read("said"), read("complained"), 0.0)

    def left(self) -> str:
        """Of all runs, in the kernel and below the user's directory."""
        return self.machine.run("sh", "-c", LEFT).stdout.decode()


def run(name: str, target: str, candidates: str, *more: str) -> tuple[str, ...]:
    options = ("--target", target, "--candidates", f"'{candidates}'", "--output", f"{name}.jsonl", *more)
    return ("fswizard", "run", f"{HOME}/short.toml", *options)


def image(name: str, rounds: str = "1..1") -> tuple[str, ...]:
    return run(name, f"image:512M@{HOME}", f"{REFUSED}; xfs", "--rounds", rounds)


@pytest.fixture(scope="module")
def screen(machine: Machine) -> Iterator[Screen]:
    machine.ok("useradd", "--create-home", "--shell", "/bin/bash", "--groups", "sudo", USER)
    machine.sh(f"echo '{USER}:{PASSWORD}' | chpasswd")
    machine.write(f"{HOME}/short.toml", writing("512M", "16M", 1))
    machine.write(f"{HOME}/.hushlogin", "")
    machine.ok("mkdir", DROP_IN)
    machine.write(f"{DROP_IN}/login.conf", LOGIN)
    machine.sh("systemctl daemon-reload && systemctl restart getty@tty1")
    screen = Screen(machine)
    screen.shows(f"{USER}@")
    yield screen
    machine.sh(f"rm -r {DROP_IN} && systemctl daemon-reload && systemctl restart getty@tty1")
    machine.run("loginctl", "terminate-user", USER)


def owner(machine: Machine, path: str) -> str:
    return machine.ok("stat", "--format=%U:%G", path).strip()


def test_a_wrong_password_starts_nothing(screen: Screen) -> None:
    screen.begin("wrong", *image("wrong"))
    for number in range(1, 4):
        screen.shows("password for", number)
        screen.type("guessed")
    done = screen.ended("wrong")
    assert done.exit_code == 4, done.output
    assert "This needs root" in done.output and "password" in done.output and "--target dir:" in done.output
    assert b"Traceback" not in done.stderr
    assert screen.machine.run("ls", f"{HOME}/wrong.jsonl").exit_code
    assert screen.left() == ""


def test_what_udisks2_refuses_is_measured_once_the_password_was_typed(screen: Screen) -> None:
    screen.begin("image", *image("image"))
    screen.shows("password for")
    screen.type(PASSWORD)
    done = screen.ended("image")
    assert done.exit_code == 0, done.output
    assert REFUSED in done.stdout.decode() and b"data=writeback" in done.stderr
    assert owner(screen.machine, f"{HOME}/image.jsonl") == f"{USER}:{USER}"
    assert screen.left() == ""


def test_a_disk_is_erased_by_its_serial_number(screen: Screen) -> None:
    screen.begin("refused", *run("refused", DEVICE, "ext4", "--erase", "ANOTHER"))
    assert screen.ended("refused").exit_code == 3
    screen.begin("disk", *run("disk", DEVICE, "ext4; btrfs", "--rounds", "1..1", "--erase", VIRTIO.serial))
    done = screen.ended("disk")
    assert done.exit_code == 0, done.output
    assert owner(screen.machine, f"{HOME}/disk.jsonl") == f"{USER}:{USER}"
    assert screen.machine.run("wipefs", "--no-act", DEVICE.partition(":")[2]).stdout == b""
    assert screen.left() == ""


def test_volumes_ageing_and_setting_up_are_there_for_who_knows_the_password(screen: Screen) -> None:
    machine, disk = screen.machine, DEVICE.partition(":")[2]
    erase = ("--erase", VIRTIO.serial)
    uses = {
        "volume": run("volume", DEVICE, "luks+ext4; ext4", "--rounds", "1..1", *erase),
        "aged": run("aged", f"image:1G@{HOME}", "ext4", "--aged", "--rounds", "1..1"),
    }
    for name, words in uses.items():
        screen.begin(name, *words)
        done = screen.ended(name)
        assert done.exit_code == 0, done.output
        assert owner(machine, f"{HOME}/{name}.jsonl") == f"{USER}:{USER}"
        assert screen.left() == ""
    words = ("--disk", disk, "--candidate", "ext4", "--mount-point", "/mnt/own", *erase)
    screen.begin("setup", "fswizard", "set-up", f"{HOME}/volume.jsonl", *words)
    done = screen.ended("setup")
    assert done.exit_code == 0, done.output
    assert owner(machine, "/mnt/own") == f"{USER}:{USER}"
    assert "/mnt/own" in machine.ok("cat", "/etc/fstab")
    machine.sh("umount /mnt/own && sed -i '/own/d' /etc/fstab && systemctl daemon-reload && rmdir /mnt/own")
    machine.ok("wipefs", "--all", "--force", disk)


@pytest.mark.parametrize("process", PROCESSES)
def test_a_killed_run_leaves_no_mount_no_loop_device_and_no_process(screen: Screen, process: str) -> None:
    screen.begin(process, *image(process, "9..9"))
    look = ("grep", "--quiet", '"primary":true', f"{HOME}/{process}.jsonl")
    awaited(lambda: screen.machine.run(*look).exit_code, lambda code: code == 0, RUN_S)
    assert "/dev/loop" in screen.left()
    screen.machine.ok("sh", "-c", KILL, "sh", PROCESSES[process])
    assert screen.ended(process).exit_code
    directory = screen.left().split()
    assert len(directory) == 1 and directory[0].startswith("fswizard-"), directory
    screen.begin("clean", "fswizard", "clean")
    assert screen.ended("clean").exit_code == 0
    assert screen.left() == ""
    screen.machine.ok("rm", f"{HOME}/clean.ended")


def test_root_needs_no_password(screen: Screen) -> None:
    result = "/root/root.jsonl"
    words = run("/root/root", "image:512M@/root", REFUSED, "--rounds", "1..1")
    done = screen.machine.run("sh", "-c", " ".join(words), timeout_s=RUN_S)
    assert done.exit_code == 0, done.output
    assert b"as root" in done.stderr
    assert owner(screen.machine, result) == "root:root"
    assert screen.left() == ""
