"""A program of a workload: what it does, in words, and how far it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from fswizard.engines.shared.engine import WorkloadContext
from fswizard.engines.shared.running import failure, watch
from fswizard.progress.workload_events import Doing, Progress, Ran, Tell
from fswizard.system import clock
from fswizard.system.block_stats import Counters, counters
from fswizard.system.process import Finished


@dataclass(frozen=True, slots=True)
class Work:
    """A program of a workload."""

    argv: tuple[str, ...]
    text: str
    """Description of the work, such as `copying 2,000 small files`."""
    share_done: Callable[[int], float] | None = None
    """Progress by process number, or None if unknown; OSError if the process has ended or its /proc is unreadable."""
    whole: float = 0.0
    """Bytes or files of the whole work, or 0 to show the disk's rate instead."""
    unit: Literal["B/s", "1/s"] = "B/s"
    env: Mapping[str, str] = field(default_factory=dict)
    kind: Literal["", "sync", "timing", "json"] = ""
    """`sync` only waits for the disk. `timing` prints its duration in seconds, as the start of Python must not count.
    `json` prints lines with `fraction` and more, or `error`; only the last of them is in the output."""


class Done(NamedTuple):
    """What came of a program."""

    finished: Finished
    worst_stall_s: float
    """The longest time without progress."""
    share: float = 1.0
    """Of its work; less where it was ended before."""


def writing(argv: Sequence[str], text: str, total_bytes: int) -> Work:
    """A program whose progress is the share of bytes that it has written, by the kernel's count."""
    return Work(tuple(argv), text, share_of("wchar", total_bytes), total_bytes)


def reading(argv: Sequence[str], text: str, total_bytes: int) -> Work:
    """A program whose progress is the share of bytes that it has read."""
    return Work(tuple(argv), text, share_of("rchar", total_bytes), total_bytes)


def share_of(counter: str, total_bytes: int) -> Callable[[int], float]:
    """The share of `total_bytes` that a process has read (`rchar`) or written (`wchar`), by proc_pid_io(5)."""

    def share_done(pid: int) -> float:
        counts = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
        return int(counts[counter]) / total_bytes

    return share_done


async def carry_out(
    work: Work, context: WorkloadContext, limit_s: float, emit: Tell, *, measured: bool = False, cut_s: float = 0.0
) -> Done:
    """Run a program and emit its progress.

    Raises WorkloadFailed if it fails. One that is `measured` has the plan's memory limit, unless it is the sync. One
    that shows how far it is is ended after `cut_s`, unless that is 0.
    """
    emit(Doing(work.text, measured))
    meter, lines, share = _Meter(work, context.devices), _Lines(emit), 1.0

    def tick(pid: int) -> bool:
        nonlocal share
        progress = meter.look(pid)
        emit(progress)
        if cut_s and progress.fraction and clock.monotonic() - meter.began_s >= cut_s:
            share = progress.fraction
        return share < 1

    process = await context.start(work.argv, env=work.env, limited=measured and work.kind != "sync")
    if work.kind == "json":
        finished = await watch(process, work.argv, limit_s=limit_s, output=lines.feed)
    else:
        finished = await watch(process, work.argv, limit_s=limit_s, tick=tick)
    emit(Ran(finished))
    if share < 1:
        return Done(finished, meter.worst_stall_s, share)
    if finished.exit_code != 0:
        raise failure(finished, int(lines.last.get("error") or 0))
    if work.kind == "json":
        finished = replace(finished, stdout=json.dumps(lines.last).encode())
    elif work.kind == "timing":
        finished = replace(finished, wall_s=float(finished.stdout))
    return Done(finished, meter.worst_stall_s)


class _Lines:
    """Reads the JSON lines of a program of ours."""

    def __init__(self, emit: Tell) -> None:
        self.last: dict[str, Any] = {}
        self._emit, self._begun = emit, b""

    def feed(self, chunk: bytes) -> None:
        *lines, self._begun = (self._begun + chunk).split(b"\n")
        for line in lines:
            now, before = json.loads(line), self.last
            self.last = now
            if "fraction" not in now:
                continue
            rate = None
            if "operations" in before and now["seconds"] > before["seconds"]:
                rate = (now["operations"] - before["operations"]) / (now["seconds"] - before["seconds"])
            self._emit(Progress(now["fraction"], rate, "1/s", None, now.get("worst_s")))


class _Meter:
    """Reads the kernel's counts of a program at work, and of the devices."""

    def __init__(self, work: Work, devices: tuple[str, ...]) -> None:
        self.worst_stall_s = 0.0
        self._work, self._devices = work, devices
        self._fraction, self._counted = 0.0, counters(*devices)
        self.began_s = self._at_s = self._active_s = clock.monotonic()
        self._seen: Counters | int | None = None

    def look(self, pid: int) -> Progress:
        work, before, counted_before = self._work, self._fraction, self._counted
        now_s = clock.monotonic()
        passed_s = max(now_s - self._at_s, 1e-3)
        self._at_s, self._counted = now_s, counters(*self._devices)
        self._look_for_stall(pid)
        if work.share_done is not None:
            with suppress(OSError, ValueError):
                self._fraction = min(1.0, max(before, work.share_done(pid)))
        rate = None
        if work.whole:
            rate = work.whole * (self._fraction - before) / passed_s or None
        elif self._counted is not None and counted_before is not None:
            rate = (self._counted.moved_bytes - counted_before.moved_bytes) / passed_s
        return Progress(self._fraction if work.share_done else None, rate, work.unit)

    def _look_for_stall(self, pid: int) -> None:
        """A program goes forward while it uses the processor; the sync, while the devices do anything."""
        seen = self._counted if self._work.kind == "sync" else _running_ns(pid)
        if seen is None or seen != self._seen:
            self._seen, self._active_s = seen, self._at_s
        self.worst_stall_s = max(self.worst_stall_s, self._at_s - self._active_s)


def _running_ns(pid: int) -> int | None:
    """Processor time of the threads of a process, or None if unknown."""
    try:
        tasks = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    except OSError:  # a thread has just ended
        return None
    return sum(int(task.split()[0]) for task in tasks) if tasks else None
