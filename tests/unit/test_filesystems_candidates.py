"""What people type becomes a candidate, or a message that says what to type instead."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.errors import UsageError
from fswizard.filesystems import catalogue, parse_candidate, parse_candidates, parse_needs
from fswizard.filesystems.suggestions import suggestions
from fswizard.model.drive import SmrKind
from tests.builders import make_drive


@pytest.mark.parametrize(
    ("typed", "canonical"),
    [
        ("ext4", "ext4"),
        (" XFS : noatime ", "xfs:noatime"),
        ("btrfs:noatime,compress=zstd:1", "btrfs:noatime,compress=zstd:1"),
        ("btrfs:metadata=single, compress=lzo, noatime", "btrfs:noatime,compress=lzo,metadata=single"),
        ("ext4:packed_meta_blocks,commit=30", "ext4:commit=30,packed_meta_blocks"),
        ("btrfs:discard", "btrfs:discard"),
        ("btrfs:discard=async", "btrfs:discard=async"),
    ],
)
def test_a_candidate_gets_its_canonical_name(typed: str, canonical: str) -> None:
    assert parse_candidate(typed).name == canonical
    assert parse_candidate(canonical).name == canonical


def test_options_reach_the_right_program() -> None:
    candidate = parse_candidate("ext4:noatime,packed_meta_blocks")
    assert candidate.mkfs_command("DEVICE", scratch=False) == ("mkfs.ext4", "-E", "packed_meta_blocks=1", "DEVICE")
    assert candidate.mount_command("DEVICE", "DIR") == ("mount", "-t", "ext4", "-o", "noatime", "DEVICE", "DIR")
    measured = candidate.mkfs_command("DEVICE", scratch=True)
    assert measured[-2:] == ("lazy_itable_init=0,lazy_journal_init=0,nodiscard,packed_meta_blocks=1", "DEVICE")


@pytest.mark.parametrize(
    ("typed", "message", "hint"),
    [
        ("btfs", "The filesystem btfs is not known.", "Did you mean btrfs?"),
        ("", "No candidate was named.", "ext4; xfs:noatime"),
        (":noatime", "A candidate has no filesystem.", "ext4, xfs, btrfs"),
        ("ext4:noatim", "ext4 has no option noatim.", "Did you mean noatime?"),
        ("ext4:", "ext4: an option is empty.", "commas"),
        ("ext4:noatime,,lazytime", "ext4: an option is empty.", "commas"),
        ("ext4:noatime=1", "ext4: the option noatime takes no value.", "noatime alone"),
        ("ext4:commit", "ext4: the option commit needs a value.", "commit=30"),
        ("ext4:commit=", "ext4: the option commit needs a value.", "commit=30"),
        ("btrfs:compress=zstd:99", "btrfs: the option compress does not take the value zstd:99.", "compress=zstd:1"),
        ("ext4:noatime,relatime", "ext4: noatime and relatime do not go together.", "Leave one"),
        ("ext4:commit=5,commit=30", "ext4: commit=5 and commit=30 do not go together.", "Leave one"),
        ("xfs:rmapbt=1,rmapbt=0", "xfs: rmapbt=1 and rmapbt=0 do not go together.", "Leave one"),
        ("ext4:noatime,noatime", "ext4: the option noatime was named twice.", "once"),
        ("ext4; xfs; EXT4", "The candidate ext4 was named twice.", "once"),
        (
            "ext4:noatime,commit=9; ext4:commit=9,noatime",
            "The candidate ext4:noatime,commit=9 was named twice.",
            "once",
        ),
        ("ext4:x\x1b[31m", "ext4 has no option x\\x1b[31m.", "Known:"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_type(typed: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_candidates(typed)
    assert raised.value.message == message
    assert hint in raised.value.hint


def test_an_offer_of_values_never_names_an_unsafe_one() -> None:
    with pytest.raises(UsageError) as raised:
        parse_candidate("ext4:data=fast")
    assert raised.value.hint == "Such as: data=journal."


@given(st.text(max_size=60) | st.from_regex(r"(ext4|xfs|btrfs):[a-z=:,_0-9 ]{0,40}", fullmatch=True))
def test_any_text_is_either_a_candidate_with_a_stable_name_or_refused(text: str) -> None:
    with contextlib.suppress(UsageError):
        for candidate in parse_candidates(text):
            assert parse_candidate(candidate.name) == candidate


@given(st.data())
def test_options_in_any_order_mean_the_same(data: st.DataObject) -> None:
    filesystem = catalogue()[data.draw(st.sampled_from(["ext4", "xfs", "btrfs"]))]
    tokens = [f"{option.name}={value}" for option in filesystem.mount_options for value in option.values]
    tokens += [option.name for option in filesystem.mkfs_options]
    chosen = data.draw(st.lists(st.sampled_from(tokens), min_size=1, max_size=4, unique=True))
    names = set()
    for order in (chosen, chosen[::-1]):
        with contextlib.suppress(UsageError):
            names.add(parse_candidate(f"{filesystem.name}:{','.join(order)}").name)
    assert len(names) <= 1


def test_unsafe_options_are_found() -> None:
    assert list(parse_candidate("ext4:nobarrier,noatime,nojournal").unsafe_options) == [
        "nobarrier",
        "nojournal",
    ]
    assert parse_candidate("ext4:data=journal").unsafe_options == ()
    assert list(parse_candidate("ext4:data=writeback").unsafe_options) == ["data=writeback"]


@pytest.mark.parametrize("smr", ["drive-managed", "host-managed", "host-aware", "cmr", "unknown", "not-a-hard-disk"])
@pytest.mark.parametrize("kind", ["hdd", "ssd", "nvme", "flash-card", "virtual"])
@pytest.mark.parametrize("bus", ["sata", "usb"])
def test_suggestions_are_candidates_that_risk_nothing(smr: SmrKind, kind: str, bus: str) -> None:
    offered = suggestions(make_drive(smr, kind=kind, bus=bus, rotational=kind == "hdd"))
    names = [suggestion.candidate_name for suggestion in offered]
    candidates = parse_candidates(";".join(names))
    assert [candidate.name for candidate in candidates] == names, "names are canonical"
    assert all(not candidate.unsafe_options for candidate in candidates)
    assert all(suggestion.reason.endswith(".") for suggestion in offered)


def test_a_shingled_disk_gets_its_metadata_in_one_place() -> None:
    assert suggestions(make_drive("drive-managed"))[0].candidate_name == "ext4:noatime,packed_meta_blocks"


def test_ext4_is_not_suggested_for_a_host_managed_disk() -> None:
    assert all("ext4" not in suggestion.candidate_name for suggestion in suggestions(make_drive("host-managed")))


def test_needs_are_read_and_compared() -> None:
    needs = parse_needs("Checksums, shrink,checksums")
    assert needs == ("checksums", "shrink")
    assert parse_candidate("btrfs").lacking(needs) == ()
    assert parse_candidate("ext4").lacking(needs) == ("checksums",), "metadata only is not enough"
    assert parse_candidate("xfs").lacking(needs) == ("checksums", "shrink")


def test_an_unknown_need_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError) as raised:
        parse_needs("checksum")
    assert raised.value.hint.startswith("Did you mean checksums? Known: checksums, compression,")


def test_zonefs_is_known_but_nothing_could_run_on_it() -> None:
    with pytest.raises(UsageError, match="lets nobody make another file") as raised:
        parse_candidate("zonefs")
    assert "f2fs" in raised.value.hint
