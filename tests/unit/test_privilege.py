"""Which copy of the helper root would run, and what is said when root cannot be had."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import fswizard.privileged
from fswizard.errors import Missing, Refused
from fswizard.model.plan import Member, Target
from fswizard.privileged import protocol
from fswizard.system import commands
from fswizard.targets import privilege
from tests.builders import make_plan

PACKAGE = Path(fswizard.privileged.__file__).parent


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy as a package would install it, in a directory that is root's alone from / on."""
    directory = Path("/root") if os.access("/root", os.W_OK) else Path("/nonexistent")
    copy = directory / f".fswizard-test-{os.getpid()}"
    monkeypatch.setattr(privilege, "INSTALLED", copy)
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture(autouse=True)
def _removed() -> object:
    yield
    shutil.rmtree(f"/root/.fswizard-test-{os.getpid()}", ignore_errors=True)


@pytest.mark.root
def test_an_installed_copy_that_is_roots_alone_is_preferred(installed: Path) -> None:
    assert privilege.privileged_path() == installed


@pytest.mark.root
@pytest.mark.parametrize("place", ["", "protocol.py", "__main__.py"])
def test_a_copy_that_others_could_change_is_passed_over(installed: Path, place: str) -> None:
    (installed / place).chmod(0o777)
    assert privilege.privileged_path() == PACKAGE


@pytest.mark.root
def test_a_copy_with_a_file_of_somebody_elses_is_passed_over(installed: Path) -> None:
    os.chown(installed / "jobs.py", 65534, 65534)
    assert privilege.privileged_path() == PACKAGE


@pytest.mark.root
def test_a_copy_with_a_link_out_of_it_is_passed_over(installed: Path) -> None:
    (installed / "jobs.py").unlink()
    (installed / "jobs.py").symlink_to(PACKAGE / "jobs.py")
    assert privilege.privileged_path() == PACKAGE


@pytest.mark.root
def test_a_copy_of_another_version_is_passed_over(installed: Path) -> None:
    source = installed / "protocol.py"
    source.write_text(source.read_text().replace(f"VERSION = {protocol.VERSION}\n", "VERSION = 0\n"))
    assert privilege.privileged_path() == PACKAGE


def test_a_directory_that_everybody_can_write_is_not_roots_alone(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "privileged")
    (tmp_path / "privileged").chmod(0o757)
    assert not privilege.is_roots_alone(tmp_path / "privileged")


def test_without_an_installed_copy_the_programs_own_is_used() -> None:
    assert privilege.protocol_version(PACKAGE) == protocol.VERSION
    assert privilege.protocol_version(Path("/nonexistent")) is None


def test_who_has_no_rights_is_told_which_and_what_needs_none() -> None:
    states: tuple[privilege.State, ...] = (*privilege.NO_WAY, "sudo-asks")
    for state in states:
        error = privilege.missing(state)
        assert "needs root" in error.message
        assert "--target dir:" in error.hint


def test_where_sudo_does_not_allow_it_the_command_line_to_allow_is_named() -> None:
    for needed in (privilege.PROBE, privilege.ERASE, privilege.ERASE_UNATTENDED):
        assert f"__main__.py {needed.right}` in sudoers" in privilege.missing("sudo-refuses", needed).hint
    assert "Start fswizard in a terminal" in privilege.missing("sudo-asks", privilege.ERASE_UNATTENDED).hint


@pytest.mark.root
def test_root_needs_no_sudo() -> None:
    assert privilege.state() == "root"
    privilege.authorise()


def test_without_sudo_pkexec_needs_a_window_to_ask_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(commands, "find", lambda name: "/usr/bin/pkexec" if name == "pkexec" else None)
    for variable, state in (("", "none"), ("DISPLAY", "pkexec"), ("WAYLAND_DISPLAY", "pkexec")):
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            monkeypatch.setenv(name, ":0" if name == variable else "")
        assert privilege.state() == state


@pytest.mark.root
def test_the_installed_copy_is_a_program_by_itself(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert privilege.helper_command("images") == (str(installed / "__main__.py"), "images")
    monkeypatch.setattr(privilege, "SYSTEM_PYTHON", "/nonexistent")
    assert privilege.helper_command("images")[0] == sys.executable, "its first line names one that is not there"


def test_a_checkout_is_started_by_an_interpreter_that_takes_nothing_from_the_user() -> None:
    python, *options, program, right = privilege.helper_command("erase")
    assert (options, right) == (["-I", "-S", "-B", "-X", "utf8"], "erase")
    assert Path(program) == PACKAGE / "__main__.py"
    assert Path(python).is_absolute()


DISKS = Target("device", "/dev/sdb", number="8:16", others=(Member("/dev/sdc", number="8:32"),))


@pytest.mark.parametrize(
    ("way", "at_terminal", "needed"),
    [
        ("root", True, privilege.ERASE),
        ("pkexec", False, privilege.ERASE),
        ("sudo", False, privilege.ERASE_UNATTENDED),
        ("sudo", True, replace(privilege.ERASE, devices=("8:16", "8:32"))),
    ],
)
def test_disks_are_confirmed_on_the_terminal_where_sudo_is_the_way(
    way: str, at_terminal: bool, needed: privilege.Purpose, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(privilege, "way", lambda: way)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: at_terminal))
    assert privilege.purpose(make_plan(target=DISKS)) == needed
    assert privilege.purpose(make_plan()) == privilege.IMAGES


REFUSED, ASKS = "exit 1", "echo sudo: a password is required >&2; exit 1"


@pytest.fixture
def sudo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A stand-in that answers as sudo was seen to, and notes what it was asked; the real one is in `tests/loop`."""

    def stand_in(starts: str, lists: str = REFUSED, confirms: str = "exit 0") -> Path:
        program, log = tmp_path / "sudo", tmp_path / "log"
        answers = f'case "$*" in *" confirm "*) {confirms};; "-n -l "*) {lists};; *) {starts};; esac'
        program.write_text(f'#!/bin/sh\necho "$*" >> {log}\n{answers}\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
        return log

    return stand_in


@pytest.mark.parametrize(
    ("starts", "lists", "state"),
    [
        ("exit 0", REFUSED, "sudo"),
        ("echo unshare: unshare failed: Operation not permitted >&2; exit 1", REFUSED, "sudo"),
        (ASKS, ASKS, "sudo-asks"),
        (ASKS, "exit 0", "sudo-asks"),
        (ASKS, REFUSED, "sudo-refuses"),
    ],
)
def test_sudo_is_asked_about_the_command_line_that_will_be_started(
    starts: str, lists: str, state: str, sudo: Callable[..., Path]
) -> None:
    log = sudo(starts, lists)
    assert privilege.state(privilege.PROBE) == state
    for line in log.read_text().splitlines():
        assert line.endswith("/privileged/__main__.py probe")


CONFIRMED = replace(privilege.ERASE, devices=("8:16", "8:32"))


def test_a_yes_to_the_helper_is_all_that_erasing_takes(sudo: Callable[..., Path]) -> None:
    log = sudo("exit 0")
    assert privilege.authorise(CONFIRMED) == "sudo"
    assert [line for line in log.read_text().splitlines() if line.endswith("/__main__.py confirm 8:16 8:32")]


def test_a_no_to_the_helper_is_told_with_its_reason(sudo: Callable[..., Path]) -> None:
    sudo("exit 0", confirms="echo sdb is mounted on /mnt; exit 1")
    with pytest.raises(Refused, match=r"Not erased: sdb is mounted on /mnt\.$"):
        privilege.authorise(CONFIRMED)


def test_a_no_of_sudos_is_told_as_one(sudo: Callable[..., Path]) -> None:
    sudo(ASKS, lists=ASKS, confirms=REFUSED)
    with pytest.raises(Missing, match="sudo did not give it"):
        privilege.authorise(CONFIRMED)


def test_where_sudo_will_not_start_it_nobody_is_asked_to_confirm(sudo: Callable[..., Path]) -> None:
    log = sudo(ASKS)
    with pytest.raises(Missing, match="sudo is not allowed to start it"):
        privilege.authorise(CONFIRMED)
    assert "confirm" not in log.read_text()
