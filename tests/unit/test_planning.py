from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fswizard.bench import places
from fswizard.bench.planning import Choices, TargetChoice, make_plan, parse_target
from fswizard.errors import Refused, UsageError
from fswizard.filesystems import Availability, catalogue, parse_candidates
from fswizard.model.plan import Plan
from fswizard.model.recipe import FioJob
from tests.builders import make_recipe, make_workload

RECIPE = make_recipe(
    [make_workload("write"), make_workload("read", job=FioJob("read", 4096, 1 << 20), weight=2.0)],
    image_bytes=256 << 20,
)


@pytest.fixture(autouse=True)
def everything_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan is what is tested here, not which programs this machine has."""
    monkeypatch.setattr("fswizard.bench.planning.find", lambda program: f"/usr/bin/{program}")
    monkeypatch.setattr("fswizard.bench.planning.availability", lambda _: Availability(True))


def plan(directory: Path, candidates: str = "ext4; ext4:noatime", **choices: object) -> Plan:
    target = choices.pop("target", TargetChoice("image", str(directory), 512 << 20))
    return make_plan(Choices(RECIPE, parse_candidates(candidates), target=target, **choices))  # type: ignore[arg-type]


def test_a_plan_is_complete_before_anything_happens(tmp_path: Path) -> None:
    made = plan(tmp_path)
    argvs = [" ".join(command.argv) for command in made.commands]
    assert argvs[0] == "fallocate --length 512M IMAGE"
    assert "mount -t ext4 -o noatime DEVICE MOUNT" in argvs
    assert argvs[-1] == "rm IMAGE"
    assert {command.as_root for command in made.commands if command.argv[0] in ("mount", "mkfs.ext4", "losetup")} == {
        True
    }
    assert {command.as_root for command in made.commands if command.argv[0] in ("fio", "dd", "rm")} == {False}
    assert made.expected_s > 0
    assert list(tmp_path.iterdir()) == []


def test_unnamed_choices_have_sensible_defaults(tmp_path: Path) -> None:
    made = plan(tmp_path, "xfs; ext4")
    assert made.baseline == "ext4"
    assert made.time_limit_s == RECIPE.minutes * 60
    assert (made.minimum_rounds, made.maximum_rounds) == (3, 12)
    assert plan(tmp_path, "xfs; btrfs").baseline == "xfs"


def test_weights_replace_those_of_the_recipe_and_zero_leaves_a_workload_out(tmp_path: Path) -> None:
    made = plan(tmp_path, weights={"write": 0, "read": 5})
    assert [(workload.name, workload.weight) for workload in made.recipe.workloads] == [("read", 5)]
    with pytest.raises(UsageError, match="Every workload has weight 0"):
        plan(tmp_path, weights={"write": 0, "read": 0})
    with pytest.raises(UsageError, match="The weight of read is -1"):
        plan(tmp_path, weights={"read": -1})


def test_candidates_that_lack_a_need_are_left_out(tmp_path: Path) -> None:
    made = plan(tmp_path, "ext4; btrfs", needs=("checksums",))
    assert [candidate.name for candidate in made.candidates] == ["btrfs"]
    with pytest.raises(UsageError, match="ext4 has no checksums"):
        plan(tmp_path, "ext4", needs=("checksums",))


def test_an_image_needs_room_for_the_recipe_and_for_the_filesystem(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="too small for the recipe"):
        plan(tmp_path, target=TargetChoice("image", str(tmp_path), 64 << 20))
    minimum = catalogue()["xfs"].minimum_bytes
    with pytest.raises(UsageError, match="XFS needs at least"):
        make_plan(
            Choices(
                replace(RECIPE, image_bytes=32 << 20),
                parse_candidates("xfs"),
                target=TargetChoice("image", str(tmp_path), minimum - (4 << 20)),
            )
        )


def test_what_is_no_block_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="no block device"):
        plan(tmp_path, target=TargetChoice("device", "/dev/null"))
    with pytest.raises(UsageError, match="No such file"):
        plan(tmp_path, target=TargetChoice("device", "/dev/disk/by-id/x"))
    with pytest.raises(UsageError, match="is no device"):
        plan(tmp_path, target=TargetChoice("device", str(tmp_path)))


def test_directories_are_candidates_of_their_own(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    target = parse_target(f"dir:{tmp_path / 'first'}, {tmp_path / 'second'}")
    made = make_plan(Choices(RECIPE, target=target))
    assert [candidate.directory for candidate in made.candidates] == [str(tmp_path / "first"), str(tmp_path / "second")]
    assert not any("mkfs" in command.argv[0] or command.as_root for command in made.commands)
    with pytest.raises(UsageError, match="named twice"):
        make_plan(Choices(RECIPE, target=parse_target(f"dir:{tmp_path / 'first'},{tmp_path}/./first")))


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("image:", TargetChoice("image", "", 0)),
        ("image:2G", TargetChoice("image", "", 2 << 30)),
        ("image:2G@/mnt", TargetChoice("image", "/mnt", 2 << 30)),
        ("image:@/mnt/a@b", TargetChoice("image", "/mnt/a@b", 0)),
        ("dir:/a,/b", TargetChoice("directory", "/a,/b")),
        ("device:/dev/disk/by-id/x", TargetChoice("device", "/dev/disk/by-id/x")),
    ],
)
def test_targets_as_people_write_them(text: str, choice: TargetChoice) -> None:
    assert parse_target(text) == choice


def test_the_filesystem_under_a_path_is_named(tmp_path: Path) -> None:
    assert places.filesystem_type("/proc/self") == "proc"
    assert places.filesystem_type(str(tmp_path)) not in ("", "proc")


def test_a_scratch_image_goes_where_one_can_write_and_not_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    directory = places.default_directory()
    assert places.filesystem_type(directory) not in places.NOT_ON_A_DISK
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(UsageError, match="no mounted filesystem"):
        places.default_directory()


def test_a_full_filesystem_is_refused_with_the_figures(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"free; the image takes 1\.13 PB"):
        places.check_room(str(tmp_path), 1 << 50)


def test_a_wrong_candidate_of_a_recipe_is_told_with_its_file(tmp_path: Path) -> None:
    recipe = replace(RECIPE, candidates=("ext4", "xsf"), source="/home/me/mine.toml")
    target = TargetChoice("image", str(tmp_path), 512 << 20)
    with pytest.raises(UsageError, match=r"/home/me/mine\.toml: 'candidates': .*xsf"):
        make_plan(Choices(recipe, target=target))


def test_an_option_that_the_driver_here_does_not_know_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = catalogue()["zfs"].drivers
    monkeypatch.setattr("fswizard.bench.planning.availability", lambda _: Availability(True, driver=old))
    with pytest.raises(UsageError, match=r"zfs-fuse.* does not know compression=zstd-3, sync=always"):
        plan(tmp_path, "zfs:compression=zstd-3,sync=always,atime=off")
    assert plan(tmp_path, "zfs:compression=lzjb,atime=off")
    monkeypatch.setattr("fswizard.bench.planning.availability", lambda _: Availability(True, driver=new))
    assert plan(tmp_path, "zfs:compression=zstd-3,sync=always,atime=off")


def test_a_pool_is_shown_with_the_commands_that_people_type(tmp_path: Path) -> None:
    argvs = [" ".join(command.argv) for command in plan(tmp_path, "zfs:atime=off,ashift=12").commands]
    assert "zpool create -o ashift=12 -O atime=off POOL DEVICE" in argvs
    assert "zpool import -d DEVICE POOL" in argvs
