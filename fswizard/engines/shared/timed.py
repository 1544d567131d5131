"""Programs that are timed with empty caches until their work is on the disk, and the files that they need."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from fswizard.engines.shared import filling
from fswizard.engines.shared.engine import Engine, WorkloadContext
from fswizard.engines.shared.running import check, making, part, remove, running
from fswizard.language import _
from fswizard.model.metrics import WORST_STALL
from fswizard.model.recipe import PlannedCommand
from fswizard.progress.workload_events import Doing, Measured, Progress, Ran, Tell, WorkloadEvent
from fswizard.system import clock
from fswizard.system.block_stats import counters
from fswizard.system.process import Finished


@dataclass(frozen=True, slots=True)
class Work:
    """A program, and how the kernel's counters show its progress."""

    argv: tuple[str, ...]
    text: str
    """Description of the work, such as `copying 2,000 small files`."""
    share_done: Callable[[int], float] | None = None
    """Progress by process number; OSError if the process has just ended, or its /proc is not readable."""
    whole: float = 0.0
    """Bytes or files of the whole work, or 0 to show the disk's rate instead."""
    unit: Literal["B/s", "1/s"] = "B/s"
    env: Mapping[str, str] = field(default_factory=dict)
    waits_for: tuple[str, ...] = ()
    """Devices whose counters show progress, if the program only waits for them."""


@dataclass(frozen=True, slots=True)
class LaidOut:
    """Files that are made before anything is timed, unless they exist."""

    path: str
    works: tuple[Work, ...]
    """The programs that make it."""
    anew: bool = False
    """Whether they are made again even if they exist."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A workload of programs that run in turn."""

    text: str
    works: tuple[Work, ...]
    """Programs that are timed together, with the `sync` that follows them; one of them shows its progress."""
    lay_out: tuple[LaidOut, ...] = ()
    warm_up: tuple[Work, ...] = ()
    """Programs that run each time before the candidate's caches are emptied."""
    makes: str = ""
    """Path that `works` make."""
    takes_away: str = ""
    """Path that `works` delete."""
    writes_bytes: int = 0
    """Bytes for the disk; how many of them it has written makes up half of the progress."""
    removes: tuple[str, ...] = ()
    """Paths that `works` make outside the candidate, removed before and afterwards."""


class TimedEngine(Engine):
    """A job that is a `Timed`."""

    __slots__ = ()

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        """The work on the candidate at `directory`."""
        raise NotImplementedError

    def bring(self, context: WorkloadContext, seed: int) -> None:
        """Put files that the programs need into `context.scratch`."""

    def figures(self, finished: Sequence[Finished]) -> Iterable[Measured]:
        """The figures of the timed programs."""
        raise NotImplementedError

    def commands(self) -> tuple[PlannedCommand, ...]:
        timed, planned = self.timed("MOUNT", "SCRATCH", "SEED"), list[PlannedCommand]()
        for wanted in timed.lay_out:
            for work in wanted.works:
                text = work.text if wanted.anew else _("{what}, if it isn't there yet", what=work.text)
                planned.append(PlannedCommand(work.argv, text=text))
        if self.fill_percent:
            planned.append(filling.planned(self.fill_percent))
        works = (*timed.warm_up, *timed.works, _sync("MOUNT"))
        return (*planned, *(PlannedCommand(work.argv, text=work.text) for work in works))

    async def run(self, context: WorkloadContext, emit: Tell, *, seed: int) -> None:
        self.bring(context, seed)
        timed, cost = self.timed(context.directory, context.scratch, str(seed)), self.cost
        missing = [wanted for wanted in timed.lay_out if wanted.anew or wanted.path not in context.laid_out]
        share = cost.prepare_share if missing else 0.0
        limit_s = 180.0 + 40 * (cost.measure_s + cost.prepare_s)
        for number, wanted in enumerate(missing):
            async with making(context, wanted.path):
                step = part(emit, share * number / len(missing), share / len(missing))
                await _all(wanted.works, context, limit_s, step)
        if timed.removes:
            await remove(context, *timed.removes)
        await _all(timed.warm_up, context, limit_s, part(emit, share, 0.0))
        async with making(context, timed.makes) if timed.makes else nullcontext():
            if self.fill_percent:
                await filling.fill(context, self.fill_percent, part(emit, share, 0.0))
            await context.remount()
            context.laid_out.discard(timed.takes_away)
            emit(Doing(timed.text, measured=True))
            stalls = _Stalls()
            finished = await _measure(timed, context, limit_s, stalls, part(emit, share, 1 - share))
            for measured in self.figures(finished):
                emit(measured)
            emit(Measured(WORST_STALL, stalls.worst_s))
        if timed.removes:
            await remove(context, *timed.removes)


def writing(argv: Sequence[str], text: str, total_bytes: int) -> Work:
    """A program whose progress is the share of bytes that it has written, by the kernel's count."""
    return Work(tuple(argv), text, share_of("wchar", total_bytes), total_bytes)


def reading(argv: Sequence[str], text: str, total_bytes: int, env: Mapping[str, str] | None = None) -> Work:
    """A program whose progress is the share of bytes that it has read."""
    return Work(tuple(argv), text, share_of("rchar", total_bytes), total_bytes, env=env or {})


def share_of(counter: str, total_bytes: int) -> Callable[[int], float]:
    """The share of `total_bytes` that a process has read (`rchar`) or written (`wchar`)."""

    def share_done(pid: int) -> float:
        counts = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
        return int(counts.get(counter, 0)) / total_bytes

    return share_done


def duration_s(finished: Sequence[Finished]) -> float:
    return sum(program.wall_s for program in finished)


def cpu_s(finished: Sequence[Finished]) -> float:
    return sum(program.cpu_s for program in finished)


def _sync(directory: str, devices: tuple[str, ...] = ()) -> Work:
    return Work(("sync", "--file-system", directory), _("until it is on the disk"), waits_for=devices)


class _Stalls:
    """The longest time without progress."""

    def __init__(self) -> None:
        self.worst_s = 0.0
        self._seen: Hashable = None
        self._since = 0.0

    def look(self, seen: Hashable) -> None:
        """`seen` changes with progress; None if that is unknown."""
        now = clock.monotonic()
        if seen is None or seen != self._seen:
            self._seen, self._since = seen, now
        self.worst_s = max(self.worst_s, now - self._since)


class _Disk:
    """Traffic of the devices since the measurement began."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._begun = self._last = counters(*names)
        self._last_at = clock.monotonic()

    def look(self) -> tuple[int, float] | None:
        """Bytes written since the beginning, and bytes per second read and written since the last look."""
        now, at = counters(*self._names), clock.monotonic()
        if now is None or self._begun is None or self._last is None:
            return None
        moved = now.read_bytes + now.written_bytes - self._last.read_bytes - self._last.written_bytes
        rate = moved / max(at - self._last_at, 1e-3)
        self._last, self._last_at = now, at
        return now.written_bytes - self._begun.written_bytes, rate


async def _measure(
    timed: Timed, context: WorkloadContext, limit_s: float, stalls: _Stalls, emit: Tell
) -> Sequence[Finished]:
    """Do the work and sync. If it writes, half of the progress is the programs' and half is the disk's."""
    disk, sync = _Disk(context.devices), _sync(context.directory, context.devices)
    by_disk = 0.5 if timed.writes_bytes and disk.look() else 0.0

    def seen(work: Work, what: WorkloadEvent) -> None:
        if isinstance(what, Progress):
            written_bytes, rate = disk.look() or (0, None)
            fraction = 1.0 if work is sync else what.fraction
            if fraction is not None and by_disk:
                fraction = (1 - by_disk) * fraction + by_disk * min(1.0, written_bytes / timed.writes_bytes)
            what = replace(what, fraction=fraction)
            if not work.whole:
                what = replace(what, rate=rate, rate_unit="B/s")
        emit(what)

    finished = [
        await _watched(work, context, limit_s, stalls, partial(seen, work), limited=True) for work in timed.works
    ]
    emit(Doing(sync.text, measured=True))
    return [*finished, await _watched(sync, context, limit_s, stalls, partial(seen, sync))]


async def _all(works: Sequence[Work], context: WorkloadContext, limit_s: float, emit: Tell) -> None:
    """Run programs one after another."""
    for number, work in enumerate(works):
        emit(Doing(work.text))
        await _watched(work, context, limit_s, _Stalls(), part(emit, number / len(works), 1 / len(works)))


async def _watched(
    work: Work, context: WorkloadContext, limit_s: float, stalls: _Stalls, emit: Tell, *, limited: bool = False
) -> Finished:
    fraction, at = 0.0, clock.monotonic()
    async with running(context, work.argv, limit_s=limit_s, env=work.env, limited=limited) as program:
        async for _ in program.ticks():
            stalls.look(counters(*work.waits_for) if work.waits_for else _running_ns(program.pid))
            before, before_at, at = fraction, at, clock.monotonic()
            if work.share_done is None:
                emit(Progress(None))
                continue
            with suppress(OSError, ValueError):
                fraction = min(1.0, max(fraction, work.share_done(program.pid)))
            rate = work.whole * (fraction - before) / (at - before_at)
            emit(Progress(fraction, rate if fraction > before and work.whole else None, work.unit))
    emit(Ran(program.finished))
    check(program.finished)
    return program.finished


def _running_ns(pid: int) -> int | None:
    """Processor time of the threads of a process, or None if unknown."""
    try:
        tasks = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    except OSError:  # a thread has just ended
        return None
    return sum(int(task.split()[0]) for task in tasks) if tasks else None
