"""Programs on a terminal of their own, whose output is read as fast as it comes."""

from __future__ import annotations

import fcntl
import os
import pty
import resource
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

WIDTH, HEIGHT = 120, 36
TICKS = os.sysconf("SC_CLK_TCK")
TIMEOUT_S = 60.0


class Screen:
    """A program that runs on a terminal."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self.pid = process.pid
        self._descriptor = descriptor

    def read_until(self, words: bytes) -> None:
        """Until `words` were written to the terminal."""
        seen, deadline = b"", time.monotonic() + TIMEOUT_S
        while words not in seen:
            assert time.monotonic() < deadline, f"in vain waited for {words!r}: {seen[-2000:]!r}"
            seen = seen[-len(words) :] + self._read(0.1)

    def press(self, keys: bytes) -> None:
        os.write(self._descriptor, keys)

    def read_for(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._read(left)

    def _read(self, at_most_s: float) -> bytes:
        ready, _, _ = select.select([self._descriptor], [], [], at_most_s)
        return os.read(self._descriptor, 1 << 16) if ready else b""

    def cpu_s(self) -> float:
        """Processor time of all its threads so far."""
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def resident_bytes(self) -> int:
        return resident_bytes(self.pid)


@contextmanager
def on_a_screen(argv: Sequence[str], env: Mapping[str, str]) -> Iterator[Screen]:
    """Start a program on a terminal; it is killed at the end of the block."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
    variables = {**os.environ, "TERM": "xterm-256color", **env}
    process = subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, env=variables, start_new_session=True)
    os.close(theirs)
    try:
        yield Screen(process, ours)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        os.close(ours)


def resident_bytes(pid: int | str = "self") -> int:
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def children_cpu_s() -> float:
    """Processor time of all programs that were started here and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
