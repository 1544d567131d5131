"""Filling a filesystem before the work begins; `fileserver_worker.py` writes files of 8 MiB."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from fswizard.engines.shared.engine import WorkloadContext, WorkloadFailed
from fswizard.engines.shared.running import failure, finish, put_worker, remove, running, worker_command
from fswizard.errors import Refused
from fswizard.language import _
from fswizard.model.recipe import PlannedCommand
from fswizard.progress.workload_events import Doing, Progress, Ran, Tell
from fswizard.system.process import Finished

WORKER = "fileserver_worker.py"


def planned(percent: int) -> PlannedCommand:
    return PlannedCommand(_argv("MOUNT", "SCRATCH", percent), text=_("filling it to {percent} %", percent=percent))


async def fill(context: WorkloadContext, percent: int, emit: Tell) -> None:
    """Fill the candidate; raises Refused if others have files on it."""
    directory = os.path.realpath(context.directory)
    mount_point = await finish(context, ("stat", "--format=%m", directory), limit_s=60.0)
    if mount_point.stdout.decode(errors="replace").strip() != directory:
        raise Refused(
            _("This workload fills a whole filesystem, which holds more than this directory."),
            _("Measure it on a scratch image."),
        )
    put_worker(WORKER, context)
    emit(Doing(_("filling the filesystem to {percent} %", percent=percent)))
    try:
        # A large disk takes most of a day.
        await listen(context, _argv(context.directory, context.scratch, percent), 86_400.0, emit)
    except WorkloadFailed:
        with suppress(WorkloadFailed):
            await remove(context, f"{context.directory}/filling")
        raise


async def listen(
    context: WorkloadContext, argv: tuple[str, ...], limit_s: float, emit: Tell, *, limited: bool = False
) -> tuple[Mapping[str, Any], Finished]:
    """Run a worker program that prints JSON lines; returns the last line, and how the program ended."""
    last: Mapping[str, Any] = {}
    begun = b""
    async with running(context, argv, limit_s=limit_s, limited=limited) as program:
        async for chunk in program.chunks():
            *lines, begun = (begun + chunk).split(b"\n")
            for now in map(json.loads, lines):
                if "fraction" in now:
                    emit(Progress(now["fraction"], _rate(last, now), "1/s", None, now.get("worst_s")))
                last = now
    emit(Ran(program.finished))
    if program.finished.exit_code != 0:
        raise failure(program.finished, int(last.get("error") or 0))
    return last, program.finished


def _rate(last: Mapping[str, Any], now: Mapping[str, Any]) -> float | None:
    if "operations" not in last or now["seconds"] <= last["seconds"]:
        return None
    return float((now["operations"] - last["operations"]) / (now["seconds"] - last["seconds"]))


def _argv(directory: str, scratch: str, percent: int) -> tuple[str, ...]:
    return worker_command(WORKER, "fill", f"{directory}/filling", str(percent), scratch=scratch)
