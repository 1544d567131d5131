"""Plans that were carried out: they took as long and wrote as much as was expected; writing ends where it should."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fswizard import recipes
from fswizard.engines.fio import FioJob
from fswizard.errors import UsageError
from fswizard.model.estimates import writes_bytes
from fswizard.session import Session, take_up
from tests.builders import make_recipe, make_workload
from tests.loop.runs import result_of, session_in, short_plan, short_session

UNTIMED = make_recipe(
    [
        make_workload(f"write-{number}", job=job, writes_bytes=writes_bytes(job))
        for number, job in enumerate((FioJob("write", 1 << 20, 24 << 20), FioJob("randwrite", 1 << 16, 16 << 20)))
    ],
    image_bytes=512 << 20,
)
"""On a smaller image mke2fs makes four times as many inodes."""

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio, pytest.mark.xfs, pytest.mark.btrfs]

FACTOR = 1.5
MARGIN = 1.25


async def test_a_run_writes_as_much_as_planned(tmp_path: Path) -> None:
    session = short_session(tmp_path, "ext4; btrfs", UNTIMED)
    result = await result_of(session)
    assert len(result.trials_written) == 2
    planned, written = (
        total - session.plan.target.filled_bytes for total in (session.plan.writes_bytes, result.written_bytes)
    )
    assert written / MARGIN < planned < written * MARGIN


@pytest.mark.slow
async def test_a_run_ends_before_it_exceeds_its_write_budget_and_is_resumed_with_as_much_again(tmp_path: Path) -> None:
    plan = short_plan(tmp_path, "ext4; ext2", UNTIMED, rounds=3)
    plan = replace(plan, write_budget_bytes=plan.writes_bytes_in(3))
    result = await result_of(session_in(tmp_path, plan))
    path = tmp_path / "result.jsonl"
    assert result.outcome == "budget-used"
    assert result.finished_rounds == 1, "whole rounds count, and two do not fit"
    assert result.written_bytes <= (plan.write_budget_bytes or 0)
    with pytest.raises(UsageError, match="exceeds the limits"):
        take_up(path, write_budget_bytes=1e6)
    more = take_up(path)
    assert more.plan.write_budget_bytes == plan.write_budget_bytes, "as much again"
    resumed = await result_of(Session(more.plan, path, earlier=more.earlier))
    assert (resumed.outcome, resumed.finished_rounds) == ("budget-used", 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quick", "desktop-ssd"])
async def test_a_run_takes_as_long_as_planned(name: str, tmp_path: Path) -> None:
    recipe = recipes.find(name)
    plan = short_plan(tmp_path, "; ".join(recipe.candidates), recipe, rounds=3, time_limit_s=0.0)
    result = await result_of(session_in(tmp_path, plan))
    assert result.finished_rounds == 3
    print(f"{name}: {plan.expected_s:.0f} s planned, {result.elapsed_s:.0f} s taken")
    assert result.elapsed_s / FACTOR < plan.expected_s < result.elapsed_s * FACTOR
