"""The helper without its client: what goes over the channel, byte by byte."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import fswizard.privileged
from fswizard.privileged import rights

PROGRAM = Path(fswizard.privileged.__file__).with_name("__main__.py")
HELPER = ["/usr/bin/python3", "-I", "-S", "-B", "-X", "utf8", str(PROGRAM)]
"""Before the right for which it is started."""


class Channel:
    """A helper that is talked to in raw lines."""

    def __init__(
        self, right: str = rights.IMAGES, program: Path = PROGRAM, before: Sequence[str] = (), **variables: str
    ) -> None:
        """`before` starts the helper, with `variables` in its environment."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SUDO_")} | variables
        command = [*before, *HELPER[:-1], str(program), right]
        self.line, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, env=environment)
        self._last_id = 0

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

    def ask(self, verb: str, given: int | None = None, **fields: Any) -> dict[str, Any]:
        """The answer to one request, or for a job the telling of its end. The descriptor that is given is closed."""
        self._last_id += 1
        message = json.dumps({"id": self._last_id, "verb": verb, **fields}).encode()
        if given is None:
            self.send(message)
        else:
            socket.send_fds(self.line, [message + b"\n"], [given])
            os.close(given)
        while True:
            message = self.receive()
            if "ended" in message or ("id" in message and "job" not in message.get("ok", {})):
                return message

    def send(self, line: bytes) -> None:
        self.line.sendall(line + b"\n")

    def send_all(self, lines: list[bytes]) -> Iterator[dict[str, Any]]:
        """The messages that come while many lines are sent, up to as many as there are lines."""

        def write() -> None:
            for line in lines:
                self.send(line)

        writer = threading.Thread(target=write)
        writer.start()
        for _ in lines:
            yield self.receive()
        writer.join()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "the helper ended"
        message: dict[str, Any] = json.loads(line)
        return message


@contextmanager
def attached(image: Path) -> Iterator[tuple[Channel, int]]:
    with Channel() as channel:
        yield channel, channel.ask("attach", given=nameless(image))["ok"]["handle"]


def make_image(directory: Path, size_bytes: int = 64 << 20, name: str = "image") -> Path:
    """With all its blocks, of which none was written."""
    image = directory / name
    with image.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, size_bytes)
    return image


def nameless(image: Path) -> int:
    """The open file; its name is gone."""
    descriptor = os.open(image, os.O_RDWR | os.O_CLOEXEC)
    image.unlink()
    return descriptor


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
