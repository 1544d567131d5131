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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
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


V2 = Version("/sys/fs/cgroup", "cgroup2", "", "memory.max", "memory.swap.max", "memory.events")
V1 = Version(
    "/sys/fs/cgroup/memory", "cgroup", "memory", "memory.limit_in_bytes", "memory.swappiness",
    "memory.oom_control",
)  # fmt: skip


class Limited:
    """Starts programs under the memory limit."""

    def __init__(self, memory_bytes: int, prefix: tuple[str, ...], kills: Path | None = None) -> None:
        self.memory_bytes = memory_bytes
        self.prefix = prefix
        """Command that executes the program given as its arguments."""
        self._kills = kills
        """File of the cgroup that counts the kills; None if systemd makes a cgroup for each program."""
        self._counted = 0
        """Kills at the end of the previous program."""

    async def start(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> Process:
        return self.watched(await commands.start(argv, cwd=cwd, env=env, prefix=self.prefix))

    def watched(self, process: LocalProcess) -> Process:
        """Wrap a program that was started with `prefix`."""
        return _LimitedProcess(process, self)

    def exceeded(self, finished: Finished) -> bool:
        """Whether the kernel killed a program that has just ended, or one of its children, for the limit."""
        if self._kills is None:
            return finished.exit_code in ENDED_BY_KERNEL
        with root():
            counts = dict(line.split()[:2] for line in self._kills.read_text().splitlines())
        before, self._counted = self._counted, int(counts.get("oom_kill", 0))
        return self._counted > before


class _LimitedProcess:
    """A process that raises OutOfMemory if the limit killed it."""

    def __init__(self, process: LocalProcess, limit: Limited) -> None:
        self._process, self._limit = process, limit
        self.pid, self.chunks, self.kill = process.pid, process.chunks, process.kill

    async def wait(self) -> Finished:
        """Wait for the end. Raises OutOfMemory if the limit killed it."""
        finished = await self._process.wait()
        if self._limit.exceeded(finished):
            raise OutOfMemory(finished.argv[0], finished.output)
        return finished


@contextmanager
def limited(memory_bytes: int) -> Iterator[Limited | None]:
    """Set up a memory limit; yields None if `memory_bytes` is 0 or if memory can't be limited here."""
    with ExitStack() as undo:
        if not memory_bytes:
            yield None
        elif os.getuid() == ROOT:
            yield _by_cgroup(V2, memory_bytes, undo) or _by_cgroup(V1, memory_bytes, undo)
        elif prefix := _by_systemd(memory_bytes):
            yield Limited(memory_bytes, prefix)
        else:
            yield None


def _by_cgroup(version: Version, memory_bytes: int, undo: ExitStack) -> Limited | None:
    """Make a cgroup that is locked until `undo` removes it; None if that fails or does not limit memory."""
    with root(), contextlib.suppress(OSError):
        if not (parent := _parent(version)):
            return None
        for abandoned in parent.glob(NAMES):  # of killed runs; the kernel refuses if processes are left
            with contextlib.suppress(OSError), closing(os.open(abandoned, DIRECTORY)) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                abandoned.rmdir()
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
            return Limited(memory_bytes, prefix, directory / version.kills)
    return None


def _remove(directory: Path) -> None:
    """Remove a cgroup once it is empty; after `END_LIMIT_S` it is left to the next run."""
    deadline = clock.monotonic() + END_LIMIT_S
    while directory.exists() and clock.monotonic() < deadline:
        with root(), contextlib.suppress(OSError):
            directory.rmdir()
        clock.sleep(PAUSE_S)


def _parent(version: Version) -> Path | None:
    """Parent for the new cgroup: the nearest ancestor that only root can change, so that existing limits still apply.

    In v1 it may be the cgroup of this process. In v2 it is above that, as a cgroup with processes has no children.
    Returns None if it does not limit memory.
    """
    top = Path(version.mounted)
    mount = next((each for each in mounts.current() if each.path == version.mounted), None)
    if mount is None or mount.kind != version.kind:
        return None
    directory = top
    for line in Path("/proc/self/cgroup").read_text(errors="surrogateescape").splitlines():  # cgroups(7)
        _, controllers, path = line.split(":", 2)
        if version.controller in controllers.split(",") and Path(path).is_relative_to(mount.root):
            directory = top / Path(path).relative_to(mount.root)
    if version is V2 and directory != top:
        directory = directory.parent
    with contextlib.suppress(OSError):
        while directory != top and changeable_by_others(str(directory)):
            directory = directory.parent
        if version is V1 or "memory" in (directory / "cgroup.subtree_control").read_text().split():
            return directory
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
