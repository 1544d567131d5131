"""The channel: one JSON object a line, of bounded length, every field named and typed.

Request: `{"id": 1, "verb": "detach", "handle": 1}`. Answer: `{"id": 1, "ok": {...}}` or
`{"id": 1, "error": {"code": "refused", "text": "..."}}`. The answer to what starts a job is
`{"job": 3, "pid": 4711, "commands": [["mkfs.ext4", "-q", "/dev/loop0"], ...]}`: what it runs, word for word; `pid` is 0
for what is not the user's. Of the job: `{"job": 3, "output": "stdout", "data": BASE64}`
and `{"job": 3, "ended": {...}}`, with `"over_memory": true` in it where a process was killed for its memory limit. Any
other line changes nothing and is answered with an error. A program of the user's that could not begin has
`"refused": {"code": "missing", "text": "..."}` in its end.

`attach` takes the descriptor of a directory, which comes with it (SCM_RIGHTS in unix(7)). It starts a job, whose
end describes the device: `"attached": {"handle": 1, "name": "loop1000", ...}`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

VERSION = 13
"""Both sides must speak the same one."""
MAXIMUM_LINE_BYTES = 1 << 20
MAXIMUM_DIGITS = 18

Code = Literal["invalid", "refused", "missing", "busy", "failed"]


class Refusal(Exception):
    """A request is not carried out; nothing was changed by it."""

    def __init__(self, code: Code, text: str, request: int | None = None, *, hint: str = "") -> None:
        """`request` is the ID on a line that is refused as a request, if it has one; `hint` is what to do, if known."""
        super().__init__(text)
        self.code = code
        self.text = text
        self.request = request
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Request:
    id: int
    verb: str
    fields: Mapping[str, Any]


def is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


def is_truth(value: object) -> bool:
    return isinstance(value, bool)


def is_text(value: object) -> bool:
    """A string that a system call can take: encodable, without NUL."""
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        return False
    return True


def is_path(value: object) -> bool:
    return is_text(value) and str(value).startswith("/")


def is_texts(value: object) -> bool:
    return isinstance(value, list) and all(is_text(item) for item in value)


def is_numbers(value: object) -> bool:
    return isinstance(value, list) and all(is_number(item) for item in value)


def is_command(value: object) -> bool:
    return is_texts(value) and bool(value) and bool(value[0])  # type: ignore[index]


def is_environment(value: object) -> bool:
    return isinstance(value, dict) and all(is_text(item) for pair in value.items() for item in pair)


VERBS: Mapping[str, Mapping[str, Callable[[object], bool]]] = {
    "hello": {},
    "attach": {"size_bytes": is_number},
    "claim": {"number": is_text, "diskseq": is_number, "size_bytes": is_number, "serial": is_text, "shown": is_text},
    "wipe": {"handle": is_number},
    "inspect": {"handle": is_number, "reading": is_truth},
    "bare": {
        "handle": is_number,
        "rw": is_text,
        "block_bytes": is_number,
        "size_bytes": is_number,
        "io_bytes": is_number,
        "milliseconds": is_number,
        "depth": is_number,
        "jobs": is_number,
        "io_engine": is_text,
        "direct": is_truth,
        "seed": is_number,
    },
    "copy": {"handle": is_number, "source": is_number},
    "mkfs": {"handle": is_number, "filesystem": is_text, "arguments": is_texts},
    "join": {"handles": is_numbers},
    "array": {"handle": is_number, "level": is_text, "chunk_kib": is_number, "bitmap": is_text, "missing": is_number},
    "encrypt": {
        "handle": is_number,
        "cipher": is_text,
        "key_bits": is_number,
        "sector_bytes": is_number,
        "workqueues": is_truth,
        "discards": is_truth,
    },
    "build": {
        "handle": is_number,
        "filesystem": is_text,
        "arguments": is_texts,
        "level": is_text,
        "missing": is_number,
    },
    "mount": {"handle": is_number, "filesystem": is_text, "options": is_texts},
    "umount": {"handle": is_number},
    "detach": {"handle": is_number},
    "health": {"handle": is_number, "counted": is_texts},
    "reclaim": {"pool": is_text},
    "sync": {"handle": is_number},
    "set_up": {
        "number": is_text,
        "diskseq": is_number,
        "size_bytes": is_number,
        "serial": is_text,
        "shown": is_text,
        "filesystem": is_text,
        "arguments": is_texts,
        "mount_type": is_text,
        "options": is_texts,
        "fsck_pass": is_number,
        "partition": is_truth,
        "label": is_text,
        "mount_point": is_text,
        "owner": is_text,
        "may_be_absent": is_truth,
    },
    "run": {"argv": is_command, "cwd": is_path, "env": is_environment, "memory_bytes": is_number},
    "kill": {"job": is_number},
}
"""Everything that can be asked, with the type of every field. All fields are required, others are refused."""


def lines(pending: bytearray, data: bytes) -> Iterator[bytes | None]:
    """Add `data` to `pending` and take the whole lines out of it; None for one that is too long."""
    pending += data
    while (end := pending.find(b"\n")) >= 0:
        line = bytes(pending[:end])
        del pending[: end + 1]
        yield line if len(line) <= MAXIMUM_LINE_BYTES else None
    if len(pending) > MAXIMUM_LINE_BYTES:
        del pending[MAXIMUM_LINE_BYTES + 1 :]  # the rest is passed over; what stays marks the line as too long


def request(line: bytes) -> Request:
    """The request on `line`; Refusal where it is none, to the letter."""
    try:
        message = json.loads(
            line.decode("utf-8"), parse_int=_small_int, parse_constant=_no_constant, object_pairs_hook=_distinct
        )
    except (ValueError, RecursionError) as error:
        raise Refusal("invalid", f"not a JSON object: {type(error).__name__}") from error
    if not isinstance(message, dict):
        raise Refusal("invalid", "not a JSON object")
    number, verb = message.pop("id", None), message.pop("verb", None)
    if not is_number(number):
        raise Refusal("invalid", "`id` must be a number")
    if not isinstance(verb, str) or verb not in VERBS:
        raise Refusal("invalid", f"no such verb: {verb!r:.40}", number)
    expected = VERBS[verb]
    if missing := expected.keys() - message.keys():
        raise Refusal("invalid", f"{verb}: missing {', '.join(sorted(missing))}", number)
    if unknown := message.keys() - expected.keys():
        raise Refusal("invalid", f"{verb}: unknown field {min(unknown)!r:.40}", number)
    for name, fits in expected.items():
        if not fits(message[name]):
            raise Refusal("invalid", f"{verb}: `{name}` is not what was expected", number)
    return Request(number, verb, message)


def _small_int(digits: str) -> int:
    if len(digits) > MAXIMUM_DIGITS:
        raise ValueError("number out of range")
    return int(digits)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Two values for one key could be checked as one and used as the other."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key appears twice")
    return fields
