"""Programs of a workload: each has a time limit, and none outlives the workload. What they make, jobs can share."""

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
from fswizard.model.recipe import Job
from fswizard.model.units import duration_text
from fswizard.progress.workload_events import Progress, Tell, WorkloadEvent
from fswizard.system import clock
from fswizard.system.process import SENT, Finished, Process, is_stopped

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

POLL_S = 0.25
HELPER_S = 5.0
"""The helper gives up so much earlier than we do, and says more."""
BLAMED_ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS)
"""Errors that a filesystem or its device causes, as opposed to a program that was called wrongly."""
SAYS_KILLED = re.compile(
    rf"\bsignal[ =]({'|'.join(str(int(number)) for number in SENT)})\b|\b({'|'.join(number.name for number in SENT)})\b"
)
"""What programs say of one that they had started, or of themselves: git, tar, rsync, borg, the file server."""
REMOVAL_S = 300.0
_SYSTEM_PYTHON = "/usr/bin/python3"
_OPTIONS = ("-I", "-S")
"""Without the user's own modules and settings."""


class Running:
    """A program that is watched while it runs; take either `chunks` or `ticks`, to the end.

    Both raise WorkloadDisturbed when somebody stops the program, or anything that it has started.
    """

    def __init__(self, process: Process, argv: Sequence[str], limit_s: float) -> None:
        self._process = process
        self._program = program_name(argv)
        self._limit_s = limit_s
        self._deadline = clock.monotonic() + limit_s
        self._finished: Finished | None = None
        self._looked_at = clock.monotonic()
        """When it was last seen running."""

    @property
    def ended(self) -> bool:
        return self._finished is not None

    @property
    def finished(self) -> Finished:
        """How it ended, once `chunks` or `ticks` are at their end."""
        assert self._finished is not None
        return self._finished

    @property
    def pid(self) -> int:
        return self._process.pid

    def interrupt(self) -> None:
        """Ask it to end, as Ctrl-C does; where that is not allowed it goes on to its own end."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGINT)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Standard output as it comes; WorkloadFailed(`timed-out`) when the limit has passed."""
        source = self._process.chunks()
        while chunk := await self._undisturbed(anext(source, b"")):
            if clock.monotonic() - self._looked_at >= POLL_S:  # it may go on writing while what it started stands still
                self._require_running()
            yield chunk
        self._finished = await self._undisturbed(self._process.wait())

    async def ticks(self) -> AsyncIterator[None]:
        """Something every quarter of a second until the end; WorkloadFailed(`timed-out`) past the limit."""
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
        """An answer that must come in time, and is waited for no longer than the block."""
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
            text = f"{self._program} did not end within {duration_text(self._limit_s)}."
            raise WorkloadFailed("timed-out", text) from error


@asynccontextmanager
async def running(
    context: WorkloadContext, argv: Sequence[str], *, limit_s: float, env: Mapping[str, str] | None = None,
    limited: bool = False,
) -> AsyncIterator[Running]:  # fmt: skip
    """Start a program as the user; when the block is left before its end, it is killed.

    A `limited` one gets the plan's memory limit; see `WorkloadContext.start`.
    """
    async with watched(await context.start(argv, env=env, limited=limited), argv, limit_s=limit_s) as program:
        yield program


@asynccontextmanager
async def watched(process: Process, argv: Sequence[str], *, limit_s: float) -> AsyncIterator[Running]:
    """A program that was started already; when the block is left before its end, it is killed."""
    from asyncio import TimeoutError as TimedOut

    from fswizard.system import timeouts

    program = Running(process, argv, limit_s)
    try:
        yield program
    finally:
        if not program.ended:
            try:
                await timeouts.within(timeouts.KILL_S + HELPER_S, process.kill())
            except TimedOut:  # not the filesystem's fault
                raise timeouts.no_answer(program_name(argv)) from None


async def finish(context: WorkloadContext, argv: Sequence[str], *, limit_s: float) -> Finished:
    """Run a program to its end, whatever its exit code."""
    async with running(context, argv, limit_s=limit_s) as program:
        async for _ in program.ticks():
            pass
        return program.finished


async def succeed(context: WorkloadContext, argv: Sequence[str], *, limit_s: float) -> Finished:
    """Run a program to its end; WorkloadFailed when it fails."""
    finished = await finish(context, argv, limit_s=limit_s)
    check(finished)
    return finished


def check(finished: Finished) -> None:
    """WorkloadFailed when a program failed, of the kind that its messages tell; WorkloadDisturbed if it was killed."""
    if finished.exit_code != 0:
        raise failure(finished)


def failure(finished: Finished, error: int = 0) -> WorkloadFailed:
    """What a failed program amounts to; `error` is its errno where it told one, else its messages are read.

    OutOfMemory where it got none, which the memory limit may cause, and no filesystem; WorkloadDisturbed where
    somebody killed it.
    """
    require_unkilled(finished)
    output = finished.output
    words = {os.strerror(number): number for number in (*BLAMED_ERRORS, errno.ENOMEM)}
    for known in (program for kind in Job.kinds.values() for program in kind.programs):
        words.update(known.messages)
    error = error or next((number for text, number in words.items() if text in output), 0)
    program = program_name(finished.argv)
    if error == errno.ENOMEM:
        raise OutOfMemory(program, output)
    kind = errno.errorcode[error] if error in BLAMED_ERRORS else "program"
    reason = os.strerror(error) if error else f"exit code {finished.exit_code}"
    return WorkloadFailed(kind, f"{program} failed: {reason}.", output)


def require_unkilled(finished: Finished) -> None:
    """WorkloadDisturbed where somebody killed a program, or one that it had started and speaks of."""
    signal_name = finished.killed_by
    if not signal_name and (said := SAYS_KILLED.search(finished.output)):
        number, name = said.groups()
        signal_name = name or signal.Signals(int(number)).name
    if signal_name:
        raise WorkloadDisturbed(program_name(finished.argv), signal_name)


def part(tell: Tell, start: float, share: float) -> Tell:
    """Who tells of a part that begins at `start` and is `share` of the whole tells this."""

    def told(what: WorkloadEvent) -> None:
        if isinstance(what, Progress) and what.fraction is not None:
            what = replace(what, fraction=start + share * what.fraction)
        tell(what)

    return told


@asynccontextmanager
async def making(context: WorkloadContext, path: str) -> AsyncIterator[None]:
    """Make `path` afresh; at the end of the block it counts as laid out: asking would take a program for each.

    When the work fails, what there is of it is deleted, so that it takes no room from later workloads.
    """
    if path in context.laid_out or not path.startswith(
        f"{context.directory}/"
    ):  # a candidate's own directory began empty
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
    """Delete what is there of `paths`."""
    await succeed(context, ("rm", "-rf", *paths), limit_s=REMOVAL_S)
    context.laid_out.difference_update(paths)


def interpreter() -> str:
    """A Python that any user of the machine can start: ours may lie in somebody's home directory."""
    return _SYSTEM_PYTHON if os.access(_SYSTEM_PYTHON, os.X_OK) else os.path.realpath(sys.executable)


def worker_command(program: str, *arguments: str, scratch: str) -> tuple[str, ...]:
    """The command line of a program of our own that was put into `scratch`."""
    return (interpreter(), *_OPTIONS, f"{scratch}/{program}", *arguments)


def put_worker(program: str, context: WorkloadContext) -> None:
    """Copy a program of this directory, of the standard library alone, to where the user may read."""
    target = Path(context.scratch, program)
    shutil.copyfile(Path(__file__).with_name(program), target)
    target.chmod(0o644)


def program_name(argv: Sequence[str]) -> str:
    """What to call a program before people: one of our own by its file, not by the interpreter."""
    own = tuple(argv[1:3]) == _OPTIONS and len(argv) > 3
    return PurePath(argv[3]).stem if own else PurePath(argv[0]).name
