"""Asking again for a while, where the kernel or a daemon takes a moment."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PAUSE_S = 0.01


def until(ask: Callable[[], T], over: Callable[[T], bool], limit_s: float) -> T:
    """The first answer for which it is `over`, else the last one before `limit_s` had passed."""
    deadline = time.monotonic() + limit_s
    while not over(answer := ask()) and time.monotonic() <= deadline:
        time.sleep(PAUSE_S)
    return answer


def let_go(run: Callable[[], subprocess.CompletedProcess[bytes]], words: tuple[bytes, ...], limit_s: float) -> int:
    """The exit code of a program that is run again while one of `words` says that something is in use.

    What the last run says goes to standard error.
    """

    def over(done: subprocess.CompletedProcess[bytes]) -> bool:
        return done.returncode == 0 or not any(word in done.stderr.lower() for word in words)

    done = until(run, over, limit_s)
    sys.stderr.buffer.write(done.stderr)
    sys.stderr.flush()
    return done.returncode
