"""The helper without its client: what goes over the channel, byte by byte."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import fswizard.privileged

PROGRAM = Path(fswizard.privileged.__file__).with_name("__main__.py")
NAMESPACES = ["unshare", "--mount", "--propagation", "slave", "--pid", "--fork", "--kill-child"]


class Channel:
    """A helper that is talked to in raw lines."""

    def __init__(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SUDO_")}
        command = [*NAMESPACES, "/usr/bin/python3", "-I", "-S", "-B", str(PROGRAM)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._last_id = 0

    def __enter__(self) -> Channel:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()

    @property
    def helper_pid(self) -> int:
        return children(self.process.pid)[0]

    def ask(self, verb: str, **fields: Any) -> dict[str, Any]:
        """The answer to one request, or for a job the telling of its end."""
        self._last_id += 1
        self.send(json.dumps({"id": self._last_id, "verb": verb, **fields}).encode())
        while True:
            message = self.receive()
            if "ended" in message or ("id" in message and "job" not in message.get("ok", {})):
                return message

    def send(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

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
        yield channel, channel.ask("attach", image=str(image))["ok"]["handle"]


def make_image(directory: Path, size_bytes: int = 320 << 20) -> Path:
    """Sparse, so that the many images of a test run take little room."""
    image = directory / "image"
    with image.open("wb") as file:
        file.truncate(size_bytes)
    return image


def make_mount_point(directory: Path) -> Path:
    mount_point = directory / "mount"
    mount_point.mkdir()
    return mount_point


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def loop_devices_of(image: Path) -> list[str]:
    """Loop devices on `image`, as the host sees them."""
    found = subprocess.run(
        ["losetup", "--noheadings", "--output", "NAME", "--associated", str(image)],
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.split()
