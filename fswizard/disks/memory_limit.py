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
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fswizard.disks.as_root import ROOT, root
from fswizard.errors import FswizardError, OutOfMemory
from fswizard.system import clock, commands, mounts
from fswizard.system.commands import LocalProcess
from fswizard.system.process import Finished, Process

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


@dataclass(frozen=True, slots=True)
class Version:
    """What the kernel calls things (admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst)."""

    name: str
    mounted: str
    kind: str
    """Type of the filesystem that is mounted there."""
    controller: str
    """Name in the line of /proc/self/cgroup that has the path; empty in v2."""
    limit: str
    swap: tuple[str, str]
    """What keeps its memory out of the swap, where there is any."""
    kills: str
    """Counts processes that the kernel killed because they ran out of memory."""


V2 = Version("v2", "/sys/fs/cgroup", "cgroup2", "", "memory.max", ("memory.swap.max", "0"), "memory.events")
V1 = Version(
    "v1", "/sys/fs/cgroup/memory", "cgroup", "memory", "memory.limit_in_bytes", ("memory.swappiness", "0"),
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
        """A program that was started by way of `prefix`; `ended` is called when it has ended."""
        return _LimitedProcess(process, self.exceeded, ended)


class _LimitedProcess:
    """A program whose end may be that it needed more."""

    def __init__(self, process: LocalProcess, exceeded: Callable[[Finished], bool], ended: Callable[[], None]) -> None:
        self._process = process
        self._exceeded = exceeded
        self._ended = ended
        self.pid, self.chunks, self.kill = process.pid, process.chunks, process.kill

    async def wait(self) -> Finished:
        """OutOfMemory where the limit killed it."""
        try:
            finished = await self._process.wait()
        finally:
            self._ended()
        if self._exceeded(finished):
            raise OutOfMemory(finished.argv[0], finished.output)
        return finished


@contextmanager
def limited(memory_bytes: int) -> Iterator[Limited | None]:
    """A limit for programs that are started here; None where there is none to be had, or none is wanted."""
    if not memory_bytes:
        yield None
    elif os.getuid() != ROOT:
        by_systemd = Limited(_by_systemd(memory_bytes), lambda finished: finished.exit_code in ENDED_BY_KERNEL)
        yield by_systemd if _systemd_limits(memory_bytes) else None
    else:
        own = _made(memory_bytes)
        try:
            yield own.limited() if own else None
        finally:
            if own:
                own.remove()


def ways() -> tuple[str, ...]:
    """How programs can be given a memory limit on this machine, in words."""
    versions = (version.name for version in (V2, V1) if _parent(version))
    by_root = tuple(f"cgroup {name}" for name in versions)[:1]
    by_user = ("systemd-run without root",) if os.getuid() != ROOT and _systemd_limits(LEAST_BYTES) else ()
    return by_root + by_user


class Cgroup:
    """A cgroup of root's, locked while its run lives."""

    def __init__(self, version: Version, directory: Path) -> None:
        self._version = version
        self.directory = directory
        self._killed = 0
        directory.mkdir(mode=0o700)
        self._lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def set(self, memory_bytes: int) -> bool:
        """The most that all in it may use together; False where the kernel does not take it."""
        file, no_swap = self._version.swap
        with contextlib.suppress(FileNotFoundError):  # a kernel without swap
            (self.directory / file).write_text(no_swap)
        limit = self.directory / self._version.limit
        limit.write_text(str(memory_bytes))
        return 0 <= memory_bytes - int(limit.read_text()) < mmap.PAGESIZE

    def limited(self) -> Limited:
        return Limited(("sh", "-c", ENTER, f"{self.directory}/cgroup.procs"), self._exceeded)

    def _exceeded(self, finished: Finished) -> bool:
        """Whether a process of it was killed for its memory since this was asked last."""
        with root():
            text = (self.directory / self._version.kills).read_text()
        counts = dict(line.split()[:2] for line in text.splitlines())
        before, self._killed = self._killed, int(counts.get("oom_kill", 0))
        return self._killed > before

    def remove(self) -> None:
        """For good, once nothing runs in it any more; where something still does, the next run removes it."""
        os.close(self._lock)
        deadline = clock.monotonic() + END_LIMIT_S
        while self.directory.exists() and clock.monotonic() < deadline:
            with root(), contextlib.suppress(OSError):
                self.directory.rmdir()
            clock.sleep(PAUSE_S)


def _made(memory_bytes: int) -> Cgroup | None:
    """None where no cgroup can be made here that limits memory."""
    for version in (V2, V1):
        with root(), contextlib.suppress(OSError):
            if parent := _parent(version):
                _remove_abandoned(parent)
                made = Cgroup(version, parent / f"fswizard-{os.urandom(8).hex()}")
                if made.set(memory_bytes):
                    return made
                made.remove()
    return None


def _remove_abandoned(parent: Path) -> None:
    """Those of runs that were killed; the kernel removes none in which anything runs."""
    for directory in parent.glob(NAMES):
        with contextlib.suppress(OSError):
            lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            with contextlib.ExitStack() as undo:
                undo.callback(os.close, lock)
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                directory.rmdir()


def _parent(version: Version) -> Path | None:
    """Where the cgroup is made: the nearest one of root's alone, so that the limits of the user's slice hold as before.

    In v1 that may be this process's own; in v2 it is above, as a cgroup with processes in it has none below it.
    """
    shown = next((mount for mount in mounts.current().values() if mount.path == version.mounted), None)
    if shown is None or shown.kind != version.kind or not os.access(version.mounted, os.W_OK, effective_ids=False):
        return None
    own = Path(_own(version.controller))
    inside = own.relative_to(shown.root) if own.is_relative_to(shown.root) else Path()
    nearest = Path(version.mounted, inside)
    for directory in (nearest, *nearest.parents)[version is V2 and nearest != Path(version.mounted) :]:
        if not directory.is_relative_to(version.mounted):
            break
        with contextlib.suppress(OSError):
            status = directory.stat()
            if status.st_uid == ROOT and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return directory if version is V1 or _passes_memory_on(directory) else None
    return None


def _passes_memory_on(directory: Path) -> bool:
    return "memory" in (directory / "cgroup.subtree_control").read_text().split()


def _own(controller: str) -> str:
    """The path of this process in a hierarchy (cgroups(7), /proc/PID/cgroup)."""
    lines = Path("/proc/self/cgroup").read_text(errors="surrogateescape").splitlines()
    rows = [line.split(":", 2) for line in lines]
    return next((path for _, controllers, path in rows if controller in controllers.split(",")), "/")


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
