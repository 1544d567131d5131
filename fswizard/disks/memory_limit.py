"""The memory limit of programs that are measured, the page cache that they fill included.

A small amount of data so behaves as one that is larger than the memory. All programs of a run share one limit, as what
the first of them leaves in the page cache helps the next one. A run that was started as root makes a cgroup
(cgroups(7)). For others systemd makes one for each program (systemd-run(1)), where the user's own instance of it runs
and may limit memory.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fswizard.disks.as_root import ROOT, changeable_by_others, root
from fswizard.errors import FswizardError, OutOfMemory
from fswizard.system import clock, commands, mounts
from fswizard.system.commands import LocalProcess
from fswizard.system.process import Finished, Process
from fswizard.system.system_calls import closing

LEAST_BYTES = 16 << 20
"""With less, hardly any program starts."""
END_LIMIT_S = 2.0
"""For processes that were killed to be gone."""
PAUSE_S = 0.01
ENTER = 'echo 0 > "$0" && exec "$@"'
"""Be in the cgroup whose `cgroup.procs` that is, then become the program."""
LIMIT_OF_SELF = 'IFS=: read -r _ _ path < /proc/self/cgroup && cat "/sys/fs/cgroup$path/memory.max"'
ENDED_BY_KERNEL = (-9, -15)
"""The signal by which the kernel ends what needs too much, and the one by which systemd ends the rest of it."""
NAMES = "fswizard-*"
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Version(NamedTuple):
    """What the kernel calls things (admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst)."""

    name: str
    mounted: str
    kind: str
    """Type of the filesystem that is mounted there."""
    controller: str
    """Name in the line of /proc/self/cgroup that has the path; empty in v2."""
    limit: str
    swap: str
    """0 there keeps memory out of the swap, where there is any."""
    kills: str
    """Counts processes that the kernel killed because they ran out of memory."""


V2 = Version("v2", "/sys/fs/cgroup", "cgroup2", "", "memory.max", "memory.swap.max", "memory.events")
V1 = Version(
    "v1", "/sys/fs/cgroup/memory", "cgroup", "memory", "memory.limit_in_bytes", "memory.swappiness",
    "memory.oom_control",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limited:
    """A way to start programs that share so much memory, page cache included."""

    prefix: tuple[str, ...]
    """Before the program and its arguments."""
    exceeded: Callable[[Finished], bool]

    async def start(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> Process:
        return self.watched(await commands.start(argv, cwd=cwd, env=env, prefix=self.prefix))

    def watched(self, process: LocalProcess, ended: Callable[[], None] = lambda: None) -> Process:
        """A program that was started by way of `prefix`; `ended` is called when it has ended or was killed."""
        return _LimitedProcess(process, self.exceeded, ended)


class _LimitedProcess:
    """A program whose end may be that it needed more."""

    def __init__(self, process: LocalProcess, exceeded: Callable[[Finished], bool], ended: Callable[[], None]) -> None:
        self._process = process
        self._exceeded = exceeded
        self._ended = ended
        self.pid, self.chunks = process.pid, process.chunks

    async def wait(self) -> Finished:
        """OutOfMemory where the limit killed it."""
        try:
            finished = await self._process.wait()
        finally:
            self._ended()
        if self._exceeded(finished):
            raise OutOfMemory(finished.argv[0], finished.output)
        return finished

    async def kill(self) -> None:
        try:
            await self._process.kill()
        finally:
            self._ended()


@contextmanager
def limited(memory_bytes: int) -> Iterator[Limited | None]:
    """A limit for programs that are started here; None where there is none to be had, or none is wanted."""
    with ExitStack() as undo:
        if not memory_bytes:
            yield None
        elif os.getuid() == ROOT:
            yield _by_cgroup(V2, memory_bytes, undo) or _by_cgroup(V1, memory_bytes, undo)
        elif prefix := _by_systemd(memory_bytes):
            yield Limited(prefix, lambda finished: finished.exit_code in ENDED_BY_KERNEL)
        else:
            yield None


def ways() -> tuple[str, ...]:
    """How programs can be given a memory limit on this machine, in words."""
    by_root = [f"cgroup {version.name}" for version in (V2, V1) if _parent(version)][:1]
    by_user = ["systemd-run without root"] if os.getuid() != ROOT and _by_systemd(LEAST_BYTES) else []
    return (*by_root, *by_user)


def _by_cgroup(version: Version, memory_bytes: int, undo: ExitStack) -> Limited | None:
    """A cgroup of root's, locked until `undo` removes it; None where none can be made that limits memory."""
    with root(), contextlib.suppress(OSError):
        if not (parent := _parent(version)):
            return None
        _remove_abandoned(parent)
        directory = parent / f"fswizard-{os.urandom(8).hex()}"
        directory.mkdir(mode=0o700)
        undo.callback(_remove, directory)
        lock = undo.enter_context(closing(os.open(directory, DIRECTORY)))
        fcntl.flock(lock, fcntl.LOCK_SH)
        with contextlib.suppress(FileNotFoundError):  # a kernel without swap
            (directory / version.swap).write_text("0")
        limit = directory / version.limit
        limit.write_text(str(memory_bytes))
        if _stands(limit.read_bytes(), memory_bytes):
            prefix = ("sh", "-c", ENTER, f"{directory}/cgroup.procs")
            return Limited(prefix, _kills(directory / version.kills))
    return None


def _kills(counter: Path) -> Callable[[Finished], bool]:
    """Whether a process was killed for its memory since this was asked last."""
    before = 0

    def more(_finished: Finished) -> bool:
        nonlocal before
        with root():
            counts = dict(line.split()[:2] for line in counter.read_text().splitlines())
        earlier, before = before, int(counts.get("oom_kill", 0))
        return before > earlier

    return more


def _remove(directory: Path) -> None:
    """For good, once nothing runs in it any more; where something still does, the next run removes it."""
    deadline = clock.monotonic() + END_LIMIT_S
    while directory.exists() and clock.monotonic() < deadline:
        with root(), contextlib.suppress(OSError):
            directory.rmdir()
        clock.sleep(PAUSE_S)


def _remove_abandoned(parent: Path) -> None:
    """Those of runs that were killed; the kernel removes none in which anything runs."""
    for directory in parent.glob(NAMES):
        with contextlib.suppress(OSError), closing(os.open(directory, DIRECTORY)) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            directory.rmdir()


def _parent(version: Version) -> Path | None:
    """Where the cgroup is made: the nearest one of root's alone, so that the limits of the user's slice hold as before.

    In v1 that may be this process's own; in v2 it is above, as a cgroup with processes in it has none below it.
    """
    top = Path(version.mounted)
    shown = next((mount for mount in mounts.current().values() if mount.path == version.mounted), None)
    if shown is None or shown.kind != version.kind or not os.access(top, os.W_OK, effective_ids=False):
        return None
    lines = Path("/proc/self/cgroup").read_text(errors="surrogateescape").splitlines()
    rows = [line.split(":", 2) for line in lines]  # cgroups(7)
    own = next((Path(path) for _, names, path in rows if version.controller in names.split(",")), Path("/"))
    nearest = top / own.relative_to(shown.root) if own.is_relative_to(shown.root) else top
    upwards = [directory for directory in (nearest, *nearest.parents) if directory.is_relative_to(top)]
    if version is V2 and nearest != top:
        del upwards[0]
    for directory in upwards:
        with contextlib.suppress(OSError):
            if not changeable_by_others(str(directory), lambda shared: False):
                limits = version is V1 or "memory" in (directory / "cgroup.subtree_control").read_text().split()
                return directory if limits else None
    return None


def _by_systemd(memory_bytes: int) -> tuple[str, ...]:
    """What comes before a program for systemd to limit it; nothing where the limit does not stand in its cgroup."""
    limits = ("-p", f"MemoryMax={memory_bytes}", "-p", "MemorySwapMax=0")
    prefix = ("systemd-run", "--user", "--scope", "--quiet", "--collect", *limits, "--")
    with contextlib.suppress(FswizardError):
        done = commands.query((*prefix, "sh", "-c", LIMIT_OF_SELF))
        if done.exit_code == 0 and _stands(done.stdout, memory_bytes):
            return prefix
    return ()


def _stands(shown: bytes, memory_bytes: int) -> bool:
    """Whether a limit is what the kernel shows, which rounds it down to whole pages."""
    return shown.strip() == b"%d" % (memory_bytes // mmap.PAGESIZE * mmap.PAGESIZE)
