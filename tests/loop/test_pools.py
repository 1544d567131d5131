"""Pools of killed runs, and what is no pool, through the helper. OpenZFS itself is tried in a virtual machine."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from fswizard.bench import cleaning, journal
from fswizard.bench.helper import Helper
from fswizard.errors import Refused
from fswizard.results import state_directory
from tests.loop.channel import make_image, nameless

pytestmark = [pytest.mark.root, pytest.mark.loop]


@pytest_asyncio.fixture
async def helper() -> AsyncIterator[Helper]:
    async with Helper.start() as helper:
        yield helper


@pytest.mark.parametrize("pool", ["fswizard-0123456789abcdef", "tank"])
def test_clean_has_root_look_for_the_pools_of_a_killed_run(
    pool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleaning, "ZFS_MODULE", tmp_path)
    entry = state_directory() / "unfinished/run-x.json"
    entry.parent.mkdir(parents=True)
    entry.write_text(json.dumps({"directories": [], "pools": [pool], "result": ""}))
    (leftover,) = journal.leftovers()
    if pool == "tank":
        with pytest.raises(Refused, match="is no pool of a run"):
            cleaning.clean(leftover)
    else:
        cleaning.clean(leftover)
    assert entry.exists() == (pool == "tank")


async def test_a_pool_that_is_nobodys_of_ours_is_not_reclaimed(helper: Helper) -> None:
    for name in ("tank", "fswizard-", "fswizard-0123456789abcdeg", "../fswizard-0123456789abcdef"):
        with pytest.raises(Refused, match="is no pool of a run"):
            await helper.reclaim(name)
    await helper.reclaim("fswizard-0123456789abcdef")


async def test_what_is_no_pool_is_not_mounted_as_one(helper: Helper, tmp_path: Path) -> None:
    attached = await helper.attach(nameless(make_image(tmp_path)))
    assert (await helper.mkfs(attached.handle, "ext4", ("-q", "-F"))).exit_code == 0
    with pytest.raises(Refused, match="is not what was made"):
        await helper.mount(attached, "zfs", ())
