"""Start programs without root privileges; no other module does."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from fswizard.errors import Missing, RunFailed
from fswizard.language import _, number
from fswizard.system import clock
from fswizard.system.process import Finished

STDERR = 2
SYSTEM_PATH = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Directories of mkfs and similar programs that are not on the PATH of every user."""


def find(program: str) -> str | None:
    """Path of `program` on PATH or in the system directories; None if it is not installed."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *SYSTEM_PATH))
    return shutil.which(program, path=path)


def located(program: str) -> str:
    """Path of `program`. Raises Missing if it is not installed."""
    if (path := find(program)) is None:
        raise Missing(_("{program} is not installed.", program=program), _("`fswizard doctor` says how to get it."))
    return path


def query(argv: Sequence[str], *, timeout_s: float = 10.0, cwd: str | None = None) -> Finished:
    """Run a short program to its end, in the C locale, without standard input.

    Raises Missing if the program is not installed, and RunFailed after `timeout_s`.
    """
    path = located(argv[0])
    started, turns = clock.monotonic(), clock.turns(timeout_s)
    try:
        process = subprocess.Popen(
            [path, *argv[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            **_effective_user(),
        )
    except OSError as error:
        raise Missing(_("{program} cannot be started: {reason}.", program=argv[0], reason=error.strerror)) from error
    for seconds in turns:
        with contextlib.suppress(subprocess.TimeoutExpired):
            stdout, stderr = process.communicate(timeout=seconds)
            return Finished(tuple(argv), process.returncode, stdout, stderr, clock.monotonic() - started)
    process.kill()  # without waiting: it may hang in the kernel, and its children may hold the pipes
    raise RunFailed(
        _("{program} did not answer within {timeout} s.", program=argv[0], timeout=number(f"{timeout_s:g}"))
    )


def attend(argv: Sequence[str]) -> int:
    """Run a program interactively on the terminal, with its output on standard error; returns the exit code."""
    return subprocess.run([located(argv[0]), *argv[1:]], stdout=STDERR, check=False).returncode


def begin(argv: Sequence[str], stdin: bytes, *, own_session: bool = True) -> subprocess.Popen[bytes]:
    """Start a program that may outlive this one, with `stdin` as its standard input and pipes for its output.

    Ctrl-C in the terminal does not reach it. In its own session it also has no terminal; sudo needs that to recognise
    that the password was entered there.
    """
    group: dict[str, Any] = {"start_new_session": True}
    if not own_session:
        group = {"process_group": 0} if sys.version_info >= (3, 11) else {"preexec_fn": os.setpgrp}
    pipe = subprocess.PIPE
    process = subprocess.Popen([located(argv[0]), *argv[1:]], stdin=pipe, stdout=pipe, stderr=pipe, **group)
    _launched.append(process)
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin as line:
        line.write(stdin)
    return process


def watcher(argv: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a program that reads its standard input until this program ends for whatever reason, and then acts.

    Signals for the process group or terminal of this program do not reach it.
    """
    return subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


_launched: list[subprocess.Popen[bytes]] = []
"""References to started programs, which Python would otherwise report as not waited for."""


class LocalProcess:
    """A running program in its own process group."""

    def __init__(self, argv: tuple[str, ...], process: asyncio.subprocess.Process, started: float) -> None:
        self._argv = argv
        self._process = process
        self.pid = _pid_in_proc(process.pid)
        self._started = started
        self._cpu_before = children_cpu_s()
        self._stderr = asyncio.create_task(_read_all(process.stderr))

    async def chunks(self) -> AsyncIterator[bytes]:
        assert self._process.stdout is not None
        while chunk := await self._process.stdout.read(65536):
            yield chunk

    async def wait(self) -> Finished:
        stdout = await _read_all(self._process.stdout)
        code = await self._process.wait()
        wall_s = clock.monotonic() - self._started
        return Finished(self._argv, code, stdout, await self._stderr, wall_s, children_cpu_s() - self._cpu_before)

    async def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        await self._stderr


async def start(
    argv: Sequence[str], *, cwd: str | None = None, env: Mapping[str, str] | None = None, prefix: Sequence[str] = (),
    pass_fds: Sequence[int] = (),
) -> LocalProcess:  # fmt: skip
    """Start a program asynchronously; `prefix` is a command that executes it.

    It inherits the descriptors `pass_fds` with the same numbers.
    """
    path = located(argv[0])
    started = clock.monotonic()
    process = await asyncio.create_subprocess_exec(
        *prefix,
        path,
        *argv[1:],
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})},
        start_new_session=True,
        pass_fds=pass_fds,
        **_effective_user(),
    )
    return LocalProcess(tuple(argv), process, started)


def _effective_user() -> dict[str, Any]:
    """Arguments that start a program as the effective user, so that its real UID is not root, either."""
    uid, gid = os.geteuid(), os.getegid()
    return {} if os.getuid() == uid else {"user": uid, "group": gid}


def _pid_in_proc(pid: int) -> int:
    """PID of a child in /proc, which may belong to a parent PID namespace (pidfd_open(2))."""
    if os.readlink("/proc/self") == str(os.getpid()):
        return pid
    with contextlib.suppress(OSError):  # it has ended
        descriptor = os.pidfd_open(pid)
        with open(f"/proc/self/fdinfo/{descriptor}") as file:
            lines = dict(line.split(":", 1) for line in file)
        os.close(descriptor)
        return int(lines["Pid"])
    return pid


async def _read_all(stream: asyncio.StreamReader | None) -> bytes:
    return await stream.read() if stream is not None else b""


def children_cpu_s() -> float:
    """Processor time in seconds of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
