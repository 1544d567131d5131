"""The same fio job bare and through the program: on tmpfs, where nothing waits for a disk, and on a scratch image."""

from __future__ import annotations

import asyncio
import io
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Literal, cast

from fswizard import engines
from fswizard.cli.narration import Narration
from fswizard.disks.directory import open_directories
from fswizard.disks.image import open_images
from fswizard.disks.journal import Journal
from fswizard.disks.prepared import PreparedTarget
from fswizard.engines import WorkloadContext
from fswizard.engines.fio import FioJob
from fswizard.engines.shared.fio_output import DumpReader, figures
from fswizard.filesystems import parse_candidate
from fswizard.model.events import Event, SampleTaken
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import CPU, IOPS, MEDIAN_LATENCY, P99_LATENCY
from fswizard.model.plan import Plan, Target, Trial
from fswizard.model.recipe import Workload
from fswizard.model.run_state import RunState
from fswizard.progress.emitter import Emitter
from fswizard.results import ResultWriter
from fswizard.session.trial import run_trial
from fswizard.system.commands import children_cpu_s
from tests.builders import make_plan
from tests.long.bench.pairs import Pairs
from tests.long.bench.table import Line, Size, at_least

TITLE = "The same fio job, bare and through us"
MEMORY = Path("/dev/shm")
FILE_BYTES = 128 << 20
PAIRS_AND_SECONDS: dict[Size, tuple[int, float]] = {"full": (7, 1.0), "short": (3, 0.5), "tiny": (1, 0.3)}
IOPS_FOR_CPU = "operations for each second of processor time"
TELLS_MEANWHILE = "--status-interval"
TELLING = "fio tells how far it is four times a second, and somebody reads it"
Rw = Literal["randread", "randwrite", "read", "write"]
KINDS: dict[Rw, str] = {
    "randread": "random read, 4 KiB",
    "randwrite": "random write, 4 KiB",
    "read": "sequential read, 1 MiB",
    "write": "sequential write, 1 MiB",
}


def measure(size: Size) -> Iterator[Line]:
    pairs, seconds = PAIRS_AND_SECONDS[size]
    kinds = list(KINDS)[: 1 if size == "tiny" else None]
    for place in ("tmpfs", "image"):
        yield from asyncio.run(_measure(place, kinds, pairs, seconds))


async def _measure(place: str, kinds: Sequence[Rw], pairs: int, seconds: float) -> list[Line]:
    lines: list[Line] = []
    async with _place(place) as (plan, prepared, listener), prepared.open(plan.candidates[0]) as context:
        await _through_us(plan, _job(kinds[0], place, seconds), context, listener)  # lays out the file that all share
        for rw in kinds:
            job = _job(rw, place, seconds)
            taken = Pairs(pairs)
            for side in taken.turns():
                taken.add(
                    side, await (_through_us(plan, job, context, listener) if side == "ours" else _bare(job, context))
                )
            lines += _lines(f"{KINDS[rw]}, {place}", taken)
    return lines


def _lines(name: str, taken: Pairs) -> Iterator[Line]:
    remark = f"for each second of fio's processor time {taken.ratio(IOPS_FOR_CPU)}"
    yield at_least(f"{name}: operations a second", taken.ratio(IOPS.name), 0.99, remark, why=TELLING)
    yield at_least(f"{name}: median latency", taken.inverse(MEDIAN_LATENCY.name), 0.99, why=TELLING)
    yield at_least(f"{name}: 99th percentile", taken.inverse(P99_LATENCY.name), 0.99, why=TELLING)


def _job(rw: Rw, place: str, seconds: float) -> FioJob:
    block, depth = (4096, 32) if rw.startswith("rand") else (1 << 20, 8)
    if place == "tmpfs":
        return FioJob(rw, block, FILE_BYTES, seconds, io_engine="psync", direct=False)
    return FioJob(rw, block, FILE_BYTES, seconds, depth=depth)


class _Listener:
    """Does with events what a run does: writes the result file, tells on standard error, keeps the figures."""

    def __init__(self, file: Path, plan: Plan) -> None:
        self._state = RunState.of(plan)
        self._writer = ResultWriter(file)
        self._narration = Narration(io.StringIO())
        self.figures: dict[str, float] = {}

    def tell(self, event: Event) -> None:
        self._writer.write(event)
        self._state = self._state.after(event)
        self._narration.show(event, self._state)
        if isinstance(event, SampleTaken):
            self.figures[event.sample.metric] = event.sample.value


class _Open:
    """A prepared target whose candidate is made already, so that bare and not bare work on the same filesystem."""

    devices = ()
    limits_memory = False

    def __init__(self, context: WorkloadContext) -> None:
        self._context = context

    def open(self, candidate: Candidate) -> AbstractAsyncContextManager[WorkloadContext]:
        return nullcontext(self._context)

    async def bare(self) -> None:
        return None

    async def check_device(self, *, reading: bool) -> None:
        return

    def written_bytes(self, candidate: Candidate | None = None) -> None:
        return None


@asynccontextmanager
async def _place(place: str) -> AsyncIterator[tuple[Plan, PreparedTarget, _Listener]]:
    async with AsyncExitStack() as undo:
        folder = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="fswizard-bench-", dir="/var/tmp")))
        candidate = parse_candidate("ext4")
        plan = make_plan()
        listener = _Listener(folder / "result.jsonl", plan)
        if place == "tmpfs":
            where = undo.enter_context(tempfile.TemporaryDirectory(prefix="fswizard-bench-", dir=MEMORY))
            plan = replace(plan, candidates=(replace(candidate, directory=where),), target=Target("directory", ""))
        else:
            target = Target("image", str(folder), 2 * FILE_BYTES)
            plan = replace(plan, candidates=(candidate,), target=target)
        emitter = Emitter(listener.tell)
        journal = Journal(None)
        undo.callback(journal.close)
        if place == "tmpfs":
            yield plan, await undo.enter_async_context(open_directories(plan, emitter, journal)), listener
        else:
            yield plan, await undo.enter_async_context(open_images(plan, emitter, journal)), listener


async def _through_us(plan: Plan, job: FioJob, context: WorkloadContext, listener: _Listener) -> Mapping[str, float]:
    workload = Workload("job", "Job", engine="fio", job=job, metric=IOPS, seconds=job.seconds)
    plan = replace(plan, recipe=replace(plan.recipe, workloads=(workload,)))
    listener.figures = {}
    emitter = Emitter(listener.tell)
    emitter.trial = Trial(1, plan.candidates[0].name)
    assert await run_trial(plan, emitter.trial, cast(PreparedTarget, _Open(context)), emitter)
    return {**listener.figures, IOPS_FOR_CPU: listener.figures[IOPS.name] * job.seconds / listener.figures[CPU.name]}


async def _bare(job: FioJob, context: WorkloadContext) -> Mapping[str, float]:
    """As a user starts it, on the same file, found through a program that holds the mount; told at the end only."""
    await context.remount()
    holder = await context.start(("sleep", "600"))
    try:
        path = f"/proc/{holder.pid}/cwd"
        argv = [word.replace("MOUNT", path).replace("SEED", "1") for word in engines.engine(job).commands()[-1].argv]
        argv = [word for word in argv if not word.startswith(TELLS_MEANWHILE)]
        before_s = children_cpu_s()
        done = await asyncio.to_thread(subprocess.run, argv, check=True, capture_output=True)
        cpu_s = children_cpu_s() - before_s
    finally:
        await holder.kill()
    found = [now for now in map(figures, DumpReader().feed(done.stdout)) if now][-1].all
    return {
        IOPS.name: found.iops,
        IOPS_FOR_CPU: found.iops * job.seconds / cpu_s,
        MEDIAN_LATENCY.name: found.median_s,
        P99_LATENCY.name: found.p99_s,
    }
