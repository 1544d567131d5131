"""A run chooses its amounts once, on the baseline, and all candidates and rounds do as much."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fswizard import results
from fswizard.engines.sqlite import SqliteJob
from fswizard.engines.tree import TreeJob
from fswizard.model.events import AmountsChosen, CommandFinished, SampleTaken
from fswizard.model.metrics import DURATION
from fswizard.model.recipe import Workload
from fswizard.session import Session
from tests.loop.runs import TINY, session_in, short_plan, watch

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.sqlite3]

COPY = Workload(
    "copy", "Copy", "tree", TreeJob("copy-onto", "home", 1000, 4 << 20), DURATION, box_s=0.02, least=1
)  # fmt: skip
SAVE = Workload("save", "Save", "sqlite", SqliteJob("wal", 200), DURATION, box_s=0.02, least=5)
BOXED = replace(TINY, workloads=(COPY, SAVE))


async def test_all_candidates_do_what_fits_into_the_boxes_of_the_baseline_also_after_a_break(tmp_path: Path) -> None:
    plan = short_plan(tmp_path, "ext4; ext2", BOXED, rounds=1)
    events = await watch(session_in(tmp_path, plan))
    (chosen,) = [event for event in events if isinstance(event, AmountsChosen)]
    first = next(event for event in events if isinstance(event, SampleTaken) and event.sample.round)
    assert events.index(chosen) < events.index(first), "before anything counts"
    result = results.load(tmp_path / "result.jsonl")
    copy, save = result.plan.recipe.workloads
    assert (copy.amount, save.amount) == (chosen.amounts["copy"], chosen.amounts["save"])
    assert 1 <= (copy.task.units or 0) <= 10
    assert 5 <= (save.task.units or 0) <= 200
    path = tmp_path / "result.jsonl"
    copied = f"/home-{100 * (copy.task.units or 0)}-"
    after = [e.argv for e in events[events.index(chosen) :] if isinstance(e, CommandFinished) and e.argv[0] == "cp"]
    assert len(after) == 2
    assert all(copied in argv[-1] for argv in after), "as much on ext4 as on ext2"
    more = replace(result.plan, minimum_rounds=2, maximum_rounds=2)
    resumed = await watch(Session(more, path, earlier=result))
    assert not [event for event in resumed if isinstance(event, AmountsChosen)]
    again = results.load(path)
    assert again.finished_rounds == 2
    assert again.plan.recipe == result.plan.recipe
