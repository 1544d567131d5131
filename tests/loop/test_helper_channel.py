"""The channel takes whatever comes: what is no request is an error and changes nothing, nor is the helper's own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from fswizard.privileged.protocol import MAXIMUM_LINE_BYTES, VERBS, VERSION, Refusal, request
from fswizard.privileged.server import MAXIMUM_UNSENT_BYTES
from tests.loop.channel import (
    BARE,
    ENCRYPTED,
    HELPER,
    SET_UP,
    Channel,
    attached,
    called_directly,
    changed_helper,
    children,
)
from tests.loop.machine_state import LIMIT_S, alive, device_of, process_named, wait_until

pytestmark = [pytest.mark.root, pytest.mark.loop]

HOSTILE: list[Any] = [
    None, True, -1, 2, 1.5, 10**17, "", "1", "x" * 5000, "../../etc/passwd", "/etc/passwd", "/dev/sda", "/proc/1/mem",
    "a\nb", "a\0b", "\ud800", "\u202e", "$(reboot)", "`id`", "--help", [], {}, [[]], [None], ["\0"], {"a": 1},
    {"a": []},
]  # fmt: skip


def requests(directory: Path) -> dict[str, dict[str, Any]]:
    """One of each verb, all right but for what the test does to it."""
    return {
        "hello": {},
        "attach": {"size_bytes": 64 << 20},
        "claim": {"number": "8:9999", "diskseq": 1, "size_bytes": 1 << 30, "serial": "Z84", "shown": ""},
        "wipe": {"handle": 1},
        "copy": {"handle": 1, "source": 1},
        "inspect": {"handle": 1, "reading": True},
        "bare": {"handle": 1, **BARE},
        "mkfs": {"handle": 1, "filesystem": "ext4", "arguments": ["-q"]},
        "join": {"handles": [1, 1]},
        "array": {"handle": 1, "level": "5", "chunk_kib": 64, "bitmap": "none", "missing": 0},
        "encrypt": {"handle": 1, **ENCRYPTED},
        "build": {"handle": 1, "filesystem": "btrfs", "arguments": ["-q"], "level": "raid1", "missing": 0},
        "mount": {"handle": 1, "filesystem": "ext4", "options": []},
        "umount": {"handle": 1},
        "detach": {"handle": 1},
        "health": {"handle": 1, "counted": ["ext4-sysfs"]},
        "reclaim": {"pool": "tank"},
        "sync": {"handle": 1},
        "set_up": SET_UP,
        "run": {"argv": ["touch", str(directory / "evil")], "cwd": str(directory), "env": {}, "memory_bytes": 0},
        "kill": {"job": 1},
    }


HARMLESS: dict[str, list[Any]] = {
    "options": [[]], "arguments": [[]], "env": [{}], "blocks": [[]], "counted": [[]], "reading": [True],
    "cwd": ["/etc/passwd", "/dev/sda", "/proc/1/mem"],
    "id": [True, 2], "job": [True, 2], "direct": [True], "depth": [2], "jobs": [2], "seed": [2], "milliseconds": [2],
}  # fmt: skip
"""Of the values above, those that are right in a field."""
NO_VERBS = ("exec", "Wipe", "wipe ", "__init__", "carry_out", "_wipe", "mkfs\0", ["wipe"], {"wipe": 1})
FURTHER = ("device", "force", "ID", "__class__", "", "image ")
NO_OBJECTS = (
    b"[" * 50_000, b'{"a":' * 20_000, b"9" * 10_000, b'{"id":' + b"9" * 5000 + b',"verb":"hello"}',
    b'{"id":NaN,"verb":"hello"}', b'{"id":1e3,"verb":"hello"}', b'{"id":1,"id":2,"verb":"wipe","handle":1}',
    b'{"id":1,"verb":"hello","verb":"wipe","handle":1}', b'\xef\xbb\xbf{"id":1,"verb":"hello"}',
    b'{"id":1,"verb":"hell\xff"}', b'{"id":1,"verb":"hello"} {"id":2,"verb":"hello"}', b"null", b'"wipe"', b"[]",
    b"{}", b"", b"\r", b"\0" * 100,
)  # fmt: skip


def broken(templates: dict[str, dict[str, Any]]) -> Iterator[bytes]:
    """Each request cut off, with a field less, with one more, and with each hostile value in each of its fields."""
    for verb, fields in templates.items():
        message = {"id": 1, "verb": verb, **fields}
        yield from (json.dumps(message).encode()[:length] for length in range(1, len(json.dumps(message)), 7))
        for name in message:
            values = [*HOSTILE, *NO_VERBS] if name == "verb" else HOSTILE
            changed = [{**message, name: value} for value in values if value not in HARMLESS.get(name, [])]
            less = {other: value for other, value in message.items() if other != name}
            yield from (json.dumps(each).encode() for each in (less, *changed))
        yield from (json.dumps({**message, name: value}).encode() for name in FURTHER for value in HOSTILE)
    yield from NO_OBJECTS


def is_request(line: bytes) -> bool:
    """In form, whatever its values."""
    try:
        return bool(request(line))
    except Refusal:
        return False


def test_broken_messages_change_nothing(tmp_path: Path) -> None:
    content = os.urandom(1 << 20) * 64
    templates = requests(tmp_path)
    assert templates.keys() == VERBS.keys()
    lines = [*broken(templates)]
    with attached(tmp_path) as (channel, _):
        device_of(tmp_path).write_bytes(content)
        channel.ask("hello")  # it makes the cgroup, and keeps it open
        descriptors = len(os.listdir(f"/proc/{channel.helper_pid}/fd"))
        for line, answer in zip(lines, channel.send_all(lines)):
            assert "error" in answer, (line, answer)
            assert is_request(line) or answer["error"]["code"] == "invalid", (line, answer)
        assert channel.ask("hello")["ok"]["protocol"] == VERSION
        assert children(channel.helper_pid) == []
        assert "/run/fswizard" not in Path(f"/proc/{channel.helper_pid}/mountinfo").read_text()
        assert len(os.listdir(f"/proc/{channel.helper_pid}/fd")) == descriptors
        assert device_of(tmp_path).read_bytes() == content
        assert not list(tmp_path.iterdir())


def test_a_line_that_is_too_long_is_one_error_and_the_next_is_read() -> None:
    with Channel() as channel:
        for length in (MAXIMUM_LINE_BYTES + 1, 3 * MAXIMUM_LINE_BYTES, 20 * MAXIMUM_LINE_BYTES):
            padding = b" " * (length - len(b'{"id":7,"verb":"hello"}'))
            answers = list(channel.send_all([b'{"id":7,"verb":"hello"' + padding + b"}", b'{"id":8,"verb":"hello"}']))
            assert answers[0]["id"] is None
            assert answers[0]["error"]["code"] == "invalid"
            assert answers[1]["id"] == 8
            assert "ok" in answers[1]
        line = b'{"id":7,"verb":"hello"'.ljust(MAXIMUM_LINE_BYTES - 1) + b"}\n"
        for start in range(0, len(line), 100_003):  # as long as the limit, and in pieces
            channel.line.sendall(line[start : start + 100_003])
        assert "ok" in channel.receive()


def test_a_client_that_does_not_read_delays_no_program(tmp_path: Path) -> None:
    """How long a program took is measured rightly although its output waits."""
    with Channel() as channel:
        began = time.monotonic()
        channel.run(tmp_path, "sh", "-c", "head -c 5000000 /dev/zero; touch done")
        wait_until((tmp_path / "done").exists, LIMIT_S, "a program ends although nobody reads")
        wait_until(lambda: not children(channel.helper_pid), LIMIT_S, "the helper notices the end of a program")
        ended_s = time.monotonic() - began
        while "ended" not in (message := channel.receive()):
            pass
        assert message["ended"]["wall_s"] < ended_s


def test_a_client_that_never_reads_is_not_listened_to_for_ever(tmp_path: Path) -> None:
    """What waits for it is bounded, and all comes once it reads."""
    whole = 24_000_000
    with Channel() as channel:
        channel.run(tmp_path, "head", "-c", str(whole), "/dev/zero")
        program = Path(f"/proc/{process_named('head', channel.process.pid)}/io")
        seen = [0]

        def at_rest() -> bool:
            """The program has written, and no more since the last look."""
            seen.append(int(program.read_text().split("wchar: ")[1].split()[0]))
            return seen[-1] > MAXIMUM_UNSENT_BYTES // 2 and seen[-1] == seen[-2]

        wait_until(at_rest, LIMIT_S, "a program waits for the client to read")
        assert seen[-1] < 2 * MAXIMUM_UNSENT_BYTES < whole
        received = 0
        while "ended" not in (message := channel.receive()):
            received += len(message.get("data", "")) * 3 // 4
        assert received >= whole


def test_the_helper_leaves_it_to_the_client_what_a_signal_means(tmp_path: Path) -> None:
    with Channel() as channel:
        channel.run(tmp_path, "sleep", "1000")
        program = channel.receive()["ok"]["pid"]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            os.kill(channel.helper_pid, number)
            assert "ok" in channel.ask("hello")
        assert len(alive(map(psutil.Process, (channel.helper_pid, program)))) == 2


FAULTS = {
    "self._jobs.kill(job)": "self._jobs.kill(job / 0)",
    "volume.made, volume.content = filesystem": "volume.made, volume.content = made_of_nothing",
}
"""In an answer, and at the end of a job."""


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    """The helper, with faults."""
    return changed_helper(tmp_path, FAULTS)


def test_an_error_that_nobody_thought_of_is_an_answer_and_not_the_end(faulty: Path, tmp_path: Path) -> None:
    with Channel(program=faulty) as channel:
        handle = channel.attach(tmp_path)
        pid = channel.helper_pid
        error = channel.ask("kill", job=1)["error"]
        assert error["code"] == "failed"
        assert "unexpected error: ZeroDivisionError" in error["text"]
        ended = channel.ask("mkfs", handle=handle, filesystem="ext4", arguments=["-q"])["ended"]
        assert ended["exit_code"] != 0
        assert "unexpected error: NameError" in ended["error"]
        assert channel.ask("mount", handle=handle, filesystem="ext4", options=[])["error"]["code"] == "refused"
        assert "ok" in channel.ask("detach", handle=handle)
        assert channel.helper_pid == pid


def test_without_a_socket_no_image_comes_and_that_is_said() -> None:
    """As where sudo records what is typed, and stands between with pipes."""
    orders = [{"id": 1, "verb": "attach", "size_bytes": 64 << 20}, {"id": 2, "verb": "hello"}]
    lines = "".join(json.dumps(order) + "\n" for order in orders)
    environment = called_directly()
    done = subprocess.run([*HELPER, "images"], input=lines, capture_output=True, text=True, check=True, env=environment)
    attach, hello = map(json.loads, done.stdout.splitlines())
    assert attach["error"] == {"code": "invalid", "text": "attach: no descriptor came with it"}
    assert hello["ok"]["uid"] == 0
