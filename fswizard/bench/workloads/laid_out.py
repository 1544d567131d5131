"""Files that workloads of a cell share: each appears under its name only when it is whole."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fswizard.bench.site import Site
from fswizard.bench.workloads import WorkloadFailed
from fswizard.bench.workloads.running import finish, succeed

LIMIT_S = 300.0


async def exists(site: Site, path: str) -> bool:
    """Whether it was laid out already; asked through a program, for the path may exist in its namespace only."""
    return (await finish(site, ("test", "-e", path), limit_s=LIMIT_S)).exit_code == 0


@asynccontextmanager
async def making(site: Site, path: str, *, in_place: bool = False) -> AsyncIterator[str]:
    """The name under which to make `path` afresh; at the end of the block it gets its own name.

    When the work fails, what there is of it is deleted, so that it takes no room from later workloads.
    With `in_place` it has its own name from the start, for what remembers where it was made.
    """
    part = path if in_place else unfinished(path)
    await remove(site, part, path)
    try:
        yield part
    except WorkloadFailed:
        with suppress(WorkloadFailed):
            await remove(site, part)
        raise
    if not in_place:
        await succeed(site, ("mv", "-T", part, path), limit_s=LIMIT_S)


async def remove(site: Site, *paths: str) -> None:
    """Delete what is there of `paths`."""
    await succeed(site, ("rm", "-rf", *paths), limit_s=LIMIT_S)


def unfinished(path: str) -> str:
    return f"{path}.part"
