"""Privileges of a run that was started as root: everything outside this module runs as the user.

The effective UID of the process is the user's, its real UID is root. Files and directories are therefore opened and
made with the user's permissions, and root never follows a path that others can change. Programs regain root privileges
one by one, through this module.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import shutil
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
from fswizard.system.system_calls import keeping_death_signal

ROOT = 0
ROOT_PATH = "/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin"
"""Excludes /usr/local, which is group-writable on some distributions."""
ROOT_ENVIRONMENT = {"PATH": ROOT_PATH, "LC_ALL": "C.UTF-8", "DM_DISABLE_UDEV": "1"}
"""Complete environment of programs run as root. With DM_DISABLE_UDEV they make device mapper nodes themselves."""
WORKLOAD_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/run/current-system/sw/bin"
PASSED_ON = (
    "PATH", "LC_ALL", "TMPDIR", "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "BORG_BASE_DIR", "BORG_PASSPHRASE",
)  # fmt: skip
"""Environment variables that workloads get. The dynamic loader interprets none of them."""
NIX_STORE = "/nix/store"
"""Group-writable, but sticky: members of the group can add packages and cannot change existing ones."""
WITHOUT_RIGHTS = ("--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--")
WITH_DAEMONS = (
    "unshare", "--ipc", "--pid", "--fork", "--kill-child", "--", "sh", "-c", '"$@" && exec sleep infinity', "sh",
)  # fmt: skip
"""Prefix of a program that puts itself into the background: killing the started process ends the daemon, too."""


def caller(environment: Mapping[str, str]) -> pwd.struct_passwd:
    """Account that called sudo, doas or pkexec, otherwise root. Raises Refused if the account does not exist."""
    try:
        for name in ("SUDO_UID", "PKEXEC_UID"):
            if name in environment:
                return pwd.getpwuid(int(environment[name]))
        if "DOAS_USER" in environment:
            return pwd.getpwnam(environment["DOAS_USER"])
        return pwd.getpwuid(ROOT)
    except (KeyError, ValueError) as error:
        raise Refused(_("The account that asked for root's rights is not in the user database.")) from error


def become(user: pwd.struct_passwd, extra: Mapping[str, str]) -> None:
    """Act as `user` from here on, with the default environment and the `extra` variables."""
    os.umask(0o022)
    with keeping_death_signal():  # otherwise `unshare --kill-child` would no longer end this process
        os.setgroups(os.getgrouplist(user.pw_name, user.pw_gid))
        os.setegid(user.pw_gid)
        os.seteuid(user.pw_uid)
    os.environ.clear()
    os.environ.update(PATH=WORKLOAD_PATH, HOME=user.pw_dir, USER=user.pw_name, LC_ALL="C.UTF-8", **extra)


@contextlib.contextmanager
def root() -> Iterator[None]:
    """Run a block as root, for system calls that no program makes. Never pass it a path that others can change."""
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
    """Path of a program that only root can change.

    Raises Missing if it is not installed, and Refused if others can change it.
    """
    path = shutil.which(name, path=ROOT_PATH)
    if path is None:
        raise Missing(
            _("{program} is not installed where root alone can write, such as in /usr/sbin.", program=name),
            _("`fswizard doctor` says how to get it."),
        )
    if entry := changeable_by_others(path, lambda shared: shared == NIX_STORE):
        raise Refused(_("{path} is not run as root: others can change {entry}.", path=safe(path), entry=safe(entry)))
    return os.path.realpath(path)  # so that no link is followed again when it is run


def changeable_by_others(path: str, sticky: Callable[[str], bool] = lambda shared: True) -> str:
    """First component of `path` that anybody but root can rename or replace; empty if there is none.

    Symbolic links are followed and checked component by component. Shared directories pass if they have the sticky bit
    and `sticky` accepts their path. Raises OSError if the path does not exist.
    """
    os.stat(path)  # raises an error for links in a loop
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
    argv: Sequence[str], *, cwd: str = "/", env: Mapping[str, str] = ROOT_ENVIRONMENT, stdin: bytes = b"",
    prefix: Sequence[str] = (),
) -> LocalProcess:  # fmt: skip
    """Start a program as root with `stdin` as its standard input; `prefix` is a command that executes `argv`."""
    command = (*prefix, *argv)
    path, started, pipe = find(command[0]), clock.monotonic(), asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, executable=path, stdin=pipe if stdin else asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe,
        cwd=cwd, env=dict(env), start_new_session=True, user=ROOT, group=ROOT,
    )  # fmt: skip
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.write(stdin)
            process.stdin.close()
    return LocalProcess(tuple(argv), process, started)


waits_for_disk: list[timeouts.NoAnswer] = []
"""Error of a program that hung on a disk. No further program is run as root then, as it would hang, too."""


async def finish(argv: Sequence[str], *, stdin: bytes = b"") -> Finished:
    """Run a program as root to its end. Raises RunFailed if it takes too long."""
    if waits_for_disk:
        raise waits_for_disk[0]
    try:
        return await timeouts.ended(await start(argv, stdin=stdin), argv[0])
    except timeouts.NoAnswer as error:
        waits_for_disk.append(error)
        raise


def run(argv: Sequence[str], limit_s: float | None = None, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a program as root to its end, out of reach of the terminal's signals.

    Raises TimeoutExpired if it takes longer than `limit_s` seconds.
    """
    return subprocess.run(
        argv, executable=find(argv[0]), env=ROOT_ENVIRONMENT, input=stdin, capture_output=True, timeout=limit_s,
        check=False, cwd="/", start_new_session=True, user=ROOT, group=ROOT,
    )  # fmt: skip


async def start_workload(
    argv: Sequence[str], *, cwd: str, env: Mapping[str, str], prefix: Sequence[str] = ()
) -> LocalProcess:
    """Start a program as the user, with all privileges dropped; `prefix` is a command run as root that executes it."""
    uid, gid = os.geteuid(), os.getegid()
    user = pwd.getpwuid(uid)
    environment = {"PATH": WORKLOAD_PATH, "HOME": user.pw_dir, "TMPDIR": "/tmp", "LC_ALL": "C.UTF-8", **env}
    if shutil.which(argv[0], path=WORKLOAD_PATH) is None:
        raise Missing(_("{program} is not installed.", program=argv[0]), _("`fswizard doctor` says how to get it."))
    drop = ("setpriv", f"--reuid={uid}", f"--regid={gid}", "--init-groups", *WITHOUT_RIGHTS)
    passed = {name: value for name, value in environment.items() if name in PASSED_ON}
    return await start(argv, cwd=cwd, env=passed, prefix=(*prefix, *drop))
