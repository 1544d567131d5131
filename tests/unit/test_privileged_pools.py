"""What zpool says is read rightly, and only pools of our own are ever destroyed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fswizard.privileged import pools, programs, stage
from fswizard.privileged.disk_checks import Device, check_contents
from fswizard.privileged.protocol import Refusal
from tests.fakes.machine import make_program

NAME = "fswizard-0123456789abcdef"
DISK = Device("sdx", "sdx", "8:16")
OLD_STATUS = """\
  pool: fswizard-0123456789abcdef
 state: ONLINE
status: One or more devices has experienced an unrecoverable error.
 scrub: none requested
config:

\tNAME                      STATE     READ WRITE CKSUM
\tfswizard-0123456789abcdef  ONLINE       0     0     3
\t  /run/fswizard/x/disk     ONLINE       1     2 1.50K

errors: No known data errors
"""
NEW_STATUS = """\
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
    assert pools.errors(OLD_STATUS) == {
        "read_errors": 1,
        "write_errors": 2,
        "checksum_errors": 1536,
        "data_errors": 0,
    }
    assert pools.errors(NEW_STATUS) == {
        "read_errors": 3,
        "write_errors": 12,
        "checksum_errors": 0,
        "data_errors": 7,
    }
    assert set(pools.errors("no pools available").values()) == {0}


def test_no_two_pools_have_the_same_name() -> None:
    names = {pools.new(-1).name for _ in range(100)}
    assert len(names) == 100
    assert all(pools.NAME.fullmatch(name) for name in names)


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
    patch.setattr(pools, "KERNEL_NODE", str(root / "bin/zpool"))


def destroyed(root: Path) -> list[str]:
    log = root / "log"
    return [line for line in log.read_text().splitlines() if "destroy" in line] if log.exists() else []


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


@pytest.mark.parametrize("label", ["tank", "", f"{NAME}0", "fswizard-", f"x{NAME}"])
def test_a_disk_of_another_pool_is_refused(label: str) -> None:
    with pytest.raises(Refusal, match="part of a larger whole"):
        check_contents(DISK, {"TYPE": "zfs_member", "LABEL": label}, frozenset({"zfs_member"}), 0)


def test_a_disk_that_a_killed_run_left_with_its_pool_can_be_given_up_again() -> None:
    left = {"TYPE": "zfs_member", "LABEL": NAME}
    check_contents(DISK, left, frozenset({"zfs_member"}), 0)
    with pytest.raises(Refusal, match="part of a larger whole"):
        check_contents(DISK, left, frozenset({"zfs_member", "LVM2_member"}), 0)


def test_a_pool_that_is_not_imported_needs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel_with_a_pool(tmp_path, monkeypatch)
    pools.reclaim("fswizard-fedcba9876543210")
    assert destroyed(tmp_path) == []


def test_the_device_is_looked_for_where_whoever_opens_it_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """zfs-fuse runs in the helper's namespace; the kernel's module looks from outside."""
    kernel_with_a_pool(tmp_path, monkeypatch)
    assert pools.Pool(NAME, -1).node == f"/dev/{NAME}/disk"
    make_program(tmp_path / "bin", "zfs-fuse", "")
    assert pools.Pool(NAME, -1).node == f"{stage.DIRECTORY}/{NAME}/disk"
