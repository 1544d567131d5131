"""Programs: where root finds those that it runs, with next to no environment; the rights that workloads lose; waiting.

Only processes of this PID namespace are ended or waited for, so that nobody else's ever are.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from fswizard.privileged import mounts
from fswizard.privileged.identity import User
from fswizard.privileged.mounts import Mount
from fswizard.privileged.protocol import Refusal
from fswizard.privileged.system_calls import closing

T = TypeVar("T")
ROOT_PATH = "/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin"
"""Without /usr/local, which some distributions let a group write."""
ROOT_ENVIRONMENT = {"PATH": ROOT_PATH, "LC_ALL": "C", "DM_DISABLE_UDEV": "1"}
"""Programs make the node of a volume of the device mapper themselves: udev, which watches another, sees no write."""
WORKLOAD_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/run/current-system/sw/bin"
PASSED_ON = frozenset({"TMPDIR", "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "BORG_BASE_DIR", "BORG_PASSPHRASE"})
"""Variables that a workload may be given. None of them means anything to the loader."""
NIX_STORE = "/nix/store"
"""Its group adds packages; the sticky bit and the owner keep those that are there as they are."""
PAUSE_S = 0.01


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


def call(command: Sequence[str], stdout: int | None = None) -> int:
    """Run a program of root's; the exit code."""
    return subprocess.call(located(command), env=ROOT_ENVIRONMENT, stdout=stdout)


def run(command: Sequence[str], timeout_s: float | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a program of root's; what it says and its exit code. TimeoutExpired where it takes longer."""
    return subprocess.run(
        located(command), env=ROOT_ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s,
        check=False,
    )  # fmt: skip


def run_until_free(command: Sequence[str], words: tuple[bytes, ...], limit_s: float) -> int:
    """The exit code of a program that is run again while one of `words` says that something is in use.

    What the last run says goes to standard error.
    """

    def over(done: subprocess.CompletedProcess[bytes]) -> bool:
        return done.returncode == 0 or not any(word in done.stderr.lower() for word in words)

    done = poll(partial(run, command), over, limit_s)
    sys.stderr.buffer.write(done.stderr)
    sys.stderr.flush()
    return done.returncode


def poll(ask: Callable[[], T], over: Callable[[T], bool], limit_s: float) -> T:
    """The first answer for which it is `over`, else the last one before `limit_s` had passed."""
    deadline = time.monotonic() + limit_s
    while not over(answer := ask()) and time.monotonic() <= deadline:
        time.sleep(PAUSE_S)
    return answer


def end(name: str, limit_s: float) -> None:
    """End the processes that are called `name`, and wait until they are gone; by force after `limit_s`."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in pids_of(name):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        if gone(name, limit_s):
            return


def gone(name: str, limit_s: float) -> bool:
    """Wait until none of that name is left; False where one still is after `limit_s`."""
    return poll(partial(_reap, name), lambda left: not left, limit_s) == []


def _reap(name: str) -> list[int]:
    """Those of that name, the ended ones of which are gone the next time."""
    left = pids_of(name)
    for pid in left:
        with contextlib.suppress(ChildProcessError):  # else the helper reaps it
            os.waitpid(pid, os.WNOHANG)
    return left


def pids_of(name: str) -> list[int]:
    """Numbers, as this namespace counts, of its processes that are called `name`."""
    namespace = os.stat("/proc/self/ns/pid").st_ino
    pids = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it is another's, or ended while it was looked at
            inside = os.stat(f"/proc/{entry}/ns/pid").st_ino == namespace
            status = Path(f"/proc/{entry}/status").read_text("utf-8", "replace").splitlines()
            fields = dict(line.split(":", 1) for line in status if ":" in line)
            if inside and fields["Name"].strip() == name[:15]:
                pids.append(int(fields["NSpid"].split()[-1]))
    return pids


def check(path: str) -> None:
    """Refusal where anybody but root can change what `path` leads to, or where it was mounted since the start."""
    processes = {entry: _status_and_mount(entry) for entry in _entries(path)}
    now = mounts.current()
    for entry, (status, mount_id) in processes.items():
        writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not stat.S_ISLNK(status.st_mode)
        if status.st_uid != 0 or (writable and not (entry == NIX_STORE and status.st_mode & stat.S_ISVTX)):
            raise Refusal("refused", f"{path} is not root's alone: others can change {entry}")
        # what is below a changed root directory (chroot) is on a mount that is not listed
        if mount_id in now and now[mount_id] not in mounted_at_start():
            raise Refusal("refused", f"{path} is hidden: {entry} was mounted over it after the helper started")


@cache
def mounted_at_start() -> frozenset[Mount]:
    """What is mounted when this is first called, which the helper does before anything can be asked of it.

    Whole entries, as the kernel gives the ID of a mount that is gone to a new one.
    """
    return frozenset(mounts.current().values())


def _status_and_mount(entry: str) -> tuple[os.stat_result, int]:
    """What is there, links not followed, and the ID of the mount that it lies on."""
    with closing(os.open(entry, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)) as descriptor:
        return os.fstat(descriptor), mounts.id_of(descriptor)


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


def workload_environment(user: User, given: Mapping[str, str]) -> dict[str, str]:
    if refused := given.keys() - PASSED_ON:
        raise Refusal("refused", f"the variable {min(refused)!r:.40} is not passed on")
    return {"PATH": WORKLOAD_PATH, "HOME": user.home, "TMPDIR": "/tmp", "LC_ALL": "C.UTF-8", **given}


def workload(name: str) -> str:
    """Path of a program, looked up with the rights of whoever calls this; Refusal where it is absent."""
    path = shutil.which(name, path=WORKLOAD_PATH)
    if path is None:
        raise Refusal("missing", f"{name} is not installed")
    return path
