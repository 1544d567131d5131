"""Memory limit of measured programs, including the page cache that they fill.

It makes a small amount of data behave as if it were larger than the memory. A run that was started as root makes one
cgroup (cgroups(7)) for all its programs, so that they share the page cache. Otherwise the user's systemd instance makes
one for each program (systemd-run(1)), if it runs and can limit memory.
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
"""Minimum limit that most programs start with."""
END_LIMIT_S = 2.0
"""Time for killed processes to disappear."""
PAUSE_S = 0.01
ENTER = 'echo 0 > "$0" && exec "$@"'
"""Shell script that enters the cgroup of the `cgroup.procs` file in $0, then executes the program."""
LIMIT_OF_SELF = 'IFS=: read -r _ _ path < /proc/self/cgroup && cat "/sys/fs/cgroup$path/memory.max"'
ENDED_BY_KERNEL = (-9, -15)
"""Exit codes after the OOM killer, and after systemd stopped the rest of the scope."""
NAMES = "fswizard-*"
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Version(NamedTuple):
    """File names of a cgroup version (admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst)."""

    name: str
    mounted: str
    kind: str
    """Filesystem type of that mount."""
    controller: str
    """Controller name in the matching line of /proc/self/cgroup; empty in v2."""
    limit: str
    swap: str
    """File that disables swapping when set to 0; missing on a kernel without swap."""
    kills: str
    """File with the number of processes that the OOM killer killed."""


V2 = Version("v2", "/sys/fs/cgroup", "cgroup2", "", "memory.max", "memory.swap.max", "memory.events")
V1 = Version(
    "v1", "/sys/fs/cgroup/memory", "cgroup", "memory", "memory.limit_in_bytes", "memory.swappiness",
    "memory.oom_control",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limited:
    """Starts programs under the memory limit."""

    prefix: tuple[str, ...]
    """Command that executes the program given as its arguments."""
    exceeded: Callable[[Finished], bool]
    """Whether an ended program was killed for exceeding the limit."""

    async def start(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> Process:
        return self.watched(await commands.start(argv, cwd=cwd, env=env, prefix=self.prefix))

    def watched(self, process: LocalProcess, ended: Callable[[], None] = lambda: None) -> Process:
        """Wrap a program that was started with `prefix`; `ended` is called when it has ended or was killed."""
        return _LimitedProcess(process, self.exceeded, ended)


class _LimitedProcess:
    """A process that raises OutOfMemory if the limit killed it."""

    def __init__(self, process: LocalProcess, exceeded: Callable[[Finished], bool], ended: Callable[[], None]) -> None:
        self._process = process
        self._exceeded = exceeded
        self._ended = ended
        self.pid, self.chunks = process.pid, process.chunks

    async def wait(self) -> Finished:
        """Wait for the end. Raises OutOfMemory if the limit killed it."""
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
    """Set up a memory limit; yields None if `memory_bytes` is 0 or if memory can't be limited here."""
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
    """Descriptions of the mechanisms that can limit memory on this machine."""
    by_root = [f"cgroup {version.name}" for version in (V2, V1) if _parent(version)][:1]
    by_user = ["systemd-run without root"] if os.getuid() != ROOT and _by_systemd(LEAST_BYTES) else []
    return (*by_root, *by_user)


def _by_cgroup(version: Version, memory_bytes: int, undo: ExitStack) -> Limited | None:
    """Make a cgroup that is locked until `undo` removes it; None if that fails or does not limit memory."""
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
        if _is_set(limit.read_bytes(), memory_bytes):
            prefix = ("sh", "-c", ENTER, f"{directory}/cgroup.procs")
            return Limited(prefix, _kills(directory / version.kills))
    return None


def _kills(counter: Path) -> Callable[[Finished], bool]:
    """A function that returns whether the OOM killer was active since its previous call."""
    before = 0

    def more(_finished: Finished) -> bool:
        nonlocal before
        with root():
            counts = dict(line.split()[:2] for line in counter.read_text().splitlines())
        earlier, before = before, int(counts.get("oom_kill", 0))
        return before > earlier

    return more


def _remove(directory: Path) -> None:
    """Remove a cgroup once it is empty; after `END_LIMIT_S` it is left to the next run."""
    deadline = clock.monotonic() + END_LIMIT_S
    while directory.exists() and clock.monotonic() < deadline:
        with root(), contextlib.suppress(OSError):
            directory.rmdir()
        clock.sleep(PAUSE_S)


def _remove_abandoned(parent: Path) -> None:
    """Remove the cgroups of killed runs; the kernel refuses if processes are left."""
    for directory in parent.glob(NAMES):
        with contextlib.suppress(OSError), closing(os.open(directory, DIRECTORY)) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            directory.rmdir()


def _parent(version: Version) -> Path | None:
    """Parent for the new cgroup: the nearest ancestor that only root can change, so that existing limits still apply.

    In v1 it may be the cgroup of this process. In v2 it is above that, as a cgroup with processes has no children.
    Returns None if there is none that limits memory.
    """
    top = Path(version.mounted)
    mount = next((each for each in mounts.current() if each.path == version.mounted), None)
    if mount is None or mount.kind != version.kind or not os.access(top, os.W_OK, effective_ids=False):
        return None
    lines = Path("/proc/self/cgroup").read_text(errors="surrogateescape").splitlines()
    rows = [line.split(":", 2) for line in lines]  # cgroups(7)
    current = next((Path(path) for _, names, path in rows if version.controller in names.split(",")), Path("/"))
    nearest = top / current.relative_to(mount.root) if current.is_relative_to(mount.root) else top
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
    """The systemd-run command that limits a program; empty if a trial shows no limit in its cgroup."""
    limits = ("-p", f"MemoryMax={memory_bytes}", "-p", "MemorySwapMax=0")
    prefix = ("systemd-run", "--user", "--scope", "--quiet", "--collect", *limits, "--")
    with contextlib.suppress(FswizardError):
        done = commands.query((*prefix, "sh", "-c", LIMIT_OF_SELF))
        if done.exit_code == 0 and _is_set(done.stdout, memory_bytes):
            return prefix
    return ()


def _is_set(text: bytes, memory_bytes: int) -> bool:
    """Whether a limit file contains `memory_bytes`, rounded down to whole pages."""
    return text.strip() == b"%d" % (memory_bytes // mmap.PAGESIZE * mmap.PAGESIZE)
