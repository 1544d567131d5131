"""The file-server mix of filebench: many processes that create, append, read, delete and ask, for a given time."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any

from fswizard.engines import WorkloadFailed, laid_out, programs
from fswizard.engines.context import WorkloadContext
from fswizard.engines.running import failure, finish, running, succeed, within
from fswizard.errors import Refused
from fswizard.model.estimates import expected_s, measured_s, preparation_s, writes_bytes
from fswizard.model.metrics import BYTES_WRITTEN, CPU, LATENCIES, OPERATION_RATE, OPERATIONS, operation_metrics
from fswizard.model.plan import PlannedCommand
from fswizard.model.recipe import FileServerJob
from fswizard.model.units import duration_text, size_text
from fswizard.progress.workload_events import Doing, Measured, Progress, Ran, WorkloadEvent
from fswizard.system.process import Finished

__all__ = ["commands", "expected_s", "run", "writes_bytes"]

WORKER = "fileserver_worker.py"
FILLER = "fill_worker.py"
SLOWEST_FILL_S = 86_400.0
"""Filling a large disk takes most of a day."""


async def run(job: FileServerJob, context: WorkloadContext, *, seed: int) -> AsyncGenerator[WorkloadEvent, None]:
    """Make the files anew (the mix changes them), empty the caches, let the workers loose, and sync.

    The sync belongs to the measured time: what lies in memory only has not been served yet.
    """
    path = _directory(context.directory)
    share = preparation_s(job) / (preparation_s(job) + measured_s(job))
    programs.put(WORKER, context)
    yield Doing(f"making {_words(job)}")
    async with laid_out.making(context, path):
        preparing = _command("prepare", job, path, context.scratch, "0")
        async with aclosing(_worker(job, context, preparing)) as told:
            async for what in told:
                if not isinstance(what, _Result):
                    yield within(what, 0.0, share)
        await succeed(context, _sync_command(context), limit_s=_limit_s(job))
    if job.fill_percent:
        async with aclosing(_fill(job, context)) as filling:
            async for told_of_it in filling:
                yield within(told_of_it, share, 0.0)
    await context.remount()
    yield Doing(f"serving {_words(job)} with {job.threads} workers for {duration_text(job.seconds)}", measured=True)
    working = _command("run", job, path, context.scratch, str(seed % (1 << 31)))
    async with aclosing(_worker(job, context, working)) as told:
        async for what in told:
            if isinstance(what, _Result):
                result = what
            else:
                yield within(what, share, 1 - share)
    yield Doing("writing the rest to the disk", measured=True)
    synced = await succeed(context, _sync_command(context), limit_s=_limit_s(job))
    yield Ran(synced)
    for measured in _measured(result, synced):
        yield measured


def commands(job: FileServerJob) -> tuple[PlannedCommand, ...]:
    """The programs of a job."""
    path = _directory("MOUNT")
    preparing = _command("prepare", job, path, "SCRATCH", "0")
    sync = PlannedCommand(("sync", "--file-system", "MOUNT"), text="until it is on the disk")
    filling = PlannedCommand(_fill_command(job, "MOUNT", "SCRATCH"), text=f"filling it to {job.fill_percent} %")
    return (
        PlannedCommand(preparing, text=f"making {_words(job)}"),
        *([filling] if job.fill_percent else []),
        PlannedCommand(_command("run", job, path, "SCRATCH", "SEED"), text=f"serving {_words(job)}"),
        sync,
    )


async def _fill(job: FileServerJob, context: WorkloadContext) -> AsyncGenerator[WorkloadEvent, None]:
    """Fill the candidate; Refused where others have their files on it, too."""
    directory = os.path.realpath(context.directory)
    found = await finish(context, ("stat", "--format=%m", directory), limit_s=_limit_s(job))
    if found.stdout.decode(errors="replace").strip() != directory:
        raise Refused(
            "This workload fills a whole filesystem, and the directory is only a part of one.",
            "Measure it on a scratch image.",
        )
    programs.put(FILLER, context)
    yield Doing(f"filling the filesystem to {job.fill_percent} %")
    try:
        async with aclosing(_worker(job, context, _fill_command(job, context.directory, context.scratch))) as told:
            async for what in told:
                if not isinstance(what, _Result):
                    yield what
    except WorkloadFailed:
        with suppress(WorkloadFailed):
            await laid_out.remove(context, _filling(context.directory))
        raise


@dataclass(frozen=True, slots=True)
class _Result:
    """The last line of the worker program, and how it ended."""

    figures: Mapping[str, Any]
    finished: Finished


async def _worker(
    job: FileServerJob, context: WorkloadContext, argv: tuple[str, ...]
) -> AsyncGenerator[Progress | Ran | _Result, None]:
    last: Mapping[str, Any] = {}
    begun = b""
    async with running(context, argv, limit_s=_limit_s(job)) as program:
        async for chunk in program.chunks():
            *lines, begun = (begun + chunk).split(b"\n")
            for now in map(json.loads, lines):
                if "fraction" in now:
                    yield Progress(now["fraction"], _rate(last, now), "1/s", None, now.get("worst_s"))
                last = now
        finished = program.finished
    assert finished is not None
    yield Ran(finished)
    if finished.exit_code != 0:
        raise failure(finished, int(last.get("error") or 0))
    yield _Result(last, finished)


def _rate(last: Mapping[str, Any], now: Mapping[str, Any]) -> float | None:
    if "operations" not in last or now["seconds"] <= last["seconds"]:
        return None
    return float((now["operations"] - last["operations"]) / (now["seconds"] - last["seconds"]))


def _measured(result: _Result, synced: Finished) -> tuple[Measured, ...]:
    figures = result.figures
    if not figures.get("operations"):
        raise WorkloadFailed("program", "The file-server mix ended without having done anything.")
    rate = figures["operations"] / (figures["elapsed_s"] + synced.wall_s)
    everything = figures["all"]
    latencies = (everything["median_s"], everything["p99_s"], everything["worst_s"])
    measured = [Measured(OPERATION_RATE, rate), *map(Measured, LATENCIES, latencies)]
    measured += [Measured(BYTES_WRITTEN, figures["bytes_written"])]
    measured += [Measured(CPU, result.finished.cpu_s + synced.cpu_s)]
    for operation in OPERATIONS:
        one = figures["by_operation"][operation]
        if one["count"]:
            values = (one["count"], one["mean_s"], one["median_s"], one["p99_s"], one["worst_s"])
            measured += map(Measured, operation_metrics(operation), values)
    return tuple(measured)


def _command(what: str, job: FileServerJob, directory: str, scratch: str, seed: str) -> tuple[str, ...]:
    sizes = (job.threads, job.files, job.mean_file_bytes, job.mean_append_bytes)
    return programs.command(WORKER, what, directory, *map(str, sizes), f"{job.seconds:g}", seed, scratch=scratch)


def _fill_command(job: FileServerJob, directory: str, scratch: str) -> tuple[str, ...]:
    return programs.command(FILLER, _filling(directory), str(job.fill_percent), scratch=scratch)


def _filling(directory: str) -> str:
    return f"{directory}/filling"


def _sync_command(context: WorkloadContext) -> tuple[str, ...]:
    return ("sync", "--file-system", context.directory)


def _directory(directory: str) -> str:
    return f"{directory}/fileserver"


def _words(job: FileServerJob) -> str:
    return f"{job.files:,} files of about {size_text(job.mean_file_bytes)}"


def _limit_s(job: FileServerJob) -> float:
    return 180.0 + 20 * (preparation_s(job) + measured_s(job)) + (SLOWEST_FILL_S if job.fill_percent else 0.0)
