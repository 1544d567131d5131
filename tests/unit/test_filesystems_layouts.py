"""Layouts: the table, the short names, the room that they leave, and the commands that make them."""

from __future__ import annotations

import dataclasses
import shlex
from importlib import resources

import pytest
import tomli

from fswizard.errors import UsageError
from fswizard.filesystems import catalogue, layouts, parse_candidate, require_members
from fswizard.model.codec import from_json, to_json
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import Layout, LayoutOption

DISKS = ("A", "B", "C", "D")
LAYOUTS = list(layouts().values())
every_layout = pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)


def made(name: str, *, scratch: bool = True, disks: tuple[str, ...] = DISKS) -> list[str]:
    candidate = parse_candidate(name).on(len(disks))
    return [shlex.join(command) for command in candidate.making_commands(*disks, scratch=scratch)]


def name_on(layout: Layout) -> str:
    return f"{layout.name}+ext4" if layout.maker == "md" else layout.name


def test_the_table_has_no_key_that_nobody_reads() -> None:
    table = tomli.loads(resources.files("fswizard.filesystems").joinpath("layouts.toml").read_text("utf-8"))
    assert table.keys() == {"option", "layout"}
    for key, kind in (("option", LayoutOption), ("layout", Layout)):
        fields = {field.name for field in dataclasses.fields(kind)}
        for row in table[key]:
            assert row.keys() <= fields, row


@every_layout
def test_a_layout_says_what_it_is_what_a_failed_disk_does_and_where_that_is_written(layout: Layout) -> None:
    assert layout.text.endswith(".") and layout.failed.endswith(".") and layout.source
    assert layout.level and layout.minimum_members >= 2
    assert layout.survives(layout.minimum_members) >= 1, "what one failed disk takes whole is left out on purpose"
    known = {option.name for option in catalogue().get(layout.maker, catalogue()["ext4"]).mkfs_options}
    assert set(layout.replaces) <= known


@every_layout
def test_a_layout_survives_the_result_file(layout: Layout) -> None:
    candidate = parse_candidate(name_on(layout)).on(6)
    assert from_json(Candidate, to_json(candidate)) == candidate


@pytest.mark.parametrize(
    ("name", "members", "usable", "survives"),
    [
        ("md:raid1", 3, 100, 2), ("md:raid5", 4, 300, 1), ("md:raid6", 4, 200, 2), ("md:raid6", 6, 400, 2),
        ("md:raid10", 4, 200, 1), ("zfs:raidz", 3, 200, 1), ("zfs:raidz2", 4, 200, 2), ("zfs:mirror", 6, 300, 1),
        ("btrfs:raid1", 3, 150, 1), ("btrfs:raid10", 4, 200, 1),
    ],
)  # fmt: skip
def test_room_and_redundancy_follow_from_the_number_of_disks(
    name: str, members: int, usable: int, survives: int
) -> None:
    layout = layouts()[name]
    assert (layout.usable_bytes(members, 100), layout.survives(members)) == (usable, survives)


def test_an_array_is_made_and_formatted_with_its_stripes() -> None:
    assert made("md:raid5,chunk=64K+ext4") == [
        "mdadm --create /dev/md/ARRAY --run --assume-clean --level=5 --raid-devices=4 --chunk=64K --bitmap=internal "
        "A B C D",
        "mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard,stride=16,stripe_width=48 /dev/md/ARRAY",
    ]
    assert "stride=128,stripe_width=256 " in made("md:raid6+ext4")[1], "as the fourth document has it"
    assert "stride=128,stripe_width=256 " in made("md:raid10+ext4")[1]
    assert "stride" not in made("md:raid1+ext4")[1], "there are no stripes"
    assert made("md:raid10+xfs")[1] == "mkfs.xfs -q -f -K /dev/md/ARRAY", "it asks the kernel for them"


@every_layout
def test_what_is_advised_is_synchronised_asks_before_it_overwrites_and_has_all_its_disks(layout: Layout) -> None:
    commands = made(name_on(layout).replace(layout.name, f"{layout.name},degraded"), scratch=False)
    text = " ".join(commands)
    assert "--assume-clean" not in text and "--run" not in text
    assert "missing" not in text and "offline" not in text and "wipefs" not in text
    assert all(disk in text.split() for disk in DISKS)


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("zfs:raidz,degraded", "zpool offline POOL D"),
        ("btrfs:raid1,degraded", "wipefs --all D"),
    ],
)
def test_one_disk_is_taken_away_after_the_making(name: str, last: str) -> None:
    assert made(name)[-1] == last
    assert " D" in made(name)[0]
    candidate = parse_candidate(name).on(4)
    assert candidate.array is not None and candidate.array.survives == 0
    assert "degraded" in candidate.unsafe_options, "nobody is told to live with a failed disk"
    assert ("degraded" in candidate.mount_command("A", "MOUNT")) == name.startswith("btrfs")


def test_an_array_is_made_without_the_disk_that_it_shall_miss() -> None:
    create, mkfs = made("md:raid6,degraded+ext4")
    assert create.endswith("--raid-devices=4 --chunk=512K --bitmap=internal A B C missing")
    assert "stripe_width=256 " in mkfs, "its stripes are those of the whole"
    candidate = parse_candidate("md:raid6,degraded+ext4").on(4)
    assert candidate.array is not None and candidate.array.survives == 1
    assert candidate.unsafe_options == ("degraded",)


def test_filesystems_that_make_arrays_of_their_own_take_all_disks() -> None:
    assert made("zfs:mirror,atime=off") == ["zpool create -O atime=off POOL mirror A B mirror C D"]
    assert made("zfs:raidz2") == ["zpool create POOL raidz2 A B C D"]
    assert made("btrfs:raid10,noatime") == ["mkfs.btrfs -q -f -K -d raid10 -m raid10 A B C D"]


@pytest.mark.parametrize("name", ["ext4", "xfs:noatime", "btrfs", "zfs:atime=off"])
def test_what_has_no_layout_lies_on_the_first_disk_alone(name: str) -> None:
    assert made(name) == made(name, disks=("A",))


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        (" MD:raid5 , degraded, bitmap=none,chunk=64K + xfs", "md:raid5,chunk=64K,bitmap=none,degraded+xfs"),
        ("md:raid6,chunk=512K,bitmap=internal+xfs", "md:raid6+xfs"),
        ("zfs:atime=off,raidz,degraded", "zfs:raidz,degraded,atime=off"),
        ("btrfs:noatime,raid1", "btrfs:raid1,noatime"),
        ("md:raid1+btrfs:compress=zstd:1", "md:raid1+btrfs:compress=zstd:1"),
    ],
)  # fmt: skip
def test_a_short_name_has_one_canonical_form(written: str, canonical: str) -> None:
    assert parse_candidate(written).name == canonical
    assert parse_candidate(canonical).name == canonical


@pytest.mark.parametrize(
    ("text", "why", "hint"),
    [
        ("md:raid5", "no filesystem on it", "md:raid5+ext4"),
        ("md:raid0+ext4", "no layout that is known", "md:raid10"),
        ("md:+ext4", "no layout that is known", "md:raid5"),
        ("md:raid5,chunk=3K+ext4", "does not take the value 3K", "64K"),
        ("md:raid1,chunk=64K+ext4", "does not take chunk=64K", "bitmap=VALUE"),
        ("md:raid5,degraded,degraded+ext4", "named twice", "once"),
        ("md:raid5,chunk=4K,chunk=8K+ext4", "does not take", "chunk"),
        ("md:raid5+zfs:raidz", "spread twice", "alone"),
        ("md:raid5+btrfs:raid1", "spread twice", "alone"),
        ("md:raid5+md:raid1+ext4", "spread twice", "alone"),
        ("zfs:raidz,mirror", "do not go together", "Leave one"),
        ("btrfs:raid1,data=dup", "do not go together", "Leave one"),
        ("btrfs:degraded", "none can be missing", "raid1,degraded"),
        ("ext4:degraded", "none can be missing", "md:raid5,degraded+ext4"),
        ("btrfs:raid5", "no option raid5", "raid1"),
    ],
)
def test_what_does_not_fit_together_is_refused_with_what_to_write(text: str, why: str, hint: str) -> None:
    with pytest.raises(UsageError, match=why) as refused:
        parse_candidate(text)
    assert hint in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("name", "members", "why"),
    [
        ("md:raid5+ext4", 1, "the target is one"), ("md:raid5+ext4", 2, "at least 3"),
        ("md:raid6+ext4", 3, "at least 4"),
        ("md:raid10+ext4", 2, "at least 4"), ("md:raid10+ext4", 5, "in pairs"), ("zfs:mirror", 3, "in pairs"),
        ("zfs:raidz2", 3, "at least 4"), ("btrfs:raid10", 3, "at least 4"),
    ],
)  # fmt: skip
def test_too_few_disks_are_refused(name: str, members: int, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        require_members(name, parse_candidate(name).array, members)


@pytest.mark.parametrize(("name", "members"), [("ext4", 1), ("ext4", 4), ("md:raid5+ext4", 3), ("btrfs:raid1", 3)])
def test_enough_disks_are_enough(name: str, members: int) -> None:
    require_members(name, parse_candidate(name).array, members)
