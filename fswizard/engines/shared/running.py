"""Programs of a workload: each has a time limit, and none outlives the workload. Jobs can share what they make."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path, PurePath

from fswizard.engines.shared.engine import WorkloadContext, WorkloadDisturbed, WorkloadFailed
from fswizard.errors import OutOfMemory
from fswizard.language import _
from fswizard.model.recipe import Job
from fswizard.model.units import duration_text
from fswizard.progress.workload_events import Progress, Tell, WorkloadEvent
from fswizard.system import clock
from fswizard.system.process import SENT, Finished, Process, is_stopped

POLL_S = 0.25
BLAMED_ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS)
"""Errors of a filesystem or its device, as opposed to a program that was called wrongly."""
KILLED = re.compile(
    rf"\bsignal[ =]({'|'.join(str(int(number)) for number in SENT)})\b|\b({'|'.join(number.name for number in SENT)})\b"
)
"""Message of git, tar, rsync, borg or the file server when they, or a program that they started, were killed."""
SYSTEM_PYTHON = "/usr/bin/python3"
PYTHON_OPTIONS = ("-I", "-S")
"""Options that keep out the user's own modules and settings."""


async def watch(
    process: Process,
    argv: Sequence[str],
    *,
    limit_s: float,
    tick: Callable[[int], bool] | None = None,
    output: Callable[[bytes], None] | None = None,
) -> Finished:
    """Wait for the end of a program, whatever its exit code; when this is left early, the program is killed.

    `tick` gets the process number every quarter of a second, and kills the program where it returns True; `output` gets
    what the program prints, as it comes. Raises WorkloadFailed(`timed-out`) past the limit, and WorkloadDisturbed if
    somebody stops the program, or one that it has started.
    """
    import asyncio  # only here, as recipes are listed without it

    from fswizard.system import timeouts

    async def to_the_end() -> Finished:
        if output is not None:
            async for chunk in process.chunks():
                output(chunk)
        return await process.wait()

    name, deadline_s = program_name(argv), clock.monotonic() + limit_s
    waiting = asyncio.ensure_future(to_the_end())
    ended = False
    try:
        while not await clock.ended(waiting, POLL_S):
            if is_stopped(process.pid):
                raise WorkloadDisturbed(name)
            if clock.monotonic() >= deadline_s:
                limit = duration_text(limit_s)
                text = _("{program} did not end within {limit}.", program=name, limit=limit)
                raise WorkloadFailed("timed-out", text)
            if tick is not None and tick(process.pid):
                await timeouts.end(process, name)
                await asyncio.wait({waiting})
        finished = waiting.result()
        ended = True
        return finished
    finally:
        if not ended:
            waiting.cancel()
            await asyncio.wait({waiting})
            if not waiting.cancelled():
                waiting.exception()  # or asyncio would complain that nobody has looked at it
            # That a program can't be ended is not the filesystem's fault.
            await timeouts.end(process, name)


async def succeed(context: WorkloadContext, argv: Sequence[str], *, limit_s: float) -> Finished:
    """Run a program as the user, to its end; raises WorkloadFailed if it fails."""
    finished = await watch(await context.start(argv), argv, limit_s=limit_s)
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
    messages = {os.strerror(number): number for number in (*BLAMED_ERRORS, errno.ENOMEM, errno.EPERM)}
    for kind in Job.kinds.values():
        for known in kind.programs:
            messages.update(known.messages)
    output, program = finished.output, program_name(finished.argv)
    error = error or next((number for text, number in messages.items() if text in output), 0)
    if error == errno.ENOMEM:
        raise OutOfMemory(program, output)
    code = errno.errorcode[error] if error in BLAMED_ERRORS else "program"
    reason = os.strerror(error) if error else _("exit code {exit_code}", exit_code=finished.exit_code)
    return WorkloadFailed(code, _("{program} failed: {reason}.", program=program, reason=reason), output)


def require_unkilled(finished: Finished) -> None:
    """Raise WorkloadDisturbed if somebody killed a program, or one that it had started, by its messages."""
    signal_name = finished.killed_by
    message = KILLED.search(finished.output)
    if not signal_name and message:
        number, name = message.groups()
        signal_name = name or signal.Signals(int(number)).name
    if signal_name:
        raise WorkloadDisturbed(program_name(finished.argv), signal_name)


def part(emit: Tell, start: float, share: float) -> Tell:
    """An emitter for a part that begins at `start` and is `share` of the whole."""

    def emit_part(event: WorkloadEvent) -> None:
        if isinstance(event, Progress) and event.fraction is not None:
            event = replace(event, fraction=start + share * event.fraction)
        emit(event)

    return emit_part


@asynccontextmanager
async def making(context: WorkloadContext, path: str) -> AsyncIterator[None]:
    """Make `path` again; at the end of the block it counts as laid out.

    If the work fails, what exists of it is deleted, so that it takes no space from later workloads.
    """
    # A candidate's directory was empty in the beginning.
    if path in context.laid_out or not path.startswith(f"{context.directory}/"):
        await remove(context, path)
    try:
        yield
    except WorkloadFailed:
        with contextlib.suppress(WorkloadFailed):
            await remove(context, path)
        raise
    context.laid_out.add(path)


async def remove(context: WorkloadContext, path: str) -> None:
    """Delete `path`, if it exists."""
    context.laid_out.discard(path)
    await succeed(context, ("rm", "-rf", path), limit_s=300.0)


def interpreter() -> str:
    """A Python that every user can start: ours may be in a home directory."""
    return SYSTEM_PYTHON if os.access(SYSTEM_PYTHON, os.X_OK) else os.path.realpath(sys.executable)


def worker_command(program: str, *arguments: str, scratch: str) -> tuple[str, ...]:
    """The command line of a program of our own that was put into `scratch`."""
    return (interpreter(), *PYTHON_OPTIONS, f"{scratch}/{program}", *arguments)


def put_worker(program: str, context: WorkloadContext) -> None:
    """Copy a program of this directory to the scratch directory, where the user may read it."""
    target = Path(context.scratch, program)
    shutil.copyfile(Path(__file__).with_name(program), target)
    target.chmod(0o644)


def program_name(argv: Sequence[str]) -> str:
    """Name of a program for users: one of our own by its file, not by the interpreter."""
    ours = tuple(argv[1:3]) == PYTHON_OPTIONS and len(argv) > 3
    return PurePath(argv[3]).stem if ours else PurePath(argv[0]).name
