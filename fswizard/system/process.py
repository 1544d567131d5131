"""Running and ended programs."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fswizard.model.text import safe_lines

SENT = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL, signal.SIGTERM)
"""Signals sent by a user, another program, or the OOM killer. Any other one means a crash."""
EXIT_CODES = {
    **{-number: number for number in SENT},
    **{128 + number: number for number in SENT if number != signal.SIGHUP},  # git uses 129 for a wrong option
}
"""Signals by exit code: of a killed program, or of a shell that started it."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended."""

    argv: tuple[str, ...]
    exit_code: int
    """Exit code; a negative one is the number of the signal that ended it."""
    stdout: bytes = b""
    stderr: bytes = b""
    wall_s: float = 0.0
    """Elapsed time in seconds."""
    cpu_s: float = 0.0
    """User and system time in seconds, including child processes."""

    @property
    def killed_by(self) -> str:
        """Signal of `SENT` that ended it, such as `SIGKILL`; empty if it ended by itself."""
        number = EXIT_CODES.get(self.exit_code)
        return number.name if number else ""

    @property
    def output(self) -> str:
        """Its sanitised output, standard error last."""
        return safe_lines(self.stdout + self.stderr).strip()


class Process(Protocol):
    """A running program. It has no standard input."""

    @property
    def pid(self) -> int:
        """PID in /proc, even if the program runs in another PID namespace."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield standard output as it arrives."""
        ...

    async def wait(self) -> Finished:
        """Wait for the end; `stdout` of the result lacks what `chunks` has yielded."""
        ...

    async def kill(self) -> None:
        """Kill it and its process group, and wait for the end."""
        ...


def is_stopped(pid: int) -> bool:
    """Whether a program, its parent or a descendant is stopped by a signal (SIGSTOP).

    The parent counts because it measures the time that the program takes.
    """
    _, parent = _state(pid)
    return any(_state(each)[0] == "T" for each in (parent, *_with_children(pid)))


def _state(pid: int) -> tuple[str, int]:
    """State letter and parent PID of a process (proc_pid_stat(5)); empty and 0 if it has ended."""
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except (OSError, ValueError):
        return "", 0
    return state, int(parent)


def _with_children(pid: int) -> Iterator[int]:
    """Yield the PIDs of a process and its descendants."""
    yield pid
    with contextlib.suppress(OSError):  # it has ended, or the kernel lacks this file
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _with_children(int(child))
