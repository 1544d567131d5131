"""Programs that are timed from cold caches until their work is on the disk; what they need is laid out first."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from fswizard.bench.site import Site
from fswizard.bench.workloads import Doing, Measured, Progress, Ran, Told, laid_out
from fswizard.bench.workloads.running import check, running, within
from fswizard.model.estimates import measured_s, preparation_s
from fswizard.model.plan import PlannedCommand
from fswizard.model.recipe import Job
from fswizard.system.process import Finished


@dataclass(frozen=True, slots=True)
class Work:
    """A program whose progress the kernel tells."""

    argv: tuple[str, ...]
    text: str
    """What it does, in words."""
    share_done: Callable[[int], float] | None = None
    """Of its process number; OSError when it has just ended, or when its /proc is closed to us."""
    whole: float = 0.0
    """What all of it amounts to, in the unit's bytes or files."""
    unit: Literal["B/s", "1/s"] = "B/s"
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LaidOut:
    """What is made before anything is timed, unless it is there."""

    path: str
    make: Callable[[str], tuple[Work, ...]]
    """The programs that make it under the name they are given."""
    in_place: bool = False
    """Made under its own name at once, for what remembers where it was made."""
    anew: bool = False
    """Made again although it is there."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A workload of programs that run one after the other."""

    text: str
    works: tuple[Work, ...]
    """Timed together, with the `sync` that follows them."""
    lay_out: tuple[LaidOut, ...] = ()
    warm_up: tuple[Work, ...] = ()
    """Done each time, before the candidate's caches are emptied."""
    makes: str = ""
    """What `works` make, under the unfinished name of this path."""
    removes: tuple[str, ...] = ()
    """What `works` make outside the candidate: removed before and afterwards."""


async def run(
    timed: Timed, job: Job, site: Site, figures: Callable[[Sequence[Finished]], Iterator[Measured]]
) -> AsyncGenerator[Told, None]:
    """Lay out, warm up, empty the caches, do the work and sync; `figures` are those of the timed programs."""
    missing = [wanted for wanted in timed.lay_out if wanted.anew or not await laid_out.exists(site, wanted.path)]
    share = preparation_s(job) / (preparation_s(job) + measured_s(job)) if missing else 0.0
    limit_s = _limit_s(job)
    for number, wanted in enumerate(missing):
        start, step = share * number / len(missing), share / len(missing)
        async with (
            laid_out.making(site, wanted.path, in_place=wanted.in_place) as part,
            aclosing(_all(wanted.make(part), site, limit_s, (start, step))) as told,
        ):
            async for what in told:
                yield what
    if timed.removes:
        await laid_out.remove(site, *timed.removes)
    async with aclosing(_all(timed.warm_up, site, limit_s, (share, 0.0))) as told:
        async for what in told:
            yield what
    async with laid_out.making(site, timed.makes) if timed.makes else nullcontext(""):
        await site.remount()
        yield Doing(timed.text, measured=True)
        finished = []
        works = (*timed.works, _sync(site.directory))  # the work is not done before it is on the disk
        async with aclosing(_all(works, site, limit_s, (share, 1 - share), measured=True)) as told:
            async for what in told:
                yield what
                if isinstance(what, Ran):
                    finished.append(what.finished)
        for measured in figures(finished):
            yield measured
    if timed.removes:
        await laid_out.remove(site, *timed.removes)


def commands(timed: Timed) -> tuple[PlannedCommand, ...]:
    """The programs, in order."""
    planned = []
    for wanted in timed.lay_out:
        unless = "" if wanted.anew else ", unless it is there"
        name = wanted.path if wanted.in_place else laid_out.unfinished(wanted.path)
        planned += [PlannedCommand(work.argv, text=f"{work.text}{unless}") for work in wanted.make(name)]
    works = (*timed.warm_up, *timed.works, _sync("MOUNT"))
    return (*planned, *(PlannedCommand(work.argv, text=work.text) for work in works))


def writing(argv: Sequence[str], text: str, total_bytes: int, env: Mapping[str, str] | None = None) -> Work:
    """A program whose share is that of the bytes it has written, as the kernel counts them."""
    return Work(tuple(argv), text, _share_of("wchar", total_bytes), total_bytes, env=env or {})


def reading(argv: Sequence[str], text: str, total_bytes: int, env: Mapping[str, str] | None = None) -> Work:
    """A program whose share is that of the bytes it has read."""
    return Work(tuple(argv), text, _share_of("rchar", total_bytes), total_bytes, env=env or {})


def _share_of(counter: str, total_bytes: int) -> Callable[[int], float]:
    def share_done(pid: int) -> float:
        counts = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
        return int(counts.get(counter, 0)) / total_bytes

    return share_done


def duration_s(finished: Sequence[Finished]) -> float:
    return sum(program.wall_s for program in finished)


def cpu_s(finished: Sequence[Finished]) -> float:
    return sum(program.cpu_s for program in finished)


def _sync(directory: str) -> Work:
    return Work(("sync", "--file-system", directory), "until it is on the disk", lambda pid: 1.0)


async def _all(
    works: Sequence[Work], site: Site, limit_s: float, span: tuple[float, float], *, measured: bool = False
) -> AsyncGenerator[Told, None]:
    """One after the other, over a `span` of the whole given by start and share.

    Measured works were announced together, and the last of them, the sync, gets no share of its own.
    """
    start, share = span
    parts = max(1, len(works) - measured)
    for number, work in enumerate(works):
        if not measured:
            yield Doing(work.text)
        begin = start + share * min(number, parts - 1) / parts
        async with aclosing(_watched(work, site, limit_s)) as told:
            async for what in told:
                yield within(what, begin, share / parts)


async def _watched(work: Work, site: Site, limit_s: float) -> AsyncGenerator[Progress | Ran, None]:
    fraction, at = 0.0, time.monotonic()
    async with running(site, work.argv, limit_s=limit_s, env=work.env) as program:
        async for _ in program.ticks():
            before, before_at, at = fraction, at, time.monotonic()
            if work.share_done is None:
                yield Progress(None)
                continue
            with suppress(OSError, ValueError):
                fraction = min(1.0, max(fraction, work.share_done(program.pid)))
            rate = work.whole * (fraction - before) / (at - before_at)
            yield Progress(fraction, rate if fraction > before and work.whole else None, work.unit)
        finished = program.finished
    assert finished is not None
    yield Ran(finished)
    check(finished)


def _limit_s(job: Job) -> float:
    return 180.0 + 40 * (measured_s(job) + preparation_s(job))
