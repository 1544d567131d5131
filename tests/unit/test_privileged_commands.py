"""What the helper runs, word for word; what there is of arrays, pools and the cleaner stands beside those."""

from __future__ import annotations

import os
from functools import reduce

import pytest

from fswizard.filesystems import parse_candidate
from fswizard.privileged import commands, grammar, groups, pools, programs
from fswizard.targets import helper_commands

NAME = "fswizard-0123456789abcdef"
MOUNT = "mount --no-canonicalize --no-mtab"


def words(*argvs: commands.Command) -> list[str]:
    return [" ".join(argv) for argv in argvs]


def test_a_mount_looks_nothing_up_and_starts_no_other_program() -> None:
    told = words(*commands.mount("ext4", "noatime,nosuid,nodev", "/dev/loop0", "/m"))
    assert told == [f"{MOUNT} --internal-only -t ext4 -o noatime,nosuid,nodev /dev/loop0 /m"]


def test_a_filesystem_that_is_a_program_is_started_by_mount() -> None:
    told = words(*commands.mount("ntfs-3g", "uid=1000,nosuid,nodev", "/dev/loop0", "/m"))
    assert told == [f"{MOUNT} -t ntfs-3g -o uid=1000,nosuid,nodev /dev/loop0 /m"]


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
    nodes = commands.pool_nodes("tank", 2)
    told = words(*commands.create_pool("tank", (), ("mirror", *nodes), nodes[-1]))
    assert told[1:] == ["zpool offline tank /dev/tank/disk-2", "zpool export tank"]


def made(name: str) -> list[commands.Command]:
    """What is planned for a candidate over two devices, with the names that a run gives it."""
    plan = helper_commands.making(parse_candidate(name).on(2), ("/dev/loop0", "/dev/loop1"), zoned=False)
    names = {"ARRAY": NAME, "POOL": NAME, "UUID": groups.uuid_of(NAME), "/dev/mdN": "/dev/md127", "MOUNT": "/m"}
    return [tuple(reduce(lambda word, pair: word.replace(*pair), names.items(), word) for word in c.argv) for c in plan]


def test_an_array_is_planned_as_the_helper_makes_it() -> None:
    create = groups.array_command(NAME, "1", 0, "internal", ("/dev/loop0", "/dev/loop1"), degraded=False)
    wiped, planned = made("md:raid1+ext4")[:2], made("md:raid1+ext4")[2:]
    assert words(*wiped) == ["wipefs --all /dev/loop0", "wipefs --all /dev/loop1"]
    assert planned[0] == create
    assert planned[1][-1] == "/dev/md127"
    options = grammar.mount_options("ext4", (), os.getuid(), os.getgid())
    assert planned[2:] == [*commands.mount("ext4", options, "/dev/md127", "/m")]


@pytest.mark.parametrize("degraded", [False, True])
def test_a_pool_is_planned_as_the_helper_makes_it(degraded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "find", lambda program: f"/usr/sbin/{program}")
    pool = pools.Pool(NAME, -1, others=(-1,))
    executed = pools.create(pool, (), groups.zpool_arguments("mirror", [*pool.devices]), degraded=degraded).commands
    options = grammar.mount_options("zfs", (), os.getuid(), os.getgid())
    planned = made("zfs:mirror,degraded" if degraded else "zfs:mirror")
    assert planned[2:] == [*executed, *commands.mount("zfs", options, NAME, "/m")]
