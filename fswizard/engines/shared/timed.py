"""Programs that are timed from cold caches until their work is on the disk; what they need is laid out first."""

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
from fswizard.model.metrics import WORST_STALL
from fswizard.model.recipe import PlannedCommand
from fswizard.progress.workload_events import Doing, Measured, Progress, Ran, Tell, WorkloadEvent
from fswizard.system import clock
from fswizard.system.block_stats import counters
from fswizard.system.process import Finished


@dataclass(frozen=True, slots=True)
class Work:
    """A program whose progress the kernel tells, where it counts what the program does."""

    argv: tuple[str, ...]
    text: str
    """What it does, in words."""
    share_done: Callable[[int], float] | None = None
    """Of its process number; OSError when it has just ended, or when its /proc is closed to us."""
    whole: float = 0.0
    """What all of it amounts to, in the unit's bytes or files; 0 where the disk's rate tells more."""
    unit: Literal["B/s", "1/s"] = "B/s"
    env: Mapping[str, str] = field(default_factory=dict)
    waits_for: tuple[str, ...] = ()
    """Devices that tell whether it gets on, where it only waits for them."""


@dataclass(frozen=True, slots=True)
class LaidOut:
    """What is made before anything is timed, if it isn't there yet."""

    path: str
    works: tuple[Work, ...]
    """The programs that make it."""
    anew: bool = False
    """Made again although it is there."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A workload of programs that run one after the other."""

    text: str
    works: tuple[Work, ...]
    """Timed together, with the `sync` that follows them; one of them tells how far it is."""
    lay_out: tuple[LaidOut, ...] = ()
    warm_up: tuple[Work, ...] = ()
    """Done each time, before the candidate's caches are emptied."""
    makes: str = ""
    """The path of what `works` make."""
    takes_away: str = ""
    """The path of what `works` delete."""
    writes_bytes: int = 0
    """That go to the disk, compressed or not: what the disk has of them is half of the progress."""
    removes: tuple[str, ...] = ()
    """What `works` make outside the candidate: removed before and afterwards."""


class TimedEngine(Engine):
    """A job that is a `Timed`."""

    __slots__ = ()

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        """What is done on the candidate at `directory`."""
        raise NotImplementedError

    def bring(self, context: WorkloadContext, seed: int) -> None:
        """Put into `context.scratch` what the programs need."""

    def figures(self, finished: Sequence[Finished]) -> Iterable[Measured]:
        """Those of the timed programs."""
        raise NotImplementedError

    def commands(self) -> tuple[PlannedCommand, ...]:
        timed, planned = self.timed("MOUNT", "SCRATCH", "SEED"), list[PlannedCommand]()
        for wanted in timed.lay_out:
            unless = "" if wanted.anew else ", if it isn't there yet"
            planned += [PlannedCommand(work.argv, text=f"{work.text}{unless}") for work in wanted.works]
        planned += [filling.planned(self.fill_percent)] if self.fill_percent else []
        works = (*timed.warm_up, *timed.works, _sync("MOUNT"))
        return (*planned, *(PlannedCommand(work.argv, text=work.text) for work in works))

    async def run(self, context: WorkloadContext, tell: Tell, *, seed: int) -> None:
        self.bring(context, seed)
        timed, cost = self.timed(context.directory, context.scratch, str(seed)), self.cost
        missing = [wanted for wanted in timed.lay_out if wanted.anew or wanted.path not in context.laid_out]
        share = cost.prepare_share if missing else 0.0
        limit_s = 180.0 + 40 * (cost.measure_s + cost.prepare_s)
        for number, wanted in enumerate(missing):
            async with making(context, wanted.path):
                step = part(tell, share * number / len(missing), share / len(missing))
                await _all(wanted.works, context, limit_s, step)
        if timed.removes:
            await remove(context, *timed.removes)
        await _all(timed.warm_up, context, limit_s, part(tell, share, 0.0))
        async with making(context, timed.makes) if timed.makes else nullcontext():
            if self.fill_percent:
                await filling.fill(context, self.fill_percent, part(tell, share, 0.0))
            await context.remount()
            context.laid_out.discard(timed.takes_away)
            tell(Doing(timed.text, measured=True))
            stalls = _Stalls()
            finished = await _measure(timed, context, limit_s, stalls, part(tell, share, 1 - share))
            for measured in self.figures(finished):
                tell(measured)
            tell(Measured(WORST_STALL, stalls.worst_s))
        if timed.removes:
            await remove(context, *timed.removes)


def writing(argv: Sequence[str], text: str, total_bytes: int) -> Work:
    """A program whose share is that of the bytes it has written, as the kernel counts them."""
    return Work(tuple(argv), text, share_of("wchar", total_bytes), total_bytes)


def reading(argv: Sequence[str], text: str, total_bytes: int, env: Mapping[str, str] | None = None) -> Work:
    """A program whose share is that of the bytes it has read."""
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
    return Work(("sync", "--file-system", directory), "until it is on the disk", waits_for=devices)


class _Stalls:
    """The longest time in which something did not get on."""

    def __init__(self) -> None:
        self.worst_s = 0.0
        self._seen: Hashable = None
        self._since = 0.0

    def look(self, seen: Hashable) -> None:
        """`seen` changes while it gets on; None where that cannot be told."""
        now = clock.monotonic()
        if seen is None or seen != self._seen:
            self._seen, self._since = seen, now
        self.worst_s = max(self.worst_s, now - self._since)


class _Disk:
    """What the devices below have done since the measuring began."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._begun = self._last = counters(*names)
        self._last_at = clock.monotonic()

    def look(self) -> tuple[int, float] | None:
        """Bytes written since the beginning, and bytes a second read and written since the last look."""
        now, at = counters(*self._names), clock.monotonic()
        if now is None or self._begun is None or self._last is None:
            return None
        moved = now.read_bytes + now.written_bytes - self._last.read_bytes - self._last.written_bytes
        rate = moved / max(at - self._last_at, 1e-3)
        self._last, self._last_at = now, at
        return now.written_bytes - self._begun.written_bytes, rate


async def _measure(
    timed: Timed, context: WorkloadContext, limit_s: float, stalls: _Stalls, tell: Tell
) -> Sequence[Finished]:
    """Do the work and sync. Where it writes, half of the progress is the programs' and half is the disk's."""
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
        tell(what)

    finished = [
        await _watched(work, context, limit_s, stalls, partial(seen, work), limited=True) for work in timed.works
    ]
    tell(Doing(sync.text, measured=True))
    return [*finished, await _watched(sync, context, limit_s, stalls, partial(seen, sync))]


async def _all(works: Sequence[Work], context: WorkloadContext, limit_s: float, tell: Tell) -> None:
    """One after the other."""
    for number, work in enumerate(works):
        tell(Doing(work.text))
        await _watched(work, context, limit_s, _Stalls(), part(tell, number / len(works), 1 / len(works)))


async def _watched(
    work: Work, context: WorkloadContext, limit_s: float, stalls: _Stalls, tell: Tell, *, limited: bool = False
) -> Finished:
    fraction, at = 0.0, clock.monotonic()
    async with running(context, work.argv, limit_s=limit_s, env=work.env, limited=limited) as program:
        async for _ in program.ticks():
            stalls.look(counters(*work.waits_for) if work.waits_for else _running_ns(program.pid))
            before, before_at, at = fraction, at, clock.monotonic()
            if work.share_done is None:
                tell(Progress(None))
                continue
            with suppress(OSError, ValueError):
                fraction = min(1.0, max(fraction, work.share_done(program.pid)))
            rate = work.whole * (fraction - before) / (at - before_at)
            tell(Progress(fraction, rate if fraction > before and work.whole else None, work.unit))
    tell(Ran(program.finished))
    check(program.finished)
    return program.finished


def _running_ns(pid: int) -> int | None:
    """For how long the threads of a process have been on a processor; None where the kernel does not tell."""
    try:
        tasks = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    except OSError:  # a thread has just ended
        return None
    return sum(int(task.split()[0]) for task in tasks) if tasks else None
