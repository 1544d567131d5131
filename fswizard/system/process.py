"""A program that was started, wherever it runs: here, or through the privileged helper."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from fswizard.model.text import safe_lines


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended."""

    argv: tuple[str, ...]
    exit_code: int
    """Negative: the number of the signal that ended it."""
    stdout: bytes
    stderr: bytes
    wall_s: float
    """From start to end, measured where the program runs."""
    cpu_s: float = 0.0
    """User and system time, children included."""
    further: tuple[tuple[str, ...], ...] = ()
    """What the privileged helper ran besides for the same order, each once the one before had succeeded."""

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
