"""What a process inherits from whoever started it, set to fixed values: the caller chooses none of them.

Resource limits, umask, working directory, signals, timers, personality, environment and open descriptors.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Collection, Mapping

from fswizard.privileged import system_calls
from fswizard.privileged.protocol import Refusal

Limits = Mapping[int, tuple[int, int]]
"""By resource, the soft and the hard limit (getrlimit(2))."""
NONE = resource.RLIM_INFINITY
FIXED = {resource.RLIMIT_CORE: 0, resource.RLIMIT_NOFILE: 4096, resource.RLIMIT_STACK: 8 << 20}
"""Soft limits that are not infinite."""
NEEDED = ("RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_AS", "RLIMIT_DATA", "RLIMIT_CPU", "RLIMIT_STACK")
"""With less than the helper sets, one of its steps could fail half-way."""


def reset(environment: Mapping[str, str]) -> None:
    """All but the resource limits; standard input, output and error stay open."""
    os.umask(0o077)
    os.chdir("/")
    system_calls.reset_personality()
    for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
        signal.setitimer(timer, 0)
    reset_signals()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # an error of the write, not the end of the process
    close_all_but({0, 1, 2})
    os.environ.clear()
    os.environ.update(environment)


def reset_signals() -> None:
    """Every signal does what it does by default, and none is blocked."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def close_all_but(kept: Collection[int]) -> None:
    """Close every other descriptor, also above the present limit for new ones."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept:
            try:
                os.close(int(name))
            except OSError:  # that of the listing itself, closed already
                continue


def set_limits() -> Limits:
    """Set every soft limit to its fixed value; the limits before that, which are the caller's own.

    Hard limits stay where they are higher, so that the user's programs can get theirs back. Raises Refusal if a
    limit that we need cannot be set.
    """
    names = {name: number for name, number in vars(resource).items() if name.startswith("RLIMIT_")}
    before = {number: resource.getrlimit(number) for number in names.values()}
    for number, (_, hard) in before.items():
        wanted = FIXED.get(number, NONE)
        highest = NONE if NONE in (wanted, hard) else max(wanted, hard)
        try:
            resource.setrlimit(number, (wanted, highest))
        except (ValueError, OSError):  # without CAP_SYS_RESOURCE, as in some containers
            resource.setrlimit(number, (hard, hard))
    for name in NEEDED:
        if resource.getrlimit(names[name])[0] != FIXED.get(names[name], NONE):
            raise Refusal("refused", f"the limit {name} can't be set: start the helper without limits (ulimit, PAM)")
    return before
