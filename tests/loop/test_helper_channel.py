"""The channel takes whatever comes: what is no request is an error and changes nothing, nor is the helper's own."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from fswizard import privileged
from fswizard.privileged.protocol import MAXIMUM_LINE_BYTES, VERBS, VERSION, Refusal, read, request
from fswizard.privileged.server import MAXIMUM_UNSENT_BYTES
from tests.loop.channel import HELPER, Channel, attached, children, make_image
from tests.loop.machine_state import LIMIT_S, alive, device_of, process_named, wait_until

pytestmark = [pytest.mark.root, pytest.mark.loop]

OFTEN = 50
"""Of the messages that are not requests, one in this many also goes to the real helper."""
SEED = 20260101

HOSTILE: list[Any] = [
    None, True, -1, 2, 1.5, 10**17, "", "1", "x" * 5000, "../../etc/passwd", "/etc/passwd", "/dev/sda", "/proc/1/mem",
    "a\nb", "a\0b", "\ud800", "\u202e", "$(reboot)", "`id`", "--help", [], {}, [[]], [None], ["\0"], {"a": 1},
    {"a": []},
]  # fmt: skip


def requests(directory: Path) -> dict[str, dict[str, Any]]:
    """One of each verb, all right but for what the test does to it."""
    return {
        "hello": {},
        "attach": {},
        "claim": {"number": "8:9999", "diskseq": 1, "size_bytes": 1 << 30, "serial": "Z84", "shown": ""},
        "wipe": {"handle": 1},
        "inspect": {"handle": 1, "reading": True},
        "write": {"handle": 1, "blocks": [0], "pause_us": 0},
        "mkfs": {"handle": 1, "filesystem": "ext4", "arguments": ["-q"]},
        "join": {"handles": [1, 1]},
        "array": {"handle": 1, "level": "5", "chunk_kib": 64, "bitmap": "none", "missing": 0},
        "build": {"handle": 1, "filesystem": "btrfs", "arguments": ["-q"], "level": "raid1", "missing": 0},
        "mount": {"handle": 1, "filesystem": "ext4", "options": []},
        "umount": {"handle": 1},
        "detach": {"handle": 1},
        "health": {"handle": 1, "counted": ["ext4-sysfs"]},
        "reclaim": {"pool": "tank"},
        "sync": {"handle": 1},
        "run": {"argv": ["touch", str(directory / "evil")], "cwd": str(directory), "env": {}},
        "kill": {"job": 1},
    }


def without_field(random: random.Random, message: dict[str, Any]) -> bytes:
    del message[random.choice([name for name in message if name != "id" or len(message) == 1])]
    return json.dumps(message).encode()


def with_further_field(random: random.Random, message: dict[str, Any]) -> bytes:
    message[random.choice(["device", "force", "ID", "__class__", "", "image "])] = random.choice(HOSTILE)
    return json.dumps(message).encode()


def with_unknown_verb(random: random.Random, message: dict[str, Any]) -> bytes:
    verbs = ["exec", "Wipe", "wipe ", "__init__", "carry_out", "_wipe", "", "mkfs\0", *map(str, HOSTILE)]
    message["verb"] = random.choice([*verbs, *HOSTILE[:6], ["wipe"], {"wipe": 1}])
    return json.dumps(message).encode()


def with_hostile_value(random: random.Random, message: dict[str, Any]) -> bytes:
    """Nothing hostile is the image, and where it happens to be a right value, another wrong one stands in."""
    right: dict[str, list[Any]] = {
        "options": [[]],
        "arguments": [[]],
        "env": [{}],
        "blocks": [[]],
        "counted": [[]],
        "reading": [True],
        "id": [2, 10**17, 1],
        "job": [2],
    }
    name = random.choice([name for name in message if name != "verb"])
    value = random.choice(HOSTILE)
    message[name] = "wrong" if value in right.get(name, []) else value
    return json.dumps(message).encode()


def cut_off(random: random.Random, message: dict[str, Any]) -> bytes:
    line = json.dumps(message).encode()
    return line[: random.randrange(1, len(line))]


def random_writes(random: random.Random, message: dict[str, Any]) -> bytes:
    return random.randbytes(random.randrange(1, 200)).replace(b"\n", b" ")


def other_json(random: random.Random, message: dict[str, Any]) -> bytes:
    return random.choice(
        [
            b"[" * 50_000,
            b'{"a":' * 20_000,
            b"9" * 10_000,
            b'{"id":' + b"9" * 5000 + b',"verb":"hello"}',
            b'{"id":NaN,"verb":"hello"}',
            b'{"id":1e3,"verb":"hello"}',
            b'{"id":1,"id":2,"verb":"wipe","handle":1}',
            b'{"id":1,"verb":"hello","verb":"wipe","handle":1}',
            b'\xef\xbb\xbf{"id":1,"verb":"hello"}',
            b'{"id":1,"verb":"hell\xff"}',
            b'{"id":1,"verb":"hello"} {"id":2,"verb":"hello"}',
            b"null",
            b'"wipe"',
            b"[]",
            b"{}",
            b"",
            b"\r",
            b"\0" * 100,
        ]
    )


DEFECTS: list[Callable[[random.Random, dict[str, Any]], bytes]] = [
    without_field, with_further_field, with_unknown_verb, with_hostile_value, cut_off, random_writes, other_json,
]  # fmt: skip


def broken(number: int, dice: random.Random, templates: dict[str, dict[str, Any]]) -> bytes:
    verb = dice.choice(list(templates))
    message = {"id": number, "verb": verb, **templates[verb]}
    return dice.choices(DEFECTS, weights=[20, 20, 20, 40, 10, 10, 0.5])[0](dice, message)


def is_request(line: bytes) -> bool:
    try:
        request(read(line))
    except Refusal as refusal:
        assert refusal.code == "invalid"
        return False
    return True


@pytest.mark.parametrize("messages", [20_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_broken_messages_change_nothing(messages: int, tmp_path: Path) -> None:
    """The real helper gets all that are requests in form, and some of the others."""
    content = os.urandom(1 << 20) * 64
    (tmp_path / "image").write_bytes(content)
    templates = requests(tmp_path)
    assert templates.keys() == VERBS.keys()
    dice = random.Random(SEED)
    lines = [broken(number, dice, templates) for number in range(messages)]
    sent = [line for number, line in enumerate(lines) if number % OFTEN == 0 or is_request(line)]
    with attached(tmp_path / "image") as (channel, _):
        descriptors = len(os.listdir(f"/proc/{channel.helper_pid}/fd"))
        for line, answer in zip(sent, channel.send_all(sent)):
            assert "error" in answer, (line, answer)
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
    "volume.made = filesystem": "volume.made = made_of_nothing",
}
"""In an answer, and at the end of a job."""


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    """The helper, with faults."""
    copy = tmp_path / "fswizard" / "privileged"
    shutil.copytree(Path(privileged.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    texts = {path: path.read_text() for path in copy.glob("*.py")}
    for right, wrong in FAULTS.items():
        (path,) = (path for path, text in texts.items() if right in text)
        path.write_text(path.read_text().replace(right, wrong))
    return copy / "__main__.py"


def test_an_error_that_nobody_thought_of_is_an_answer_and_not_the_end(faulty: Path, tmp_path: Path) -> None:
    with Channel(program=faulty) as channel:
        handle = channel.attach(make_image(tmp_path))
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
    orders = [{"id": 1, "verb": "attach"}, {"id": 2, "verb": "hello"}]
    lines = "".join(json.dumps(order) + "\n" for order in orders)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SUDO_")}
    done = subprocess.run([*HELPER, "images"], input=lines, capture_output=True, text=True, check=True, env=environment)
    attach, hello = map(json.loads, done.stdout.splitlines())
    assert attach["error"] == {"code": "invalid", "text": "attach: no descriptor came with it"}
    assert hello["ok"]["uid"] == 0
