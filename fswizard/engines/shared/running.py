"""Programs of a workload: each has a time limit, and none outlives the workload. Jobs can share what they make."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TypeVar

from fswizard.engines.shared.engine import WorkloadContext, WorkloadDisturbed, WorkloadFailed
from fswizard.errors import OutOfMemory
from fswizard.language import _
from fswizard.model.recipe import Job
from fswizard.model.units import duration_text
from fswizard.progress.workload_events import Progress, Tell, WorkloadEvent
from fswizard.system import clock
from fswizard.system.process import SENT, Finished, Process, is_stopped

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

POLL_S = 0.25
BLAMED_ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS)
"""Errors of a filesystem or its device, as opposed to a program that was called wrongly."""
SAYS_KILLED = re.compile(
    rf"\bsignal[ =]({'|'.join(str(int(number)) for number in SENT)})\b|\b({'|'.join(number.name for number in SENT)})\b"
)
"""Message of git, tar, rsync, borg or the file server when they, or a program that they started, were killed."""
_SYSTEM_PYTHON = "/usr/bin/python3"
_OPTIONS = ("-I", "-S")
"""Options that keep out the user's own modules and settings."""


class Running:
    """A program that is watched while it runs; iterate over either `chunks` or `ticks`, to the end.

    Both raise WorkloadDisturbed if somebody stops the program, or one that it has started.
    """

    def __init__(self, process: Process, argv: Sequence[str], limit_s: float) -> None:
        self._process = process
        self._program = program_name(argv)
        self._limit_s = limit_s
        self._deadline = clock.monotonic() + limit_s
        self._finished: Finished | None = None
        self._looked_at = clock.monotonic()
        """Time when it was last seen running."""

    @property
    def ended(self) -> bool:
        return self._finished is not None

    @property
    def finished(self) -> Finished:
        """How it ended; only after the last of `chunks` or `ticks`."""
        assert self._finished is not None
        return self._finished

    @property
    def pid(self) -> int:
        return self._process.pid

    def interrupt(self) -> None:
        """Ask it to end, as Ctrl-C does; if that is not allowed, it continues."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGINT)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Standard output as it comes; raises WorkloadFailed(`timed-out`) past the limit."""
        source = self._process.chunks()
        while chunk := await self._undisturbed(anext(source, b"")):
            if clock.monotonic() - self._looked_at >= POLL_S:  # it may write while a child is stopped
                self._require_running()
            yield chunk
        self._finished = await self._undisturbed(self._process.wait())

    async def ticks(self) -> AsyncIterator[None]:
        """A tick every quarter of a second until the end; raises WorkloadFailed(`timed-out`) past the limit."""
        async with self._awaiting(self._process.wait()) as waiting:
            while not await clock.ended(waiting, POLL_S):
                self._require_running()
                yield
            self._finished = waiting.result()

    async def _undisturbed(self, answer: Awaitable[T]) -> T:
        async with self._awaiting(answer) as waiting:
            while not await clock.ended(waiting, POLL_S):
                self._require_running()
            return waiting.result()

    @asynccontextmanager
    async def _awaiting(self, answer: Awaitable[T]) -> AsyncIterator[asyncio.Future[T]]:
        """A task for an answer that must come in time; the end of the block cancels it."""
        import asyncio  # only here and below: recipes are listed without it

        waiting = asyncio.ensure_future(self._in_time(answer))
        try:
            yield waiting
        finally:
            waiting.cancel()
            with contextlib.suppress(asyncio.CancelledError, WorkloadFailed):
                await waiting

    def _require_running(self) -> None:
        self._looked_at = clock.monotonic()
        if is_stopped(self.pid):
            raise WorkloadDisturbed(self._program)

    async def _in_time(self, answer: Awaitable[T]) -> T:
        from asyncio import TimeoutError as TimedOut

        from fswizard.system import timeouts

        try:
            return await timeouts.within(max(0.0, self._deadline - clock.monotonic()), answer)
        except TimedOut as error:
            text = _("{program} did not end within {limit}.", program=self._program, limit=duration_text(self._limit_s))
            raise WorkloadFailed("timed-out", text) from error


@asynccontextmanager
async def running(
    context: WorkloadContext, argv: Sequence[str], *, limit_s: float, env: Mapping[str, str] | None = None,
    limited: bool = False,
) -> AsyncIterator[Running]:  # fmt: skip
    """Start a program as the user, and kill it at the end of the block; see `WorkloadContext.start` for `limited`."""
    async with watched(await context.start(argv, env=env, limited=limited), argv, limit_s=limit_s) as program:
        yield program


@asynccontextmanager
async def watched(process: Process, argv: Sequence[str], *, limit_s: float) -> AsyncIterator[Running]:
    """Watch a program that was started already, and kill it at the end of the block."""
    from fswizard.system import timeouts

    program = Running(process, argv, limit_s)
    try:
        yield program
    finally:
        if not program.ended:  # that it can't be ended is not the filesystem's fault
            await timeouts.end(process, program_name(argv))


async def finish(context: WorkloadContext, argv: Sequence[str], *, limit_s: float) -> Finished:
    """Run a program to its end, whatever its exit code."""
    async with running(context, argv, limit_s=limit_s) as program:
        async for _ in program.ticks():
            pass
        return program.finished


async def succeed(context: WorkloadContext, argv: Sequence[str], *, limit_s: float) -> Finished:
    """Run a program to its end; raises WorkloadFailed if it fails."""
    finished = await finish(context, argv, limit_s=limit_s)
    check(finished)
    return finished


def check(finished: Finished) -> None:
    """Raise what `failure` gives if a program failed."""
    if finished.exit_code != 0:
        raise failure(finished)


def failure(finished: Finished, error: int = 0) -> WorkloadFailed:
    """The failure of a program, by its errno `error`, or else by its messages.

    Raises OutOfMemory if it got no memory, which is not the filesystem's fault, and WorkloadDisturbed if somebody
    killed it.
    """
    require_unkilled(finished)
    output = finished.output
    words = {os.strerror(number): number for number in (*BLAMED_ERRORS, errno.ENOMEM, errno.EPERM)}
    for known in (program for kind in Job.kinds.values() for program in kind.programs):
        words.update(known.messages)
    error = error or next((number for text, number in words.items() if text in output), 0)
    program = program_name(finished.argv)
    if error == errno.ENOMEM:
        raise OutOfMemory(program, output)
    kind = errno.errorcode[error] if error in BLAMED_ERRORS else "program"
    reason = os.strerror(error) if error else _("exit code {exit_code}", exit_code=finished.exit_code)
    return WorkloadFailed(kind, _("{program} failed: {reason}.", program=program, reason=reason), output)


def require_unkilled(finished: Finished) -> None:
    """Raise WorkloadDisturbed if somebody killed a program, or one that it had started, by its messages."""
    signal_name = finished.killed_by
    if not signal_name and (said := SAYS_KILLED.search(finished.output)):
        number, name = said.groups()
        signal_name = name or signal.Signals(int(number)).name
    if signal_name:
        raise WorkloadDisturbed(program_name(finished.argv), signal_name)


def part(emit: Tell, start: float, share: float) -> Tell:
    """An emitter for a part that begins at `start` and is `share` of the whole."""

    def scaled(what: WorkloadEvent) -> None:
        if isinstance(what, Progress) and what.fraction is not None:
            what = replace(what, fraction=start + share * what.fraction)
        emit(what)

    return scaled


@asynccontextmanager
async def making(context: WorkloadContext, path: str) -> AsyncIterator[None]:
    """Make `path` again; at the end of the block it counts as laid out.

    If the work fails, what exists of it is deleted, so that it takes no space from later workloads.
    """
    # A candidate's own directory was empty in the beginning.
    if path in context.laid_out or not path.startswith(f"{context.directory}/"):
        context.laid_out.discard(path)
        await remove(context, path)
    try:
        yield
    except WorkloadFailed:
        with contextlib.suppress(WorkloadFailed):
            await remove(context, path)
        raise
    context.laid_out.add(path)


async def remove(context: WorkloadContext, *paths: str) -> None:
    """Delete `paths`, if they exist."""
    await succeed(context, ("rm", "-rf", *paths), limit_s=300.0)
    context.laid_out.difference_update(paths)


def interpreter() -> str:
    """A Python that every user can start: ours may be in a home directory."""
    return _SYSTEM_PYTHON if os.access(_SYSTEM_PYTHON, os.X_OK) else os.path.realpath(sys.executable)


def worker_command(program: str, *arguments: str, scratch: str) -> tuple[str, ...]:
    """The command line of a program of our own that was put into `scratch`."""
    return (interpreter(), *_OPTIONS, f"{scratch}/{program}", *arguments)


def put_worker(program: str, context: WorkloadContext) -> None:
    """Copy a program of this directory to the scratch directory, where the user may read it."""
    target = Path(context.scratch, program)
    shutil.copyfile(Path(__file__).with_name(program), target)
    target.chmod(0o644)


def program_name(argv: Sequence[str]) -> str:
    """Name of a program for users: one of our own by its file, not by the interpreter."""
    own = tuple(argv[1:3]) == _OPTIONS and len(argv) > 3
    return PurePath(argv[3]).stem if own else PurePath(argv[0]).name
