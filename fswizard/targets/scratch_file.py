"""A scratch image: how far it is written, and whether its disk takes more where something failed."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from collections.abc import AsyncIterator

from fswizard.errors import RunFailed
from fswizard.language import N_, _
from fswizard.model.estimates import filling_s
from fswizard.model.plan import Plan
from fswizard.model.text import safe
from fswizard.progress.emitter import Emitter
from fswizard.progress.workload_events import Progress
from fswizard.system import clock, timeouts
from fswizard.targets.channel import HelperProcess
from fswizard.targets.prepared import require_no_errors

FILLING = N_("writing the whole scratch image once")
PROBE_MIB = 16
"""Written beside the image after an error, to distinguish a failing disk from a failing candidate."""


def expected_s(plan: Plan) -> float:
    """What writing one image takes."""
    return filling_s(plan.target.size_bytes, plan.drive.kind if plan.drive else "unknown")


async def watch(size_bytes: int, emitter: Emitter, process: HelperProcess) -> None:
    """Say how far the image of `size_bytes` is written, as its lines say; RunFailed where none comes for long."""
    for command in (process.argv, *process.further):
        emitter.command_begins(command)
    lines, before, began = process.chunks().__aiter__(), 0, clock.monotonic()
    while chunk := await _next(lines, process):
        written, now = int(chunk.split()[-1]), clock.monotonic()
        emitter.progress(_(FILLING), Progress(written / size_bytes, (written - before) / max(now - began, 1e-3)))
        before, began = written, now
    emitter.command_ended(await process.wait())


async def _next(chunks: AsyncIterator[bytes], process: HelperProcess) -> bytes:
    """What it says next; empty at its end."""
    try:
        return await timeouts.within(timeouts.LIMIT_S, anext(chunks, b""))
    except asyncio.TimeoutError:
        raise timeouts.no_answer(process.argv[0]) from None


async def write_beside(scratch: str) -> None:
    """RunFailed where the disk takes no more data, as one does that lost its connection or turned read-only."""
    probe = f"{scratch}/probe"
    argv = ["dd", "if=/dev/zero", f"of={probe}", "bs=1M", f"count={PROBE_MIB}", "conv=fsync", "status=none"]
    finished = await timeouts.finish(argv)
    with contextlib.suppress(OSError):
        os.unlink(probe)
    if os.strerror(errno.ENOSPC) in finished.output:
        raise RunFailed(
            _("The filesystem of {scratch} is full.", scratch=safe(scratch)),
            _("Free some space there and run again."),
            finished.output,
        )
    if finished.exit_code:
        require_no_errors([finished.output])
