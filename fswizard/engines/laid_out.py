"""Files that workloads of a cell share. The context remembers which are whole: asking takes a program for each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fswizard.engines import WorkloadFailed
from fswizard.engines.context import WorkloadContext
from fswizard.engines.running import succeed

LIMIT_S = 300.0


@asynccontextmanager
async def making(context: WorkloadContext, path: str) -> AsyncIterator[None]:
    """Make `path` afresh; at the end of the block it counts as laid out.

    When the work fails, what there is of it is deleted, so that it takes no room from later workloads.
    """
    if path in context.laid_out or not path.startswith(
        f"{context.directory}/"
    ):  # a candidate's own directory began empty
        context.laid_out.discard(path)
        await remove(context, path)
    try:
        yield
    except WorkloadFailed:
        with suppress(WorkloadFailed):
            await remove(context, path)
        raise
    context.laid_out.add(path)


async def remove(context: WorkloadContext, *paths: str) -> None:
    """Delete what is there of `paths`."""
    await succeed(context, ("rm", "-rf", *paths), limit_s=LIMIT_S)
    context.laid_out.difference_update(paths)
