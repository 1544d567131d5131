from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fswizard import filesystems, recipes
from fswizard.cli.run import plan_text
from fswizard.disks import locations
from fswizard.disks.choice import TargetChoice, parse_target
from fswizard.disks.journal import Journal
from fswizard.engines.fio import FioJob
from fswizard.errors import Missing, Refused, UsageError
from fswizard.filesystems import catalogue, parse_candidates
from fswizard.model.estimates import memory_limit_bytes
from fswizard.model.plan import MINIMUM_ROUNDS, Member, Plan, Target
from fswizard.session import Choices, doubts, make_plan
from fswizard.session.checked import check_space
from fswizard.system.host import Distribution
from tests.builders import make_recipe, make_workload
from tests.fakes.host import ModelHost, use
from tests.fakes.machine import without_root

RECIPE = make_recipe(
    [make_workload("write"), make_workload("read", job=FioJob("read", 4096, 1 << 20), weight=2.0)],
    image_bytes=256 << 20,
)


pytestmark = pytest.mark.usefixtures("everything_is_installed")


def plan(directory: Path, candidates: str = "ext4; ext4:noatime", **choices: Any) -> Plan:
    target = choices.pop("target", TargetChoice("image", str(directory), 512 << 20))
    return make_plan(Choices(RECIPE, parse_candidates(candidates), target=target, **choices))


def test_a_plan_is_complete_before_anything_happens_with_sensible_defaults(tmp_path: Path) -> None:
    made = plan(tmp_path)
    argvs = [" ".join(command.argv) for command in made.commands]
    mount = "mount --no-canonicalize --no-mtab --internal-only -t ext4 -o"
    assert f"{mount} noinit_itable,noatime,errors=remount-ro,nosuid,nodev DEVICE MOUNT" in argvs
    assert list(tmp_path.iterdir()) == []
    assert (made.time_limit_s, made.minimum_rounds) == (RECIPE.minutes * 60, MINIMUM_ROUNDS)
    assert [plan(tmp_path, names).baseline for names in ("xfs; ext4", "xfs; btrfs")] == ["ext4", "xfs"]


def test_the_memory_limit_is_chosen_or_a_quarter_of_the_data_and_256_mib_at_least(tmp_path: Path) -> None:
    def limit_mib(*mib: int, direct: bool = False, memory: int = 16 << 30) -> int:
        jobs = [FioJob("write", 4096, size << 20, direct=direct) for size in mib]
        return memory_limit_bytes(jobs, memory) >> 20

    assert limit_mib(2048) == 512
    assert limit_mib(64) == 256
    assert limit_mib(2048, direct=True) == 0
    assert limit_mib(4096, memory=2 << 30) == 0, "the data are twice the memory"
    assert limit_mib(64, memory=512 << 20) == 0, "less could not run"
    assert plan(tmp_path, memory_limit_bytes=1 << 30).memory_limit_bytes == 1 << 30


def test_what_has_no_weight_or_lacks_a_need_is_left_out(tmp_path: Path) -> None:
    target = TargetChoice("image", str(tmp_path), 512 << 20)
    made = make_plan(Choices(RECIPE.weighed({"write": 0}), parse_candidates("ext4"), target=target))
    assert [workload.name for workload in made.recipe.workloads] == ["read"]
    nothing = replace(RECIPE, workloads=(replace(RECIPE.workload("read"), weight=0.0),))
    with pytest.raises(UsageError, match="Every test has weight 0"):
        make_plan(Choices(nothing, parse_candidates("ext4"), target=target))
    made = plan(tmp_path, "ext4; btrfs", needs=("checksums",))
    assert [candidate.name for candidate in made.candidates] == ["btrfs"]
    with pytest.raises(UsageError, match="checksums"):
        plan(tmp_path, "ext4", needs=("checksums",))


def test_an_image_needs_room_and_a_recipe_right_candidates(tmp_path: Path) -> None:
    target = TargetChoice("image", str(tmp_path), catalogue()["xfs"].minimum_bytes - (4 << 20))
    with pytest.raises(UsageError, match="XFS needs at least"):
        make_plan(Choices(replace(RECIPE, image_bytes=32 << 20), parse_candidates("xfs"), target=target))
    recipe = replace(RECIPE, candidates=("ext4", "xsf"), source="/home/me/mine.toml")
    target = TargetChoice("image", str(tmp_path), 512 << 20)
    with pytest.raises(UsageError, match=r"/home/me/mine\.toml: 'candidates': .*xsf"):
        make_plan(Choices(recipe, target=target))
    recipe = recipes.find("archive-disk")
    with use(ModelHost(free_bytes=2 << 30)), pytest.raises(UsageError, match="must stay free"):
        make_plan(Choices(recipe, target=TargetChoice("directory", str(tmp_path))))


@pytest.mark.parametrize("target", ["/proc", "dir:/proc"])
def test_memory_is_not_measured_as_an_image_or_directory(target: str) -> None:
    with pytest.raises(UsageError, match=r"is in memory \(proc\), not on a disk"):
        make_plan(Choices(RECIPE, target=parse_target(target)))


def test_a_directory_is_compared_with_others(tmp_path: Path) -> None:
    first, second = (tmp_path / name for name in ("first", "second"))
    first.mkdir()
    second.mkdir()
    made = make_plan(Choices(RECIPE, target=parse_target(f"dir:{first}, {second}")))
    assert [candidate.directory for candidate in made.candidates] == [str(first), str(second)]
    with pytest.raises(UsageError, match="each of them once"):
        make_plan(Choices(RECIPE, target=parse_target(f"dir:{first},{tmp_path}/./first")))


@pytest.mark.parametrize(
    ("path", "error"), [("/dev/null", Refused), ("/dev/disk/by-id/x", UsageError), ("/", UsageError)]
)
def test_what_is_no_block_device_is_refused(path: str, error: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(error):
        plan(tmp_path, target=TargetChoice("device", path))


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("image:@/mnt/a@b", TargetChoice("image", "/mnt/a@b", 0)),
        ("dir:/a,/b", TargetChoice("directory", "/a,/b")),
        ("device:/dev/disk/by-id/x", TargetChoice("device", "/dev/disk/by-id/x")),
        ("devices:/dev/a, /dev/b,/dev/c", TargetChoice("device", "/dev/a", others=("/dev/b", "/dev/c"))),
        ("/dev/sdb", TargetChoice("device", "/dev/sdb")),
        ("/tmp", TargetChoice("image", "/tmp")),
    ],
)
def test_targets_as_people_write_them(text: str, choice: TargetChoice) -> None:
    assert parse_target(text) == choice


@pytest.mark.parametrize("text", ["devices:", f"devices:/dev/a{',/dev/b' * 12}", "image:-2G@/a", "disks:/dev/a,/dev/b"])
def test_a_wrong_target_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_target(text)


def test_a_scratch_image_goes_where_one_can_write_and_not_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    directory = locations.default_directory()
    assert locations.filesystem_type(directory) not in locations.NOT_ON_A_DISK
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(UsageError, match="no mounted filesystem"):
        locations.default_directory()


def disks(number: int = 4, size_bytes: int = 256 << 20, last_bytes: int = 0) -> Target:
    sizes = [size_bytes] * (number - 1) + [last_bytes or size_bytes]
    return Target.of("device", [Member(f"/dev/{count}", size) for count, size in enumerate(sizes)])


def test_a_layout_has_its_own_room_and_the_smallest_member_decides() -> None:
    raid5, ext4, mirror = parse_candidates("md:raid5+ext4; ext4; zfs:mirror")
    check_space(raid5, disks(size_bytes=128 << 20), RECIPE)
    with pytest.raises(UsageError, match=r"ext4 needs at least 256M, and the target has 128M"):
        check_space(ext4, disks(size_bytes=128 << 20), RECIPE)
    with pytest.raises(UsageError, match="in pairs"):
        check_space(mirror, disks(3), RECIPE)
    smaller = disks(last_bytes=64 << 20)
    candidates = parse_candidates("md:raid6+ext4; zfs:raidz; btrfs:raid10; ext4")
    assert [smaller.room_bytes(candidate.array) >> 20 for candidate in candidates] == [128, 192, 128, 256]


def test_over_several_disks_the_recipe_names_others_or_every_layout_is_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def names(number: int, **recipe: Any) -> list[str]:
        planned = (disks(number), ())
        monkeypatch.setattr("fswizard.session.planning.plan_target", lambda chosen, recipe, drive: planned)
        made = make_plan(Choices(replace(RECIPE, **recipe), target=TargetChoice("device", "/dev/0")))
        return [candidate.name for candidate in made.candidates]

    mine = ("md:raid6+ext4", "ext4:noatime", "zfs:mirror")
    assert names(4, array_candidates=mine) == list(mine)
    assert names(3, array_candidates=mine) == ["ext4:noatime"]
    assert names(3) == ["ext4", "md:raid5+ext4", "zfs:raidz", "btrfs:raid1"]
    with pytest.raises(UsageError, match=r"mine: 'array_candidates': .*raid7"):
        names(4, array_candidates=("md:raid7+ext4",), source="mine")


@pytest.fixture
def debian(everything_is_installed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """One where mkfs programs other than that of ext4 are missing."""
    monkeypatch.setattr("fswizard.session.planning.availability", filesystems.availability)
    installed = {"mkfs.ext4", "fio", "sync", "sudo", "apt-get"}
    for where in ("system.commands.find", "system.programs.find", "session.planning.find"):
        monkeypatch.setattr(f"fswizard.{where}", lambda program: program if program in installed else None)
    monkeypatch.setattr(ModelHost, "kernel_supports", lambda self, name: True)
    monkeypatch.setattr(ModelHost, "distribution", lambda self: Distribution("Debian", ("debian",)))
    without_root(monkeypatch)


THREE = replace(RECIPE, candidates=("ext4", "xfs", "btrfs"))
EVERYTHING = "sudo apt-get install btrfs-progs xfsprogs"


@pytest.mark.usefixtures("debian")
def test_what_is_left_out_or_missing_is_named_with_the_one_command_that_brings_all(tmp_path: Path) -> None:
    target = TargetChoice("image", str(tmp_path), 512 << 20)
    made = make_plan(Choices(THREE, target=target))
    assert [candidate.name for candidate in made.candidates] == ["ext4"]
    assert [each.name for each in made.left_out] == ["xfs", "btrfs"]
    assert "not-compared" in {doubt.code for doubt in doubts.before(made)}
    assert EVERYTHING in " ".join(plan_text(made).split())
    with pytest.raises(Missing, match=r"XFS cannot be made here: mkfs\.xfs is not installed") as missing:
        make_plan(Choices(THREE, parse_candidates("xfs; btrfs"), target=target))
    assert EVERYTHING in missing.value.hint


@pytest.mark.root
@pytest.mark.parametrize("others", ["owner", "mode", "link"])
def test_root_writes_nowhere_that_somebody_else_could_lead_it_away_from(others: str, tmp_path: Path) -> None:
    """Else an image could be replaced by a link to any file of root's."""
    home = tmp_path / "home"
    place = home / "place"
    place.mkdir(parents=True)
    assert locations.checked_directory(str(place)) == str(place)
    if others == "link":
        (tmp_path / "link").symlink_to(home)
        os.chown(tmp_path / "link", 65534, 65534, follow_symlinks=False)
        place, home = tmp_path / "link" / "place", tmp_path / "link"
    else:
        os.chown(home, 65534 if others == "owner" else 0, 0)
        home.chmod(0o777 if others == "mode" else 0o755)
    with pytest.raises(Refused, match=f"Others can change {re.escape(str(home))}"):
        locations.checked_directory(str(place))
    with pytest.raises(Refused, match="Others can change"):
        Journal(None).make_directory(place)
    home.chmod(0o1777) if others == "mode" else os.chown(home, 0, 0, follow_symlinks=False)
    assert locations.checked_directory(str(place)) == str(place)


@pytest.mark.root
def test_root_follows_no_link_through_a_directory_of_others(tmp_path: Path) -> None:
    others, place = tmp_path / "others", tmp_path / "place"
    others.mkdir()
    place.mkdir()
    (others / "link").symlink_to(place)
    (tmp_path / "link").symlink_to(others / "link")
    assert locations.checked_directory(str(tmp_path / "link")) == str(tmp_path / "link")
    os.chown(others, 65534, 65534)
    with pytest.raises(Refused, match=f"Others can change {re.escape(str(others))}"):
        locations.checked_directory(str(tmp_path / "link"))
