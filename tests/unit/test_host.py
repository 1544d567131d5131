"""Facts about a machine, read from its files; and doctor, who says what is missing for what and installs it."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fswizard
from fswizard.cli.doctor import Doctor
from fswizard.disks import rights
from fswizard.filesystems import Availability, availability, catalogue, layout_availability, layouts
from fswizard.model.recipe import PlannedCommand
from fswizard.system import commands, host, programs
from fswizard.system.host import Host, Load
from tests.builders import make_filesystem, make_plan
from tests.fakes.machine import make_machine, make_program, without_root


@pytest.mark.parametrize(
    ("name", "manager", "package"),
    [
        ("debian", "apt-get", "btrfs-progs"),
        ("ubuntu", "apt-get", "btrfs-progs"),
        ("mint", "apt-get", "btrfs-progs"),
        ("fedora", "dnf", "btrfs-progs"),
        ("rhel", "dnf", "btrfs-progs"),
        ("arch", "pacman", "btrfs-progs"),
        ("manjaro", "pacman", "btrfs-progs"),
        ("opensuse", "zypper", "btrfsprogs"),
    ],
)
def test_a_distribution_is_known_by_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, manager: str, package: str
) -> None:
    monkeypatch.setattr(host, "this", Host(make_machine(tmp_path, name)))
    found = programs.package_manager()
    assert found is not None and found.install[0] == manager
    assert programs.package_of(catalogue()["btrfs"].packages) == package


def test_a_distribution_has_a_title_for_people(tmp_path: Path) -> None:
    assert Host(make_machine(tmp_path, "mint")).distribution().title == "Linux Mint 22"
    assert Host(make_machine(tmp_path, "opensuse")).distribution().title == "Linux"


def test_an_unknown_distribution_gets_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "this", Host(make_machine(tmp_path, "unknown")))
    assert programs.package_manager() is None
    assert programs.install_command(["fio"]) == ()
    assert programs.unattended_commands(["fio"]) == ()
    assert programs.install_hint("fio").startswith("Install the package fio with")


@given(st.binary(max_size=300))
def test_any_os_release_is_read_and_made_harmless_and_without_one_it_is_just_linux(content: bytes) -> None:
    assert Host(Path("/nonexistent")).distribution() == host.Distribution("Linux", ())
    system = host._read_os_release(content.decode("utf-8", "replace"))
    assert all(text.isprintable() for text in (system.title, *system.names))


@pytest.mark.parametrize(
    ("name", "asked", "unattended"),
    [
        ("debian", "apt-get install fio xfsprogs", ["apt-get update", "apt-get install --yes fio xfsprogs"]),
        ("fedora", "dnf install fio xfsprogs", ["dnf install --assumeyes fio xfsprogs"]),
        ("arch", "pacman -S --needed fio xfsprogs", ["pacman -S --needed --noconfirm fio xfsprogs"]),
        ("opensuse", "zypper install fio xfsprogs", ["zypper install --no-confirm fio xfsprogs"]),
    ],
)
def test_the_install_command_is_the_distributions_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, asked: str, unattended: list[str]
) -> None:
    monkeypatch.setattr(host, "this", Host(make_machine(tmp_path, name)))
    packages = ["xfsprogs", "fio", "fio", ""]
    monkeypatch.setattr(programs, "find", lambda program: f"/usr/bin/{program}")
    for uid, prefix in ((0, ""), (1000, "sudo ")):
        monkeypatch.setattr(os, "geteuid", lambda uid=uid: uid)
        assert " ".join(programs.install_command(packages)) == prefix + asked
        commands = [" ".join(command) for command in programs.unattended_commands(packages)]
        assert commands == [prefix + line for line in unattended]


def test_pressure_unwritten_data_room_memory_and_processor_are_read(tmp_path: Path) -> None:
    text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n"
    assert Host(make_machine(tmp_path, proc__pressure__io=text)).pressure_total_s("io") == 2.5
    assert Host(tmp_path).pressure_total_s("cpu") == 0.0
    (tmp_path / "proc/meminfo").write_text("Dirty:  12 kB\nWriteback:  4 kB\nWritebackTmp:  100 kB\n")
    assert Host(tmp_path).unwritten_bytes() == 16 << 10
    assert Host(tmp_path / "none").unwritten_bytes() == 0
    here = Host()
    room = here.space(tmp_path)
    assert 0 <= room.free_bytes <= room.total_bytes
    assert here.memory_bytes() > 1 << 28
    assert here.processor()
    assert here.on_battery() in (True, False)
    named = make_machine(tmp_path / "named", proc__cpuinfo="processor\t: 0\nmodel name\t: Fast CPU @ 3 GHz\n")
    assert Host(named).processor() == "Fast CPU @ 3 GHz"
    assert Host(tmp_path).processor() == platform.machine()


def test_a_kernel_that_knows_no_power_supplies_is_on_no_battery(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psutil._pslinux.POWER_SUPPLY_PATH", str(tmp_path / "none"))
    assert not Host().on_battery()


def test_what_programs_use_and_how_long_a_disk_was_busy_is_counted(tmp_path: Path) -> None:
    proc, disk = tmp_path / "proc", tmp_path / "sys/class/block/sdb"
    for number, stat in {
        "7": f"7 (a) (\x1b[31m b) S 1 {'0 ' * 9}150 50 {'0 ' * 30}",
        "8": "8 (gone",
        "self": "",
    }.items():
        (proc / number).mkdir(parents=True)
        (proc / number / "stat").write_text(stat)
    (proc / "7/io").write_text("rchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 5\n")
    disk.mkdir(parents=True)
    (disk / "stat").write_text("1 2 3 4 5 6 7 8 9 2500 11\n")
    ticks = os.sysconf("SC_CLK_TCK")
    here = Host(tmp_path)
    assert here.loads() == {7: Load(here.loads()[7].name, 1, 200 / ticks, 4096, 8192)}
    assert here.loads()[7].name.isprintable()
    assert (here.disk_busy_s("sdb"), here.disk_busy_s("sdc")) == (2.5, 0.0)


@pytest.mark.parametrize(
    ("driver", "governor", "slowed"),
    [("intel_pstate", "powersave", False), ("intel_cpufreq", "powersave", True), ("acpi-cpufreq", "schedutil", False)],
)
def test_powersave_is_slow_only_where_the_driver_makes_it_so(
    tmp_path: Path, driver: str, governor: str, slowed: bool
) -> None:
    cpufreq = "sys__devices__system__cpu__cpu0__cpufreq__scaling_"
    root = make_machine(tmp_path, **{f"{cpufreq}driver": f"{driver}\n", f"{cpufreq}governor": f"{governor}\n"})
    assert Host(root).is_slowed() is slowed


def test_a_kernel_supports_what_is_loaded_built_in_or_on_disk(tmp_path: Path) -> None:
    modules = f"lib__modules__{platform.release()}__modules."
    known = {
        f"{modules}builtin": "kernel/fs/xfs/xfs.ko\n",
        f"{modules}dep": "kernel/fs/f2fs/f2fs.ko.zst: kernel/lib/lz4/lz4.ko\nkernel/fs/ntfs3/ntfs3.ko:\n",
    }
    root = make_machine(tmp_path, proc__filesystems="nodev\tsysfs\n\text4\n", **known)
    assert supported(root, "ext4", "xfs", "f2fs", "ntfs3", "ntfs", "lz4") == ["ext4", "xfs", "f2fs", "ntfs3"]


def supported(root: Path, *kinds: str) -> list[str]:
    return [kind for kind in kinds if Host(root).kernel_supports(kind)]


def test_a_module_is_found_by_the_type_that_it_stands_for_and_where_nixos_keeps_it(tmp_path: Path) -> None:
    directory = f"run__booted-system__kernel-modules__lib__modules__{platform.release()}__modules."
    root = make_machine(tmp_path, **{f"{directory}alias": "alias fs-ext2 ext4\nalias fs-fuseblk fuse\nalias x ntfs3\n"})
    assert supported(root, "ext2", "ext3", "fuseblk", "ntfs3") == ["ext2", "fuseblk"]


PRINTING = {
    "mkfs.xfs": 'echo "mkfs.xfs version 6.1.0"',
    "mkfs.btrfs": 'echo "mkfs.btrfs, part of btrfs-progs v6.2" >&2',
    "fio": '[ "$1" = --version ] && echo fio-3.33',
    "mkfs.odd": "echo no figure here; exit 1",
    "mkfs.ext4": "echo mke2fs 1.47.0 >&2",
}


def test_versions_are_what_programs_print_and_a_run_knows_what_it_ran_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, script in PRINTING.items():
        make_program(tmp_path, name, script)
    monkeypatch.setenv("PATH", str(tmp_path))
    versions = {"mkfs.xfs": "6.1.0", "mkfs.btrfs": "6.2", "fio": "3.33", "mkfs.odd": "", "mkfs.absent": ""}
    assert {name: host.tool_version(name) for name in versions} == versions
    found = host.environment(make_plan(("ext4",), commands=(PlannedCommand(("fio", "--rw=write")),)))
    assert found.version == fswizard.__version__
    assert found.kernel == platform.release()
    assert (found.memory_bytes, found.processor) == (16 << 30, "Model processor")
    assert found.tools == {"mkfs.ext4": "1.47.0", "fio": "3.33"}
    assert len(found.started) == len("2026-01-02T03:04:05Z") and found.started.endswith("Z")


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
    make_machine(tmp_path, "debian", proc__filesystems="\text4\n\txfs\n\tbtrfs\n", **{"dev__loop-control": ""})
    monkeypatch.setenv("PATH", str(bin_directory))
    monkeypatch.setattr(commands, "SYSTEM_PATH", ())
    monkeypatch.setattr(host, "this", Host(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(sys, "stdin", (tmp_path / "etc/os-release").open())
    return tmp_path


def run(*arguments: str) -> int:
    return int(Doctor.run(["doctor", *arguments], exit=False)[1])


def log(machine: Path) -> list[str]:
    return (machine / "log").read_text().splitlines() if (machine / "log").exists() else []


def unusable(name: str) -> str:
    """Why that filesystem cannot be used."""
    found = availability(catalogue()[name])
    assert not found.usable
    return found.reason


def test_what_is_missing_is_told_with_its_command(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--needed") == 4
    shown = capsys.readouterr().out
    assert re.search(r"✓ ext4 +1\.2\.3", shown) and "✗ btrfs" in shown and "✗ sqlite3" in shown
    assert "  apt-get install btrfs-progs sqlite3\n" in shown
    assert log(machine) == [], "nothing is installed without being asked for"
    run()
    whole = capsys.readouterr().out
    assert len(whole) > len(shown), "more filesystems, too"
    assert all(len(line) <= 80 for line in whole.splitlines() if "apt-get" not in line), "a command stays one line"


@pytest.mark.parametrize("state", rights.REASONS)
def test_how_root_is_had_is_told_with_the_reason(
    state: rights.State, machine: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rights, "state", lambda: state)
    run()
    sign, reason = ("✗", "none, as neither sudo") if state == "none" else ("✓", rights.REASONS[state])
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f"{sign} {needed} {reason}" in shown for needed in ("scratch images", "root's rights"))


def test_root_goes_ahead_and_a_second_time_installs_nothing(
    machine: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("--install", "--needed") == 0
    assert log(machine) == ["apt-get update", "apt-get install --yes btrfs-progs sqlite3"]
    shown = capsys.readouterr()
    assert "✗" not in shown.out
    assert "$ apt-get install --yes btrfs-progs sqlite3" in shown.err
    (machine / "log").unlink()
    assert run("--install", "--needed") == 0
    assert log(machine) == []
    run("--install", "--needed")
    (machine / "bin/sudo").unlink()
    assert run("--needed") == 0
    without_root(monkeypatch)
    assert run("--needed") == 4


def test_a_failing_package_manager_is_an_error(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (machine / "broken").touch()
    assert run("--install", "--needed") == 4
    assert "Installing failed" in capsys.readouterr().err
    assert log(machine) == ["apt-get update"], "it stops at the first failure"


SUDO = '[ "$1" = -n ] && {{ shift; {asked}; }}; exec "$@"'


def test_without_root_and_terminal_the_command_is_told_instead(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_root(monkeypatch)
    make_program(machine / "bin", "sudo", SUDO.format(asked="exit 1"))
    assert run("--install", "--needed") == 4
    assert "there is no terminal to ask for it. Please run:\n  sudo apt-get install" in capsys.readouterr().out
    (machine / "bin/sudo").unlink()
    for way, words in (
        ("su", "  su - -c 'apt-get install btrfs-progs sqlite3 sudo'"),
        ("", "as root:\n  apt-get install"),
    ):
        if way:
            make_program(machine / "bin", way, "exit 1")
        assert run("--install", "--needed") == 4
        said = capsys.readouterr()
        assert words in said.out and said.err == "", "it is told once"
        (machine / "bin/su").unlink(missing_ok=True)
    assert log(machine) == []


def test_sudo_that_needs_no_password_needs_no_terminal(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_root(monkeypatch)
    make_program(machine / "bin", "sudo", SUDO.format(asked="exec true"))
    make_program(machine / "bin", "true", "exit 0")
    assert run("--install", "--needed") == 0
    assert log(machine) == ["apt-get update", "apt-get install --yes btrfs-progs sqlite3"]


def run_answering(answer: str, patch: pytest.MonkeyPatch) -> int:
    """Install what is missing, on a terminal on which that is typed."""
    leader, follower = os.openpty()
    os.write(leader, answer.encode() or b"\x04")
    with os.fdopen(follower) as terminal:
        patch.setattr(sys, "stdin", terminal)
        code = run("--install", "--needed")
    os.close(leader)
    return code


@pytest.mark.parametrize(("answer", "code"), [("n\n", 4), ("", 4), ("\n", 0), ("Yes\n", 0)])
def test_on_a_terminal_the_user_decides(machine: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int) -> None:
    assert run_answering(answer, monkeypatch) == code
    assert bool(log(machine)) is (code == 0)


def test_where_there_is_no_sudo_su_asks_for_roots_password_once(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_root(monkeypatch)
    (machine / "bin/sudo").unlink()
    make_program(machine / "bin", "su", f'echo su >> {machine}/log; [ "$1$2" = --c ] && eval "$3"')
    run_answering("y\n", monkeypatch)
    assert log(machine) == ["su", "apt-get update", "apt-get install --yes btrfs-progs sqlite3 sudo"]


def test_a_filesystem_is_usable_with_kernel_mkfs_and_its_fuse_program(machine: Path) -> None:
    make_machine(machine, "debian", proc__filesystems="\text4\n\tbtrfs\n")
    assert availability(make_filesystem("ext4")) == Availability(True, version="1.2.3")
    assert availability(catalogue()["btrfs"]) == Availability(
        False, "mkfs.btrfs is not installed.", "Install it: apt-get install btrfs-progs", package="btrfs-progs"
    )
    assert unusable("xfs") == "The running kernel cannot mount XFS."
    assert availability(catalogue()["xfs"]).version == "1.2.3"
    make_machine(machine, "debian", proc__filesystems="\text4\nnodev\tfuse\n")
    make_program(machine / "bin", "mkfs.ntfs", "echo mkntfs v2022.10.3")
    assert unusable("ntfs"), "the kernel lacks ntfs3"
    assert unusable("ntfs-3g") == "ntfs-3g is not installed."
    make_program(machine / "bin", "ntfs-3g", "")
    assert availability(catalogue()["ntfs-3g"]).usable


def test_zfs_takes_the_kernels_module_and_the_programs_of_openzfs(machine: Path) -> None:
    zfs = catalogue()["zfs"]
    for name in ("zpool", "zfs", "zfs-fuse"):
        make_program(machine / "bin", name, "")
    for kernel, package in (("nodev\tfuse\n", ""), ("nodev\tfuse\nnodev\tzfs\n", "zfsutils-linux")):
        make_machine(machine, "debian", proc__filesystems=kernel)
        state = availability(zfs)
        assert (state.usable, state.package) == (False, package)
    make_program(machine / "bin", "mount.zfs", "")
    whole = availability(zfs)
    assert whole.usable and whole.driver and whole.driver.name == "OpenZFS"
    (machine / "bin/zpool").unlink()
    assert availability(zfs).package == "zfsutils-linux"


def test_a_volume_takes_the_kernels_module_its_program_and_the_one_that_closes_it(machine: Path) -> None:
    luks = layouts()["luks"]
    make_machine(machine, "debian", proc__filesystems="\text4\n")
    assert layout_availability(luks).reason == "The running kernel can't make LUKS (dm_crypt)."
    make_machine(machine, "debian", sys__module__dm_crypt__refcnt="0")
    for program, package in (("cryptsetup", "cryptsetup"), ("dmsetup", "dmsetup")):
        state = layout_availability(luks)
        assert (state.reason, state.package) == (f"{program} is not installed.", package)
        make_program(machine / "bin", program, "echo 1.2.3")
    assert layout_availability(luks) == Availability(True, version="1.2.3")


def test_a_program_that_cannot_start_or_is_another_is_told_from_one_that_can(tmp_path: Path) -> None:
    for name, text in (("good", "#!/bin/sh\necho 1.2\n"), ("bad", "#!/nowhere\n"), ("torn", "#!/bin/sh\nexit 127\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    shutil.copy(tmp_path / "good", tmp_path / "busybox")
    (tmp_path / "cp").symlink_to("busybox")
    said = {name: host.why_not_started(str(tmp_path / name)) for name in ("good", "bad", "torn", "cp")}
    assert said["good"] == ""
    assert "cannot be started" in said["bad"]
    assert said["torn"].startswith("It cannot start")
    assert said["cp"] == "That of busybox lacks options that are needed."


def test_the_version_is_that_of_the_program_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, version in (("mine", "9.9"), ("theirs", "1.2")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "fio").write_text(f"#!/bin/sh\necho fio-{version}\n")
        (tmp_path / place / "fio").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/mine", prepend=":")
    plan = make_plan(("ext4",), commands=(PlannedCommand(("fio", "--rw=write")),))
    found = host.environment(plan, workload_path=f"{tmp_path}/theirs")
    assert (found.tools.get("fio"), host.tool_version("fio")) == ("1.2", "9.9")
