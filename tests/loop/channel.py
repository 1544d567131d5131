"""The helper without its client: what goes over the channel, byte by byte."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import fswizard.privileged
from fswizard.drives.devices import find_device
from fswizard.privileged import rights
from fswizard.targets.helper import Helper

PROGRAM = Path(fswizard.privileged.__file__).with_name("__main__.py")
HELPER = ["/usr/bin/python3", "-I", "-S", "-B", "-X", "utf8", str(PROGRAM)]
"""Before the right for which it is started."""

NOBODY = 65534
AS_NOBODY = ("sh", "-c", f'echo {NOBODY} > /proc/self/loginuid && exec "$@"', "sh")
"""Whoever logged in as nobody and came by sudo."""
Answer = dict[str, Any]
BARE: Answer = {
    "rw": "write", "block_bytes": 1 << 20, "size_bytes": 16 << 20, "io_bytes": 4 << 20, "milliseconds": 500,
    "depth": 4, "jobs": 1, "io_engine": "libaio", "direct": True, "seed": 1,
}  # fmt: skip
"""What is asked for on a bare device."""
ENCRYPTED: Answer = {
    "cipher": "aes-xts-plain64", "key_bits": 512, "sector_bytes": 512, "workqueues": True, "discards": False,
}  # fmt: skip
"""What is asked for of an encrypted volume."""
SET_UP: Answer = {
    "number": "8:16", "diskseq": 7, "size_bytes": 1 << 30, "serial": "Z84", "shown": "", "filesystem": "ext4",
    "arguments": [], "mount_type": "ext4", "options": [], "fsck_pass": 2, "partition": False, "label": "data",
    "mount_point": "/mnt/data", "owner": "daemon", "may_be_absent": True,
}  # fmt: skip
"""For a disk that is not there."""


class Channel:
    """A helper that is talked to in raw lines."""

    def __init__(
        self, right: str = rights.IMAGES, program: Path = PROGRAM, before: Sequence[str] = (), **variables: str
    ) -> None:
        """`before` starts the helper, with `variables` in its environment."""
        environment = called_directly() | variables
        command = [*before, *HELPER[:-1], str(program), right]
        self.line, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, env=environment)
        self._last_id = self.last_job = 0
        self._ends: dict[int, Answer] = {}

    def __enter__(self) -> Channel:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self.process.stdout
        self.line.close()
        self.process.wait(60)
        self.process.stdout.close()

    @property
    def helper_pid(self) -> int:
        return children(self.process.pid)[0]

    def ask(self, verb: str, given: int | None = None, **fields: Any) -> Answer:
        """What one request comes to."""
        return self.order((verb, fields), given=given)[0]

    def order(self, *orders: tuple[str, Answer], given: int | None = None, stays: bool = False) -> list[Answer]:
        """What each of the requests that are sent at once comes to: refused, done, or how its job ended.

        A descriptor that is given is closed. A job that `stays` is not waited for.
        """
        lines, numbers = b"", []
        for verb, fields in orders:
            self._last_id += 1
            numbers.append(self._last_id)
            lines += json.dumps({"id": self._last_id, "verb": verb, **fields}).encode() + b"\n"
        if given is None:
            self.line.sendall(lines)
        else:
            socket.send_fds(self.line, [lines], [given])
            os.close(given)
        said: dict[int, Answer] = {}
        while len(said) < len(numbers):
            message = self._take()
            if message.get("id") in numbers:
                said[message["id"]] = message
                self.last_job = max(self.last_job, message.get("ok", {}).get("job", 0))
        return [said[number] if stays else self._come_to(said[number]) for number in numbers]

    def next_answer(self) -> Answer:
        while "id" not in (message := self._take()):
            pass
        return message

    def end(self, job: int) -> Answer:
        """How a job ended, waited for."""
        while job not in self._ends:
            self._take()
        return self._ends.pop(job)

    def _come_to(self, answer: Answer) -> Answer:
        """A job that could not begin was refused, as what never became one."""
        job = answer.get("ok", {}).get("job")
        if job is None:
            return answer
        ended = self.end(job)
        return {"error": ended["refused"]} if "refused" in ended else {"ended": ended}

    def _take(self) -> Answer:
        message = self.receive()
        if "ended" in message:
            self._ends[message["job"]] = message["ended"]
        return message

    def send(self, line: bytes) -> None:
        self.line.sendall(line + b"\n")

    def send_all(self, lines: list[bytes]) -> Iterator[Answer]:
        """The messages that come while many lines are sent, up to as many as there are lines."""

        def write() -> None:
            for line in lines:
                self.send(line)

        writer = threading.Thread(target=write)
        writer.start()
        for _ in lines:
            yield self.receive()
        writer.join()

    def run(self, directory: Path, *argv: str) -> None:
        """Start a program; what comes of it is still to be received."""
        fields = {"argv": argv, "cwd": str(directory), "env": {}, "memory_bytes": 0}
        self.send(json.dumps({"id": 1, "verb": "run", **fields}).encode())

    def receive(self) -> Answer:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "the helper ended"
        message: Answer = json.loads(line)
        return message

    def attach(self, directory: Path, size_bytes: int = 64 << 20) -> int:
        """The handle of a device on an image below a directory."""
        return int(self.ask("attach", given=opened(directory), size_bytes=size_bytes)["ended"]["attached"]["handle"])

    def join(self, directory: Path, size_bytes: int = 64 << 20) -> Answer:
        """What is said of two devices that are one, on images in a directory."""
        handles = [self.attach(directory, size_bytes) for _ in range(2)]
        joined: Answer = self.ask("join", handles=handles)["ok"]
        return joined


@contextmanager
def attached(directory: Path, size_bytes: int = 64 << 20) -> Iterator[tuple[Channel, int]]:
    with Channel() as channel:
        yield channel, channel.attach(directory, size_bytes)


def opened(directory: Path) -> int:
    """A directory as it is named to the helper."""
    return os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)


def make_image(directory: Path, size_bytes: int = 64 << 20, name: str = "image") -> Path:
    """With all its blocks, of which none was written."""
    image = directory / name
    with image.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, size_bytes)
    return image


def nameless(image: Path, flags: int = os.O_RDWR) -> int:
    """The open file; its name is gone."""
    descriptor = os.open(image, flags | os.O_CLOEXEC)
    image.unlink()
    return descriptor


def refused(answer: Answer, *words: str, code: str = "") -> None:
    """Nothing was done, and it is said why."""
    assert "error" in answer, f"not refused: {answer}"
    assert answer["error"]["code"] in ((code,) if code else ("refused", "invalid", "missing")), answer
    assert all(word in answer["error"]["text"] for word in words), answer


def about(path: str) -> Answer:
    """A claim of a device, with all that every user can read: the serial number is no secret."""
    found = find_device(path)
    device, shown = found.device, found.facts.probed.type
    fields = {"number": device.number, "diskseq": device.diskseq, "size_bytes": device.size_bytes}
    return {**fields, "serial": found.identifiers[0], "shown": shown}


def helper_pid(helper: Helper) -> int:
    """Inside its namespaces, below our own child."""
    return children(helper._process.pid)[0]


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def called_directly() -> dict[str, str]:
    """The environment of a program that was not started through sudo."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SUDO_")}


def changed_helper(directory: Path, changes: dict[str, str]) -> Path:
    """The program of a copy of the helper below `directory`, with other words in place of those that stand once."""
    copy = directory / "fswizard" / "privileged"
    shutil.copytree(PROGRAM.parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for right, wrong in changes.items():
        (path,) = (path for path in copy.glob("*.py") if right in path.read_text())
        path.write_text(path.read_text().replace(right, wrong))
    return copy / "__main__.py"
