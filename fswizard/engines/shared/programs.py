"""Programs of a workload: their description, progress and errors. No program outlives its workload."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, Literal, NamedTuple

import psutil

from fswizard.engines.shared.context import WorkloadContext, WorkloadDisturbed, WorkloadFailed
from fswizard.errors import OutOfMemory
from fswizard.language import _
from fswizard.model.frozen import frozen
from fswizard.model.recipe import Job, PlannedCommand
from fswizard.model.units import duration_text
from fswizard.progress.workload_events import Doing, Emit, Progress, Ran
from fswizard.system import clock
from fswizard.system.block_stats import counters
from fswizard.system.process import SENT, Finished, Process, is_stopped

POLL_S = 0.25
BLAMED_ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS)
"""Errors of a filesystem or its device, as opposed to a program that was called incorrectly."""
KILLED = re.compile(
    rf"\bsignal[ =]({'|'.join(str(int(number)) for number in SENT)})\b|\b({'|'.join(number.name for number in SENT)})\b"
)
"""Message of tar, rsync, borg or the file server when they or a child process were killed."""
SYSTEM_PYTHON = "/usr/bin/python3"
"""An interpreter that every user can start, as the running one may be in a home directory."""
PYTHON_OPTIONS = ("-I", "-S")
"""Options that exclude the user's modules and settings."""

Reader = Callable[[list[Any], Any, Emit], int]
"""Takes a JSON object printed by a program, emits its progress, and adds it to the answers so far.

Returns the errno that the object reports, or 0.
"""


@frozen
class Work:
    """A program of a workload."""

    argv: tuple[str, ...]
    text: str
    """Description of the work, such as `copying 2,000 small files`."""
    seconds: float = 0.0
    """Expected duration on an ordinary SATA SSD."""
    written_bytes: int = 0
    """Expected bytes written to the candidate."""
    share_done: Callable[[int], float] | None = None
    """Computes the progress from the PID; None if unknown. Raises psutil.Error if that can't be read."""
    whole: float = 0.0
    """Bytes or files of the whole work; 0 to show the disk's rate instead."""
    unit: Literal["B/s", "1/s"] = "B/s"
    reader: Reader | None = None
    """For a program that prints its progress."""
    times_itself: bool = False
    """It prints its duration in seconds, which excludes the start of Python."""

    @property
    def is_sync(self) -> bool:
        """Whether it only waits for the disk."""
        return self.argv[0] == "sync"

    @property
    def planned(self) -> PlannedCommand:
        return PlannedCommand(self.argv, text=self.text)


class Done(NamedTuple):
    """The result of a program."""

    finished: Finished
    worst_stall_s: float = 0.0
    """The longest time without progress."""
    answers: Sequence[Any] = ()
    """What its reader has collected."""
    share: float = 1.0
    """Completed share of its work; below 1 if it was stopped."""


def syncing(directory: str) -> Work:
    return Work(("sync", "--file-system", directory), _("until it is on the disk"))


def counted(counter: Literal["read_chars", "write_chars"], total_bytes: int) -> Callable[[int], float]:
    """The share of `total_bytes` that a process has read or written so far, wherever."""

    def share_done(pid: int) -> float:
        return float(getattr(psutil.Process(pid).io_counters(), counter)) / total_bytes

    return share_done


def last_line(answers: list[Any], line: Any, emit: Emit) -> int:
    """The reader for a worker, whose last object has its figures.

    `fraction`, `rate` (per second) and `worst_s` of any object are progress.
    """
    answers[:] = [line]
    if "fraction" in line:
        emit(Progress(line["fraction"], line.get("rate"), "1/s", None, line.get("worst_s")))
    return 0


def worker(name: str, scratch: str, *arguments: object) -> tuple[str, ...]:
    """The command line of `NAME_worker.py` of this directory, which is copied to `scratch` when it is started."""
    python = SYSTEM_PYTHON if os.access(SYSTEM_PYTHON, os.X_OK) else os.path.realpath(sys.executable)
    return (python, *PYTHON_OPTIONS, f"{scratch}/{name}_worker.py", *map(str, arguments))


def program_name(argv: Sequence[str]) -> str:
    """Displayed name of a program; a worker is named by its file, not by the interpreter."""
    is_worker = tuple(argv[1:3]) == PYTHON_OPTIONS
    return PurePath(argv[3]).stem if is_worker else PurePath(argv[0]).name


async def carry_out(
    work: Work, context: WorkloadContext, emit: Emit, *,
    limit_s: float, measured: bool = False, limited: bool = False, cut_s: float = 0.0,
) -> Done:  # fmt: skip
    """Run a program as the user, and emit `Doing` and its progress; see `follow`."""
    emit(Doing(work.text, measured))
    if program_name(work.argv).endswith("_worker"):
        # The user may not be able to read the program where it is installed.
        target = Path(work.argv[3])
        shutil.copyfile(Path(__file__).with_name(target.name), target)
        target.chmod(0o644)
    # None of the user's settings.
    environment = dict.fromkeys(("TMPDIR", "HOME", "BORG_BASE_DIR"), context.scratch)
    process = await context.start(work.argv, env=environment, limited=limited)
    return await follow(process, work, emit, limit_s=limit_s, devices=context.devices, cut_s=cut_s)


async def succeed(context: WorkloadContext, *argv: str, limit_s: float) -> Finished:
    """Run a program as the user, to its end; raises WorkloadFailed if it fails."""
    return (await carry_out(Work(argv, ""), context, lambda event: None, limit_s=limit_s)).finished


async def follow(
    process: Process, work: Work, emit: Emit, *, limit_s: float, devices: Sequence[str] = (), cut_s: float = 0.0
) -> Done:
    """Emit the progress of a program until it ends. The program is killed if that is cancelled or fails.

    Raises WorkloadFailed if it fails or takes longer than `limit_s`, and WorkloadDisturbed if someone kills or stops it
    or a child process. A program with measurable progress is stopped after `cut_s`, unless that is 0.
    """
    import asyncio  # only here, as recipes are listed without it

    from fswizard.system import timeouts

    answers, errors, meter = list[Any](), [0], _Meter(work, devices, emit, cut_s)

    async def to_the_end() -> Finished:
        if work.reader:
            async for each in json_objects(process.chunks()):
                errors.append(work.reader(answers, each, emit))
        return await process.wait()

    name, deadline_s = program_name(work.argv), clock.monotonic() + limit_s
    waiting = asyncio.ensure_future(to_the_end())
    try:
        while not await clock.ended(waiting, POLL_S):
            if is_stopped(process.pid):
                raise WorkloadDisturbed(name)
            if clock.monotonic() >= deadline_s:
                text = _("{program} did not end within {limit}.", program=name, limit=duration_text(limit_s))
                raise WorkloadFailed("timed-out", text)
            if not work.reader and meter.tick(process.pid):
                await timeouts.end(process, name)
                await asyncio.wait({waiting})
        finished = waiting.result()
    except BaseException:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        # That a program can't be ended is not the filesystem's fault.
        await timeouts.end(process, name)
        raise
    emit(Ran(finished))
    if meter.share == 1:
        if finished.exit_code != 0 or errors[-1]:
            raise failure(finished, errors[-1])
        if work.times_itself:
            finished = replace(finished, wall_s=float(finished.stdout))
    return Done(finished, meter.worst_stall_s, answers, meter.share)


def failure(finished: Finished, error: int = 0) -> WorkloadFailed:
    """The failure of a program, identified by its errno `error`, or else by its messages.

    Raises OutOfMemory if it got no memory, which is not the filesystem's fault, and WorkloadDisturbed if someone killed
    it.
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
    """Raise WorkloadDisturbed if the program was killed, or a child process according to its messages."""
    program, signal_name = program_name(finished.argv), finished.killed_by
    message = KILLED.search(finished.output)
    if not signal_name and message:
        number, name = message.groups()
        signal_name = name or signal.Signals(int(number)).name
    if (program, finished.exit_code) == ("fio", 128):
        signal_name = "SIGINT or SIGTERM"
    if signal_name:
        raise WorkloadDisturbed(program, signal_name)


async def json_objects(chunks: AsyncIterator[bytes]) -> AsyncIterator[Any]:
    """JSON objects that begin and end with a brace at the beginning of a line, without the text between them."""
    lines, begun = list[bytes](), b""
    async for chunk in chunks:
        *whole, begun = (begun + chunk).split(b"\n")
        for line in whole:
            if line.startswith(b"{"):
                lines = []
            lines.append(line)
            if line.startswith((b"{", b"}")) and line.endswith(b"}"):
                text = b"\n".join(lines).decode(errors="replace")
                with suppress(ValueError):  # text with such lines
                    yield json.loads(text, strict=False)  # fio prints file names as they are


class _Meter:
    """Emits the progress of a program, from the kernel's counters of the process and of the devices."""

    def __init__(self, work: Work, devices: Sequence[str], emit: Emit, cut_s: float) -> None:
        self.worst_stall_s, self.share = 0.0, 1.0
        """The share of the work that is completed is below 1 once the program has to be stopped."""
        self._work, self._devices, self._emit, self._cut_s = work, devices, emit, cut_s
        self._began_s = self._at_s = self._active_s = clock.monotonic()
        self._fraction, self._counted = 0.0, counters(*devices)
        self._activity: object = None

    def tick(self, pid: int) -> bool:
        """Emit the current progress; True if the program has to be stopped."""
        work, fraction, counted, now_s = self._work, self._fraction, counters(*self._devices), clock.monotonic()
        # A program goes forward while it uses the processor; the sync, while the devices do anything.
        activity: object = counted
        with suppress(OSError, psutil.Error):
            if not work.is_sync:
                activity = Path(f"/proc/{pid}/schedstat").read_text().split()[0]
            if work.share_done:
                fraction = min(1.0, max(fraction, work.share_done(pid)))
        if activity is None or activity != self._activity:
            self._activity, self._active_s = activity, now_s
        self.worst_stall_s = max(self.worst_stall_s, now_s - self._active_s)
        passed_s = max(now_s - self._at_s, 1e-3)
        rate = None
        if work.whole:
            rate = work.whole * (fraction - self._fraction) / passed_s or None
        elif counted is not None and self._counted is not None:
            rate = (counted.moved_bytes - self._counted.moved_bytes) / passed_s
        self._fraction, self._counted, self._at_s = fraction, counted, now_s
        self._emit(Progress(fraction if work.share_done else None, rate, work.unit))
        if fraction and self._cut_s and now_s - self._began_s >= self._cut_s:
            self.share = fraction
        return self.share < 1
