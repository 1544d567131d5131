"""Arrays of md are made as listed and no otherwise, and only those of our own are ever stopped."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from fswizard.privileged import groups, programs
from fswizard.privileged.loop_device import Image, LoopDevice
from fswizard.privileged.protocol import Refusal
from tests.fakes.machine import make_program

NAME = "fswizard-0123456789abcdef"
OTHER = "fswizard-fedcba9876543210"
PATHS = ("/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd")
MDADM = """
echo "$*" >> {root}/log
case "$1" in --config*) echo 'mdadm: --config does not set the mode' >&2; exit 2 ;; esac
case "$*" in *--detail*) printf 'MD_LEVEL=raid5\\nMD_NAME={name}\\nMD_UUID={uuid}\\n' ;; esac
"""


def create(
    level: str = "5", chunk_kib: int = 64, bitmap: str = "none", paths: tuple[str, ...] = PATHS, **how: bool
) -> str:
    degraded = how.get("degraded", False)
    return " ".join(groups.array_command(NAME, level, chunk_kib, bitmap, paths, degraded=degraded))


def test_an_array_gets_a_name_and_a_uuid_of_its_own_and_no_configuration() -> None:
    assert create() == (
        f"mdadm --create /dev/md/{NAME} --config=none --run --assume-clean --metadata=1.2 --name={NAME} "
        f"--uuid={groups.uuid_of(NAME)} --level=5 --raid-devices=4 --chunk=64K --bitmap=none {' '.join(PATHS)}"
    )
    assert create(degraded=True).endswith("--bitmap=none /dev/sda /dev/sdb /dev/sdc missing")
    assert "--chunk" not in create("1", 0, "internal", PATHS[:2])
    assert groups.uuid_of(NAME) != groups.uuid_of(OTHER)


@pytest.mark.parametrize(
    "wrong",
    [
        {"level": "0"}, {"level": "5 --force"}, {"level": ""}, {"chunk_kib": 0}, {"chunk_kib": 3}, {"chunk_kib": 4096},
        {"bitmap": "/etc/passwd"}, {"bitmap": "internal --force"}, {"paths": PATHS[:2]},
        {"level": "6", "paths": PATHS[:3]}, {"level": "10", "paths": PATHS[:3]}, {"level": "1", "chunk_kib": 64},
        {"level": "1", "chunk_kib": 0, "paths": PATHS[:1]},
    ],
)  # fmt: skip
def test_what_is_not_on_the_list_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(Refusal):
        create(**wrong)  # type: ignore[arg-type]


def test_a_name_that_is_no_runs_is_refused() -> None:
    for name in ("archive", f"{NAME}0", "../../etc", ""):
        with pytest.raises(Refusal):
            groups.array_command(name, "5", 64, "none", PATHS, degraded=False)


def blocks(root: Path, **members: tuple[str, ...]) -> Path:
    """/sys/block of a machine with arrays of such members."""
    for array, names in members.items():
        for name in names:
            (root / "block" / array / "slaves" / name).mkdir(parents=True)
    (root / "block").mkdir(exist_ok=True)
    return root / "block"


def test_an_array_is_found_by_its_members(tmp_path: Path) -> None:
    found = blocks(tmp_path, md0=("sdx", "sdy"), md127=("loop0", "loop1", "loop2"))
    assert groups.find_array(["loop0", "loop1", "loop2", "loop3"], found) == "md127", "one may be missing"
    assert groups.find_array(["loop7"], found) == ""


def test_an_array_with_a_member_of_somebody_elses_is_left_alone(tmp_path: Path) -> None:
    found = blocks(tmp_path, md127=("loop0", "sdx"))
    with pytest.raises(Refusal, match="members that are not this run's"):
        groups.find_array(["loop0", "loop1"], found)


def kernel_with_an_array(root: Path, patch: pytest.MonkeyPatch, *, name: str = f"box:{NAME}", uuid: str = "") -> Path:
    make_program(root / "bin", "mdadm", MDADM.format(root=root, name=name, uuid=uuid or groups.uuid_of(NAME)))
    patch.setattr(programs, "find", lambda program: str(root / "bin" / program))
    return blocks(root, md126=("sdy", "sdz"))


def ordered(root: Path) -> list[str]:
    log = root / "log"
    return [line for line in log.read_text().splitlines() if "--detail" not in line] if log.exists() else []


@pytest.mark.parametrize("name", [NAME, f"box:{NAME}"])
def test_the_array_of_a_killed_run_is_stopped_and_its_members_forget_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = kernel_with_an_array(tmp_path, monkeypatch, name=name)
    groups.reclaim_array(NAME, found)
    assert ordered(tmp_path) == [
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
def test_an_array_that_may_be_anothers_is_not_stopped(
    asked: str, how: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = kernel_with_an_array(tmp_path, monkeypatch, **how)
    with pytest.raises(Refusal):
        groups.reclaim_array(asked, found)
    assert ordered(tmp_path) == []


@pytest.mark.parametrize("name", ["box:archive", OTHER, ""])
def test_arrays_of_other_names_are_passed_over(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = kernel_with_an_array(tmp_path, monkeypatch, name=name)
    groups.reclaim_array(NAME, found)
    assert ordered(tmp_path) == []


def test_without_arrays_mdadm_is_not_even_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(program: str) -> str:
        raise Refusal("missing", f"{program} is not installed")

    monkeypatch.setattr(programs, "find", find)
    groups.reclaim_array(NAME, blocks(tmp_path))


def test_a_btrfs_that_misses_a_device_is_mounted_with_those_that_are_left() -> None:
    members = tuple(LoopDevice(-1, f"loop{number}", True, Image(-1, 0)) for number in range(3))
    whole = groups.Group(members, spread=True)
    assert whole.mount_options == ("device=/dev/loop1", "device=/dev/loop2")
    assert whole.sources == ("/dev/loop0", "/dev/loop1", "/dev/loop2")
    degraded = groups.Group(members, spread=True, missing=True)
    assert degraded.mount_options == ("device=/dev/loop1", "degraded")
    assert groups.Group(members).mount_options == ()
    assert groups.Group(members).sources == ("/dev/loop0",)


@pytest.fixture
def loops(tmp_path: Path) -> Iterator[tuple[LoopDevice, ...]]:
    """Files in place of them: locks are the same."""
    with ExitStack() as undo:
        files = [undo.enter_context((tmp_path / f"loop{number}").open("wb")) for number in range(3)]
        yield tuple(LoopDevice(file.fileno(), Path(file.name).name, True, Image(-1, 0)) for file in files)


def others_lock(path: Path, operation: int) -> bool:
    """Whether another program gets it; only for a moment."""
    with path.open("rb") as file, suppress(BlockingIOError):
        fcntl.flock(file, operation | fcntl.LOCK_NB)
        return True
    return False


def test_members_are_joined_as_soon_as_udev_lets_go_of_them(
    loops: tuple[LoopDevice, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    udev = (tmp_path / "loop1").open("rb")
    fcntl.flock(udev, fcntl.LOCK_SH)
    monkeypatch.setattr(programs.time, "sleep", lambda seconds: udev.close())
    group = groups.join(loops)
    assert udev.closed
    assert not any(others_lock(tmp_path / member.name, fcntl.LOCK_SH) for member in loops), "udev would probe them"
    group.detach()
    assert all(others_lock(tmp_path / member.name, fcntl.LOCK_EX) for member in loops)


def test_members_that_stay_locked_are_not_joined_and_none_is_kept(
    loops: tuple[LoopDevice, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "LOCK_LIMIT_S", 0.0)
    with (tmp_path / "loop2").open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        with pytest.raises(Refusal, match="loop2 is locked by another program"):
            groups.join(loops)
    assert all(others_lock(tmp_path / member.name, fcntl.LOCK_EX) for member in loops)


@pytest.mark.parametrize("level", ["raid5", "raid0", "", "raid1 -f"])
def test_levels_that_are_not_on_the_list_are_refused(level: str) -> None:
    with pytest.raises(Refusal):
        groups.btrfs_arguments(level, NAME)
    with pytest.raises(Refusal):
        groups.zpool_arguments(level, PATHS)
    with pytest.raises(Refusal):
        groups.zpool_arguments("mirror", PATHS[:3])
