"""The programs that the helper starts: found where root's programs live, with next to no environment."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from fswizard.privileged import mounts
from fswizard.privileged.identity import User
from fswizard.privileged.mounts import Mount
from fswizard.privileged.protocol import Refusal

ROOT_PATH = "/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin"
"""Without /usr/local, which some distributions let a group write."""
ROOT_ENVIRONMENT = {"PATH": ROOT_PATH, "LC_ALL": "C"}
WORKLOAD_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/run/current-system/sw/bin"
PASSED_ON = frozenset({"TMPDIR", "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "BORG_BASE_DIR", "BORG_PASSPHRASE"})
"""Variables that a workload may be given. None of them means anything to the loader or to setpriv."""


NIX_STORE = "/nix/store"
"""Its group adds packages; the sticky bit and the owner keep those that are there as they are."""


def find(name: str) -> str:
    """Path of a program that nobody but root can change or cover; Refusal where there is none."""
    path = shutil.which(name, path=ROOT_PATH)
    if path is None:
        raise Refusal("missing", f"{name} is not installed where root alone can write, such as /usr/sbin")
    check(path)
    return path


def located(command: Sequence[str]) -> list[str]:
    """`command` with the full path of its program, as `find` has it."""
    return [find(command[0]), *command[1:]]


def call(command: Sequence[str]) -> int:
    """Run a program of root's; the exit code."""
    return subprocess.call(located(command), env=ROOT_ENVIRONMENT)


def run(command: Sequence[str], timeout_s: float | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a program of root's; what it says and its exit code. TimeoutExpired where it takes longer."""
    return subprocess.run(
        located(command), env=ROOT_ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s,
        check=False,
    )  # fmt: skip


def check(path: str) -> None:
    """Refusal where others than root can change what `path` leads to, or where it was mounted since the start."""
    found = {entry: _status_and_mount(entry) for entry in _entries(path)}
    now = mounts.current()
    for entry, (status, mount_id) in found.items():
        writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not stat.S_ISLNK(status.st_mode)
        if status.st_uid != 0 or (writable and not (entry == NIX_STORE and status.st_mode & stat.S_ISVTX)):
            raise Refusal("refused", f"{path} is not root's alone: others can change {entry}")
        # what lies below a changed root directory (chroot) is on a mount that is not listed
        if mount_id in now and now[mount_id] not in mounted_at_start():
            raise Refusal("refused", f"{path} is covered: {entry} was mounted after the helper started")


@cache
def mounted_at_start() -> frozenset[Mount]:
    """What is mounted when this is first called, which the helper does before anything can be asked of it.

    Whole entries, as the kernel gives the ID of a mount that is gone to a new one.
    """
    return frozenset(mounts.current().values())


def _status_and_mount(entry: str) -> tuple[os.stat_result, int]:
    """What is there, links not followed, and the ID of the mount that it lies on."""
    descriptor = os.open(entry, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return os.fstat(descriptor), mounts.id_of(descriptor)
    finally:
        os.close(descriptor)


def _entries(path: str) -> Iterator[str]:
    """Everything on the way from the root directory to what `path` leads to, links included."""
    at, left = "/", path.split("/")
    yield at
    while left:
        part = left.pop(0)
        if part in ("", ".", ".."):
            at = os.path.dirname(at) if part == ".." else at
            continue
        entry = os.path.join(at, part)
        yield entry
        if os.path.islink(entry):
            target = os.readlink(entry)
            at, left = "/" if target.startswith("/") else at, [*target.split("/"), *left]
        else:
            at = entry


def drop_rights(user: User) -> tuple[str, ...]:
    """The command that gives up every right but the user's own, before the argument list of a workload.

    For uid 0 the secure bits keep the kernel from handing the rights back at the next exec (capabilities(7)).
    """
    return (
        find("setpriv"),
        f"--reuid={user.uid}",
        f"--regid={user.gid}",
        f"--groups={','.join(map(str, user.groups))}",
        "--no-new-privs",
        "--bounding-set=-all",
        "--inh-caps=-all",
        "--ambient-caps=-all",
        "--securebits=+noroot,+noroot_locked",
        "--",
    )


def workload_environment(user: User, given: Mapping[str, str]) -> dict[str, str]:
    if refused := given.keys() - PASSED_ON:
        raise Refusal("refused", f"the variable {min(refused)!r:.40} is not passed on")
    return {"PATH": WORKLOAD_PATH, "HOME": user.home, "TMPDIR": "/tmp", "LC_ALL": "C.UTF-8", **given}


def resolved(argv: Sequence[str]) -> tuple[str, ...]:
    """`argv` with the program's full path, where workloads look for it; Refusal where it is absent."""
    path = shutil.which(argv[0], path=WORKLOAD_PATH)
    if path is None:
        raise Refusal("missing", f"{argv[0]} is not installed")
    return (path, *argv[1:])
