"""The only place that starts programs without special rights."""

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
"""Where distributions keep mkfs and friends, which are not on every user's PATH."""


def find(program: str) -> str | None:
    """Path of `program`, looked for on PATH and where system programs live; None where it is absent."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *SYSTEM_PATH))
    return shutil.which(program, path=path)


def located(program: str) -> str:
    """As `find`; Missing where it is absent."""
    if (path := find(program)) is None:
        raise Missing(_("{program} is not installed.", program=program), _("`fswizard doctor` says how to get it."))
    return path


def query(argv: Sequence[str], *, timeout_s: float = 10.0, cwd: str | None = None) -> Finished:
    """Run a short program to its end, in the C locale, without standard input.

    Raises Missing where the program is absent and RunFailed where it does not answer in time.
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
    process.kill()  # and not waited for: what hangs in the kernel stays, and what it started may hold the pipes
    raise RunFailed(
        _("{program} did not answer within {timeout} s.", program=argv[0], timeout=number(f"{timeout_s:g}"))
    )


def attend(argv: Sequence[str]) -> int:
    """Run a program on the user's own terminal, with its questions; all its output goes to standard error."""
    return subprocess.run([located(argv[0]), *argv[1:]], stdout=STDERR, check=False).returncode


def begin(argv: Sequence[str], stdin: bytes, *, own_session: bool = True) -> subprocess.Popen[bytes]:
    """Start a program that outlives this one if need be, with `given` on its standard input.

    Its standard output and error can be read. The terminal's Ctrl-C never reaches it. A session of its own also takes
    the terminal away from it, by which sudo knows that the password was given there.
    """
    apart: dict[str, Any] = {"start_new_session": True}
    if not own_session:
        apart = {"process_group": 0} if sys.version_info >= (3, 11) else {"preexec_fn": os.setpgrp}
    pipe = subprocess.PIPE
    process = subprocess.Popen([located(argv[0]), *argv[1:]], stdin=pipe, stdout=pipe, stderr=pipe, **apart)
    _launched.append(process)
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin as line:
        line.write(stdin)
    return process


def watcher(argv: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a program that reads its standard input until this program ends, however it ends, and then does something.

    No signal for this program's process group or terminal reaches it.
    """
    return subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


_launched: list[subprocess.Popen[bytes]] = []
"""Nobody waits for their end."""


class LocalProcess:
    """A program that runs here, in a process group of its own."""

    def __init__(self, argv: tuple[str, ...], process: asyncio.subprocess.Process, started: float) -> None:
        self._argv = argv
        self._process = process
        self.pid = _number_in_proc(process.pid)
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
    """Start a program that is watched while it runs; `prefix` are words before its own that become it.

    It has the descriptors `pass_fds` open, by the same numbers.
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
    """What a program is started with in a run that was started as root: not even its real user is root then."""
    uid, gid = os.geteuid(), os.getegid()
    return {} if os.getuid() == uid else {"user": uid, "group": gid}


def _number_in_proc(pid: int) -> int:
    """What /proc calls a child: this program may be in a PID namespace below that of /proc (pidfd_open(2))."""
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
    """Processor time of all programs that were started here and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
