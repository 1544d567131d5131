"""What is no request is none, and what the helper allows is what the catalogue offers and nothing that is nearly so."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.filesystems import catalogue, parse_candidate
from fswizard.model.filesystem import Filesystem
from fswizard.privileged import commands, disk_errors, protocol
from fswizard.privileged.grammar import ALWAYS, MKFS, MOUNT_OPTIONS, ON_ERROR, require_mkfs, require_mount
from fswizard.privileged.protocol import MAXIMUM_LINE_BYTES, Refusal
from fswizard.privileged.volumes import Volume

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


def taken(pieces: list[bytes]) -> Iterator[bytes | None]:
    pending = bytearray()
    for piece in pieces:
        yield from protocol.lines(pending, piece)


@given(st.lists(st.binary(max_size=50).map(lambda line: line.replace(b"\n", b"")), max_size=10), st.data())
def test_lines_come_whole_however_the_channel_cuts_them(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)])]
    assert list(taken(pieces)) == lines


def test_a_line_that_is_too_long_is_told_once_and_kept_nowhere() -> None:
    pending = bytearray()
    for _ in range(100):
        assert list(protocol.lines(pending, b"x" * 65536)) == []
        assert len(pending) <= MAXIMUM_LINE_BYTES + 1
    assert list(protocol.lines(pending, b"\nnext\n")) == [None, b"next"]


@given(st.binary(max_size=200))
def test_reading_noise_ends_in_a_refusal(line: bytes) -> None:
    with pytest.raises(Refusal) as refused:
        protocol.request(line)
    assert refused.value.code == "invalid"


@given(st.dictionaries(st.sampled_from(["id", "verb", "handle", "argv", "cwd", "env", "job", "image"]), JSON))
def test_a_request_has_its_verbs_fields_and_no_others(message: dict[str, object]) -> None:
    with suppress(Refusal):
        request = protocol.request(json.dumps(message).encode())
        assert request.fields.keys() == protocol.VERBS[request.verb].keys()


@pytest.mark.parametrize("verb", sorted(protocol.VERBS))
def test_a_field_of_another_type_is_refused(verb: str) -> None:
    right = {
        "handle": 1, "source": 2, "job": 1, "reading": True, "cwd": "/c", "filesystem": "ext4", "arguments": [],
        "options": ["noatime"], "argv": ["true"], "env": {"A": "b"}, "memory_bytes": 0,
        "number": "8:16", "diskseq": 7, "size_bytes": 1 << 30, "serial": "Z84", "shown": "ext4",
        "blocks": [7], "pause_us": 0,
        "counted": [], "pool": "x",
        "handles": [1, 2], "level": "5", "chunk_kib": 64, "bitmap": "none", "missing": 1,
        "cipher": "adiantum", "key_bits": 512, "sector_bytes": 4096, "workqueues": True, "discards": True,
        "rw": "write", "block_bytes": 4096, "io_bytes": 1 << 20, "milliseconds": 500, "depth": 8, "jobs": 1,
        "io_engine": "libaio", "direct": True, "seed": 1,
        "mount_type": "ext4", "fsck_pass": 2, "partition": True, "label": "data", "mount_point": "/mnt/data",
        "owner": "anna", "may_be_absent": True,
    }  # fmt: skip
    fields = {name: right[name] for name in protocol.VERBS[verb]}
    assert protocol.request(json.dumps({"id": 1, "verb": verb, **fields}).encode()).fields == fields
    for name, value in fields.items():
        for wrong in (None, True, -1, 1.0, 1 << 53, "a\0b", "\ud800", [1.5], [None], {"a": 1}, {"a\0": "b"}):
            if wrong is not value:
                with pytest.raises(Refusal):
                    protocol.request(json.dumps({"id": 1, "verb": verb, **fields, name: wrong}).encode())


@given(st.text(max_size=50))
def test_text_that_is_taken_can_be_handed_to_the_kernel(text: str) -> None:
    if protocol.is_text(text):
        assert b"\0" not in text.encode("utf-8", "surrogateescape")


def test_a_file_name_that_is_no_text_comes_through() -> None:
    path = b"/tmp/\xff\xfe".decode("utf-8", "surrogateescape")
    order = {"id": 1, "verb": "run", "argv": ["true"], "cwd": path, "env": {}, "memory_bytes": 0}
    assert protocol.request(json.dumps(order).encode()).fields["cwd"] == path


@pytest.mark.parametrize("line", [b'{"a":1,"a":2}', b'{"a":NaN}', b'{"a":' + b"9" * 30 + b"}", b"[" * 100_000, b"1"])
def test_json_that_two_readers_could_read_differently_is_refused(line: bytes) -> None:
    with pytest.raises(Refusal, match="not a JSON object"):
        protocol.request(line)


# What the helper allows


WORDS = st.from_regex(r"[\w,=/ :^.-]{1,40}", fullmatch=True)
FLAGS = [(name, flag) for name, mkfs in sorted(MKFS.items()) for flag in mkfs.flags]
every_filesystem = pytest.mark.parametrize("filesystem", catalogue().values(), ids=lambda filesystem: filesystem.name)


def mounted(mount_type: str, *options: str) -> list[str]:
    """All options that it is mounted with."""
    names = commands.DeviceNames(("/dev/loop0",), "/dev/loop0", "", "", "/m")
    command = commands.mount(names, mount_type, options, 1000, 1000)[0]
    return command[command.index("-o") + 1].split(",")


def is_harmless(value: str) -> bool:
    return not re.search(r"[/\s]|\A-", value)


@every_filesystem
def test_every_filesystem_and_each_of_its_options_passes_the_helpers_grammar(filesystem: Filesystem) -> None:
    tokens = ["", *(f":{token}" for option in filesystem.options for token in option.tokens)]
    for candidate in (parse_candidate(f"{filesystem.name}{token}") for token in tokens):
        for scratch in (True, False):
            arguments = candidate.mkfs_arguments(scratch=scratch)
            assert require_mkfs(filesystem.name, arguments) == filesystem.mkfs_program
        if not filesystem.pool:
            require_mount(filesystem.mount_type, candidate.mount_options)
            given = mounted(filesystem.mount_type, *candidate.mount_options)
            assert {*commands.kernel_options(candidate.mount_options)} <= {*given} and tuple(given[-2:]) == ALWAYS


@every_filesystem
def test_every_error_counter_is_one_that_the_helper_reads(filesystem: Filesystem) -> None:
    assert set(filesystem.error_counters) <= {*disk_errors.KINDS, disk_errors.ZPOOL}


def test_counters_that_are_not_on_the_list_are_refused() -> None:
    with pytest.raises(Refusal, match="no such counters: '/etc/passwd'"):
        disk_errors.read_counters(cast(Volume, None), ["/etc/passwd"])


@given(st.sampled_from(sorted(MKFS)), st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=6))
def test_free_text_is_never_an_argument_of_mkfs(filesystem: str, arguments: list[str]) -> None:
    """Whatever gets through consists of known flags, and of values without a path, a blank or a leading dash."""
    with suppress(Refusal):
        require_mkfs(filesystem, arguments)
        assert all(argument in MKFS[filesystem].flags or is_harmless(argument) for argument in arguments)


@given(st.sampled_from(FLAGS), WORDS)
def test_values_of_known_flags_hold_no_path_blank_or_leading_dash(flag: tuple[str, str], value: str) -> None:
    with suppress(Refusal):
        require_mkfs(flag[0], [flag[1], value])
        assert is_harmless(value)


@given(st.sampled_from(sorted(MOUNT_OPTIONS)), WORDS)
def test_mount_options_hold_no_path_and_no_second_option(mount_type: str, option: str) -> None:
    with suppress(Refusal):
        require_mount(mount_type, [option])
        assert is_harmless(option)
        assert "," not in option


@pytest.mark.parametrize("name", sorted(MOUNT_OPTIONS))
def test_no_superblock_and_no_option_makes_an_error_end_the_machine(name: str) -> None:
    assert {*mounted(name)} >= {*ALWAYS, *filter(None, [ON_ERROR.get(name)])}
    for option in ("errors=panic", "errors=continue", "fatal_errors=bug"):
        with pytest.raises(Refusal):
            require_mount(name, [option])


@pytest.mark.parametrize(("name", "flag"), [(name, flag) for name, flag in FLAGS if MKFS[name].flags[flag]])
def test_no_flag_of_mkfs_takes_a_path(name: str, flag: str) -> None:
    for value in ("/dev/sda", "../x", "-d", "a b", "a\n", "a,", ",a", ""):
        with pytest.raises(Refusal):
            require_mkfs(name, [flag, value])
