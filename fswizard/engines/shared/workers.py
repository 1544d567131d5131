"""Programs of our own that prepare or examine a candidate: they fill it, age it, and look whether I/O is direct."""

from __future__ import annotations

import errno
import json
import os
from contextlib import suppress

from fswizard.engines.shared.engine import WorkloadContext, WorkloadFailed
from fswizard.engines.shared.running import failure, put_worker, remove, succeed, worker_command
from fswizard.engines.shared.work import Work, carry_out
from fswizard.errors import Refused
from fswizard.language import _
from fswizard.model.recipe import PlannedCommand
from fswizard.progress.workload_events import Tell

FILESERVER, AGEING, DIRECT = "fileserver_worker.py", "ageing_worker.py", "direct_worker.py"
FILLING_LIMIT_S = 86_400.0
"""A large disk takes most of a day."""


def filling(directory: str, scratch: str, percent: int) -> Work:
    argv = worker_command(FILESERVER, "fill", f"{directory}/filling", str(percent), scratch=scratch)
    return Work(argv, _("filling it to {percent} %", percent=percent), kind="json")


async def fill(context: WorkloadContext, percent: int, emit: Tell) -> None:
    """Fill the candidate before the work begins; raises Refused if others have files on it."""
    directory = os.path.realpath(context.directory)
    mount_point = await succeed(context, ("stat", "--format=%m", directory), limit_s=60.0)
    if mount_point.stdout.decode(errors="replace").strip() != directory:
        raise Refused(
            _("This workload fills a whole filesystem, which holds more than this directory."),
            _("Measure it on a scratch image."),
        )
    put_worker(FILESERVER, context)
    try:
        await carry_out(filling(context.directory, context.scratch, percent), context, FILLING_LIMIT_S, emit)
    except WorkloadFailed:
        with suppress(WorkloadFailed):
            await remove(context, f"{context.directory}/filling")
        raise


def planned_age(write_bytes: int, free_bytes: int) -> PlannedCommand:
    work = _ageing("MOUNT", "SCRATCH", "SEED", write_bytes, free_bytes)
    return PlannedCommand(work.argv, text=work.text)


async def age(context: WorkloadContext, emit: Tell, *, seed: int, write_bytes: int, free_bytes: int) -> None:
    """Write `write_bytes` to the candidate, then leave `free_bytes` of it free; WorkloadFailed if it can't do that.

    The same seed gives the same files, in much the same places on the same filesystem.
    """
    put_worker(AGEING, context)
    work = _ageing(context.directory, context.scratch, str(seed), write_bytes, free_bytes)
    await carry_out(work, context, FILLING_LIMIT_S, emit)


def _ageing(directory: str, scratch: str, seed: str, write_bytes: int, free_bytes: int) -> Work:
    arguments = (f"{directory}/years", seed, str(write_bytes), str(free_bytes))
    return Work(worker_command(AGEING, *arguments, scratch=scratch), _("ageing it"), kind="json")


async def cached_share(context: WorkloadContext) -> float | None:
    """Whether direct I/O is direct: the share of a direct write (O_DIRECT) that is in memory meanwhile.

    None if O_DIRECT is refused. Raises WorkloadFailed if nothing can be written at all.
    """
    put_worker(DIRECT, context)
    argv = worker_command(DIRECT, context.directory, *context.devices, scratch=context.scratch)
    finished = await succeed(context, argv, limit_s=300.0)
    answer = json.loads(finished.stdout)
    error = answer.get("error", 0)
    if error not in (0, errno.EINVAL):
        raise failure(finished, error)
    return None if error else float(answer["cached"])
