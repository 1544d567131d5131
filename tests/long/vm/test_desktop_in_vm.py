"""Scratch images without a password where logind and polkit say who sits at the machine: somebody without any right."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.long.vm.machine import Machine
from tests.long.vm.runs import ONE_ROUND, RUN_S, measured, result_of
from tests.long.vm.screen import Screen, logged_in

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("desktop")]

USER = "bob"
IMAGE = f"image:512M@/home/{USER}"
OTHER_SCREEN = "import fcntl; fcntl.ioctl(open('/dev/tty0', 'wb'), 0x5606, {number})"
"""VT_ACTIVATE: as Ctrl-Alt-F2 does for the second."""
SEEN = "/run/seen"
SCOPES = "/sys/fs/cgroup/user.slice/user-*.slice/user@*.service/app.slice/run-*.scope"
WATCHER = f"while sleep 0.05; do cat {SCOPES}/memory.max; grep /media/{USER} /proc/self/mountinfo; done > {SEEN} 2>&1"
CANDIDATES = ("f2fs:noatime", "exfat:noatime")
"""That a container's kernel does not know."""


@pytest.fixture(scope="module")
def screen(machine: Machine) -> Iterator[Screen]:
    with logged_in(machine, USER) as screen:
        yield screen
    machine.sh("systemctl stop udisks2 polkit")


def test_whoever_sits_at_the_screen_measures_without_a_password(screen: Screen) -> None:
    watching = screen.machine.start("sh", "-c", WATCHER)
    screen.begin_run("whole", IMAGE, "; ".join(CANDIDATES), *ONE_ROUND, "--memory-limit", "64M")
    done = screen.ends_well("whole")
    watching.kill()
    assert b"No password needed" in done.stderr
    result = result_of(screen.machine, f"{screen.home}/whole.jsonl")
    assert result.outcome == "finished" and result.plan.by_udisks and not result.failures
    assert measured(result) == set(CANDIDATES)
    seen = screen.machine.run("cat", SEEN).stdout.decode().splitlines()
    assert {line for line in seen if line.isdigit()} == {str(64 << 20)}
    mounts = [set(re.split("[ ,]", line)) for line in seen if " - " in line]
    for kind in ("f2fs", "exfat"):
        assert any({kind, "nosuid", "nodev", "noatime"} <= words for words in mounts), (kind, mounts)


def test_who_is_logged_in_elsewhere_needs_root_which_is_said(screen: Screen) -> None:
    over_ssh = f"cd {screen.home} && fswizard run short.toml --target {IMAGE} --candidates ext4"
    done = screen.machine.run("su", USER, "-c", over_ssh, timeout_s=RUN_S)
    assert done.exit_code == 4, done.output
    assert b"own screen" in done.stderr and b"--target dir:" in done.stderr
    assert screen.left() == ""


def test_no_filesystem_is_to_blame_where_another_session_takes_the_screen(screen: Screen) -> None:
    screen.begin_run("switched", IMAGE, "ext4; xfs", "--rounds", "2..2")
    screen.await_figure("switched")
    screen.machine.ok("python3", "-c", OTHER_SCREEN.format(number=2))
    done = screen.ended("switched")
    screen.machine.ok("python3", "-c", OTHER_SCREEN.format(number=1))
    assert done.exit_code == 1 and b"udisks2 refused" in done.stderr, done.output
    assert not result_of(screen.machine, f"{screen.home}/switched.jsonl").failures
    assert screen.left() == ""
