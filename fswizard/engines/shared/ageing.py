"""Years of use before anything is measured; `ageing_worker.py` makes files, changes them and deletes most of them."""

from __future__ import annotations

from fswizard.engines.shared.engine import WorkloadContext
from fswizard.engines.shared.filling import listen
from fswizard.engines.shared.running import put_worker, worker_command
from fswizard.language import _
from fswizard.model.recipe import PlannedCommand
from fswizard.progress.workload_events import Tell

WORKER = "ageing_worker.py"
LIMIT_S = 86_400.0
"""A large disk takes most of a day."""


def planned(write_bytes: int, free_bytes: int) -> PlannedCommand:
    return PlannedCommand(_argv("MOUNT", "SCRATCH", "SEED", write_bytes, free_bytes), text=_("ageing it"))


async def age(context: WorkloadContext, emit: Tell, *, seed: int, write_bytes: int, free_bytes: int) -> None:
    """Write `write_bytes` to the candidate, then leave `free_bytes` of it free; WorkloadFailed where it can't do that.

    The same seed gives the same files, in much the same places on the same filesystem.
    """
    put_worker(WORKER, context)
    await listen(context, _argv(context.directory, context.scratch, str(seed), write_bytes, free_bytes), LIMIT_S, emit)


def _argv(directory: str, scratch: str, seed: str, write_bytes: int, free_bytes: int) -> tuple[str, ...]:
    return worker_command(WORKER, f"{directory}/years", seed, str(write_bytes), str(free_bytes), scratch=scratch)
