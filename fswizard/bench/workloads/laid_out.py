"""Files that workloads of a cell share. A site remembers which are whole: asking for them would take a program each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fswizard.bench.site import Site
from fswizard.bench.workloads import WorkloadFailed
from fswizard.bench.workloads.running import succeed

LIMIT_S = 300.0


@asynccontextmanager
async def making(site: Site, path: str) -> AsyncIterator[None]:
    """Make `path` afresh; at the end of the block it counts as laid out.

    When the work fails, what there is of it is deleted, so that it takes no room from later workloads.
    """
    if path in site.laid_out or not path.startswith(f"{site.directory}/"):  # a candidate's own directory began empty
        site.laid_out.discard(path)
        await remove(site, path)
    try:
        yield
    except WorkloadFailed:
        with suppress(WorkloadFailed):
            await remove(site, path)
        raise
    site.laid_out.add(path)


async def remove(site: Site, *paths: str) -> None:
    """Delete what is there of `paths`."""
    await succeed(site, ("rm", "-rf", *paths), limit_s=LIMIT_S)
    site.laid_out.difference_update(paths)
