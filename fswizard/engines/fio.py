"""Block workloads, carried out by fio on one file."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Literal

from fswizard.engines import WorkloadFailed, laid_out
from fswizard.engines.context import WorkloadContext
from fswizard.engines.running import failure, running, within
from fswizard.importers.fio_output import DumpReader, Figures, figures
from fswizard.model.estimates import FIO_START_S, expected_s, measured_s, preparation_s, writes_bytes
from fswizard.model.metrics import (
    BYTES_WRITTEN,
    CPU,
    IOPS,
    LATE_RATE,
    MEDIAN_LATENCY,
    P99_LATENCY,
    THROUGHPUT,
    WORST_LATENCY,
)
from fswizard.model.plan import PlannedCommand
from fswizard.model.recipe import FioJob
from fswizard.model.units import binary_size_text, size_text
from fswizard.progress.workload_events import Doing, Measured, Progress, Ran, WorkloadEvent

__all__ = ["commands", "expected_s", "run", "writes_bytes"]

BARE_NAME = "image"

LEAST_FIGURES = 9
"""Figures of a job, four in a second, from which its rate over time can be told."""
_DISTINCT_BLOCK_BYTES = 128 << 10
"""From this size on, fio's few buffers differ enough; smaller blocks repeat within what a filesystem compresses."""


async def run(
    job: FioJob, context: WorkloadContext, *, seed: int, bare: bool = False
) -> AsyncGenerator[WorkloadEvent, None]:
    """Lay out the file unless it is there, empty the caches, and let fio work on it.

    With `bare` it works on `image` in the context's directory instead, which is there and stands for a device.
    """
    path = f"{context.directory}/{BARE_NAME}" if bare else _file(job, context.directory)
    if job.makes_its_file and not bare:
        async with laid_out.making(context, path), aclosing(_measure(job, context, path, seed, 0.0)) as told:
            async for what in told:
                yield what
        return
    share = 0.0
    if not bare and path not in context.laid_out:
        share = preparation_s(job) / (preparation_s(job) + measured_s(job))
        yield Doing(f"laying out a file of {size_text(job.size_bytes)}")
        async with laid_out.making(context, path), aclosing(_fio(_layout(job), context, path, seed)) as told:
            async for what in told:
                if not isinstance(what, Measured):
                    yield within(what, 0.0, share)
    async with aclosing(_measure(job, context, path, seed, share)) as told:
        async for what in told:
            yield what


def commands(job: FioJob) -> tuple[PlannedCommand, ...]:
    """The programs of a job; a file that an earlier workload laid out is not laid out again."""
    path = _file(job, "MOUNT")
    if job.makes_its_file:
        return (PlannedCommand(_command(job, path, "SEED"), text=_words(job)),)
    layout = _command(_layout(job), path, "SEED")
    return (
        PlannedCommand(layout, text="laying out the file, unless it is there"),
        PlannedCommand(_command(job, path, "SEED"), text=_words(job)),
    )


async def _measure(
    job: FioJob, context: WorkloadContext, path: str, seed: int, share: float
) -> AsyncGenerator[WorkloadEvent, None]:
    """`share` of the workload is done already."""
    await context.remount()
    yield Doing(_words(job), measured=True)
    async with aclosing(_fio(job, context, path, seed)) as told:
        async for what in told:
            yield within(what, share, 1 - share)


async def _fio(job: FioJob, context: WorkloadContext, path: str, seed: int) -> AsyncGenerator[WorkloadEvent, None]:
    command = _command(job, path, str(seed % (1 << 31)))
    reader, last = DumpReader(), None
    history: list[Figures] = []
    # fio asks TMPDIR/fio-dump-status whether somebody wants a report: nobody else's business.
    async with running(context, command, limit_s=_limit_s(job), env={"TMPDIR": context.scratch}) as program:
        async for chunk in program.chunks():
            for now in filter(None, map(figures, reader.feed(chunk))):
                yield _progress(job, last, now)
                history.append(now)
                last = now
        finished = program.finished
    assert finished is not None
    yield Ran(finished)
    if finished.exit_code != 0 or (last is not None and last.error):
        raise failure(finished, last.error if last else 0)
    if last is None or not last.operations:
        raise WorkloadFailed("program", "fio ended without having measured anything.", finished.output)
    for measured in _measured(last, finished.cpu_s):
        yield measured
    share = late_share(history[:-1]) if job.writes and job.direct else None  # the last one counts the final fsync
    if share is not None:
        yield Measured(LATE_RATE, share)


def late_share(history: Sequence[Figures]) -> float | None:
    """The rate in the last third over that in the first; None where there are too few figures to tell."""
    if len(history) < LEAST_FIGURES:
        return None
    third = len(history) // 3
    early, late = (_rate(history[0], history[third]), _rate(history[-1 - third], history[-1]))
    return late / early if early and late is not None else None


def _rate(one: Figures, other: Figures) -> float | None:
    passed_s = other.at_s - one.at_s
    return (other.io_bytes - one.io_bytes) / passed_s if passed_s > 0 else None


def _command(job: FioJob, path: str, seed: str) -> tuple[str, ...]:
    escaped = path.replace("\\", "\\\\").replace(":", "\\:")
    options = [
        f"--name={job.rw}",
        f"--filename={escaped}",
        f"--rw={job.rw}",
        f"--bs={job.block_bytes}",
        f"--size={job.size_bytes}",
        f"--ioengine={job.io_engine}",
        f"--iodepth={job.depth}",
        f"--numjobs={job.jobs}",
        f"--direct={int(job.direct)}",
        "--randrepeat=0",  # without it the seed counts for nothing
        f"--randseed={seed}",
        "--fallocate=none",
        "--thread",
        "--group_reporting",
        "--clat_percentiles=0",
        "--lat_percentiles=1",
        "--output-format=json",
        "--status-interval=250ms",
    ]
    options += ["--time_based", f"--runtime={round(job.seconds * 1000)}ms"] if job.seconds else []
    options += ["--end_fsync=1"] if job.writes else []
    options += [f"--fsync={job.fsync}"] if job.fsync else []
    if job.writes and not (job.direct and job.block_bytes >= _DISTINCT_BLOCK_BYTES):
        options.append("--refill_buffers")
    return ("fio", *options)


def _layout(job: FioJob) -> FioJob:
    """Written by fio too, so that no byte of it compresses."""
    return FioJob("write", 1 << 20, job.size_bytes, depth=4, direct=job.direct)


def _file(job: FioJob, directory: str) -> str:
    return f"{directory}/fio-{binary_size_text(job.size_bytes)}"


def _words(job: FioJob) -> str:
    verbs = {"read": "reading", "write": "writing", "randread": "reading", "randwrite": "writing"}
    what = verbs.get(job.rw, "reading and writing")
    order = "at random" if job.random else "in sequence"
    return f"{what} blocks of {binary_size_text(job.block_bytes)} {order}"


def _limit_s(job: FioJob) -> float:
    """Far beyond the worst stall of a shingled disk: more than a minute."""
    return 180.0 + 20 * (measured_s(job) - FIO_START_S)


def _progress(job: FioJob, last: Figures | None, now: Figures) -> Progress:
    passed_s = now.at_s - last.at_s if last else 0.0
    fraction = now.io_bytes / (job.size_bytes * job.jobs)
    if job.seconds:
        fraction = (now.io_bytes / now.bytes_per_s if now.bytes_per_s else 0.0) / job.seconds
    rate = None
    if last and passed_s > 0.1:
        done = now.operations - last.operations if job.random else now.io_bytes - last.io_bytes
        rate = done / passed_s
    unit: Literal["1/s", "B/s"] = "1/s" if job.random else "B/s"
    return Progress(min(1.0, fraction), rate, unit, now.median_s or None, now.worst_s or None)


def _measured(now: Figures, cpu_s: float) -> tuple[Measured, ...]:
    values = {
        THROUGHPUT: now.bytes_per_s,
        IOPS: now.iops,
        MEDIAN_LATENCY: now.median_s,
        P99_LATENCY: now.p99_s,
        WORST_LATENCY: now.worst_s,
        BYTES_WRITTEN: now.write.io_bytes,
        CPU: cpu_s,
    }
    return tuple(Measured(metric, value) for metric, value in values.items())
