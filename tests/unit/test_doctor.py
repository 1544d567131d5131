"""Doctor says what is missing for what, and installs it when asked."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from fswizard.cli.doctor import Doctor
from fswizard.filesystems import Availability, availability, catalogue
from fswizard.system import commands, host
from fswizard.system.host import Host
from fswizard.targets import privilege
from tests.builders import make_filesystem
from tests.fakes.machine import make_machine, make_program

APT_GET = """
echo "apt-get $*" >> {root}/log
[ -e {root}/broken ] && exit 100
[ $1 = update ] || for program in fio mkfs.btrfs; do ln -sf {root}/bin/cp {root}/bin/$program; done
"""
HERE = ("mkfs.ext4", "mkfs.xfs", "losetup", "mount", "blkid", "wipefs", "unshare", "setpriv", "cp", "sudo")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Debian where btrfs-progs and fio are missing and apt-get installs them by making them."""
    bin_directory = tmp_path / "bin"
    for name in HERE:
        make_program(bin_directory, name, f'echo "{name} 1.2.3"')
    make_program(bin_directory, "apt-get", APT_GET.format(root=tmp_path))
    for name in ("ln", "sh"):
        (bin_directory / name).symlink_to(f"/bin/{name}")
    make_machine(tmp_path, "debian", proc__filesystems="\text4\n\txfs\n\tbtrfs\n", **{"dev__loop-control": ""})
    monkeypatch.setenv("PATH", str(bin_directory))
    monkeypatch.setattr(commands, "SYSTEM_PATH", ())
    monkeypatch.setattr(host, "this", Host(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(privilege, "_who_else", str)
    monkeypatch.setattr(sys, "stdin", (tmp_path / "etc/os-release").open())
    return tmp_path


def run(*arguments: str) -> int:
    _, code = Doctor.run(["doctor", *arguments], exit=False)
    return int(code)


def log(machine: Path) -> list[str]:
    path = machine / "log"
    return path.read_text().splitlines() if path.exists() else []


def test_what_is_missing_is_told_with_its_command(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--needed") == 4
    shown = capsys.readouterr().out
    assert "✓ ext4          1.2.3" in shown
    assert "✗ btrfs         mkfs.btrfs is not installed." in shown
    assert "✗ fio           not installed; for block workloads" in shown
    assert "  apt-get install btrfs-progs fio\n" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert log(machine) == [], "nothing is installed without being asked for"


@pytest.mark.parametrize("state", privilege.REASONS)
def test_how_root_is_had_is_told_with_the_reason(
    state: privilege.State, machine: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(privilege, "state", lambda needed: "root" if needed == privilege.PROBE else state)
    run()
    shown = " ".join(capsys.readouterr().out.split())
    sign = "✗" if state in privilege.NO_WAY else "✓"
    assert f"{sign} root's rights {privilege.REASONS[state]}" in shown
    assert f"✓ probe a disk {privilege.REASONS['root']}" in shown
    assert f"{sign} erase a disk {privilege.REASONS[state]}" in shown


def test_everything_fits_on_a_small_screen(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run()
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines if "apt-get" not in line), "a command to be copied stays one line"


def test_json_says_the_same(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--json", "--needed") == 4
    told = json.loads(capsys.readouterr().out)
    assert told["command"] == "apt-get install btrfs-progs fio"
    assert [item["name"] for item in told["checked"] if not item["found"]] == ["btrfs", "fio"]


def test_root_without_a_terminal_goes_ahead(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--install", "--needed") == 0
    assert log(machine) == ["apt-get update", "apt-get install --yes btrfs-progs fio"]
    shown = capsys.readouterr()
    assert "✗" not in shown.out
    assert "$ apt-get install --yes btrfs-progs fio" in shown.err


def test_a_second_time_nothing_is_installed(machine: Path) -> None:
    run("--install", "--needed")
    (machine / "log").unlink()
    assert run("--install", "--needed") == 0
    assert log(machine) == []


def test_a_failing_package_manager_is_an_error(machine: Path) -> None:
    (machine / "broken").touch()
    assert run("--install", "--needed") == 4
    assert log(machine) == ["apt-get update"], "it stops at the first failure"


def test_without_root_and_terminal_the_command_is_told_instead(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert run("--install", "--needed") == 4
    assert "sudo apt-get install btrfs-progs fio" in capsys.readouterr().err
    assert log(machine) == []


@pytest.mark.parametrize(("answer", "code"), [("n\n", 4), ("", 4), ("\n", 0), ("Yes\n", 0)])
def test_on_a_terminal_the_user_decides(machine: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int) -> None:
    leader, follower = os.openpty()
    os.write(leader, answer.encode() or b"\x04")
    with os.fdopen(follower) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        assert run("--install", "--needed") == code
    os.close(leader)
    assert bool(log(machine)) is (code == 0)


def test_other_users_need_sudo(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("--install", "--needed")
    (machine / "bin/sudo").unlink()
    assert run("--needed") == 0
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert run("--needed") == 4


def test_a_filesystem_is_usable_with_mkfs_and_kernel(machine: Path) -> None:
    make_machine(machine, "debian", proc__filesystems="\text4\n\tbtrfs\n")
    assert availability(make_filesystem("ext4")) == Availability(True, version="1.2.3")
    assert availability(catalogue()["btrfs"]) == Availability(
        False, "mkfs.btrfs is not installed.", "Install it: apt-get install btrfs-progs", package="btrfs-progs"
    )
    without_module = availability(catalogue()["xfs"])
    assert (without_module.usable, without_module.version) == (False, "1.2.3")
    assert without_module.reason == "The running kernel cannot mount XFS."


def test_zfs_takes_the_kernels_module_and_the_programs_of_openzfs(machine: Path) -> None:
    zfs = catalogue()["zfs"]
    for name in ("zpool", "zfs", "zfs-fuse"):
        make_program(machine / "bin", name, "")
    make_machine(machine, "debian", proc__filesystems="nodev\tfuse\n")
    without_module = availability(zfs)
    assert (without_module.usable, without_module.package) == (False, "")
    assert without_module.reason == "The running kernel cannot mount ZFS."
    assert "install OpenZFS's module" in without_module.hint
    make_machine(machine, "debian", proc__filesystems="nodev\tfuse\nnodev\tzfs\n")
    with_zfs_fuse = availability(zfs)
    assert (with_zfs_fuse.usable, with_zfs_fuse.reason) == (False, "mount.zfs is not installed.")
    assert with_zfs_fuse.hint == "Install it: apt-get install zfsutils-linux"
    make_program(machine / "bin", "mount.zfs", "")
    whole = availability(zfs)
    assert whole.usable and whole.driver and whole.driver.name == "OpenZFS"
    (machine / "bin/zpool").unlink()
    assert availability(zfs).package == "zfsutils-linux"


def test_a_fuse_program_is_looked_for_beside_mkfs(machine: Path) -> None:
    make_machine(machine, "debian", proc__filesystems="\text4\nnodev\tfuse\n")
    make_program(machine / "bin", "mkfs.ntfs", "echo mkntfs v2022.10.3")
    assert not availability(catalogue()["ntfs"]).usable, "the kernel lacks ntfs3"
    assert availability(catalogue()["ntfs-3g"]).reason == "ntfs-3g is not installed."
    make_program(machine / "bin", "ntfs-3g", "")
    assert availability(catalogue()["ntfs-3g"]).usable
