"""Arrays, volumes and pools of a run are known by its random name, and nothing else is ever stopped or destroyed."""

from __future__ import annotations

import dataclasses
from itertools import chain, repeat
from pathlib import Path

import pytest

from fswizard.disks import as_root, stack
from fswizard.disks.root import RootDisk
from fswizard.disks.stack import find_array, find_volume, reclaim, until_free, uuid_of
from fswizard.errors import Missing, Refused
from fswizard.filesystems import commands, parse_candidate
from fswizard.filesystems.commands import DeviceNames
from fswizard.system import clock
from fswizard.system.process import Finished
from tests.fakes.clock import SimulatedClock
from tests.fakes.machine import make_program

NAME = "fswizard-0123456789abcdef"
OTHER = "fswizard-fedcba9876543210"
PATHS = ("/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd")
CALLED = DeviceNames(PATHS, "/dev/sda", NAME, uuid_of(NAME), "/m")
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
MDADM = """
echo "$*" >> {log}
case "$1" in --config*) echo 'mdadm: --config does not set the mode' >&2; exit 2 ;; esac
case "$*" in *--detail*) printf 'MD_LEVEL=raid5\\nMD_UUID={uuid}\\n' ;; esac
"""
ZPOOL = 'echo "zpool $*" >> {log}; case $1 in list) echo tank; echo {name} ;; esac'


def words(*argvs: commands.Command) -> list[str]:
    return [" ".join(argv) for argv in argvs]


def blocks(root: Path, **members: tuple[str, ...]) -> None:
    """/sys/block of a machine with arrays of such members."""
    for array, names in members.items():
        for name in names:
            (root / "block" / array / "slaves" / name).mkdir(parents=True)


def volumes(root: Path, *named: str) -> None:
    """/sys/block of a machine with such volumes of the device mapper."""
    for number, name in enumerate(named):
        (root / f"block/dm-{number}/dm").mkdir(parents=True)
        (root / f"block/dm-{number}/dm/name").write_text(f"{name}\n")


def test_an_array_is_found_by_its_members_and_left_alone_with_one_of_somebody_elses(left: Left) -> None:
    blocks(left.place, md0=("sdx", "sdy"), md127=("loop0", "loop1", "loop2"), md5=("loop5", "sdx"))
    assert find_array(["loop0", "loop1", "loop2", "loop3"]) == "md127", "one may be missing"
    assert find_array(["loop7"]) == ""
    with pytest.raises(Refused, match="members that are not this run's"):
        find_array(["loop5", "loop6"])


def test_a_volume_is_found_by_its_whole_name(left: Left) -> None:
    volumes(left.place, f"{NAME}-other", "vault", OTHER, NAME)
    assert find_volume(NAME) == "dm-3"
    assert find_volume("") == find_volume("fswizard-") == ""


def test_a_pool_is_made_apart_from_the_systems_and_an_import_mounts_nothing_and_looks_at_no_other_device() -> None:
    """A dataset that somebody has put into the image could be meant for a directory of the system."""
    create, export = words(*commands.make(parse_candidate("zfs:mirror,atime=off"), CALLED))
    nodes = [f"/dev/{NAME}/disk", *(f"/dev/{NAME}/disk-{number}" for number in (2, 3, 4))]
    assert create == (
        "zpool create -R /run/fswizard -o cachefile=none -o failmode=continue -O mountpoint=legacy -O canmount=noauto "
        f"-O setuid=off -O devices=off -O fswizard:pool={NAME} -O atime=off {NAME} "
        f"mirror {nodes[0]} {nodes[1]} mirror {nodes[2]} {nodes[3]}"
    )
    assert export == f"zpool export {NAME}"
    imported, mounted = words(*commands.mount(parse_candidate("zfs"), CALLED, 1000, 1000))
    assert imported == f"zpool import -N -R /run/fswizard -o cachefile=none -d /dev/{NAME} {NAME}"
    assert mounted.endswith(f"-t zfs -o nosuid,nodev {NAME} /m")


@pytest.mark.parametrize(
    ("kind", "options", "mount", "cleaner"),
    [
        ("ext4", "noatime", "--internal-only -t ext4 -o noinit_itable,noatime,errors=remount-ro,nosuid,nodev", []),
        ("ntfs-3g", "noatime", "-t ntfs-3g -o noatime,uid=7,gid=8,nosuid,nodev", []),
        ("nilfs2", "pp=600,order=strict", "--internal-only -t nilfs2 -o order=strict,errors=remount-ro,nosuid,nodev",
         ["nilfs_cleanerd -p 600 /dev/sda /m"]),
        ("nilfs2", "nogc,noatime", "--internal-only -t nilfs2 -o noatime,errors=remount-ro,nosuid,nodev", []),
    ],
)  # fmt: skip
def test_a_mount_looks_nothing_up_and_options_go_to_whom_they_mean(
    kind: str, options: str, mount: str, cleaner: list[str]
) -> None:
    candidate = dataclasses.replace(parse_candidate(kind), mount_options=tuple(options.split(",")))
    mounting, *starting = words(*commands.mount(candidate, CALLED, 7, 8))
    assert mounting == f"mount --no-canonicalize --no-mtab {mount} /dev/sda /m"
    assert starting == cleaner


async def test_a_program_runs_again_while_something_is_in_use(
    time: SimulatedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy, bad = b"Device is BUSY\n", b"No such device\n"
    errors = chain([busy, busy, b"", busy, bad], repeat(busy))

    async def finish(argv: commands.Command) -> Finished:
        error = next(errors)
        return Finished(argv, int(bool(error)), b"", error, 0.0)

    monkeypatch.setattr(as_root, "finish", finish)
    for error, waits_s in ((b"", 0.1), (bad, 0.05), (busy, stack.BUSY_LIMIT_S)):
        began_s = clock.monotonic()
        assert (await until_free(("mdadm", "--stop"))).stderr == error
        assert clock.monotonic() - began_s == pytest.approx(waits_s, abs=0.1)


class Left:
    """The kernel's devices, and programs that record their calls."""

    def __init__(self, place: Path, patch: pytest.MonkeyPatch) -> None:
        self.place, self.log = place, place / "log"
        for name, value in {"BLOCKS": place / "block", "ZFS_MODULE": place / "zfs"}.items():
            patch.setattr(stack, name, value)
        patch.setattr(as_root, "find", self.find)
        self.install("dmsetup", f'echo "$*" >> {self.log}')

    def find(self, name: str) -> str:
        if not (self.place / "bin" / name).exists():
            raise Missing(f"{name} is not installed.")
        return str(self.place / "bin" / name)

    def install(self, name: str, script: str) -> None:
        make_program(self.place / "bin", name, script)

    def array(self, uuid: str = "") -> None:
        self.install("mdadm", MDADM.format(log=self.log, uuid=uuid or uuid_of(NAME)))
        blocks(self.place, md126=("sdy", "sdz"))

    def pool(self, mark: str = NAME) -> None:
        """OpenZFS's module has two pools imported, one of them called as ours are."""
        self.install("zpool", ZPOOL.format(log=self.log, name=NAME))
        self.install("zfs", f"echo '{mark}'")
        (self.place / "zfs").mkdir()

    def told(self) -> list[str]:
        """All but questions."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if "--detail" not in line and not line.startswith("zpool list")]


@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, time: SimulatedClock) -> Left:
    return Left(tmp_path, monkeypatch)


@pytest.mark.root
async def test_the_array_of_a_killed_run_is_stopped_and_its_members_forget_it(left: Left) -> None:
    left.array()
    await reclaim(NAME)
    assert left.told() == [
        "--stop --config=none /dev/md126",
        "--zero-superblock --config=none /dev/sdy",
        "--zero-superblock --config=none /dev/sdz",
    ]


@pytest.mark.root
async def test_the_volume_and_the_pool_of_a_killed_run_are_taken_away_and_others_left_alone(left: Left) -> None:
    volumes(left.place, f"{NAME}-other", "vault", NAME)
    left.pool()
    await reclaim(OTHER)
    assert left.told() == []
    await reclaim(NAME)
    assert left.told() == [f"zpool destroy -f {NAME}", f"remove --retry {NAME}"]


@pytest.mark.root
@pytest.mark.parametrize("uuid", ["00000000:00000000:00000000:00000000", uuid_of(OTHER)])
async def test_other_arrays_are_passed_over(uuid: str, left: Left) -> None:
    left.array(uuid)
    await reclaim(NAME)
    assert left.told() == []


@pytest.mark.root
@pytest.mark.parametrize("asked", ["archive", f"{NAME} --scan", ""])
async def test_what_is_no_name_of_a_run_is_refused(asked: str, left: Left) -> None:
    left.array(uuid_of(asked))
    with pytest.raises(Refused):
        await reclaim(asked)
    assert left.told() == []


@pytest.mark.root
@pytest.mark.parametrize(
    ("name", "mark"), [("tank", NAME), (f"{NAME}0", NAME), (f"-f {NAME}", NAME), (NAME, "-"), (NAME, OTHER)]
)
async def test_a_pool_that_may_be_anothers_is_not_destroyed(name: str, mark: str, left: Left) -> None:
    left.pool(mark)
    with pytest.raises(Refused):
        await reclaim(name)
    assert left.told() == []


@pytest.mark.root
async def test_errors_of_earlier_mounts_are_added_up(left: Left) -> None:
    left.install("zpool", f"cat <<'END'\n{DAMAGED}END")
    disk = RootDisk((), "/m", None)
    disk._candidate, disk._pool_errors = parse_candidate("zfs"), {"checksum_errors": 3}
    assert await disk.errors() == {"checksum_errors": 5, "data_errors": 1}
