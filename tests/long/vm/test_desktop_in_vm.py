"""Scratch images without a password where logind and polkit say who sits at the machine: somebody without any right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from fswizard.system.process import Finished
from tests.long.vm.machine import Machine, Running, awaited
from tests.long.vm.runs import ONE_ROUND, RECIPE, RUN_S, measured, result_of
from tests.long.vm.screen import logged_in

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("desktop")]

USER, HOME = "bob", "/home/bob"
SHELL = "while :; do sh asked; done"
ASK = r"""cd /home/bob && printf '{ %s\n} > said 2> complained < /dev/null; echo $? > ended\n' "$1" > asked
read code < ended; cat said; cat complained >&2; exit $code"""
"""Has the shell on tty1, which runs what is written to one pipe and writes exit codes to another, run a command."""
OTHER_SCREEN = "import fcntl; fcntl.ioctl(open('/dev/tty0', 'wb'), 0x5606, {number})"
"""VT_ACTIVATE: as Ctrl-Alt-F2 does for the second."""
SEEN = "/run/seen"
SCOPES = "/sys/fs/cgroup/user.slice/user-*.slice/user@*.service/app.slice/run-*.scope"
WATCHER = f"while sleep 0.5; do cat {SCOPES}/memory.max; grep /media/{USER} /proc/self/mountinfo; done > {SEEN} 2>&1"
CANDIDATES = ("f2fs:noatime", "exfat:noatime")
"""That a container's kernel does not know."""


@dataclass
class Desktop:
    """A user, logged in at the machine's own screen and keyboard."""

    machine: Machine

    def start(self, command: str) -> Running:
        return self.machine.start("sh", "-c", ASK, "sh", command, timeout_s=RUN_S)

    def elsewhere(self, command: str) -> Finished:
        """In a session without a screen, as over ssh."""
        return self.machine.run("su", USER, "-c", f"cd {HOME} && {command}", timeout_s=RUN_S)

    def left(self) -> str:
        """Of all runs: loop devices, mounts, and files."""
        script = f"losetup --list; grep /media/ /proc/mounts; ls -A /media/{USER}; ls -A {HOME} | grep fswizard-"
        return self.machine.run("sh", "-c", script).stdout.decode()


def run(name: str, candidates: str, *more: str) -> str:
    options = ("--target", f"image:512M@{HOME}", "--candidates", f"'{candidates}'", "--output", f"{name}.jsonl", *more)
    return " ".join(("fswizard", "run", "short.toml", *options))


@pytest.fixture(scope="module")
def desktop(machine: Machine) -> Iterator[Desktop]:
    machine.ok("useradd", "--create-home", USER)
    machine.write(f"{HOME}/.profile", SHELL)
    machine.write(f"{HOME}/short.toml", RECIPE)
    machine.sh(f"cd {HOME} && mkfifo asked ended && chown {USER}: asked ended")
    with logged_in(machine, USER):
        yield Desktop(machine)
    machine.sh("systemctl stop udisks2 polkit")


def test_whoever_sits_at_the_screen_measures_without_a_password(desktop: Desktop) -> None:
    watching = desktop.machine.start("sh", "-c", WATCHER)
    done = desktop.start(run("whole", "; ".join(CANDIDATES), *ONE_ROUND, "--memory-limit", "64M")).wait()
    watching.kill()
    assert done.exit_code == 0, done.output
    assert b"No password needed" in done.stderr
    result = result_of(desktop.machine, f"{HOME}/whole.jsonl")
    assert result.outcome == "finished" and result.plan.by_udisks and not result.failures
    assert measured(result) == set(CANDIDATES)
    seen = desktop.machine.run("cat", SEEN).stdout.decode().splitlines()
    assert {line for line in seen if line.isdigit()} == {str(64 << 20)}
    mounts = [set(re.split("[ ,]", line)) for line in seen if " - " in line]
    for kind in ("f2fs", "exfat"):
        assert any({kind, "nosuid", "nodev", "noatime"} <= words for words in mounts), (kind, mounts)
    assert desktop.left() == ""


def test_who_is_logged_in_elsewhere_needs_root_which_is_said(desktop: Desktop) -> None:
    done = desktop.elsewhere(run("refused", "ext4"))
    assert done.exit_code == 4, done.output
    assert b"own screen" in done.stderr and b"--target dir:" in done.stderr
    assert desktop.left() == ""


def test_no_filesystem_is_to_blame_where_another_session_takes_the_screen(desktop: Desktop) -> None:
    running = desktop.start(run("switched", "ext4; xfs", "--rounds", "2..2"))
    look = ("grep", "--quiet", '"primary":true', f"{HOME}/switched.jsonl")
    awaited(lambda: desktop.machine.run(*look).exit_code == 0 or not running.alive, bool, RUN_S)
    desktop.machine.ok("python3", "-c", OTHER_SCREEN.format(number=2))
    done = running.wait()
    desktop.machine.ok("python3", "-c", OTHER_SCREEN.format(number=1))
    assert done.exit_code == 1 and b"no longer is" in done.stderr, done.output
    assert not result_of(desktop.machine, f"{HOME}/switched.jsonl").failures
    assert desktop.left() == ""
