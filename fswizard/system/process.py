"""A program that was started, as the user or as root."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fswizard.model.text import safe_lines

SENT = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL, signal.SIGTERM)
"""Signals that come from outside: a user, another program, or the kernel when memory runs out. Any other is a crash."""
EXIT_CODES = {
    **{-number: number for number in SENT},
    **{128 + number: number for number in SENT if number != signal.SIGHUP},  # git says 129 of a wrong option
}
"""Of a program that was killed; of a shell, or a program like it, that started that."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended."""

    argv: tuple[str, ...]
    exit_code: int
    """Negative: the number of the signal that ended it."""
    stdout: bytes = b""
    stderr: bytes = b""
    wall_s: float = 0.0
    """From start to end, measured where the program runs."""
    cpu_s: float = 0.0
    """User and system time, children included."""

    @property
    def killed_by(self) -> str:
        """The signal from outside that ended it, such as `SIGKILL`; empty where it ended by itself."""
        number = EXIT_CODES.get(self.exit_code)
        return number.name if number else ""

    @property
    def output(self) -> str:
        """Everything it printed, harmless, errors last."""
        return safe_lines(self.stdout + self.stderr).strip()


class Process(Protocol):
    """A running program. It has no standard input."""

    @property
    def pid(self) -> int:
        """As the machine's /proc names it, although the program may run in a namespace of its own."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """Standard output as it comes."""
        ...

    async def wait(self) -> Finished:
        """Wait for the end; what `chunks` has not taken stands in `stdout`."""
        ...

    async def kill(self) -> None:
        """End it and everything it started, and wait for that."""
        ...


def is_stopped(pid: int) -> bool:
    """Whether a program stands still because of a signal (SIGSTOP), or what started it does, or what it started.

    What started it is looked at because it measures how long the program takes.
    """
    _, parent = _state(pid)
    return any(_state(each)[0] == "T" for each in (parent, *_with_children(pid)))


def _state(pid: int) -> tuple[str, int]:
    """In one letter, and the parent's number (proc_pid_stat(5)); nothing where the process has ended."""
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except (OSError, ValueError):
        return "", 0
    return state, int(parent)


def _with_children(pid: int) -> Iterator[int]:
    yield pid
    with contextlib.suppress(OSError):  # it ended meanwhile, or the kernel does not say
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _with_children(int(child))
