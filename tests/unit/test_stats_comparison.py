"""Two results side by side: what changed, how surely, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fswizard import results
from fswizard.engines.fio import FioJob
from fswizard.errors import UsageError
from fswizard.model.comparison import Change
from fswizard.model.metrics import DURATION
from fswizard.model.plan import Target
from fswizard.model.result import Doubt, Result
from fswizard.stats.comparison import compare
from tests.builders import (
    make_candidate,
    make_drive,
    make_plan,
    make_result,
    make_samples,
    make_workload,
    write_result,
)
from tests.fakes.command_line import fswizard

WORKLOADS = (make_workload("write"), make_workload("delete", DURATION))


def run(write: Sequence[float], delete: Sequence[float] = (1.0, 1.01, 0.99), **plan: Any) -> Result:
    """A run of ext4 with these figures."""
    samples = make_samples({"ext4": write}) + make_samples({"ext4": delete}, "delete", DURATION)
    made = make_plan(("ext4",), WORKLOADS, drive=make_drive())
    return make_result({"ext4": write}, plan=replace(made, **plan), samples=samples)


BEFORE = run((100.0, 101.0, 99.0, 100.5))


FASTER = run((150.0, 151.0, 149.0))


def change(after: Result, workload: str = "Write", before: Result = BEFORE) -> Change:
    return next(change for change in compare(before, after).changes if change.workload == workload)


def test_a_change_has_an_interval_in_which_above_1_is_better() -> None:
    found = change(FASTER)
    assert (found.before, found.after) == pytest.approx((100.25, 150.0), rel=0.01)
    assert found.ratio.ratio == pytest.approx(found.after / found.before)
    assert found.ratio.low is not None
    assert 1.4 < found.ratio.low < found.ratio.ratio
    found = change(run((100.0, 101.0, 99.0), (2.0, 2.02, 1.98)), "Delete")
    assert (found.ratio.verdict, found.ratio.ratio) == ("slower", pytest.approx(0.5, rel=0.01))
    found = change(run((400.0, 404.0, 396.0), (2.0, 2.02, 1.98)), "")
    assert found.ratio.ratio == pytest.approx((4 / 2) ** 0.5, rel=0.01)
    once = change(run((150.0,))).ratio
    assert (once.low, once.verdict, once.rounds) == (None, "open", 1)
    after = replace(run((150.0, 9999.0, 151.0, 149.0)), discarded_rounds=(2,))
    assert change(after).after == pytest.approx(150.0, rel=0.001)


def test_a_change_is_called_one_where_it_is_proven_and_may_be_over_5_percent() -> None:
    before = run((98.5, 100.0, 101.5, 100.0))
    for level, expected in ((101.0, "alike"), (104.0, "faster"), (96.0, "slower")):
        figures = [level * at for at in (0.99, 1.0, 1.01, 1.0)]
        assert change(run(figures), before=before).ratio.verdict == expected


@pytest.mark.parametrize(
    "plan",
    [
        {"target": Target("device", "")},
        {"target": Target("image", "", 4 << 30)},
        {"candidates": (make_candidate("xfs"),), "baseline": "xfs"},
        {"candidates": (replace(make_candidate("ext4"), mount_options=("noatime",)),)},
    ],
)
def test_what_is_not_comparable_is_refused(plan: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        compare(BEFORE, run((1.0, 1.0), **plan))


def on(**environment: Any) -> Result:
    return replace(FASTER, environment=replace(FASTER.environment, **environment))


@pytest.mark.parametrize(
    ("after", "difference"),
    [
        (
            run((1.0,), drive=make_drive(serial="Z-1")),
            ("disk", "ST8000AS0002-1NA17Z …0000", "ST8000AS0002-1NA17Z …Z-1"),
        ),
        (run((1.0,), memory_limit_bytes=1 << 30), ("memory limit", "none", "1 GiB")),
        (on(kernel="6.8"), ("kernel", "6.1.0", "6.8")),
    ],
)
def test_what_else_differs_is_named(after: Result, difference: tuple[str, ...]) -> None:
    assert difference in compare(BEFORE, after).differences


def test_doubts_and_workloads_left_out_are_named() -> None:
    doubted = replace(FASTER, doubts=(Doubt("governor", "The processor was slow."),))
    assert len(compare(BEFORE, doubted).doubts) == 1
    assert compare(doubted, doubted).doubts == ()
    recipe = BEFORE.plan.recipe
    smaller = replace(WORKLOADS[0], job=FioJob("write", 4096, 1 << 20))
    comparison = compare(BEFORE, run((9.0, 9.0, 9.0), recipe=replace(recipe, workloads=(smaller, WORKLOADS[1]))))
    assert len(comparison.left_out) == 1
    assert {found.workload for found in comparison.changes} == {"Delete"}


def test_the_history_lists_the_newest_first_and_compares_two_in_harmless_text(state: Path) -> None:
    directory = results.new_path(BEFORE.plan).parent
    older = replace(BEFORE.environment, tools={"output": "0", "mkfs.btrfs": "6.2"})
    write_result(directory / "old.jsonl", replace(BEFORE, environment=older))
    changed = {"kernel": "6.12.1", "tools": {"output": "1\n\x1b[2J\n"}}
    write_result(directory / "new.jsonl", on(started="2026-03-01", **changed))
    listed = fswizard("history").stdout.splitlines()
    assert [line for line in listed if line[0] != " "] == ["new", "old"]
    compared = fswizard("history", "--compare", "new", "old").stdout
    assert "Before     old" in compared
    assert "1.50 (" in compared
    assert r"output     0 → 1\n\x1b[2J\n" in compared
    assert "btrfs" not in compared, "only one of them needed it"
    assert fswizard("history", "--compare", "old").returncode == 2
