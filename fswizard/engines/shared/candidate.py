"""What is done with a candidate besides measuring: files are made and removed, it is filled, aged and examined."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fswizard.engines.shared.context import WorkloadContext, WorkloadFailed
from fswizard.engines.shared.programs import JsonLines, Work, carry_out, failure, succeed, worker
from fswizard.errors import Refused
from fswizard.language import _
from fswizard.progress.workload_events import Tell

FILLING_LIMIT_S = 86_400.0
"""A large disk takes most of a day."""


@asynccontextmanager
async def making(context: WorkloadContext, path: str) -> AsyncIterator[None]:
    """Make `path` again, unless it is empty; at the end of the block it counts as laid out.

    If the work fails, what exists of it is deleted, so that it takes no space from later workloads.
    """
    # A candidate's directory was empty in the beginning.
    if path in context.laid_out or (path and not path.startswith(f"{context.directory}/")):
        await remove(context, path)
    try:
        yield
    except WorkloadFailed:
        if path:
            with suppress(WorkloadFailed):
                await remove(context, path)
        raise
    if path:
        context.laid_out.add(path)


async def remove(context: WorkloadContext, path: str) -> None:
    """Delete `path`, if it exists."""
    context.laid_out.discard(path)
    await succeed(context, ("rm", "-rf", path), limit_s=300.0)


def filling(directory: str, scratch: str, percent: int) -> Work:
    argv = worker("fileserver", scratch, "fill", f"{directory}/filling", percent)
    return Work(argv, _("filling it to {percent} %", percent=percent), reader=JsonLines)


async def fill(context: WorkloadContext, percent: int, emit: Tell) -> None:
    """Fill the candidate before the work begins; raises Refused if others have files on it."""
    directory = os.path.realpath(context.directory)
    mount_point = await succeed(context, ("stat", "--format=%m", directory), limit_s=60.0)
    if mount_point.stdout.decode(errors="replace").strip() != directory:
        raise Refused(
            _("This workload fills a whole filesystem, which holds more than this directory."),
            _("Measure it on a scratch image."),
        )
    try:
        work = filling(context.directory, context.scratch, percent)
        await carry_out(work, context, emit, limit_s=FILLING_LIMIT_S)
    except WorkloadFailed:
        with suppress(WorkloadFailed):
            await remove(context, f"{context.directory}/filling")
        raise


def ageing(directory: str, scratch: str, seed: str, write_bytes: int, free_bytes: int) -> Work:
    """Write `write_bytes` to the candidate, then leave `free_bytes` of it free.

    The same seed gives the same files, in much the same places on the same filesystem.
    """
    argv = worker("ageing", scratch, f"{directory}/years", seed, write_bytes, free_bytes)
    return Work(argv, _("ageing it"), reader=JsonLines)


async def age(context: WorkloadContext, emit: Tell, *, seed: int, write_bytes: int, free_bytes: int) -> None:
    """Carry out `ageing`; WorkloadFailed if the candidate can't do that."""
    work = ageing(context.directory, context.scratch, str(seed), write_bytes, free_bytes)
    await carry_out(work, context, emit, limit_s=FILLING_LIMIT_S)


async def cached_share(context: WorkloadContext) -> float | None:
    """Whether direct I/O is direct: the share of a direct write (O_DIRECT) that is in memory meanwhile.

    None if O_DIRECT is refused. Raises WorkloadFailed if nothing can be written at all.
    """
    argv = worker("direct", context.scratch, context.directory, *context.devices)
    finished = await succeed(context, argv, limit_s=300.0)
    answer = json.loads(finished.stdout)
    error = answer.get("error", 0)
    if error not in (0, errno.EINVAL):
        raise failure(finished, error)
    return None if error else float(answer["cached"])
