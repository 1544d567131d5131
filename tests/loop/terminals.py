"""A real terminal around a program: what it shows can be read, its size changed, its connection cut."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.loop.tiny_run import FSWIZARD, LIMIT_S

HOME, ENTER = "\x1b[H", "\r"


@dataclass
class Terminal:
    """The program's controlling terminal, from the user's side."""

    process: subprocess.Popen[bytes]
    master: int
    shown: bytearray = field(default_factory=bytearray)

    def take(self, limit_s: float) -> bool:
        """Read what comes within some time; False when no more can come."""
        if not select.select([self.master], [], [], limit_s)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.shown += data
        return bool(data)

    def read(self, seconds: float = LIMIT_S) -> str:
        """Everything shown so far, after some time or at its end."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and self.take(left):
            pass
        return self.shown.decode("utf-8", "replace")

    def await_text(self, text: str, limit_s: float = LIMIT_S) -> None:
        deadline = time.monotonic() + limit_s
        while text.encode() not in self.shown:
            assert time.monotonic() < deadline, f"never showed {text!r}: {self.read(0)[-2000:]}"
            assert self.take(0.1), self.read(0)[-2000:]

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def cut(self) -> None:
        """The connection drops: the kernel sends SIGHUP and further output is an error."""
        os.close(self.master)
        self.master = -1


@contextmanager
def terminal(*arguments: str, env: Mapping[str, str] | None = None) -> Iterator[Terminal]:
    """`fswizard` on a terminal of its own."""
    with on_a_terminal([*FSWIZARD, *arguments], env=env) as made:
        yield made


@contextmanager
def on_a_terminal(
    argv: Sequence[str], size: tuple[int, int] = (80, 24), env: Mapping[str, str] | None = None
) -> Iterator[Terminal]:
    """Any program; it is killed at the end of the block."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    process = subprocess.Popen(
        argv, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color", **(env or {})},
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - this process has no threads
    )  # fmt: skip
    os.close(slave)
    made = Terminal(process, master)
    try:
        yield made
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        if made.master >= 0:
            os.close(made.master)


def start_quick_run(shown: Terminal) -> None:
    """Start a run with the quick recipe in the wizard, with Enter alone."""
    for words, keys in (
        ("What would you like to know?", HOME + ENTER),
        ("removed", ENTER),
        ("Choose filesystems to compare", ENTER),
        ("What do you use it for?", ENTER),
        ("starts the run", ENTER),
    ):
        shown.await_text(words)
        shown.shown.clear()
        shown.type(keys)


def talk(command: Sequence[str], directory: Path, answers: Mapping[str, str]) -> str:
    """What a program shows on a terminal of its own, where each prompt is answered as `answers` says."""
    seen = 0
    with on_a_terminal(["env", f"--chdir={directory}", *command]) as terminal:
        while terminal.take(LIMIT_S):
            shown = terminal.shown.decode(errors="replace")
            for prompt, answer in answers.items():
                if (at := shown.find(prompt, seen)) >= 0:
                    seen = at + len(prompt)
                    terminal.type(f"{answer}\n")
        terminal.process.wait(LIMIT_S)
        return terminal.read(0)
