"""Processes that take a moment: programs that find something in use, and daemons that mounting starts.

Only daemons of this PID namespace are touched, so that nobody else's ever are.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from fswizard.privileged import programs
from fswizard.privileged.commands import CLEANER, Command

T = TypeVar("T")
PAUSE_S = 0.01
CLEANER_LIMIT_S = 10.0


def poll(ask: Callable[[], T], over: Callable[[T], bool], limit_s: float) -> T:
    """The first answer for which it is `over`, else the last one before `limit_s` had passed."""
    deadline = time.monotonic() + limit_s
    while not over(answer := ask()) and time.monotonic() <= deadline:
        time.sleep(PAUSE_S)
    return answer


def retry_while_busy(
    run: Callable[[], subprocess.CompletedProcess[bytes]], words: tuple[bytes, ...], limit_s: float
) -> int:
    """The exit code of a program that is run again while one of `words` says that something is in use.

    What the last run says goes to standard error.
    """

    def over(done: subprocess.CompletedProcess[bytes]) -> bool:
        return done.returncode == 0 or not any(word in done.stderr.lower() for word in words)

    done = poll(run, over, limit_s)
    sys.stderr.buffer.write(done.stderr)
    sys.stderr.flush()
    return done.returncode


def find(name: str) -> list[int]:
    """Numbers, as this namespace counts, of its processes that are called `name`."""
    namespace = os.stat("/proc/self/ns/pid").st_ino
    return [number for entry in os.listdir("/proc") if entry.isdigit() for number in _numbers(entry, name, namespace)]


def end(name: str, limit_s: float, number: signal.Signals = signal.SIGTERM) -> None:
    """End them, and wait until they are gone; by force after `limit_s`."""
    for pid in find(name):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
    if not gone(name, limit_s) and number != signal.SIGKILL:
        end(name, limit_s, signal.SIGKILL)


def gone(name: str, limit_s: float) -> bool:
    """Wait until none of that name is left; False where one still is after `limit_s`."""
    return poll(lambda: _reaped(name), lambda left: not left, limit_s) == []


def _reaped(name: str) -> list[int]:
    """Those of that name, the ended ones of which are gone the next time."""
    left = find(name)
    for pid in left:
        with contextlib.suppress(ChildProcessError):  # else the helper reaps it
            os.waitpid(pid, os.WNOHANG)
    return left


def _numbers(entry: str, name: str, namespace: int) -> list[int]:
    """None where it is another's, of another name, or ended while it was looked at."""
    try:
        inside = os.stat(f"/proc/{entry}/ns/pid").st_ino == namespace
        status = Path(f"/proc/{entry}/status").read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    fields = dict(line.split(":", 1) for line in status if ":" in line)
    called = fields["Name"].strip()
    return [int(fields["NSpid"].split()[-1])] if inside and called == name[:15] else []


def start_cleaner(command: Command) -> int:
    """Start NILFS2's cleaner in place of mount.nilfs2, to be sure that it ends with the mount; the exit code."""
    return subprocess.call(programs.located(command), env=programs.ROOT_ENVIRONMENT, stdout=subprocess.DEVNULL)


def end_cleaner() -> None:
    end(CLEANER, CLEANER_LIMIT_S)
