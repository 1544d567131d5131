"""What the helper runs, word for word, and who may have changed the programs."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from pathlib import Path

import pytest

from fswizard.filesystems import parse_candidate
from fswizard.privileged import commands, grammar, groups, pools, programs
from fswizard.privileged.protocol import Refusal
from fswizard.targets import helper_commands
from tests.fakes.machine import make_program

NAME = "fswizard-0123456789abcdef"
MOUNT = "mount --no-canonicalize --no-mtab"
CALLED = commands.DeviceNames(("/dev/loop0", "/dev/loop1"), "/dev/loop0", NAME, groups.uuid_of(NAME), "/m")
"""What the helper's commands call two devices, and what is made of them."""
ON_MD = replace(CALLED, device="/dev/md127")
USER = (os.getuid(), os.getgid())


def words(*argvs: commands.Command) -> list[str]:
    return [" ".join(argv) for argv in argvs]


@pytest.mark.parametrize(("kind", "alone"), [("ext4", " --internal-only"), ("ntfs-3g", "")])
def test_a_mount_looks_nothing_up_and_starts_no_program_but_a_filesystem_that_is_one(kind: str, alone: str) -> None:
    (told,) = words(*commands.mount(CALLED, kind, ("noatime",), 1000, 1000))
    added = ",".join(grammar.added_options(kind, 1000, 1000))
    assert told == f"{MOUNT}{alone} -t {kind} -o noatime,{added} /dev/loop0 /m"


def test_only_a_zoned_device_has_its_zones_emptied() -> None:
    assert words(*commands.wipe("/dev/sda")) == ["wipefs --all /dev/sda"]
    assert words(*commands.wipe("/dev/sda", zoned=True)) == ["blkzone reset /dev/sda", "wipefs --all /dev/sda"]


def test_an_array_that_is_stopped_is_forgotten_by_each_member() -> None:
    assert words(*commands.stop_array("/dev/md127", ("/dev/sda", "/dev/sdb"))) == [
        "mdadm --stop --config=none /dev/md127",
        "mdadm --zero-superblock --config=none /dev/sda",
        "mdadm --zero-superblock --config=none /dev/sdb",
    ]


def test_of_a_degraded_pool_a_device_is_put_out_of_use_before_the_export() -> None:
    told = words(*commands.create_pool(CALLED, (), "mirror", missing=1))
    assert told[1:] == [f"zpool offline {NAME} /dev/{NAME}/disk-2", f"zpool export {NAME}"]


def made(name: str) -> list[commands.Command]:
    """What is planned for a candidate over two devices, with the names that a run gives it."""
    plan = helper_commands.making(parse_candidate(name).on(2), ("/dev/loop0", "/dev/loop1"), zoned=False)
    names = {"ARRAY": NAME, "POOL": NAME, "UUID": groups.uuid_of(NAME), "/dev/mdN": "/dev/md127", "MOUNT": "/m"}
    return [tuple(reduce(lambda word, pair: word.replace(*pair), names.items(), word) for word in c.argv) for c in plan]


def test_an_array_is_planned_as_the_helper_makes_it() -> None:
    create = commands.make("array", CALLED, level="1", bitmap="internal")[0]
    wiped, planned = made("md:raid1+ext4")[:2], made("md:raid1+ext4")[2:]
    assert words(*wiped) == ["wipefs --all /dev/loop0", "wipefs --all /dev/loop1"]
    assert planned[0] == create
    assert planned[1][-1] == "/dev/md127"
    assert planned[2:] == [*commands.mount(ON_MD, "ext4", ("noinit_itable",), *USER)]


@pytest.mark.parametrize("degraded", [False, True])
def test_a_pool_is_planned_as_the_helper_makes_it(degraded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "find", lambda program: f"/usr/sbin/{program}")
    pool = pools.Pool(NAME, -1, others=(-1,))
    orders = commands.make("build", CALLED, "zpool", filesystem="zfs", level="mirror", missing=degraded)
    executed = pools.create(pool, orders).commands
    assert [word for word in executed[0] if word.startswith("/dev/f")] == [*pool.devices]
    planned = made("zfs:mirror,degraded" if degraded else "zfs:mirror")
    assert planned[2:] == [*executed, *commands.mount(CALLED, "zfs", (), *USER)]


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a stand-in for the cleaner writes down what it was started with."""
    make_program(tmp_path, commands.CLEANER, f'echo "$*" >> {tmp_path}/told')
    monkeypatch.setattr(programs, "find", lambda name: str(tmp_path / name))
    return tmp_path / "told"


@pytest.mark.parametrize(
    ("options", "kernel", "arguments"),
    [
        ("noatime,lazytime", "noatime,lazytime", "/dev/loop0 /m\n"),
        ("pp=600,order=strict", "order=strict", "-p 600 /dev/loop0 /m\n"),
        ("nogc,noatime", "noatime", None),
        ("ro", "ro", None),
    ],
)
def test_options_go_to_whom_they_mean(options: str, kernel: str, arguments: str | None, told: Path) -> None:
    mount, *starting = commands.mount(CALLED, "nilfs2", options.split(","), 1000, 1000)
    assert mount[-4:] == ("-o", f"{kernel},errors=remount-ro,nosuid,nodev", "/dev/loop0", "/m")
    assert [programs.call(command) for command in starting] == [0] * len(starting)
    assert (told.read_text() if told.exists() else None) == arguments


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a program is looked for: below a directory that is root's alone."""
    place = Path(tempfile.mkdtemp(prefix=".fswizard-test-", dir="/root"))
    make_program(place / "bin", "mkfs.ext4", "exit 0")
    monkeypatch.setattr(programs, "ROOT_PATH", f"{place}/current/bin")
    (place / "current").symlink_to(place)
    yield place
    shutil.rmtree(place)


def test_the_systems_own_programs_are_found() -> None:
    assert programs.find("mount").endswith("/mount")
    assert "/usr/local" not in programs.ROOT_PATH


def test_a_program_that_everybody_could_replace_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sticky bit of /tmp does not keep anybody from putting something where nothing was."""
    make_program(tmp_path, "mkfs.ext4", "exit 0")
    monkeypatch.setattr(programs, "ROOT_PATH", str(tmp_path))
    with pytest.raises(Refusal, match="others can change"):
        programs.find("mkfs.ext4")
    with pytest.raises(Refusal, match=r"mkfs\.none is not installed"):
        programs.find("mkfs.none")


@pytest.mark.root
def test_a_program_behind_links_is_found_where_all_of_them_are_roots(place: Path) -> None:
    (place / "bin" / "mkfs.ext3").symlink_to("../bin/./mkfs.ext4")
    assert programs.find("mkfs.ext3") == f"{place}/current/bin/mkfs.ext3"


@pytest.mark.root
@pytest.mark.parametrize("changeable", ["", "bin", "bin/mkfs.ext4"])
@pytest.mark.parametrize("how", ["group", "everybody", "owner"])
def test_who_can_change_anything_on_the_way_could_change_the_program(place: Path, changeable: str, how: str) -> None:
    at = place / changeable
    if how == "owner":
        os.chown(at, 65534, 65534)
    else:
        at.chmod(at.stat().st_mode | (0o020 if how == "group" else 0o1002))
    with pytest.raises(Refusal, match=f"others can change {place}"):
        programs.find("mkfs.ext4")


@pytest.mark.root
def test_a_link_of_somebody_elses_leads_nowhere(place: Path) -> None:
    os.chown(place / "current", 65534, 65534, follow_symlinks=False)
    with pytest.raises(Refusal, match="others can change"):
        programs.find("mkfs.ext4")


@pytest.mark.root
def test_the_store_of_nixos_may_be_added_to_by_its_builders(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "NIX_STORE", str(place / "bin"))
    (place / "bin").chmod(0o1775)
    assert programs.find("mkfs.ext4")
    (place / "bin").chmod(0o775)
    with pytest.raises(Refusal):
        programs.find("mkfs.ext4")
