"""Arrays and pools are made as listed and no otherwise, and only those of our own are ever stopped or destroyed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import pytest

from fswizard.privileged import commands, grammar, groups, mapped, pools, programs, rights
from fswizard.privileged.identity import User
from fswizard.privileged.loop_device import Image, LoopDevice
from fswizard.privileged.names import NAME as NAME_OF_A_RUN
from fswizard.privileged.names import Names, require
from fswizard.privileged.protocol import Refusal
from fswizard.privileged.verbs import Verbs
from fswizard.privileged.volumes import Volume
from tests.fakes.machine import make_program

NAME = "fswizard-0123456789abcdef"
OTHER = "fswizard-fedcba9876543210"
PATHS = ("/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd")
MDADM = """
echo "$*" >> {root}/log
case "$1" in --config*) echo 'mdadm: --config does not set the mode' >&2; exit 2 ;; esac
case "$*" in *--detail*) printf 'MD_LEVEL=raid5\\nMD_NAME={name}\\nMD_UUID={uuid}\\n' ;; esac
"""
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


class Root:
    """What root finds: programs that note what they are told, and arrays of md in /sys/block."""

    def __init__(self, place: Path, patch: pytest.MonkeyPatch) -> None:
        self.place, self._patch = place, patch
        patch.setattr(programs, "find", self.find)

    def find(self, name: str) -> str:
        if not (self.place / "bin" / name).exists():
            raise Refusal("missing", f"{name} is not installed")
        return str(self.place / "bin" / name)

    def install(self, **scripts: str) -> None:
        for name, script in scripts.items():
            make_program(self.place / "bin", name, script)

    def array(self, name: str = f"box:{NAME}", uuid: str = "") -> Path:
        self.install(mdadm=MDADM.format(root=self.place, name=name, uuid=uuid or groups.uuid_of(NAME)))
        return blocks(self.place, md126=("sdy", "sdz"))

    def pool(self, mark: str = NAME, device: str = f"/dev/{NAME}/disk") -> None:
        """OpenZFS's module has two pools imported, one of them called as ours are."""
        zpool = ZPOOL.format(root=self.place, name=NAME, device=device)
        self.install(zpool=zpool, zfs=ZFS.format(root=self.place, mark=mark))
        self._patch.setattr(pools, "MODULE", self.find("zpool"))

    def told(self, *words: str) -> list[str]:
        """Orders with one of these words; without any, all but questions."""
        log = self.place / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [line for line in lines if ({*line.split()} & {*words} if words else "--detail" not in line)]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Root:
    return Root(tmp_path, monkeypatch)


def create(*, degraded: bool = False, **given: Any) -> str:
    usual = {"level": "5", "chunk_kib": 64, "bitmap": "none", "paths": PATHS, "name": NAME}
    name, level, chunk_kib, bitmap, paths = ({**usual, **given}[key] for key in ("name", *list(usual)[:4]))
    require(name)
    grammar.require_array(level, chunk_kib, bitmap, len(paths))
    called, missing = commands.DeviceNames(paths, "", name, groups.uuid_of(name), ""), int(degraded)
    words = {"level": level, "chunk_kib": chunk_kib, "bitmap": bitmap}
    return " ".join(*commands.make("array", called, **words, missing=missing))


def test_an_array_gets_a_name_and_a_uuid_of_its_own_and_no_configuration() -> None:
    assert create() == (
        f"mdadm --create /dev/md/{NAME} --config=none --run --assume-clean --metadata=1.2 --name={NAME} "
        f"--uuid={groups.uuid_of(NAME)} --level=5 --raid-devices=4 --chunk=64K --bitmap=none {' '.join(PATHS)}"
    )
    assert create(degraded=True).endswith("--bitmap=none /dev/sda /dev/sdb /dev/sdc missing")
    assert "--chunk" not in create(level="1", chunk_kib=0, bitmap="internal", paths=PATHS[:2])
    assert groups.uuid_of(NAME) != groups.uuid_of(OTHER)


@pytest.mark.parametrize(
    "wrong",
    [
        {"level": "0"}, {"level": "5 --force"}, {"level": ""}, {"chunk_kib": 0}, {"chunk_kib": 3}, {"chunk_kib": 4096},
        {"bitmap": "/etc/passwd"}, {"bitmap": "internal --force"}, {"paths": PATHS[:2]},
        {"level": "6", "paths": PATHS[:3]}, {"level": "10", "paths": PATHS[:3]}, {"level": "1", "chunk_kib": 64},
        {"level": "1", "chunk_kib": 0, "paths": PATHS[:1]}, {"name": "archive"}, {"name": f"{NAME}0"},
        {"name": "../../etc"}, {"name": ""},
    ],
)  # fmt: skip
def test_what_is_not_on_the_list_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Refusal):
        create(**wrong)


def blocks(root: Path, **members: tuple[str, ...]) -> Path:
    """/sys/block of a machine with arrays of such members."""
    for array, names in members.items():
        for name in names:
            (root / "block" / array / "slaves" / name).mkdir(parents=True)
    (root / "block").mkdir(exist_ok=True)
    return root / "block"


def test_an_array_is_found_by_its_members_and_left_alone_with_one_of_somebody_elses(tmp_path: Path) -> None:
    found = blocks(tmp_path, md0=("sdx", "sdy"), md127=("loop0", "loop1", "loop2"), md5=("loop5", "sdx"))
    assert groups.find_array(["loop0", "loop1", "loop2", "loop3"], found) == "md127", "one may be missing"
    assert groups.find_array(["loop7"], found) == ""
    with pytest.raises(Refusal, match="members that are not this run's"):
        groups.find_array(["loop5", "loop6"], found)


@pytest.mark.parametrize("name", [NAME, f"box:{NAME}"])
def test_the_array_of_a_killed_run_is_stopped_and_its_members_forget_it(name: str, root: Root) -> None:
    groups.reclaim_array(NAME, root.array(name))
    assert root.told() == [
        "--stop --config=none /dev/md126",
        "--zero-superblock --config=none /dev/sdy",
        "--zero-superblock --config=none /dev/sdz",
    ]


@pytest.mark.parametrize(
    ("asked", "how"),
    [
        (NAME, {"uuid": "00000000:00000000:00000000:00000000"}),
        ("archive", {"name": "archive"}),
        (f"{NAME} --scan", {}),
        ("", {}),
    ],
)
def test_an_array_that_may_be_anothers_is_not_stopped(asked: str, how: dict[str, str], root: Root) -> None:
    found = root.array(**how)
    with pytest.raises(Refusal):
        groups.reclaim_array(asked, found)
    assert root.told() == []


@pytest.mark.parametrize("name", ["box:archive", OTHER, ""])
def test_arrays_of_other_names_are_passed_over(name: str, root: Root) -> None:
    groups.reclaim_array(NAME, root.array(name))
    assert root.told() == []


@pytest.mark.usefixtures("root")
def test_without_arrays_mdadm_is_not_even_asked(tmp_path: Path) -> None:
    groups.reclaim_array(NAME, blocks(tmp_path))


def volumes(root: Root, *named: str) -> Path:
    """/sys/block of a machine with such volumes of the device mapper."""
    root.install(dmsetup=f'echo "$*" >> {root.place}/log')
    for number, name in enumerate(named):
        (root.place / f"block/dm-{number}/dm").mkdir(parents=True)
        (root.place / f"block/dm-{number}/dm/name").write_text(f"{name}\n")
    return root.place / "block"


def test_a_killed_runs_volume_is_closed_and_others_are_left_alone(root: Root) -> None:
    found = volumes(root, f"{NAME}-other", "vault", OTHER, NAME)
    assert mapped.find(NAME, found) == "dm-3"
    mapped.reclaim(NAME, found)
    assert root.told() == [f"remove --retry {NAME}"]


@pytest.mark.parametrize("name", ["vault", "", f"{NAME}-other"])
def test_a_volume_that_may_be_anothers_is_not_closed(name: str, root: Root) -> None:
    found = volumes(root, "vault", NAME, f"{NAME}-other")
    with pytest.raises(Refusal):
        mapped.reclaim(name, found)
    mapped.reclaim(OTHER, found)
    assert mapped.find("", found) == "" and root.told() == []


@pytest.mark.parametrize(
    "wrong",
    [("rot13", 512, 512), ("", 512, 512), ("aes-xts-plain64 --test", 512, 512), ("adiantum", 128, 512),
     ("aes-xts-plain64", 512, 1024)],
)  # fmt: skip
def test_only_listed_ways_to_encrypt_are_taken(wrong: tuple[str, int, int]) -> None:
    grammar.require_encryption("adiantum", 256, 4096)
    with pytest.raises(Refusal):
        grammar.require_encryption(*wrong)


def test_a_btrfs_that_misses_a_device_is_mounted_with_those_that_are_left() -> None:
    members = tuple(LoopDevice(-1, f"loop{number}", True, Image(-1, 0)) for number in range(3))
    whole = groups.Group(members, spread=True)
    assert whole.mount_options == ("device=/dev/loop1", "device=/dev/loop2")
    assert whole.sources == ("/dev/loop0", "/dev/loop1", "/dev/loop2")
    degraded = groups.Group(members, spread=True, missing=True)
    assert degraded.mount_options == ("device=/dev/loop1", "degraded")
    assert groups.Group(members).mount_options == ()
    assert groups.Group(members).sources == ("/dev/loop0",)


@pytest.mark.parametrize("level", ["raid5", "raid0", "", "raid1 -f"])
def test_levels_that_are_not_on_the_list_are_refused(level: str) -> None:
    with pytest.raises(Refusal):
        grammar.require_build("btrfs", level, 4)
    with pytest.raises(Refusal):
        grammar.require_build("zfs", level, 4)
    with pytest.raises(Refusal):
        grammar.require_build("zfs", "mirror", 3)
    with pytest.raises(Refusal, match="does not spread"):
        grammar.require_build("ext4", "mirror", 4)


def test_errors_are_the_highest_of_each_column() -> None:
    assert pools.errors(DAMAGED) == {"read_errors": 0, "write_errors": 0, "checksum_errors": 2, "data_errors": 1}
    assert pools.errors(SUSPENDED) == {"read_errors": 3, "write_errors": 12, "checksum_errors": 0, "data_errors": 7}
    assert set(pools.errors("no pools available").values()) == {0}


def test_no_two_pools_have_the_same_name() -> None:
    names = {pools.new(-1).name for _ in range(100)}
    assert len(names) == 100
    assert all(NAME_OF_A_RUN.fullmatch(name) for name in names)


@pytest.mark.parametrize("imported", [True, False])
def test_a_pool_that_bears_our_mark_is_reclaimed_and_one_not_imported_needs_nothing(imported: bool, root: Root) -> None:
    root.pool()
    pools.reclaim(NAME if imported else OTHER)
    assert root.told("destroy") == [f"zpool destroy -f {NAME}"] * imported


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("tank", {}),
        (f"{NAME}0", {}),
        (f"-f {NAME}", {}),
        (NAME, {"mark": "-"}),
        (NAME, {"mark": OTHER}),
        (NAME, {"device": "/dev/sda1"}),
    ],
)
def test_a_pool_that_may_be_anothers_is_not(name: str, how: dict[str, str], root: Root) -> None:
    root.pool(**how)
    with pytest.raises(Refusal):
        pools.reclaim(name)
    assert root.told("destroy") == []


PAIR = pools.Pool(NAME, -1, others=(-1,))
CALLED = commands.DeviceNames(("/dev/loop0", "/dev/loop1"), "/dev/loop0", NAME, "", "/m")


def test_a_pool_is_made_apart_from_the_systems_and_over_devices_as_they_are_spread() -> None:
    create, export = commands.create_pool(CALLED, ("-o", "ashift=12", "-O", "atime=off"))
    assert export == ("zpool", "export", NAME)
    assert " ".join(create) == (
        "zpool create -R /run/fswizard -o cachefile=none -o failmode=continue -O mountpoint=legacy -O canmount=noauto "
        f"-O setuid=off -O devices=off -O fswizard:pool={NAME} -o ashift=12 -O atime=off {NAME} /dev/{NAME}/disk"
    )
    assert [*PAIR.devices] == [f"/dev/{NAME}/disk", f"/dev/{NAME}/disk-2"]
    command = commands.create_pool(CALLED, (), "mirror")[0]
    assert command[-4:] == (NAME, "mirror", *PAIR.devices)


def test_an_import_mounts_nothing_and_looks_at_no_other_device() -> None:
    """A dataset that somebody has put into the image could be meant for a directory of the system."""
    command, mount = commands.mount(CALLED, "zfs", (), 1000, 1000)
    assert mount[-6:] == ("-t", "zfs", "-o", "nosuid,nodev", NAME, "/m")
    assert " ".join(command) == f"zpool import -N -R /run/fswizard -o cachefile=none -d /dev/{NAME} {NAME}"
    grammar.require_mount("zfs", ())
    with pytest.raises(Refusal):
        grammar.require_mount("zfs", ("suid",))


@pytest.mark.parametrize("wrong", ["keylocation=file:///etc/shadow", "encryption=on", "mountpoint=/etc"])
def test_properties_of_a_pool_that_are_not_on_the_list_are_refused(wrong: str) -> None:
    with pytest.raises(Refusal):
        grammar.require_mkfs("zfs", ("-O", wrong))


def test_the_zpool_of_zfs_fuse_is_never_tried(root: Root) -> None:
    root.pool()
    with pytest.raises(Refusal, match=r"mount\.zfs is not installed"):
        pools.create(pools.Pool(NAME, -1), ())
    assert root.told() == []


@pytest.mark.parametrize("degraded", [False, True])
def test_a_pool_is_imported_only_while_it_is_mounted(
    degraded: bool, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    root.pool()
    root.install(**{"mount.zfs": ""})
    monkeypatch.setattr(pools, "_make_nodes", lambda pool: None)
    assert pools.create(PAIR, commands.create_pool(CALLED, (), "mirror", missing=degraded)).body() == 0
    assert pools.import_pool(PAIR) == 0
    assert pools.export_pool(PAIR) == 0
    told = [line.split()[1] for line in root.told("create", "offline", "import", "export")]
    assert told == ["create", *["offline"] * degraded, "export", "import", "export"]
    assert root.told("offline") == [f"zpool offline {NAME} /dev/{NAME}/disk-2"] * degraded


def test_errors_of_earlier_mounts_are_added_up(root: Root) -> None:
    root.pool()
    root.install(zpool=f"cat <<'END'\n{DAMAGED}END")
    pool = pools.Pool(NAME, -1)
    once = pools.counters(pool)
    pools.keep_errors(pool)
    assert pools.counters(pool) == {name: 2 * count for name, count in once.items()}
    assert once["checksum_errors"] > 0


def test_at_the_helpers_end_a_pool_that_is_still_imported_is_destroyed(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody_else(pid: int, number: int) -> None:
        raise ProcessLookupError

    root.pool()
    removed: list[str] = []
    monkeypatch.setattr("os.kill", nobody_else)
    monkeypatch.setattr(pools, "remove_nodes", lambda pool: removed.append(pool.name))
    verbs = Verbs(User(os.getuid(), os.getgid(), (), str(root.place)), cast(Any, None), rights.IMAGES)
    for number, name in enumerate((NAME, OTHER)):
        verbs._volumes[number] = Volume(number, cast(Any, None), None, pools.Pool(name, -1), is_pool=True)
    verbs.end()
    assert root.told("destroy") == [f"zpool destroy -f {NAME}"]
    assert removed == [OTHER, NAME]


def refused_elsewhere(file: Path, name: str) -> bool:
    """In a process of its own, as the kernel does not keep one from itself."""
    child = os.fork()
    if not child:
        try:
            with Names(str(file)).reclaiming(name):
                os._exit(0)
        except Refusal:
            os._exit(1)
        finally:
            os._exit(2)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 1)
    return code == 1


def test_a_name_is_held_until_it_is_released_and_not_taken_while_it_is_reclaimed(tmp_path: Path) -> None:
    names = Names(str(tmp_path / "names"))
    names.hold(NAME)
    names.hold(NAME)
    assert refused_elsewhere(tmp_path / "names", NAME)
    assert not refused_elsewhere(tmp_path / "names", OTHER)
    with pytest.raises(Refusal, match="is running"), names.reclaiming(NAME):
        pass
    names.release(OTHER)
    names.release(NAME)
    assert not refused_elsewhere(tmp_path / "names", NAME)
    with names.reclaiming(NAME):
        assert refused_elsewhere(tmp_path / "names", NAME)
    assert not refused_elsewhere(tmp_path / "names", NAME)


def test_what_is_no_name_is_refused_before_any_file_is_opened(tmp_path: Path) -> None:
    for name in ("tank", f"{NAME}0", "fswizard-", f"{NAME}\n"):
        with pytest.raises(Refusal, match="is not the name of a run"), Names(str(tmp_path / "names")).reclaiming(name):
            pass
    assert not list(tmp_path.iterdir())
    (tmp_path / "names").touch()
    (tmp_path / "names").chmod(0o644)
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name in ("names", "pipe"):
        with pytest.raises(Refusal, match="is not root's alone"):
            Names(str(tmp_path / name)).hold(NAME)
    (tmp_path / "link").symlink_to(tmp_path / "names")
    with pytest.raises(OSError, match="Too many levels"):
        Names(str(tmp_path / "link")).hold(NAME)
