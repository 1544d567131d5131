"""Facts about a machine, read from its files; and doctor, who says what is missing for what and installs it."""

from __future__ import annotations

import os
import platform
import re
import sys
from pathlib import Path

import pytest

import fswizard
from fswizard.cli.doctor import Doctor
from fswizard.filesystems import Availability, availability, catalogue, layout_availability, layouts
from fswizard.model.recipe import PlannedCommand
from fswizard.system import commands, host, programs
from fswizard.system.host import Host
from tests.builders import make_filesystem, make_plan
from tests.fakes.machine import make_machine, make_program, use_distribution, without_root


def test_what_os_release_says_is_made_harmless_and_without_one_it_is_just_linux(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fields = {"ID": "\x1b[31m", "PRETTY_NAME": "\x1b]52;"}
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: fields)
    assert Host().distribution() == host.Distribution("\\x1b]52;", ("\\x1b[31m",))
    monkeypatch.setattr(platform, "freedesktop_os_release", Path("/nonexistent").read_text)
    assert Host().distribution() == host.Distribution("Linux", ())


@pytest.mark.parametrize(
    ("name", "package", "asked", "unattended"),
    [
        ("mint", "btrfs-progs", "sudo apt-get install fio xfsprogs",
         ["sudo apt-get update", "sudo apt-get install --yes fio xfsprogs"]),
        ("opensuse", "btrfsprogs", "sudo zypper install fio xfsprogs",
         ["sudo zypper install --no-confirm fio xfsprogs"]),
        ("unknown", "", "", []),
    ],
)  # fmt: skip
def test_packages_and_the_command_that_installs_them_are_the_distributions_own(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str, asked: str, unattended: list[str]
) -> None:
    use_distribution(monkeypatch, name)
    assert programs.package_of(catalogue()["btrfs"].packages) == package
    packages = ["xfsprogs", "fio", "fio", ""]
    monkeypatch.setattr(programs, "find", lambda program: f"/usr/bin/{program}")
    without_root(monkeypatch)
    assert " ".join(programs.install_command(packages)) == asked
    assert [" ".join(command) for command in programs.unattended_commands(packages)] == unattended
    assert "fio" in programs.install_hint("fio")


def test_pressure_unwritten_data_and_processor_are_read(tmp_path: Path) -> None:
    text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n"
    cpuinfo = "processor\t: 0\nmodel name\t: Fast CPU @ 3 GHz\n"
    meminfo = "Dirty:  12 kB\nWriteback:  4 kB\nWritebackTmp:  100 kB\n"
    root = make_machine(tmp_path, proc__pressure__io=text, proc__cpuinfo=cpuinfo, proc__meminfo=meminfo)
    cpufreq = "sys__devices__system__cpu__cpu0__cpufreq__scaling_"
    make_machine(root, **{f"{cpufreq}driver": "intel_cpufreq\n", f"{cpufreq}governor": "powersave\n"})
    machine = Host(root)
    assert machine.is_slowed()
    make_machine(root, **{f"{cpufreq}driver": "intel_pstate\n"})
    assert not machine.is_slowed(), "this driver raises the clock all the same"
    assert (machine.pressure_total_s("io"), machine.pressure_total_s("cpu")) == (2.5, 0.0)
    assert (machine.unwritten_bytes(), machine.processor()) == (16 << 10, "Fast CPU @ 3 GHz")
    nothing = Host(tmp_path / "none")
    assert (nothing.unwritten_bytes(), nothing.processor()) == (0, platform.machine())


def test_what_programs_use_and_how_long_a_disk_was_busy_is_counted(tmp_path: Path) -> None:
    disk = tmp_path / "sys/class/block/sdb"
    disk.mkdir(parents=True)
    (disk / "stat").write_text("1 2 3 4 5 6 7 8 9 2500 11\n")
    assert (Host(tmp_path).disk_busy_s("sdb"), Host(tmp_path).disk_busy_s("sdc")) == (2.5, 0.0)
    own = Host().loads()[os.getpid()]
    assert (own.parent, own.cpu_s > 0) == (os.getppid(), True)


def test_a_kernel_supports_what_is_built_in_or_loaded_or_known_to_modprobe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Host(make_machine(tmp_path, proc__filesystems="nodev\tsysfs\n\text4\n"))
    kinds = ("ext4", "xfs", "zfs", "ntfs3")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(commands, "SYSTEM_PATH", ())
    assert [kind for kind in kinds if machine.kernel_supports(kind)] == ["ext4"]
    make_program(tmp_path, "modprobe", '[ "$1$2" = -n-q ] && { [ "$3" = fs-xfs ] || [ "$3" = zfs ]; }')
    assert [kind for kind in kinds if machine.kernel_supports(kind)] == ["ext4", "xfs", "zfs"]


def test_a_run_knows_what_it_ran_on_with_the_versions_that_programs_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_program(tmp_path, "fio", '[ "$1" = --version ] && echo fio-3.33')
    make_program(tmp_path, "mkfs.odd", "echo no figure here; exit 1")
    make_program(tmp_path, "mkfs.ext4", "echo mke2fs 1.47.0 >&2")
    make_program(tmp_path / "elsewhere", "fio", "echo fio-1.2")
    monkeypatch.setenv("PATH", str(tmp_path))
    plan = make_plan(("ext4", "odd", "absent"), commands=(PlannedCommand(("fio", "--rw=write")),))
    found = host.environment(plan)
    assert (found.version, found.kernel) == (fswizard.__version__, platform.release())
    assert (found.memory_bytes, found.processor) == (16 << 30, "Model processor")
    assert found.tools == {"mkfs.ext4": "1.47.0", "fio": "3.33"}
    assert host.environment(plan, workload_path=str(tmp_path / "elsewhere")).tools["fio"] == "1.2"


APT_GET = """
echo "apt-get $*" >> {root}/log
[ -e {root}/broken ] && exit 100
[ $1 = update ] || for program in sqlite3 mkfs.btrfs; do ln -sf {root}/bin/cp {root}/bin/$program; done
"""
HERE = ("mkfs.ext4", "mkfs.xfs", "losetup", "mount", "blkid", "wipefs", "cp", "dpkg", "tar", "find", "sudo")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Debian where btrfs-progs and sqlite3 are missing and apt-get installs them by making them."""
    bin_directory = tmp_path / "bin"
    for name in HERE:
        make_program(bin_directory, name, f'echo "{name} 1.2.3"')
    make_program(bin_directory, "apt-get", APT_GET.format(root=tmp_path))
    for name in ("ln", "sh"):
        (bin_directory / name).symlink_to(f"/bin/{name}")
    make_machine(tmp_path, proc__filesystems="\text4\n\txfs\n\tbtrfs\n", **{"dev__loop-control": ""})
    use_distribution(monkeypatch, "debian")
    monkeypatch.setenv("PATH", str(bin_directory))
    monkeypatch.setattr(commands, "SYSTEM_PATH", ())
    monkeypatch.setattr(host, "this", Host(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(sys, "stdin", (tmp_path / "proc/filesystems").open())
    return tmp_path


def run(*arguments: str) -> int:
    return int(Doctor.run(["doctor", *arguments], exit=False)[1])


def log(machine: Path) -> list[str]:
    return (machine / "log").read_text().splitlines() if (machine / "log").exists() else []


def test_what_is_missing_is_listed_with_its_command(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--needed") == 4
    printed = capsys.readouterr().out
    assert re.search(r"✓ ext4 +1\.2\.3", printed) and "✗ btrfs" in printed and "✗ sqlite3" in printed
    assert "apt-get install btrfs-progs sqlite3\n" in printed
    assert log(machine) == [], "nothing is installed without being asked for"


def test_root_goes_ahead_and_a_second_time_installs_nothing(machine: Path) -> None:
    for _ in range(2):
        assert run("--install", "--needed") == 0
        assert log(machine) == ["apt-get update", "apt-get install --yes btrfs-progs sqlite3"]


def test_a_failing_package_manager_is_an_error(machine: Path) -> None:
    (machine / "broken").touch()
    assert run("--install", "--needed") == 4
    assert log(machine) == ["apt-get update"], "it stops at the first failure"


@pytest.mark.parametrize(("sudo", "code"), [("exit 1", 4), ('[ "$1" = -n ] && exit 0; exec "$@"', 0), ("", 4)])
def test_without_root_sudo_goes_ahead_where_it_asks_nobody_and_else_the_command_is_printed(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], sudo: str, code: int
) -> None:
    without_root(monkeypatch)
    if sudo:
        make_program(machine / "bin", "sudo", sudo)
    else:
        (machine / "bin/sudo").unlink()
    assert run("--install", "--needed") == code
    assert bool(log(machine)) == (code == 0)
    assert "apt-get install" in "".join(capsys.readouterr())


@pytest.mark.parametrize(("answer", "code"), [(b"n\n", 4), (b"\x04", 4), (b"\n", 0)])
def test_on_a_terminal_the_user_decides(
    machine: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes, code: int
) -> None:
    leader, follower = os.openpty()
    os.write(leader, answer)
    with os.fdopen(follower) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        assert run("--install", "--needed") == code
    os.close(leader)
    assert bool(log(machine)) is (code == 0)


def test_a_filesystem_is_usable_with_kernel_mkfs_and_its_fuse_program(machine: Path) -> None:
    make_machine(machine, proc__filesystems="\text4\n\tbtrfs\nnodev\tfuse\n")
    assert availability(make_filesystem("ext4")) == Availability(True, version="1.2.3")
    btrfs, xfs = availability(catalogue()["btrfs"]), availability(catalogue()["xfs"])
    assert (btrfs.usable, btrfs.package) == (False, "btrfs-progs")
    assert (xfs.usable, xfs.package, xfs.version) == (False, "", "1.2.3"), "the kernel lacks it"
    make_program(machine / "bin", "mkfs.ntfs", "echo mkntfs v2022.10.3")
    assert not availability(catalogue()["ntfs"]).usable, "the kernel lacks ntfs3"
    assert not availability(catalogue()["ntfs-3g"]).usable
    make_program(machine / "bin", "ntfs-3g", "")
    assert availability(catalogue()["ntfs-3g"]).usable


def test_a_volume_takes_the_kernels_module_its_program_and_the_one_that_closes_it(machine: Path) -> None:
    luks = layouts()["luks"]
    make_machine(machine, proc__filesystems="\text4\n")
    assert not layout_availability(luks).usable
    make_machine(machine, sys__module__dm_crypt__refcnt="0")
    for program in ("cryptsetup", "dmsetup"):
        assert layout_availability(luks).package == program
        make_program(machine / "bin", program, "echo 1.2.3")
    assert layout_availability(luks) == Availability(True, version="1.2.3")
