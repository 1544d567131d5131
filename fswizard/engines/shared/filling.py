"""A filesystem that is nearly full before the work begins; `fileserver_worker.py` fills it with files of 8 MiB."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from fswizard.engines.shared.engine import WorkloadContext, WorkloadFailed
from fswizard.engines.shared.running import failure, finish, put_worker, remove, running, worker_command
from fswizard.errors import Refused
from fswizard.model.recipe import PlannedCommand
from fswizard.progress.workload_events import Doing, Progress, Ran, Tell
from fswizard.system.process import Finished

WORKER = "fileserver_worker.py"
SLOWEST_FILL_S = 86_400.0
"""Filling a large disk takes most of a day."""


def planned(percent: int) -> PlannedCommand:
    return PlannedCommand(_argv("MOUNT", "SCRATCH", percent), text=f"filling it to {percent} %")


async def fill(context: WorkloadContext, percent: int, tell: Tell) -> None:
    """Fill the candidate; Refused where others have their files on it, too."""
    directory = os.path.realpath(context.directory)
    found = await finish(context, ("stat", "--format=%m", directory), limit_s=60.0)
    if found.stdout.decode(errors="replace").strip() != directory:
        raise Refused(
            "This workload fills a whole filesystem, which holds more than this directory.",
            "Measure it on a scratch image.",
        )
    put_worker(WORKER, context)
    tell(Doing(f"filling the filesystem to {percent} %"))
    try:
        await listen(context, _argv(context.directory, context.scratch, percent), SLOWEST_FILL_S, tell)
    except WorkloadFailed:
        with suppress(WorkloadFailed):
            await remove(context, f"{context.directory}/filling")
        raise


async def listen(
    context: WorkloadContext, argv: tuple[str, ...], limit_s: float, tell: Tell, *, limited: bool = False
) -> tuple[Mapping[str, Any], Finished]:
    """The last line of a worker program that writes JSON lines, and how it ended."""
    last: Mapping[str, Any] = {}
    begun = b""
    async with running(context, argv, limit_s=limit_s, limited=limited) as program:
        async for chunk in program.chunks():
            *lines, begun = (begun + chunk).split(b"\n")
            for now in map(json.loads, lines):
                if "fraction" in now:
                    tell(Progress(now["fraction"], _rate(last, now), "1/s", None, now.get("worst_s")))
                last = now
    tell(Ran(program.finished))
    if program.finished.exit_code != 0:
        raise failure(program.finished, int(last.get("error") or 0))
    return last, program.finished


def _rate(last: Mapping[str, Any], now: Mapping[str, Any]) -> float | None:
    if "operations" not in last or now["seconds"] <= last["seconds"]:
        return None
    return float((now["operations"] - last["operations"]) / (now["seconds"] - last["seconds"]))


def _argv(directory: str, scratch: str, percent: int) -> tuple[str, ...]:
    return worker_command(WORKER, "fill", f"{directory}/filling", str(percent), scratch=scratch)
