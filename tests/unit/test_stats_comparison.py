"""Two results side by side: what changed, how surely, and what cannot be compared."""

from __future__ import annotations

import math
import random
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
from fswizard.report.comparison import cautions, difference_text, sentences
from fswizard.stats.comparison import compare, compare_within
from tests.builders import (
    make_candidate,
    make_drive,
    make_filled_result,
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


def test_what_changed_is_said_with_an_interval_in_which_above_1_is_better() -> None:
    found = change(FASTER)
    assert (found.before, found.after) == (100.25, 150.0)
    assert found.ratio.ratio == pytest.approx(1.5, rel=0.01)
    assert found.ratio.verdict == "faster"
    assert found.ratio.low is not None
    assert 1.4 < found.ratio.low < found.ratio.ratio
    found = change(run((100.0, 101.0, 99.0), (2.0, 2.02, 1.98)), "Delete")
    assert found.ratio.verdict == "slower"
    assert found.ratio.ratio == pytest.approx(0.5, rel=0.01)
    comparison = compare(BEFORE, run((100.2, 100.9, 99.3)))
    assert {found.ratio.verdict for found in comparison.changes} == {"alike"}
    found = change(run((400.0, 404.0, 396.0), (2.0, 2.02, 1.98)), "")
    assert found.ratio.ratio == pytest.approx((4 / 2) ** 0.5, rel=0.01)
    found = change(run((150.0,))).ratio
    assert (found.low, found.verdict, found.rounds) == (None, "open", 1)
    after = replace(run((150.0, 9999.0, 151.0, 149.0)), discarded_rounds=(2,))
    assert change(after).after == 150.0


def test_a_change_is_called_one_where_it_is_proven_and_may_be_over_5_percent() -> None:
    before = run((98.5, 100.0, 101.5, 100.0))
    for level, expected in ((101.0, "alike"), (104.0, "faster"), (96.0, "slower")):
        figures = [level * at for at in (0.99, 1.0, 1.01, 1.0)]
        assert change(run(figures), before=before).ratio.verdict == expected


def test_one_change_in_a_hundred_is_chance() -> None:
    dice = random.Random(5)

    def noisy() -> Result:
        return run([100 * dice.lognormvariate(0, 0.05) for _ in range(4)])

    ratios = [change(noisy(), before=noisy()).ratio for _ in range(1000)]
    assert sum(ratio.differs for ratio in ratios) <= 0.01 * 1000 + 3.1 * math.sqrt(10)


NOATIME = replace(make_candidate("ext4"), mount_options=("noatime",))


@pytest.mark.parametrize(
    ("plan", "reason", "hint"),
    [
        ({"target": Target("device", "")}, r"a scratch image \(2G\), the other on a device", ""),
        ({"target": Target("image", "", 4 << 30)}, r"\(2G\), the other on a scratch image \(4G\)", ""),
        ({"candidates": (make_candidate("xfs"),), "baseline": "xfs"}, "cannot be compared", ""),
        ({"candidates": (NOATIME,)}, "compared", "ext4: it was formatted or mounted in another way"),
    ],
)
def test_what_is_not_comparable_is_refused_with_the_reason(plan: dict[str, Any], reason: str, hint: str) -> None:
    with pytest.raises(UsageError, match=reason) as caught:
        compare(BEFORE, run((1.0, 1.0), **plan))
    assert caught.value.hint and hint in caught.value.hint


def on(**environment: Any) -> Result:
    return replace(FASTER, environment=replace(FASTER.environment, **environment))


BTRFS = make_plan(("btrfs",), WORKLOADS, drive=make_drive()).candidates[0]
BTRFS = replace(BTRFS, filesystem=replace(BTRFS.filesystem, packages={"debian": "btrfs-progs"}))


def of_btrfs(version: str) -> Result:
    plan = replace(FASTER.plan, candidates=(BTRFS,), baseline="btrfs")
    samples = tuple(replace(sample, candidate="btrfs") for sample in FASTER.samples)
    return replace(on(tools={"mkfs.btrfs": version}), plan=plan, samples=samples)


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        (BEFORE, run((1.0,), drive=make_drive(serial="Z-1")), "…0000 → ST8000AS0002-1NA17Z …Z-1"),
        (BEFORE, run((1.0,), drive=make_drive(model="WD40EFAX")), "disk ST8000AS0002-1NA17Z → WD40EFAX"),
        (BEFORE, run((1.0,), drive=None), "disk ST8000AS0002-1NA17Z → unknown"),
        (BEFORE, run((1.0,), memory_limit_bytes=1 << 30), "memory limit none → 1 GiB"),
        (BEFORE, on(kernel="6.8"), "kernel 6.1.0 → 6.8"),
        (BEFORE, on(version="0.2.0"), "fswizard 0.1.0 → 0.2.0"),
        (BEFORE, on(tools={"fio": "3.36"}), "fio unknown → 3.36"),
        (BEFORE, replace(FASTER, doubts=(Doubt("on-battery", ""),)), "power mains → battery"),
        (of_btrfs("6.2"), of_btrfs("6.6"), "btrfs-progs 6.2 → 6.6"),
    ],
)  # fmt: skip
def test_what_else_differs_is_named_as_people_call_it(before: Result, after: Result, difference: str) -> None:
    comparison = compare(before, after)
    assert any(difference in difference_text(one) for one in comparison.differences)


def test_doubts_and_workloads_left_out_are_named_and_a_filled_filesystem_compared_with_the_empty_one() -> None:
    doubted = replace(FASTER, doubts=(Doubt("governor", "The processor was slow."),))
    assert compare(BEFORE, doubted).doubts == ("Second result only: The processor was slow.",)
    assert compare(doubted, doubted).doubts == ()
    recipe = BEFORE.plan.recipe
    smaller = replace(WORKLOADS[0], job=FioJob("write", 4096, 1 << 20))
    comparison = compare(BEFORE, run((9.0, 9.0, 9.0), recipe=replace(recipe, workloads=(smaller, WORKLOADS[1]))))
    assert comparison.left_out == ("Write: it was done in another way in the second result.",)
    assert {found.workload for found in comparison.changes} == {"Delete"}
    comparison = compare_within(make_filled_result(2.0))
    (filled,) = comparison.changes
    assert (filled.workload, filled.before, filled.after) == ("Full", 1.0, 2.0)
    assert sentences(comparison) == ("ext4 is 2× slower at “Full”.",)
    with pytest.raises(UsageError, match="nothing to compare within it"):
        compare_within(BEFORE)


def test_only_what_is_proven_is_said_and_several_that_changed_alike_share_a_sentence() -> None:
    names = ("ext4", "xfs", "btrfs", "f2fs")

    def measured(*levels: float) -> Result:
        plan = make_plan(names, drive=make_drive())
        figures = {name: (level, 1.01 * level, 0.99 * level) for name, level in zip(names, levels)}
        return make_result(figures, plan=plan)

    flat = measured(100, 100, 100, 100)
    assert sentences(compare(flat, measured(150, 180, 100, 100))) == ("ext4 and xfs became 50–80 % faster at “Write”.",)
    assert len(sentences(compare(flat, measured(200, 200, 200, 200)))) == 1
    noisy = run((60.0, 101.0, 150.0, 80.0), (1.0, 1.5, 0.6))
    proven = [compare(BEFORE, after) for after in (noisy, BEFORE, run((300.0, 301.0), (1.0, 1.0)))]
    assert not any(change.ratio.differs for comparison in proven for change in comparison.changes)


@pytest.mark.parametrize(
    "plan", [{"drive": make_drive(model="WD40EFAX")}, {"memory_limit_bytes": 1 << 30}, {"drive": None}]
)
def test_what_was_not_measured_alike_is_compared_with_a_warning(plan: dict[str, Any]) -> None:
    assert not cautions(compare(BEFORE, FASTER))
    (caution,) = cautions(compare(BEFORE, run((150.0, 151.0, 149.0), **plan)))
    assert caution.startswith("Not measured alike: ")


def test_the_command_compares_two_of_the_history(state: Path) -> None:
    directory = results.new_path(BEFORE.plan).parent
    write_result(directory / "2025.jsonl", BEFORE)
    write_result(directory / "2026.jsonl", FASTER)
    compared = fswizard("history", "--compare", "2025", "2026")
    assert "1.50" in compared.stdout
    assert fswizard("history", "--compare", "2025").returncode == 2


def test_the_command_lists_by_disk_what_changed_since_the_result_before(state: Path) -> None:
    directory = results.new_path(BEFORE.plan).parent
    later = replace(on(kernel="6.12.1"), environment=replace(FASTER.environment, kernel="6.12.1", started="2026-03-01"))
    write_result(directory / "old.jsonl", BEFORE)
    write_result(directory / "new.jsonl", later)
    other = run((150.0,), drive=make_drive(serial="X-5555"))
    write_result(directory / "twin.jsonl", replace(other, environment=replace(other.environment, started="2025")))
    listed = fswizard("history").stdout.splitlines()
    assert [line.strip() for line in listed if line.startswith("  ") and line[2] != " "] == ["new", "old", "twin"]
    assert any("Since 2026-01-02: ext4 became 22 % faster" in line for line in listed)
    assert "twin" not in fswizard("history", "2026").stdout
