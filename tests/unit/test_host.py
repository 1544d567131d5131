"""Facts about a machine, read from its files."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fswizard
from fswizard.filesystems import catalogue
from fswizard.model.plan import PlannedCommand
from fswizard.system import host, programs
from fswizard.system.host import Host
from tests.builders import make_plan
from tests.fakes.machine import OS_RELEASE, make_machine, make_program


@pytest.mark.parametrize(
    ("name", "title", "manager", "package"),
    [
        ("debian", "Debian GNU/Linux 12 (bookworm)", "apt-get", "btrfs-progs"),
        ("ubuntu", "Ubuntu 24.04.1 LTS", "apt-get", "btrfs-progs"),
        ("mint", "Linux Mint 22", "apt-get", "btrfs-progs"),
        ("fedora", "Fedora Linux 41 (Workstation Edition)", "dnf", "btrfs-progs"),
        ("rhel", "Red Hat Enterprise Linux 9.4", "dnf", "btrfs-progs"),
        ("arch", "Arch Linux", "pacman", "btrfs-progs"),
        ("manjaro", "Manjaro Linux", "pacman", "btrfs-progs"),
        ("opensuse", "Linux", "zypper", "btrfsprogs"),
    ],
)
def test_a_distribution_is_known_by_its_own_words(
    tmp_path: Path, name: str, title: str, manager: str, package: str
) -> None:
    system = Host(make_machine(tmp_path, name)).distribution()
    found = programs.package_manager(system)
    assert system.title == title
    assert found is not None and found.program == manager
    assert programs.package_of(catalogue()["btrfs"].packages, system) == package


def test_an_unknown_distribution_gets_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "this", Host(make_machine(tmp_path, "unknown")))
    assert programs.package_manager() is None
    assert programs.install_command(["fio"]) == ()
    assert programs.unattended_commands(["fio"]) == ()
    assert programs.install_hint("fio").startswith("Install the package fio with")


def test_a_machine_without_os_release_is_just_linux(tmp_path: Path) -> None:
    assert Host(tmp_path).distribution() == host.Distribution("Linux", ())


@given(st.binary(max_size=300))
def test_any_os_release_is_read_and_made_harmless(content: bytes) -> None:
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
    monkeypatch: pytest.MonkeyPatch, name: str, asked: str, unattended: list[str]
) -> None:
    system = host._read_os_release(OS_RELEASE[name])
    packages = ["xfsprogs", "fio", "fio", ""]
    for uid, prefix in ((0, ""), (1000, "sudo ")):
        monkeypatch.setattr(os, "geteuid", lambda uid=uid: uid)
        assert " ".join(programs.install_command(packages, system)) == prefix + asked
        commands = [" ".join(command) for command in programs.unattended_commands(packages, system)]
        assert commands == [prefix + line for line in unattended]


def test_pressure_is_counted_in_seconds(tmp_path: Path) -> None:
    text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n"
    assert Host(make_machine(tmp_path, proc__pressure__io=text)).pressure_total_s("io") == 2.5
    assert Host(tmp_path).pressure_total_s("cpu") == 0.0


@pytest.mark.parametrize(
    ("driver", "governor", "dynamic"),
    [("intel_pstate", "powersave", True), ("intel_cpufreq", "powersave", False), ("acpi-cpufreq", "schedutil", True)],
)
def test_powersave_is_slow_only_where_the_driver_makes_it_so(
    tmp_path: Path, driver: str, governor: str, dynamic: bool
) -> None:
    cpufreq = "sys__devices__system__cpu__cpu0__cpufreq__scaling_"
    root = make_machine(tmp_path, **{f"{cpufreq}driver": f"{driver}\n", f"{cpufreq}governor": f"{governor}\n"})
    assert Host(root).governor() == governor
    assert Host(root).governor_is_dynamic() is dynamic


def test_a_kernel_supports_what_is_loaded_built_in_or_on_disk(tmp_path: Path) -> None:
    modules = f"lib__modules__{platform.release()}__modules."
    root = make_machine(
        tmp_path,
        proc__filesystems="nodev\tsysfs\n\text4\n",
        **{
            f"{modules}builtin": "kernel/fs/xfs/xfs.ko\n",
            f"{modules}dep": "kernel/fs/f2fs/f2fs.ko.zst: kernel/lib/lz4/lz4.ko\nkernel/fs/ntfs3/ntfs3.ko:\n",
        },
    )
    assert [kind for kind in ("ext4", "xfs", "f2fs", "ntfs3", "ntfs", "lz4") if Host(root).kernel_supports(kind)] == [
        "ext4",
        "xfs",
        "f2fs",
        "ntfs3",
    ]


def test_a_module_is_found_by_the_type_that_it_stands_for_and_where_nixos_keeps_it(tmp_path: Path) -> None:
    directory = f"run__booted-system__kernel-modules__lib__modules__{platform.release()}__modules."
    root = make_machine(tmp_path, **{f"{directory}alias": "alias fs-ext2 ext4\nalias fs-fuseblk fuse\nalias x ntfs3\n"})
    assert [kind for kind in ("ext2", "ext3", "fuseblk", "ntfs3") if Host(root).kernel_supports(kind)] == [
        "ext2",
        "fuseblk",
    ]


def test_versions_are_what_programs_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_program(tmp_path, "mkfs.xfs", 'echo "mkfs.xfs version 6.1.0"')
    make_program(tmp_path, "mkfs.btrfs", 'echo "mkfs.btrfs, part of btrfs-progs v6.2" >&2')
    make_program(tmp_path, "fio", '[ "$1" = --version ] && echo fio-3.33')
    make_program(tmp_path, "mkfs.odd", "echo no figure here; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    versions = host.tool_versions(["mkfs.xfs", "mkfs.btrfs", "fio", "mkfs.odd", "mkfs.absent"])
    assert versions == {"mkfs.xfs": "6.1.0", "mkfs.btrfs": "6.2", "fio": "3.33"}


def test_a_run_knows_what_it_ran_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_program(tmp_path, "mkfs.ext4", "echo mke2fs 1.47.0 >&2")
    make_program(tmp_path, "fio", "echo fio-3.33")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = host.environment(make_plan(("ext4",), commands=(PlannedCommand(("fio", "--rw=write")),)))
    assert found.version == fswizard.__version__
    assert found.kernel == platform.release()
    assert (found.memory_bytes, found.processor) == (16 << 30, "Model processor")
    assert found.tools == {"mkfs.ext4": "1.47.0", "fio": "3.33"}
    assert len(found.started) == len("2026-01-02T03:04:05Z") and found.started.endswith("Z")


def test_the_machine_itself_answers_every_question(tmp_path: Path) -> None:
    here = Host()
    room = here.space(tmp_path)
    assert 0 <= room.free_bytes <= room.total_bytes and 0 < room.used_bytes <= room.total_bytes
    assert here.memory_bytes() > 1 << 28
    assert here.processor()
    assert here.on_battery() in (True, False)


def test_a_processor_without_a_name_is_told_by_its_architecture(tmp_path: Path) -> None:
    named = make_machine(tmp_path / "named", proc__cpuinfo="processor\t: 0\nmodel name\t: Fast CPU @ 3 GHz\n")
    assert Host(named).processor() == "Fast CPU @ 3 GHz"
    assert Host(tmp_path).processor() == platform.machine()
