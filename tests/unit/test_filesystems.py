"""The catalogue holds together; typed text becomes a candidate, or a message that says what to type."""

from __future__ import annotations

import contextlib
import re
import shlex
from importlib import resources
from pathlib import Path
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
from fswizard.model.filesystem import Candidate, Feature, Filesystem
from fswizard.model.layout import Layout
from fswizard.model.needs import NEEDS
from fswizard.model.option import Option
from tests.builders import make_drive

RECORDED = Path(__file__).parents[1] / "recorded"


def test_tables_have_no_key_that_nobody_reads() -> None:
    data = resources.files("fswizard.filesystems")
    kinds = {"mount_options": Option, "mkfs_options": Option, "option": Option, "features": Feature, "layout": Layout}
    for entry in (*data.joinpath("catalogue").iterdir(), data.joinpath("layouts.toml")):
        table = tomli.loads(entry.read_text("utf-8"))
        assert table.keys() <= {"generic", "option", "layout", *Filesystem.__dataclass_fields__}, entry.name
        for key, kind in kinds.items():
            for row in table.get(key, ()):
                assert row.keys() <= kind.__dataclass_fields__.keys(), (entry.name, key)


@pytest.mark.parametrize("filesystem", catalogue().values(), ids=catalogue())
def test_a_filesystem_says_all_with_sources_and_survives_the_result_file(filesystem: Filesystem) -> None:
    assert from_json(Filesystem, to_json(filesystem)) == filesystem
    assert set(filesystem.packages) >= {"debian", "ubuntu", "fedora", "arch", "opensuse"}
    assert all(price.source for price in filesystem.prices)
    pairs = [*filesystem.mkfs_arguments, *((option.flag, option.value) for option in filesystem.mkfs_options)]
    assert not {flag for flag, value in pairs if not value} & {"-f", "-F", "-I", "--force"}, "a copied command asks"
    assert {feature.name for feature in filesystem.features} == {*NEEDS, "max-file-size"}
    assert all(feature.value and feature.source for feature in filesystem.features)
    for option in filesystem.options:
        assert option.source and (option.risk or not option.unsafe), "an unsafe option says what it risks"
        assert all(option.is_meant_by(token) for token in option.tokens), option.name
        assert not option.pattern or not re.fullmatch(option.pattern, "x,dev"), option.name


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


COMMANDS = [block.splitlines() for block in (RECORDED / "commands.txt").read_text("utf-8").split("\n\n")]


@pytest.mark.parametrize("block", COMMANDS, ids=lambda block: block[0])
def test_a_candidate_is_made_by_the_recorded_commands(block: list[str]) -> None:
    """In a run, on as many disks of 100 bytes, and those that are offered for copying."""
    name, disks = block[0].split(" on ")
    candidate = parse_candidate(name).on(len(disks))
    planned = [f"run: {shlex.join(command.argv)}" for command in exact_commands.making(candidate, tuple(disks))]
    copied = [f"copy: {shlex.join(command)}" for command in making(candidate)]
    array = candidate.array
    room = [f"room: {array.layout.usable_bytes(len(disks), 100)}, {array.survives} may fail"] if array else []
    assert block[1:] == [*room, *planned, *copied]
    assert not {"--assume-clean", "--run"} & {*" ".join(copied).split()}
    assert from_json(Candidate, to_json(candidate)) == candidate


def test_unsafe_options_are_known() -> None:
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
    assert "checksums, snapshots," in raised.value.hint


@pytest.mark.parametrize(
    ("typed", "message", "hint"),
    [
        ("btfs", "There is no filesystem btfs in the catalogue.", "ext4, xfs, btrfs"),
        ("", "No candidates named.", "ext4; xfs:noatime"),
        ("ext4:noatim", "ext4 has no option noatim.", "noatime"),
        ("btrfs:compress=zstd:99", "btrfs has no option compress=zstd:99.", "compress=zstd:1"),
        ("ext4:noatime; ext4:noatime", "The candidate ext4:noatime was named twice.", "once"),
        ("ext4:x\x1b[31m", "ext4 has no option x\\x1b[31m.", "Known:"),
        ("md:raid5", "A candidate has no filesystem.", "ext4, xfs, btrfs"),
        ("md:raid0+ext4", "There is no layout", "md:raid10"),
        ("md:raid5,chunk=64K,chunk=16K+ext4", "md:raid5 has no option chunk=16K.", "chunk=64K"),
        ("md:raid5+zfs:raidz", "can't lie on md:raid5", "one or the other"),
        ("md:raid5+ext4:stride=16", "can't be combined", "Leave one"),
        ("zfs:aged", "can't be aged", "Leave aged out"),
        ("luks+ext4:aged", "can't be aged", "Leave aged out"),
        ("ext4:noatime,relatime", "ext4: noatime and relatime can't be combined.", "Leave one"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_type(typed: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_candidates(typed)
    assert message in raised.value.message
    assert hint in raised.value.hint


@given(st.text(max_size=60) | st.from_regex(r"(ext4|xfs|btrfs):[a-z=:,_0-9 ]{0,40}", fullmatch=True))
def test_any_text_is_either_a_candidate_with_a_stable_name_or_refused(text: str) -> None:
    with contextlib.suppress(UsageError):
        for candidate in parse_candidates(text):
            assert parse_candidate(candidate.name) == candidate


@pytest.mark.parametrize(
    "kind",
    [{"smr": "drive-managed", "bus": "usb"}, {}, {"kind": "ssd", "rotational": False}, {"kind": "flash-card"}],
)
def test_suggestions_are_candidates_that_risk_nothing(kind: dict[str, Any]) -> None:
    names = [*suggestions(make_drive(**kind))]
    candidates = parse_candidates(";".join(names))
    assert [candidate.name for candidate in candidates] == names, "names are canonical"
    assert all(not candidate.unsafe_options for candidate in candidates)
    assert suggestions(make_drive("host-managed")) == {}, "nothing is measured there"


def test_a_layout_has_a_source_its_commands_and_redundancy() -> None:
    recorded = {block[0].partition("+")[0].partition(" on ")[0].partition(",")[0] for block in COMMANDS}
    for layout in layouts().values():
        assert layout.source and layout.name in recorded
        assert layout.alone or layout.survives(layout.minimum_members) >= 1, "what one failed disk takes is left out"


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
