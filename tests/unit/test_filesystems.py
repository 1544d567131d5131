"""The catalogue holds together; typed text becomes a candidate, or a message that says what to type."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import shlex
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from fswizard.advice.commands import making
from fswizard.disks import exact_commands
from fswizard.errors import UsageError
from fswizard.filesystems import (
    catalogue,
    layouts,
    parse_candidate,
    parse_candidates,
    parse_needs,
    require_members,
)
from fswizard.filesystems.suggestions import suggestions
from fswizard.model.codec import from_json, to_json
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate, Feature, Filesystem
from fswizard.model.layout import Layout
from fswizard.model.needs import NEEDS
from fswizard.model.option import Option
from fswizard.model.plan import FORMAT
from tests.builders import make_drive

FILESYSTEMS = list(catalogue().values())
OPTIONS = [(fs, option) for fs in FILESYSTEMS for option in fs.options]

every_filesystem = pytest.mark.parametrize("filesystem", FILESYSTEMS, ids=lambda fs: fs.name)
every_option = pytest.mark.parametrize(("filesystem", "option"), OPTIONS, ids=lambda value: value.name)


def unread(kind: type[Any], rows: Iterable[Mapping[str, object]]) -> set[str]:
    """Keys of tables that are no fields of `kind`."""
    fields = {field.name for field in dataclasses.fields(kind)}
    return {key for row in rows for key in row} - fields


def test_tables_have_no_key_that_nobody_reads() -> None:
    data = resources.files("fswizard.filesystems")
    for entry in data.joinpath("catalogue").iterdir():
        table = tomli.loads(entry.read_text("utf-8"))
        assert unread(Filesystem, [table]) <= {"generic"}, entry.name
        for key, kind in {"mount_options": Option, "mkfs_options": Option, "features": Feature}.items():
            assert not unread(kind, table.get(key, ())), (entry.name, key)
    table = tomli.loads(data.joinpath("layouts.toml").read_text("utf-8"))
    assert not unread(Option, table["option"]) and not unread(Layout, table["layout"])


@every_filesystem
def test_a_filesystem_says_all_with_sources_and_survives_the_result_file(filesystem: Filesystem) -> None:
    assert from_json(Filesystem, to_json(filesystem)) == filesystem
    assert set(filesystem.packages) >= {"debian", "ubuntu", "fedora", "arch", "opensuse"}
    assert all(price.source for price in filesystem.prices)
    pairs = [*filesystem.mkfs_arguments, *((option.flag, option.value) for option in filesystem.mkfs_options)]
    assert not {flag for flag, value in pairs if not value} & {"-f", "-F", "-I", "--force"}, "a copied command asks"
    assert {feature.name for feature in filesystem.features} == {*NEEDS, "max-file-size"}
    assert all(feature.value and feature.source for feature in filesystem.features)


@every_option
def test_an_option_says_what_it_does_and_its_values_match_it(filesystem: Filesystem, option: Option) -> None:
    assert option.source
    assert not option.unsafe or option.risk, "an unsafe option says what it risks"
    assert all(option.is_meant_by(token) for token in option.tokens)
    assert not re.fullmatch(option.pattern, "x,dev") or not option.pattern


@pytest.mark.parametrize(
    ("typed", "canonical"),
    [
        (" XFS : noatime ", "xfs:noatime"),
        ("btrfs:metadata=single, compress=lzo, noatime", "btrfs:noatime,compress=lzo,metadata=single"),
        (" MD:raid5 , bitmap=none,chunk=64K + xfs", "md:raid5,chunk=64K,bitmap=none+xfs"),
        ("md:raid6,chunk=512K,bitmap=internal+xfs", "md:raid6+xfs"),
        ("zfs:atime=off,raidz", "zfs:raidz,atime=off"),
        (" LUKS: discards=on , sector=4096 + xfs:noatime", "luks,sector=4096,discards=on+xfs:noatime"),
        ("btrfs:aged,noatime", "btrfs:noatime,aged"),
        ("ext4:defaults,noatime", "ext4:noatime"),
    ],
)
def test_a_candidate_gets_its_canonical_name(typed: str, canonical: str) -> None:
    assert parse_candidate(typed).name == canonical
    assert parse_candidate(canonical).name == canonical


def test_options_reach_the_right_program_and_unsafe_ones_are_known() -> None:
    candidate = parse_candidate("ext4:noatime,packed_meta_blocks")
    assert making(candidate) == (
        ("mkfs.ext4", "-E", "packed_meta_blocks=1", "-m", "0", "-L", "data", "/dev/disk/by-id/DISK"),
    )
    _, measured, mount = (planned.argv for planned in exact_commands.making(candidate, ("DEVICE",)))
    assert measured[-2:] == ("lazy_itable_init=1,lazy_journal_init=0,nodiscard,packed_meta_blocks=1", "DEVICE")
    assert mount[-3:] == ("noinit_itable,noatime,errors=remount-ro,nosuid,nodev", "DEVICE", "MOUNT")
    assert list(parse_candidate("ext4:nobarrier,noatime,nojournal").unsafe_options) == ["nobarrier", "nojournal"]
    assert parse_candidate("ext4:data=journal").unsafe_options == ()
    assert list(parse_candidate("ext4:data=writeback").unsafe_options) == ["data=writeback"]


def test_needs_are_compared_with_what_a_filesystem_offers() -> None:
    needs = parse_needs("Checksums, shrink,checksums")
    assert needs == ("checksums", "shrink")
    assert parse_candidate("btrfs").lacking(needs) == ()
    assert parse_candidate("ext4").lacking(needs) == ("checksums",), "metadata only is not enough"
    with pytest.raises(UsageError) as raised:
        parse_needs("checksum")
    assert raised.value.hint.startswith("Did you mean checksums? Known: checksums, snapshots,")


@pytest.mark.parametrize(
    ("typed", "message", "hint"),
    [
        ("btfs", "There is no filesystem btfs in the catalogue.", "Did you mean btrfs?"),
        ("", "No candidates named.", "ext4; xfs:noatime"),
        ("ext4:noatim", "ext4 has no option noatim.", "Did you mean noatime?"),
        ("ext4:", "ext4 has no option .", "Known:"),
        ("ext4:noatime=1", "ext4 has no option noatime=1.", "noatime"),
        ("btrfs:compress=zstd:99", "btrfs has no option compress=zstd:99.", "compress=zstd:1"),
        ("ext4:noatime; ext4:noatime", "The candidate ext4:noatime was named twice.", "once"),
        ("ext4:x\x1b[31m", "ext4 has no option x\\x1b[31m.", "Known:"),
        ("md:raid5", "A candidate has no filesystem.", "ext4, xfs, btrfs"),
        ("md:raid0+ext4", "There is no layout", "md:raid10"),
        ("md:raid5,chunk=3K+ext4", "md:raid5 has no option chunk=3K.", "chunk=64K"),
        ("md:raid1,chunk=64K+ext4", "md:raid1 has no option chunk=64K.", "bitmap=none"),
        ("md:raid5,chunk=64K,chunk=16K+ext4", "md:raid5 has no option chunk=16K.", "chunk=64K"),
        ("md:raid5+zfs:raidz", "can't lie on md:raid5", "one or the other"),
        ("md:raid5+ext4:stride=16", "can't be combined", "Leave one"),
        ("luks+ext4:aged", "can't be aged", "Leave aged out"),
        ("zfs:aged", "can't be aged", "Leave aged out"),
        ("lusk+ext4", "There is no filesystem lusk+ext4 in the catalogue.", "Known: "),
        ("ext4:noatime,relatime", "ext4: noatime and relatime can't be combined.", "Leave one"),
        ("ext4,xfs", "There is no filesystem ext4,xfs in the catalogue.", "Known: "),
        ("ext4:noatime,xfs", "ext4 has no option xfs.", "Known:"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_type(typed: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_candidates(typed)
    assert raised.value.message == message if message.endswith(".") else message in raised.value.message
    assert hint in raised.value.hint


@given(st.text(max_size=60) | st.from_regex(r"(ext4|xfs|btrfs):[a-z=:,_0-9 ]{0,40}", fullmatch=True))
def test_any_text_is_either_a_candidate_with_a_stable_name_or_refused(text: str) -> None:
    with contextlib.suppress(UsageError):
        for candidate in parse_candidates(text):
            assert parse_candidate(candidate.name) == candidate


@pytest.mark.parametrize(
    "drive",
    [
        make_drive("drive-managed", bus="usb"),
        make_drive("cmr"),
        make_drive(kind="ssd", rotational=False),
        make_drive(kind="flash-card", bus="usb", rotational=False),
    ],
)
def test_suggestions_are_candidates_that_risk_nothing(drive: Drive) -> None:
    names = [*suggestions(drive)]
    candidates = parse_candidates(";".join(names))
    assert [candidate.name for candidate in candidates] == names, "names are canonical"
    assert all(not candidate.unsafe_options for candidate in candidates)
    assert suggestions(make_drive("host-managed")) == {}, "nothing is measured there"


DISKS = ("A", "B", "C", "D")


def planned(name: str, disks: tuple[str, ...] = DISKS) -> list[str]:
    """The commands of a plan that make a candidate."""
    each = exact_commands.making(parse_candidate(name).on(len(disks)), disks)
    return [shlex.join(command.argv) for command in each if command.text == FORMAT]


def copied(name: str) -> list[str]:
    """The commands that are offered for copying, of as many disks."""
    return [shlex.join(command) for command in making(parse_candidate(name).on(len(DISKS)))]


LAYOUTS = [layout for layout in layouts().values() if not layout.alone]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_layout_says_what_it_is_with_sources_and_what_is_advised_asks_before_it_overwrites(layout: Layout) -> None:
    name = f"{layout.name}+ext4" if layout.maker == "md" else layout.name
    candidate = parse_candidate(name).on(6)
    assert from_json(Candidate, to_json(candidate)) == candidate
    assert layout.source
    assert layout.survives(layout.minimum_members) >= 1, "what one failed disk takes whole is left out on purpose"
    words = " ".join(copied(name)).split()
    assert "--assume-clean" not in words and "--run" not in words
    assert {f"/dev/disk/by-id/DISK-{number}" for number in (1, 2, 3, 4)} <= set(words)


@pytest.mark.parametrize(
    ("name", "members", "usable", "survives"),
    [
        ("md:raid1", 3, 100, 2), ("md:raid6", 6, 400, 2), ("md:raid10", 4, 200, 1), ("zfs:mirror", 6, 300, 1),
        ("btrfs:raid1", 3, 150, 1),
    ],
)  # fmt: skip
def test_room_and_redundancy_follow_from_the_number_of_disks(
    name: str, members: int, usable: int, survives: int
) -> None:
    layout = layouts()[name]
    assert (layout.usable_bytes(members, 100), layout.survives(members)) == (usable, survives)


def test_a_volume_is_made_with_a_key_on_standard_input_and_by_people_with_a_passphrase() -> None:
    name = "luks,cipher=adiantum,sector=4096,workqueues=off,discards=on+ext4"
    candidate = parse_candidate(name).on(1)
    assert from_json(Candidate, to_json(candidate)) == candidate and candidate.survives == 0
    key, queues = "--batch-mode --key-file=-", "--perf-no_read_workqueue --perf-no_write_workqueue --allow-discards"
    cipher = "--cipher=xchacha12,aes-adiantum-plain64 --key-size=256 --sector-size=4096"
    *made, mkfs = planned(name, disks=("A",))
    assert made == [
        f"cryptsetup luksFormat {key} --type=luks2 {cipher} --pbkdf=pbkdf2 --pbkdf-force-iterations=1000 A",
        f"cryptsetup open {key} {queues} A VOLUME",
    ]
    assert mkfs.endswith(" /dev/mapper/VOLUME") and "stride" not in mkfs
    assert copied("luks,key=256+xfs")[0].endswith(" --cipher=aes-xts-plain64 --key-size=256 /dev/disk/by-id/DISK")


def test_an_array_is_made_of_all_its_disks_and_formatted_with_its_stripes() -> None:
    assert planned("md:raid5,chunk=64K+ext4") == [
        "mdadm --create /dev/md/ARRAY --config=none --run --assume-clean --metadata=1.2 --name=ARRAY --uuid=UUID "
        "--level=5 --raid-devices=4 --chunk=64K --bitmap=internal A B C D",
        "mkfs.ext4 -q -F -E lazy_itable_init=1,lazy_journal_init=0,nodiscard,stride=16,stripe_width=48 /dev/mdN",
    ]
    assert "stride=128,stripe_width=256 " in planned("md:raid10+ext4")[1]
    assert "stride" not in planned("md:raid1+ext4")[1], "there are no stripes"
    mirrors = (
        "mirror /dev/disk/by-id/DISK-1 /dev/disk/by-id/DISK-2 mirror /dev/disk/by-id/DISK-3 /dev/disk/by-id/DISK-4"
    )
    assert copied("zfs:mirror,atime=off") == [f"zpool create -O atime=off POOL {mirrors}"]
    assert planned("btrfs:raid10,noatime") == ["mkfs.btrfs -q -f -K -L LABEL -d raid10 -m raid10 A B C D"]


@pytest.mark.parametrize(
    ("name", "members", "why"),
    [
        ("md:raid5+ext4", 1, "at least 3"), ("md:raid5+ext4", 3, ""),
        ("md:raid10+ext4", 5, "in pairs"), ("luks+ext4", 3, "lies on one device"),
    ],
)  # fmt: skip
def test_too_few_disks_are_refused_and_enough_are_enough(name: str, members: int, why: str) -> None:
    with pytest.raises(UsageError, match=why) if why else contextlib.nullcontext():
        require_members(name, parse_candidate(name).array, members)
