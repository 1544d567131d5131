"""Pools of killed runs, and what is no pool, through the helper. OpenZFS itself is tried in a virtual machine."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from fswizard.errors import Refused
from fswizard.results import state_directory
from fswizard.targets import journal
from fswizard.targets.helper import Helper
from tests.loop.channel import Channel

pytestmark = [pytest.mark.root, pytest.mark.loop]


@pytest.mark.parametrize("pool", ["fswizard-0123456789abcdef", "tank"])
def test_clean_has_root_look_for_the_pools_of_a_killed_run(
    pool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "ZFS_MODULE", tmp_path)
    entry = state_directory() / "unfinished/run-x.json"
    entry.parent.mkdir(parents=True)
    entry.write_text(json.dumps({"directories": [], "pools": [pool], "result": ""}))
    (leftover,) = journal.leftovers()
    if pool == "tank":
        with pytest.raises(Refused, match="is not the name of a run"):
            journal.clean(leftover)
    else:
        journal.clean(leftover)
    assert entry.exists() == (pool == "tank")


async def test_a_pool_that_is_nobodys_of_ours_is_not_reclaimed(helper: Helper) -> None:
    for name in ("tank", "fswizard-", "fswizard-0123456789abcdeg", "../fswizard-0123456789abcdef"):
        with pytest.raises(Refused, match="is not the name of a run"):
            await helper.reclaim(name)
    await helper.reclaim("fswizard-0123456789abcdef")


def test_what_a_helper_holds_is_reclaimed_only_once_it_is_dead_or_lets_go(tmp_path: Path) -> None:
    """Whether an array comes of it or not: this kernel may make none."""
    with Channel() as other, Channel() as owner:
        joined = owner.join(tmp_path)
        assert "ok" in other.ask("reclaim", pool=joined["pool"]), "nothing was made of it yet"
        owner.ask("array", handle=joined["handle"], level="1", chunk_kib=0, bitmap="none", missing=0)
        for channel in (other, owner):
            answer = channel.ask("reclaim", pool=joined["pool"])
            assert answer["error"]["code"] == "busy"
            assert "belongs to an fswizard that is running" in answer["error"]["text"]
        assert "ok" in other.ask("reclaim", pool="fswizard-0123456789abcdef"), "another name is nobody's"
        os.kill(owner.helper_pid, signal.SIGKILL)
        owner.process.wait()
        assert "ok" in other.ask("reclaim", pool=joined["pool"])
        with Channel() as detaching:
            joined = detaching.join(tmp_path)
            detaching.ask("array", handle=joined["handle"], level="1", chunk_kib=0, bitmap="none", missing=0)
            detaching.ask("wipe", handle=joined["handle"])
            assert "ok" in detaching.ask("detach", handle=joined["handle"])
            assert "ok" in other.ask("reclaim", pool=joined["pool"]), "what was detached is nobody's"
