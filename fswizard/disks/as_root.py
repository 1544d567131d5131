"""The rights of a run that was started as root: all it does, it does as its user, but for what goes through here.

The effective user of the process is the user; root is its real one. So a file is opened, and a directory made, with the
user's rights alone, and no path that others can change leads root anywhere. Programs get root's rights back one by one.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from fswizard.errors import Missing, Refused
from fswizard.language import _
from fswizard.model.text import safe
from fswizard.system import clock, timeouts
from fswizard.system.commands import LocalProcess
from fswizard.system.process import Finished
from fswizard.system.system_calls import closing, keeping_death_signal

ROOT = 0
ROOT_PATH = "/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin"
"""Without /usr/local, which some distributions let a group write."""
ROOT_ENVIRONMENT = {"PATH": ROOT_PATH, "LC_ALL": "C.UTF-8", "DM_DISABLE_UDEV": "1"}
"""All that programs of root's get. They make the node of a volume of the device mapper themselves: udev, which watches
another, sees no write."""
WORKLOAD_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/run/current-system/sw/bin"
PASSED_ON = (
    "PATH", "LC_ALL", "TMPDIR", "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "BORG_BASE_DIR", "BORG_PASSPHRASE",
)  # fmt: skip
"""Variables that a workload is given. None of them means anything to the loader."""
NIX_STORE = "/nix/store"
"""Its group adds packages; the sticky bit and the owner keep those that are there as they are."""
END_LIMIT_S, PAUSE_S = 10.0, 0.01
WITHOUT_RIGHTS = ("--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--")


def caller(environment: Mapping[str, str]) -> pwd.struct_passwd:
    """Who called sudo, doas or pkexec; root where nobody else is known. Refused where there is no such account."""
    try:
        for name in ("SUDO_UID", "PKEXEC_UID"):
            if name in environment:
                return pwd.getpwuid(int(environment[name]))
        if "DOAS_USER" in environment:
            return pwd.getpwnam(environment["DOAS_USER"])
        return pwd.getpwuid(ROOT)
    except (KeyError, ValueError) as error:
        raise Refused(_("The account that asked for root's rights is not in the user database.")) from error


def become(user: pwd.struct_passwd, further: Mapping[str, str]) -> None:
    """Act as `user` from here on, with an environment of `further` variables and the usual ones."""
    os.umask(0o022)
    with keeping_death_signal():  # or `unshare --kill-child` would not end this process any more
        os.setgroups(os.getgrouplist(user.pw_name, user.pw_gid))
        os.setegid(user.pw_gid)
        os.seteuid(user.pw_uid)
    os.environ.clear()
    os.environ.update(PATH=WORKLOAD_PATH, HOME=user.pw_dir, USER=user.pw_name, LC_ALL="C.UTF-8", **further)


@contextlib.contextmanager
def root() -> Iterator[None]:
    """Root's rights for what cannot be left to a program, such as a request to a device: no path of others' in it."""
    uid, gid = os.geteuid(), os.getegid()
    with keeping_death_signal():
        os.seteuid(ROOT)
        os.setegid(ROOT)
        try:
            yield
        finally:
            os.setegid(gid)
            os.seteuid(uid)


@cache
def find(name: str) -> str:
    """Path of a program that nobody but root can change; Missing or Refused where there is none."""
    path = shutil.which(name, path=ROOT_PATH)
    if path is None:
        raise Missing(
            _("{program} is not installed where root alone can write, such as in /usr/sbin.", program=name),
            _("`fswizard doctor` says how to get it."),
        )
    if entry := changeable_by_others(path, lambda shared: shared == NIX_STORE):
        raise Refused(_("{path} is not run as root: others can change {entry}.", path=safe(path), entry=safe(entry)))
    return os.path.realpath(path)  # no link is followed once more when it is run


def changeable_by_others(path: str, sticky: Callable[[str], bool] = lambda shared: True) -> str:
    """What on the way to `path` anybody but root can rename or replace; empty for nothing.

    The way leads through every link, and through those within it. In directories of which `sticky` says so, the sticky
    bit keeps others from what is root's. Raises OSError where there is no such way.
    """
    os.stat(path)  # ends where links lead to each other
    entry, rest = Path("/"), [*reversed(Path(path).absolute().parts)]
    while rest:
        entry /= rest.pop()
        status = entry.lstat()
        link = stat.S_ISLNK(status.st_mode)
        shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not link
        if status.st_uid != ROOT or (shared and not (status.st_mode & stat.S_ISVTX and sticky(str(entry)))):
            return str(entry)
        if link:
            rest += reversed(entry.readlink().parts)
            entry = entry.parent
    return ""


async def start(
    argv: Sequence[str], *, cwd: str = "/", env: Mapping[str, str] = ROOT_ENVIRONMENT, given: bytes = b"",
    prefix: Sequence[str] = (),
) -> LocalProcess:  # fmt: skip
    """Start a program as root, which reads what is `given`; `prefix` are words before its own that become it."""
    words = (*prefix, *argv)
    path, started, pipe = find(words[0]), clock.monotonic(), asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *words, executable=path, stdin=pipe if given else asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe,
        cwd=cwd, env=dict(env), start_new_session=True, user=ROOT, group=ROOT,
    )  # fmt: skip
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.write(given)
            process.stdin.close()
    return LocalProcess(tuple(argv), process, started)


waits_for_disk: list[timeouts.NoAnswer] = []
"""Nothing more is done as root once a program waits for a disk in vain: the next one would wait as well."""


async def finish(argv: Sequence[str], *, given: bytes = b"") -> Finished:
    """Run a program as root to its end; RunFailed where it does not come to it in time."""
    if waits_for_disk:
        raise waits_for_disk[0]
    try:
        return await timeouts.ended(await start(argv, given=given), argv[0])
    except timeouts.NoAnswer as error:
        waits_for_disk.append(error)
        raise


def run(argv: Sequence[str], limit_s: float | None = None, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a program as root to its end, which no terminal's signal reaches; what it says and its exit code.

    TimeoutExpired where it takes longer.
    """
    return subprocess.run(
        argv, executable=find(argv[0]), env=ROOT_ENVIRONMENT, input=given, capture_output=True, timeout=limit_s,
        check=False, cwd="/", start_new_session=True, user=ROOT, group=ROOT,
    )  # fmt: skip


async def end(name: str) -> None:
    """End the programs of this PID namespace that are called `name`, by force where that takes too long."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = clock.monotonic() + END_LIMIT_S
        while _signal(name, number) and clock.monotonic() < deadline:
            await clock.pause(PAUSE_S)


def _signal(name: str, number: int) -> bool:
    """Send a signal to programs called `name`; whether there is one that has not ended.

    /proc may be that of a namespace above, with other numbers. The kernel refuses a signal to a process that is not in
    this one (pidfd_send_signal(2)).
    """
    found = False
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError), root(), closing(os.open(process, os.O_RDONLY | os.O_CLOEXEC)) as pidfd:
            if (process / "cmdline").read_bytes().startswith(os.fsencode(f"{name}\0")):  # one that has ended has none
                signal.pidfd_send_signal(pidfd, number)
                found = True
    return found


async def start_workload(
    argv: Sequence[str], *, cwd: str, env: Mapping[str, str], prefix: Sequence[str] = ()
) -> LocalProcess:
    """Start a program as the user, without any right but theirs; `prefix` is run before, as root, and becomes it."""
    uid, gid = os.geteuid(), os.getegid()
    user = pwd.getpwuid(uid)
    environment = {"PATH": WORKLOAD_PATH, "HOME": user.pw_dir, "TMPDIR": "/tmp", "LC_ALL": "C.UTF-8", **env}
    if shutil.which(argv[0], path=WORKLOAD_PATH) is None:
        raise Missing(_("{program} is not installed.", program=argv[0]), _("`fswizard doctor` says how to get it."))
    drop = ("setpriv", f"--reuid={uid}", f"--regid={gid}", "--init-groups", *WITHOUT_RIGHTS)
    passed = {name: value for name, value in environment.items() if name in PASSED_ON}
    return await start(argv, cwd=cwd, env=passed, prefix=(*prefix, *drop))
