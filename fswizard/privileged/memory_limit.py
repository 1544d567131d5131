"""A memory limit for programs that are measured: a cgroup of this helper's own, in which they run (cgroups(7)).

The page cache that they fill counts, so a small amount of data behaves as one that is larger than the memory. All
programs of a helper share one cgroup, as what the first of them leaves in the page cache helps the next one.

It is made as near to the cgroup that the helper was started in as root alone can write: there the limits of the user's
slice hold as before. In v1 that is below it; in v2 beside it, as a cgroup with processes in it has none below it.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from fswizard.privileged import mounts, names, programs
from fswizard.privileged.names import Names
from fswizard.privileged.protocol import Refusal
from fswizard.privileged.system_calls import closing

LEAST_BYTES = 16 << 20
"""With less, hardly any program starts."""
END_LIMIT_S = 2.0
"""For processes that were killed to be gone."""


@dataclass(frozen=True, slots=True)
class Version:
    """What the kernel calls things (admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst)."""

    name: str
    mounted: str
    kind: str
    """Type of the filesystem that is mounted there."""
    controller: str
    """Whose line of /proc/self/cgroup has the path."""
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


def version() -> str:
    """`v1` or `v2`, whichever can limit memory here; empty where neither can."""
    for kernels in (V2, V1):
        with contextlib.suppress(OSError, LookupError):
            return _parent(kernels) and kernels.name
    return ""


class MemoryLimit:
    """The cgroup of this process, made when it is first needed, and the programs that were killed in it."""

    def __init__(self, held: Names) -> None:
        self._names = held
        self._version: Version | None = None
        self._name = names.new()
        self._descriptor = -1
        self._bytes = 0
        self.entrance = -1
        """A descriptor: a process that writes `0` to it is in the cgroup from then on, with all that it starts."""
        self.directory = ""

    def make(self) -> bool:
        """Make it, unless it is there; False where that cannot be."""
        for kernels in () if self._version else (V2, V1):
            with contextlib.suppress(OSError, LookupError, Refusal):
                parent = _parent(kernels)
                self._make(kernels, parent)
        return self._version is not None

    def _make(self, kernels: Version, parent: str) -> None:
        with closing(_opened(parent, kernels)) as above:
            self._remove_abandoned(above)
            self._names.hold(self._name)
            os.mkdir(self._name, 0o700, dir_fd=above)
            self._descriptor = os.open(self._name, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=above)
        self.directory = f"{parent.rstrip('/')}/{self._name}"
        with contextlib.suppress(FileNotFoundError):  # a kernel without swap
            self._write(*kernels.swap)
        self.entrance = os.open("cgroup.procs", os.O_WRONLY | os.O_CLOEXEC, dir_fd=self._descriptor)
        self._version = kernels

    def _remove_abandoned(self, above: int) -> None:
        """Those of helpers that were killed; the kernel removes none in which anything runs."""
        for name in filter(names.NAME.fullmatch, os.listdir(above)):
            with contextlib.suppress(Refusal, OSError), self._names.reclaiming(name):
                os.rmdir(name, dir_fd=above)

    def set(self, memory_bytes: int) -> None:
        """The most that all in it may use together, from now on."""
        if memory_bytes < LEAST_BYTES:
            raise Refusal("invalid", f"a memory limit of less than {LEAST_BYTES} bytes lets no program start")
        if not self.make() or self._version is None:
            raise Refusal("missing", "no memory cgroup can be made here")
        if memory_bytes != self._bytes:
            self._write(self._version.limit, str(memory_bytes))
            if not 0 <= memory_bytes - int(self._read(self._version.limit)) < mmap.PAGESIZE:
                raise Refusal("failed", "the kernel did not take the memory limit")
            self._bytes = memory_bytes

    def killed(self) -> int:
        """How many of its processes the kernel killed because they ran out of memory."""
        if self._version is None:
            return 0
        lines = (line.split() for line in self._read(self._version.kills).splitlines())
        return next((int(count) for name, count in lines if name == "oom_kill"), 0)

    def remove(self) -> None:
        """For good, once nothing runs in it any more; where something still does, the next helper removes it."""
        if self._version is None:
            return
        programs.poll(self._removed, bool, END_LIMIT_S)
        self._version = None
        os.close(self.entrance)
        os.close(self._descriptor)
        self._names.release(self._name)

    def _removed(self) -> bool:
        with contextlib.suppress(OSError):
            os.rmdir(self.directory)
        return not os.path.exists(self.directory)

    def _write(self, file: str, text: str) -> None:
        with closing(os.open(file, os.O_WRONLY | os.O_CLOEXEC, dir_fd=self._descriptor)) as descriptor:
            os.write(descriptor, text.encode())

    def _read(self, file: str) -> str:
        with closing(os.open(file, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._descriptor)) as descriptor:
            return os.read(descriptor, 4096).decode()


def _parent(kernels: Version) -> str:
    """The directory in which the cgroup is made; OSError or LookupError where there is none."""
    for path in _upwards(kernels):
        with closing(_opened(path, kernels)) as descriptor:
            status = os.fstat(descriptor)
            if status.st_uid == 0 and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                if kernels is V1:
                    return path
                with open(f"{path}/cgroup.subtree_control", encoding="ascii") as file:
                    if "memory" in file.read().split():
                        return path
                break
    raise LookupError("no cgroup of root's limits memory")


def _upwards(kernels: Version) -> Iterator[str]:
    """The cgroups in question, the nearest first."""
    with closing(_opened(kernels.mounted, kernels)) as descriptor:
        shown = mounts.current()[mounts.id_of(descriptor)].root.rstrip("/")
    own = _own(kernels.controller)
    if not f"{own}/".startswith(f"{shown}/"):
        raise LookupError(f"{own} is not below {shown}")
    path = own[len(shown) :].rstrip("/")
    path = os.path.dirname(path).rstrip("/") if kernels is V2 else path
    while path:
        yield f"{kernels.mounted}{path}"
        path = os.path.dirname(path).rstrip("/")
    yield kernels.mounted


def _own(controller: str) -> str:
    """The path of this process in a hierarchy (cgroups(7), /proc/PID/cgroup)."""
    with open("/proc/self/cgroup", encoding="utf-8", errors="surrogateescape") as file:
        lines = [line.rstrip("\n").split(":", 2) for line in file]
    return next((path for _, controllers, path in lines if controller in controllers.split(",")), "/")


def _opened(path: str, kernels: Version) -> int:
    """A directory of a hierarchy that the kernel has had mounted since the start; LookupError for any other."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    mount = mounts.current().get(mounts.id_of(descriptor))
    known = mount is not None and mount.kind == kernels.kind and mount in programs.mounted_at_start()
    if not known or os.fstatvfs(descriptor).f_flag & os.ST_RDONLY:  # as containers have it
        os.close(descriptor)
        raise LookupError(f"{path} is not on a {kernels.kind} that was mounted at the start and can be written")
    return descriptor
