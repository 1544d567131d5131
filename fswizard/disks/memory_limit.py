"""The memory limit of programs that the privileged helper does not start: in directories, and on images by udisks2.

Root makes a cgroup as the helper does. For others systemd makes one for each program (systemd-run(1)), where the user's
own instance of it runs and may limit memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from fswizard.errors import FswizardError, OutOfMemory
from fswizard.privileged import memory_limit
from fswizard.privileged.memory_limit import LEAST_BYTES, MemoryLimit
from fswizard.privileged.names import Names
from fswizard.privileged.protocol import Refusal
from fswizard.system import commands
from fswizard.system.commands import LocalProcess
from fswizard.system.process import Finished, Process

ENTER = 'echo 0 > "$0" && exec "$@"'
"""Be in the cgroup whose `cgroup.procs` that is, then become the program."""
LIMIT_OF_SELF = 'IFS=: read -r _ _ path < /proc/self/cgroup && cat "/sys/fs/cgroup$path/memory.max"'
ENDED_BY_KERNEL = (-9, -15)
"""The signal by which the kernel ends what needs too much, and the one by which systemd ends the rest of it."""


@dataclass(frozen=True, slots=True)
class Limited:
    """A way to start programs that share so much memory, page cache included."""

    prefix: tuple[str, ...]
    """Before the program and its arguments."""
    exceeded: Callable[[Finished], bool]

    async def start(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> Process:
        return _LimitedProcess(await commands.start(argv, cwd=cwd, env=env, prefix=self.prefix), self.exceeded)


class _LimitedProcess:
    """A program whose end may be that it needed more."""

    def __init__(self, process: LocalProcess, exceeded: Callable[[Finished], bool]) -> None:
        self._process = process
        self._exceeded = exceeded
        self.pid, self.chunks, self.kill = process.pid, process.chunks, process.kill

    async def wait(self) -> Finished:
        """OutOfMemory where the limit killed it."""
        finished = await self._process.wait()
        if self._exceeded(finished):
            raise OutOfMemory(finished.argv[0], finished.output)
        return finished


@contextmanager
def limited(memory_bytes: int) -> Iterator[Limited | None]:
    """A limit for programs that are started here; None where there is none to be had, or none is wanted."""
    if not memory_bytes:
        yield None
    elif os.geteuid():
        by_systemd = Limited(_by_systemd(memory_bytes), lambda finished: finished.exit_code in ENDED_BY_KERNEL)
        yield by_systemd if _systemd_limits(memory_bytes) else None
    else:
        own = MemoryLimit(Names())
        try:
            yield _in_cgroup(own, memory_bytes)
        finally:
            own.remove()


def ways() -> tuple[str, ...]:
    """How programs can be given a memory limit on this machine, in words."""
    version = memory_limit.version()
    by_root = (f"cgroup {version}",) if version else ()
    by_user = ("systemd-run without root",) if os.geteuid() and _systemd_limits(LEAST_BYTES) else ()
    return by_root + by_user


def _in_cgroup(own: MemoryLimit, memory_bytes: int) -> Limited | None:
    killed = 0

    def exceeded(finished: Finished) -> bool:
        nonlocal killed
        before, killed = killed, own.killed()
        return killed > before

    try:
        own.set(memory_bytes)
    except (Refusal, OSError):
        return None
    return Limited(("sh", "-c", ENTER, f"{own.directory}/cgroup.procs"), exceeded)


def _by_systemd(memory_bytes: int) -> tuple[str, ...]:
    limits = ("-p", f"MemoryMax={memory_bytes}", "-p", "MemorySwapMax=0")
    return ("systemd-run", "--user", "--scope", "--quiet", "--collect", *limits, "--")


def _systemd_limits(memory_bytes: int) -> bool:
    """Whether the limit stands in the cgroup of what was started so; the kernel rounds it down to whole pages."""
    try:
        done = commands.query((*_by_systemd(memory_bytes), "sh", "-c", LIMIT_OF_SELF))
    except FswizardError:
        return False
    page_bytes = os.sysconf("SC_PAGE_SIZE")
    return done.exit_code == 0 and done.stdout.strip() == b"%d" % (memory_bytes // page_bytes * page_bytes)
