"""What is no request is none, however it comes in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.privileged import protocol
from fswizard.privileged.protocol import MAXIMUM_LINE_BYTES, Refusal

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
        "handle": 1, "job": 1, "reading": True, "cwd": "/c", "filesystem": "ext4", "arguments": [],
        "options": ["noatime"], "argv": ["true"], "env": {"A": "b"}, "memory_bytes": 0,
        "number": "8:16", "diskseq": 7, "size_bytes": 1 << 30, "serial": "Z84", "shown": "ext4",
        "blocks": [7], "pause_us": 0,
        "counted": [], "pool": "x",
        "handles": [1, 2], "level": "5", "chunk_kib": 64, "bitmap": "none", "missing": 1,
        "rw": "write", "block_bytes": 4096, "io_bytes": 1 << 20, "milliseconds": 500, "depth": 8, "jobs": 1,
        "io_engine": "libaio", "direct": True, "seed": 1,
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
