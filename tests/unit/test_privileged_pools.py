"""What zpool says is read rightly, and only pools of our own are ever destroyed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

import pytest

from fswizard.privileged import commands, grammar, pools, programs, rights
from fswizard.privileged.identity import User
from fswizard.privileged.jobs import Jobs
from fswizard.privileged.loop_device import LoopDevice
from fswizard.privileged.names import NAME as NAME_OF_A_RUN
from fswizard.privileged.protocol import Refusal
from fswizard.privileged.verbs import Verbs
from fswizard.privileged.volumes import Volume
from tests.fakes.machine import make_program

NAME = "fswizard-0123456789abcdef"
DAMAGED = """\
  pool: fswizard-eafb8e3cdd577281
 state: ONLINE
status: One or more devices has experienced an error resulting in data
\tcorruption.  Applications may be affected.
action: Restore the file in question if possible.  Otherwise restore the
\tentire pool from backup.
   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-8A
config:

\tNAME                       STATE     READ WRITE CKSUM
\tfswizard-eafb8e3cdd577281  ONLINE       0     0     0
\t  disk                     ONLINE       0     0     2

errors: 1 data errors, use '-v' for a list
"""
"""`zpool status -p` of OpenZFS 2.1.11, after a file was read that somebody had changed on the disk."""
SUSPENDED = """\
  pool: fswizard-0123456789abcdef
 state: SUSPENDED
  scan: none requested
config:

\tNAME                         STATE     READ WRITE CKSUM
\tfswizard-0123456789abcdef    ONLINE       0     0     0
\t  disk                       ONLINE       3    12     0

errors: 7 data errors, use '-v' for a list
"""
ZPOOL = """
echo "zpool $*" >> {root}/log
case $1 in
    list) echo tank; echo {name} ;;
    status) printf '\\t%s ONLINE 0 0 0\\n\\t  %s ONLINE 0 0 0\\n' {name} "{device}" ;;
esac
"""
ZFS = 'echo "zfs $*" >> {root}/log; echo "{mark}"'


def test_errors_are_the_highest_of_each_column() -> None:
    assert pools.errors(DAMAGED) == {
        "read_errors": 0,
        "write_errors": 0,
        "checksum_errors": 2,
        "data_errors": 1,
    }
    assert pools.errors(SUSPENDED) == {
        "read_errors": 3,
        "write_errors": 12,
        "checksum_errors": 0,
        "data_errors": 7,
    }
    assert set(pools.errors("no pools available").values()) == {0}


def test_no_two_pools_have_the_same_name() -> None:
    names = {pools.new(-1).name for _ in range(100)}
    assert len(names) == 100
    assert all(NAME_OF_A_RUN.fullmatch(name) for name in names)


def kernel_with_a_pool(
    root: Path, patch: pytest.MonkeyPatch, *, mark: str = NAME, device: str = f"/dev/{NAME}/disk"
) -> None:
    """A machine where OpenZFS's module has two pools imported, one of them called as ours are."""
    make_program(root / "bin", "zpool", ZPOOL.format(root=root, name=NAME, device=device))
    make_program(root / "bin", "zfs", ZFS.format(root=root, mark=mark))

    def find(name: str) -> str:
        path = root / "bin" / name
        if not path.exists():
            raise Refusal("missing", f"{name} is not installed")
        return str(path)

    patch.setattr(programs, "find", find)
    patch.setattr(pools, "MODULE", str(root / "bin/zpool"))


def orders(root: Path, *verbs: str) -> list[str]:
    """What zpool was told, of these verbs."""
    log = root / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [line for line in lines if line.split()[1] in verbs]


def destroyed(root: Path) -> list[str]:
    return orders(root, "destroy")


def test_a_pool_that_bears_our_mark_is_reclaimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel_with_a_pool(tmp_path, monkeypatch)
    pools.reclaim(NAME)
    assert destroyed(tmp_path) == [f"zpool destroy -f {NAME}"]


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("tank", {}),
        (f"{NAME}0", {}),
        (f"-f {NAME}", {}),
        (NAME, {"mark": "-"}),
        (NAME, {"mark": "fswizard-fedcba9876543210"}),
        (NAME, {"device": "/dev/sda1"}),
    ],
)
def test_a_pool_that_may_be_anothers_is_not(
    name: str, how: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel_with_a_pool(tmp_path, monkeypatch, **how)
    with pytest.raises(Refusal):
        pools.reclaim(name)
    assert destroyed(tmp_path) == []


def test_a_pool_that_is_not_imported_needs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel_with_a_pool(tmp_path, monkeypatch)
    pools.reclaim("fswizard-fedcba9876543210")
    assert destroyed(tmp_path) == []


def test_a_pool_is_made_apart_from_the_systems_and_mounted_by_nobody_else() -> None:
    create, export = commands.create_pool(NAME, ("-o", "ashift=12", "-O", "atime=off"), commands.pool_nodes(NAME, 1))
    assert export == ("zpool", "export", NAME)
    assert " ".join(create) == (
        "zpool create -R /run/fswizard -o cachefile=none -o failmode=continue -O mountpoint=legacy -O canmount=noauto "
        f"-O setuid=off -O devices=off -O fswizard:pool={NAME} -o ashift=12 -O atime=off {NAME} /dev/{NAME}/disk"
    )


def test_a_pool_over_several_devices_is_made_as_they_are_spread() -> None:
    pool = pools.Pool(NAME, -1, others=(-1,))
    assert [*pool.devices] == [f"/dev/{NAME}/disk", f"/dev/{NAME}/disk-2"]
    command = commands.create_pool(NAME, (), ("mirror", *pool.devices))[0]
    assert command[-4:] == (NAME, "mirror", *pool.devices)


def test_an_import_mounts_nothing_and_looks_at_no_other_device() -> None:
    """A dataset that somebody has put into the image could be meant for a directory of the system."""
    command, mount = commands.mount("zfs", "nosuid,nodev", NAME, "/m")
    assert mount[-6:] == ("-t", "zfs", "-o", "nosuid,nodev", NAME, "/m")
    assert " ".join(command) == f"zpool import -N -R /run/fswizard -o cachefile=none -d /dev/{NAME} {NAME}"
    assert grammar.mount_options("zfs", (), 1000, 1000) == "nosuid,nodev"
    with pytest.raises(Refusal):
        grammar.mount_options("zfs", ("suid",), 1000, 1000)


def test_the_zpool_of_zfs_fuse_is_never_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel_with_a_pool(tmp_path, monkeypatch)
    with pytest.raises(Refusal, match=r"mount\.zfs is not installed"):
        pools.create(pools.Pool(NAME, -1), ())
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize("degraded", [False, True])
def test_a_pool_is_imported_only_while_it_is_mounted(
    degraded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel_with_a_pool(tmp_path, monkeypatch)
    make_program(tmp_path / "bin", "mount.zfs", "")
    monkeypatch.setattr(pools, "_make_nodes", lambda pool: None)
    pool = pools.Pool(NAME, -1, others=(-1,))
    assert pools.create(pool, (), ("mirror", *pool.devices), degraded=degraded).body() == 0
    assert pools.import_pool(pool) == 0
    assert pools.export_pool(pool) == 0
    told = [line.split()[1] for line in orders(tmp_path, "create", "offline", "import", "export")]
    assert told == ["create", *(["offline"] if degraded else []), "export", "import", "export"]
    last = [f"zpool offline {NAME} /dev/{NAME}/disk-2"]
    assert orders(tmp_path, "offline") == (last if degraded else [])


def test_errors_of_earlier_mounts_are_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel_with_a_pool(tmp_path, monkeypatch)
    make_program(tmp_path / "bin", "zpool", f"cat <<'END'\n{DAMAGED}END")
    pool = pools.Pool(NAME, -1)
    once = pools.counters(pool)
    pools.keep_errors(pool)
    assert pools.counters(pool) == {name: 2 * count for name, count in once.items()}
    assert once["checksum_errors"] > 0


def test_at_the_helpers_end_a_pool_that_is_still_imported_is_destroyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel_with_a_pool(tmp_path, monkeypatch)

    def nobody_else(pid: int, number: int) -> None:
        raise ProcessLookupError

    removed: list[str] = []
    monkeypatch.setattr("os.kill", nobody_else)
    monkeypatch.setattr(pools, "remove_nodes", lambda pool: removed.append(pool.name))
    verbs = Verbs(User(os.getuid(), os.getgid(), (), str(tmp_path)), cast(Jobs, None), rights.IMAGES)
    for number, name in enumerate((NAME, "fswizard-fedcba9876543210")):
        volume = Volume(number, cast(LoopDevice, None), None, pools.Pool(name, -1), is_pool=True)
        verbs._volumes[number] = volume
    verbs.end()
    assert destroyed(tmp_path) == [f"zpool destroy -f {NAME}"]
    assert removed == [NAME, "fswizard-fedcba9876543210"]
