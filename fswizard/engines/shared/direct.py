"""Whether a candidate's direct I/O is direct, which only a test write shows."""

from __future__ import annotations

import errno
import json

from fswizard.engines.shared.engine import WorkloadContext
from fswizard.engines.shared.running import failure, put_worker, succeed, worker_command

WORKER = "direct_worker.py"


async def cached_share(context: WorkloadContext) -> float | None:
    """The share of a direct write (O_DIRECT) that is in memory meanwhile; None if O_DIRECT is refused.

    Raises WorkloadFailed if nothing can be written at all.
    """
    put_worker(WORKER, context)
    argv = worker_command(WORKER, context.directory, *context.devices, scratch=context.scratch)
    finished = await succeed(context, argv, limit_s=300.0)
    answer = json.loads(finished.stdout)
    error = answer.get("error", 0)
    if error not in (0, errno.EINVAL):
        raise failure(finished, error)
    return None if error else float(answer["cached"])
