"""Scratch images without a password where logind and polkit say who sits at the machine: somebody without any right."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fswizard import results
from fswizard.model.result import Result
from fswizard.system.process import Finished
from tests.long.vm.machine import Machine, Running, awaited
from tests.long.vm.runs import RECIPE, RUN_S, SEEN

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("desktop")]

USER, HOME = "bob", "/home/bob"
LOGIN = f"""[Service]
ExecStart=
ExecStart=-/sbin/agetty --autologin {USER} tty1 linux
"""
DROP_IN = "/run/systemd/system/getty@tty1.service.d"
SHELL = "while :; do sh asked; done"
ASK = r"""cd /home/bob && printf '{ %s\n} > said 2> complained < /dev/null; echo $? > ended\n' "$1" > asked
read code < ended; cat said; cat complained >&2; exit $code"""
"""Has the shell on tty1, which runs what is written to one pipe and writes exit codes to another, run a command."""
OTHER_SCREEN = "import fcntl; fcntl.ioctl(open('/dev/tty0', 'wb'), 0x5606, {number})"
"""VT_ACTIVATE: as Ctrl-Alt-F2 does for the second."""
SCOPES = "/sys/fs/cgroup/user.slice/user-*.slice/user@*.service/app.slice/run-*.scope"
WATCHER = f"while sleep 0.5; do cat {SCOPES}/memory.max; grep /media/{USER} /proc/self/mountinfo; done > {SEEN} 2>&1"
CANDIDATES = {
    "ext4:noatime": {"noatime"},
    "xfs": {"relatime"},
    "btrfs:compress=zstd:1": {"compress=zstd:1"},
    "f2fs:noatime": {"noatime"},
    "exfat:noatime": {"noatime"},
}
"""Each with mount options that the kernel shows of it."""


@dataclass
class Desktop:
    """A user, logged in at the machine's own screen and keyboard."""

    machine: Machine

    def start(self, command: str) -> Running:
        return self.machine.start("sh", "-c", ASK, "sh", command, timeout_s=RUN_S)

    def at_screen(self, command: str) -> Finished:
        return self.start(command).wait()

    def elsewhere(self, command: str) -> Finished:
        """In a session without a screen, as over ssh."""
        return self.machine.run("su", USER, "-c", f"cd {HOME} && {command}", timeout_s=RUN_S)

    def result(self, name: str) -> Result:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, name)
            path.write_bytes(self.machine.run("cat", f"{HOME}/{name}.jsonl").stdout)
            return results.load(path)

    def measuring(self, name: str) -> Running:
        """A run at the screen that has measured something, and goes on."""
        running = self.start(run(name, "ext4; xfs", "--rounds", "2..2"))
        look = ("grep", "--quiet", '"primary":true', f"{HOME}/{name}.jsonl")
        awaited(lambda: self.machine.run(*look).exit_code == 0 or not running.alive, bool, RUN_S)
        return running

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
    machine.sh(f"cd {HOME} && mkfifo asked ended && chown {USER}: asked ended && mkdir {DROP_IN}")
    machine.write(f"{DROP_IN}/login.conf", LOGIN)
    machine.sh("systemctl daemon-reload && systemctl restart getty@tty1")
    yield Desktop(machine)
    machine.sh(f"rm -r {DROP_IN} && systemctl daemon-reload && systemctl restart getty@tty1")
    machine.sh(f"loginctl terminate-user {USER} && systemctl stop udisks2 polkit")


def test_whoever_sits_at_the_screen_measures_without_a_password(desktop: Desktop) -> None:
    said = desktop.at_screen("fswizard doctor").stdout.decode()
    assert "udisks2 2.9.4, without a password" in said and "systemd-run without root" in said
    watching = desktop.machine.start("sh", "-c", WATCHER)
    done = desktop.at_screen(run("whole", "; ".join(CANDIDATES), "--rounds", "1..1", "--memory-limit", "64M"))
    watching.kill()
    assert done.exit_code == 0, done.output
    assert b"No password needed" in done.stderr
    result = desktop.result("whole")
    assert result.outcome == "finished" and result.plan.by_udisks and not result.failures
    assert {sample.candidate for sample in result.samples if sample.primary and sample.candidate} == set(CANDIDATES)
    assert "fits-in-memory" not in {doubt.code for doubt in result.doubts}
    seen = desktop.machine.run("cat", SEEN).stdout.decode().splitlines()
    assert {line for line in seen if line.isdigit()} == {str(64 << 20)}
    mounts = [set(re.split("[ ,]", line)) for line in seen if " - " in line]
    for name, options in CANDIDATES.items():
        kind = name.partition(":")[0]
        shown = [" ".join(sorted(words)) for words in mounts if kind in words]
        assert any({"nosuid", "nodev"} | options <= set(words.split()) for words in shown), (name, set(shown))
    assert desktop.left() == ""


def test_what_udisks2_refuses_to_mount_needs_root_which_is_said(desktop: Desktop) -> None:
    done = desktop.at_screen(run("refused", "ext4:data=writeback; xfs"))
    assert done.exit_code == 4 and b"data=writeback" in done.stderr, done.output


def test_who_is_logged_in_elsewhere_needs_root_which_is_said(desktop: Desktop) -> None:
    assert b"without a password" not in desktop.elsewhere("fswizard doctor").stdout
    done = desktop.elsewhere(run("refused", "ext4"))
    assert done.exit_code == 4, done.output
    assert b"own screen" in done.stderr and b"--target dir:" in done.stderr
    assert desktop.left() == ""


def test_no_filesystem_is_to_blame_where_another_session_takes_the_screen(desktop: Desktop) -> None:
    running = desktop.measuring("switched")
    desktop.machine.ok("python3", "-c", OTHER_SCREEN.format(number=2))
    done = running.wait()
    desktop.machine.ok("python3", "-c", OTHER_SCREEN.format(number=1))
    assert done.exit_code == 1 and b"no longer is" in done.stderr, done.output
    assert not desktop.result("switched").failures
    assert desktop.left() == ""


def test_what_a_killed_session_leaves_is_removed_from_another_one(desktop: Desktop) -> None:
    running = desktop.measuring("killed")
    desktop.machine.ok("loginctl", "kill-user", "--signal=KILL", USER)
    running.kill()
    assert "/dev/loop" in desktop.left()
    desktop.elsewhere("fswizard clean")
    assert desktop.left() == ""
