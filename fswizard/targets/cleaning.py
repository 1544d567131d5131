"""Undoing what a killed run left behind: pools and arrays that the kernel still holds, then files."""

from __future__ import annotations

import asyncio
from pathlib import Path

from fswizard.targets import journal
from fswizard.targets.helper import Helper
from fswizard.targets.journal import Leftover

ZFS_MODULE = Path("/sys/module/zfs")
BLOCKS = Path("/sys/block")


def clean(leftover: Leftover) -> tuple[str, ...]:
    """Remove all of it; in sentences, what is gone without this.

    Refused where something may be another's, Missing where root's rights cannot be had for it, RunFailed where anything
    may still be there.
    """
    return journal.clean(leftover, _reclaim)


def needs_root(leftover: Leftover) -> bool:
    """Whether something of it may be in the kernel, where only root can take it away."""
    return bool(leftover.pools) and _may_be_held()


def _may_be_held() -> bool:
    return ZFS_MODULE.exists() or any(BLOCKS.glob("md*/slaves/*"))


def _reclaim(pools: tuple[str, ...]) -> None:
    if pools and _may_be_held():
        asyncio.run(_reclaim_as_root(pools))


async def _reclaim_as_root(pools: tuple[str, ...]) -> None:
    async with Helper.start() as helper:
        for pool in pools:
            await helper.reclaim(pool)
