"""Programs that the helper runs beside its loop: output as it comes, how they ended, and killing them."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from selectors import EVENT_READ, BaseSelector
from typing import Any, NoReturn

from fswizard.privileged import inherited, system_calls
from fswizard.privileged.commands import Commands
from fswizard.privileged.identity import User
from fswizard.privileged.inherited import Limits
from fswizard.privileged.protocol import Refusal

CHUNK_BYTES = 65536
DRAINED_CHUNKS = 64
"""How much is still read of a job that ended, should something it left behind go on writing."""
MAXIMUM_JOBS = 64
COULD_NOT_START = 126

BEGIN_LIMIT_S = 10.0
"""For what a user's job does before its work: a directory of the user's may lie where nothing answers."""
KILL_LIMIT_S = 1.0
"""For one that was killed before it had begun."""

Body = Callable[[], int]
"""Runs in the child: replaces it by a program, or does the work and returns the exit code."""
Begin = Callable[[], Body]
"""What a user's job does first, which may take for ever: becomes a program, or gives the work that is left."""
Ending = dict[str, Any]
Send = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Work:
    """What is done for an order, and the commands that this takes, in order and word for word.

    What the helper does itself has a command that says as much, such as `umount`.
    """

    commands: Commands
    body: Body


@dataclass(slots=True)
class Job:
    number: int
    child: int
    """Process ID as the helper sees it."""
    pid: int
    """As the machine's /proc names the program; 0 for the helper's own tools."""
    started: float
    report: int
    """Descriptor from which a contained program's process ID is read, and how it ended."""
    pipes: dict[int, str]
    finish: Callable[[Ending], None]
    beginning: int = -1
    """Of a user's job that has yet to begin, where its child says why it can't, or closes once it has."""
    begins_by: float = 0.0
    """By the monotonic clock."""
    refusal: Mapping[str, str] | None = None
    """Why it could not begin: code and text."""
    killed: bool = False
    ended: tuple[int, float] | None = None
    """Exit code and processor time of the child, once that is gone."""


class Jobs:
    def __init__(self, selector: BaseSelector, send: Send, limits: Limits) -> None:
        """`limits` are those of the user's jobs."""
        self._limits = limits
        self._selector = selector
        self._send = send
        self._running: dict[int, Job] = {}
        self._last_number = 0
        self._namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def start(
        self, body: Body, *, contained: bool, finish: Callable[[Ending], None] = lambda ending: None,
        keep: Collection[int] = (),
    ) -> Job:  # fmt: skip
        """Start `body` in a child; a contained one gets a PID namespace, so that nothing of it outlives it.

        Of the open descriptors it sees those in `keep` alone. `finish` may add to what is said of the end.
        """
        if len(self._running) >= MAXIMUM_JOBS:
            raise Refusal("busy", f"{MAXIMUM_JOBS} jobs are running already")
        (out, child_out), (err, child_err), (report, child_report) = os.pipe(), os.pipe(), os.pipe()
        started = time.monotonic()
        try:
            child = self._fork(contained)
        except OSError:
            for descriptor in (out, child_out, err, child_err, report, child_report):
                os.close(descriptor)
            raise
        if child == 0:
            _be_child(body, (child_out, child_err), child_report, contained, keep)
        for descriptor in (child_out, child_err, child_report):
            os.close(descriptor)
        pid = int(_read_line(report) or 0) if contained else 0
        self._last_number += 1
        job = Job(self._last_number, child, pid, started, report, {out: "stdout", err: "stderr"}, finish)
        self._running[child] = job
        for descriptor in job.pipes:
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, EVENT_READ, lambda fd=descriptor: self._relay(job, fd))
        return job

    def start_as_user(
        self, begin: Begin, user: User, *, contained: bool, finish: Callable[[Ending], None] = lambda ending: None,
        keep: Collection[int] = (), entrance: Collection[int] = (),
    ) -> Job:  # fmt: skip
        """The same with the rights and resource limits of `user`; root enters the cgroups of `entrance` before.

        Where `begin` takes longer than `BEGIN_LIMIT_S`, the job is given up: killed, and not waited for.
        """
        said, saying = os.pipe()

        def body() -> int:
            for cgroup in entrance:
                os.write(cgroup, b"0")
            for number, pair in self._limits.items():
                resource.setrlimit(number, pair)
            system_calls.become(user.uid, user.gid, user.groups)
            return _begin(begin, saying)

        try:
            job = self.start(body, contained=contained, finish=finish, keep={saying, *keep, *entrance})
        except BaseException:
            os.close(said)
            raise
        finally:
            os.close(saying)
        job.beginning, job.begins_by = said, job.started + BEGIN_LIMIT_S
        self._selector.register(said, EVENT_READ, lambda: self._begun(job))
        return job

    def _begun(self, job: Job) -> None:
        """It has begun, or it says why not."""
        job.refusal = json.loads(os.read(job.beginning, CHUNK_BYTES) or b"null")
        self._forget_beginning(job)

    def _forget_beginning(self, job: Job) -> None:
        self._selector.unregister(job.beginning)
        os.close(job.beginning)
        job.beginning = -1

    def next_limit_s(self) -> float | None:
        """Seconds until `give_up` has something to do; None where nothing has yet to begin."""
        limits = [job.begins_by for job in self._running.values() if job.beginning >= 0]
        return max(0.0, min(limits) - time.monotonic()) if limits else None

    def give_up(self) -> None:
        """End jobs that have not begun in time, also where the kernel keeps their process for as long as it likes."""
        now = time.monotonic()
        for job in [job for job in self._running.values() if job.beginning >= 0 and job.begins_by <= now]:
            self._kill(job)
            self._forget_beginning(job)
            text = f"a file or directory of yours did not answer within {BEGIN_LIMIT_S:g} s"
            job.refusal = {"code": "failed", "text": text}
            del self._running[job.child]
            self._end(job, COULD_NOT_START, now - job.started, 0.0, reported=False)

    def kill(self, number: int) -> None:
        """End a job and what it started; its end is reported as that of any other."""
        job = next((job for job in self._running.values() if job.number == number), None)
        if job is None:
            return  # it ended meanwhile
        job.begins_by = min(job.begins_by, time.monotonic() + KILL_LIMIT_S)
        self._kill(job)

    def _kill(self, job: Job) -> None:
        job.killed = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.child, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(job.child, signal.SIGKILL)

    def reap(self) -> None:
        """Take note of every child that ended; as PID 1 the helper inherits orphans too.

        Of a job that was killed, the last process ends it: a mount(8) that the kernel holds still mounts afterwards.
        """
        with contextlib.suppress(ChildProcessError):
            while (ended := os.wait4(-1, os.WNOHANG))[0]:
                child, status, usage = ended
                if job := self._running.get(child):
                    job.ended = os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
        for job in list(self._running.values()):
            if job.ended is not None and not (job.killed and _lives(job.child)):
                del self._running[job.child]
                exit_code, cpu_s = job.ended
                self._end(job, exit_code, time.monotonic() - job.started, cpu_s)

    def _fork(self, contained: bool) -> int:
        if not contained:
            return os.fork()
        system_calls.unshare(system_calls.CLONE_NEWPID)
        child = -1
        try:
            child = os.fork()
        finally:
            if child:
                try:
                    system_calls.rejoin_pid(self._namespace)
                except OSError as error:  # no further child could be started
                    raise SystemExit(f"setns: {error.strerror}") from error
        return child

    def _relay(self, job: Job, descriptor: int) -> bool:
        """Pass on what is there; False when there is nothing."""
        try:
            data = os.read(descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self._close(job, descriptor)
            return False
        self._send({"job": job.number, "output": job.pipes[descriptor], "data": base64.b64encode(data).decode()})
        return True

    def _close(self, job: Job, descriptor: int) -> None:
        self._selector.unregister(descriptor)
        os.close(descriptor)
        del job.pipes[descriptor]

    def _end(self, job: Job, exit_code: int, wall_s: float, cpu_s: float, *, reported: bool = True) -> None:
        """Say how a job ended; not `reported`, it is not even known whether it has."""
        if job.beginning >= 0:
            self._begun(job)
        for descriptor in list(job.pipes):
            for _ in range(DRAINED_CHUNKS):
                if not self._relay(job, descriptor):
                    break
        for descriptor in list(job.pipes):
            self._close(job, descriptor)
        ending: Ending = {"exit_code": exit_code, "wall_s": wall_s, "cpu_s": cpu_s}
        if reported and (line := _read_line(job.report)):
            code, wall, cpu = line.split()
            ending = {"exit_code": int(code), "wall_s": float(wall), "cpu_s": float(cpu)}
        os.close(job.report)
        if job.refusal:
            ending |= {"exit_code": COULD_NOT_START, "refused": job.refusal}
        try:
            job.finish(ending)
        except Refusal as refusal:
            ending |= {"exit_code": COULD_NOT_START, "refused": {"code": refusal.code, "text": refusal.text}}
        except OSError as error:
            ending |= {"exit_code": ending["exit_code"] or COULD_NOT_START, "error": f"{error.strerror or error}"}
        except Exception as error:  # an error is an answer, and does not end the helper
            traceback.print_exc()
            ending |= {"exit_code": COULD_NOT_START, "error": f"an unexpected error: {error!r:.200}"}
        self._send({"job": job.number, "ended": ending})


def _lives(group: int) -> bool:
    """Whether any process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _be_child(
    body: Body, outputs: tuple[int, int], report: int, contained: bool, keep: Collection[int]
) -> NoReturn:  # fmt: skip
    """Whatever happens, the child never gets back into the helper's loop."""
    code = COULD_NOT_START
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(outputs[0], 1)
        os.dup2(outputs[1], 2)
        inherited.close_all_but({0, 1, 2, *keep, *([report] if contained else [])})
        signal.set_wakeup_fd(-1)
        inherited.reset_signals()
        code = _contain(body, report) if contained else body()
        sys.stdout.flush()
    except Refusal as refusal:
        os.write(2, f"{refusal.text}\n".encode())
    except OSError as error:
        code = error.errno or COULD_NOT_START
        os.write(2, f"{error.strerror or error}\n".encode())
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _begin(begin: Begin, saying: int) -> int:
    """Say by closing `saying` that it has begun, as the next program does by itself, or write there why not."""
    try:
        work = begin()
    except Refusal as refusal:
        os.write(saying, json.dumps({"code": refusal.code, "text": refusal.text}).encode())
        return COULD_NOT_START
    except OSError as error:
        text = ": ".join(filter(None, (error.filename, error.strerror)))
        os.write(saying, json.dumps({"code": "refused", "text": text}).encode())
        return COULD_NOT_START
    os.close(saying)
    return work()


def _contain(body: Body, report: int) -> int:
    """Be PID 1 of the namespace: start `body`, reap, report how it ended; with the return the kernel ends the rest.

    What the kernel takes to clear the namespace away does not count as time of the program.
    """
    started = time.monotonic()
    program = os.fork()
    if program == 0:
        os.setsid()
        os.write(report, os.readlink("/proc/self").encode() + b"\n")
        os.close(report)
        return body()
    inherited.close_all_but({2, report})
    while True:
        child, status = os.wait()
        if child == program:
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            took = f"{time.monotonic() - started:.6f} {usage.ru_utime + usage.ru_stime:.6f}"
            os.write(report, f"{os.waitstatus_to_exitcode(status)} {took}\n".encode())
            return 0


def _read_line(report: int) -> str:
    """One line of a job's report; empty at its end."""
    line = b""
    while (byte := os.read(report, 1)) not in (b"", b"\n"):
        line += byte
    return line.decode()
