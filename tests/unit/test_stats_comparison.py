"""Two results side by side: what changed, how surely, and what cannot be compared."""

from __future__ import annotations

import json
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
from fswizard.model.result import Result
from fswizard.report.comparison import render
from fswizard.report.layout import WIDTH, cells
from fswizard.stats.comparison import compare
from tests.builders import make_candidate, make_drive, make_plan, make_result, make_samples, make_workload
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


def test_what_became_faster_is_said_with_an_interval() -> None:
    found = change(FASTER)
    assert (found.before, found.after) == (100.25, 150.0)
    assert found.ratio.ratio == pytest.approx(1.5, rel=0.01)
    assert found.ratio.verdict == "faster"
    assert found.ratio.low is not None
    assert 1.4 < found.ratio.low < found.ratio.ratio


def test_a_longer_duration_is_worse() -> None:
    found = change(run((100.0, 101.0, 99.0), (2.0, 2.02, 1.98)), "Delete")
    assert found.ratio.verdict == "slower"
    assert found.ratio.ratio == pytest.approx(0.5, rel=0.01)


def test_the_same_again_is_a_tie() -> None:
    comparison = compare(BEFORE, run((100.2, 100.9, 99.3)))
    assert {found.ratio.verdict for found in comparison.changes} == {"tie"}


def test_all_workloads_together_are_the_weighted_mean_of_both() -> None:
    found = change(run((400.0, 404.0, 396.0), (2.0, 2.02, 1.98)), "")
    assert found.ratio.ratio == pytest.approx((4 / 2) ** 0.5, rel=0.01)


def test_a_lead_that_does_not_matter_is_no_lead_even_where_it_is_proven() -> None:
    """As within a run: stats.pairs.verdict is the one for both."""
    found = change(run((102.0, 103.5, 105.0, 103.5)), before=run((98.5, 100.0, 101.5, 100.0))).ratio
    assert found.low is not None and found.high is not None
    assert 1 < found.low < found.ratio < 1.05 < found.high
    assert found.verdict == "undecided"


def test_with_one_round_there_is_no_interval() -> None:
    found = change(run((150.0,))).ratio
    assert (found.low, found.verdict, found.rounds) == (None, "undecided", 1)


def test_runs_that_do_not_differ_are_rarely_told_apart() -> None:
    dice = random.Random(5)

    def noisy() -> Result:
        return run([100 * dice.lognormvariate(0, 0.05) for _ in range(4)])

    verdicts = [change(noisy(), before=noisy()).ratio.verdict for _ in range(400)]
    assert sum(verdict in ("faster", "slower") for verdict in verdicts) / 400 < 0.08


NOATIME = replace(make_candidate("ext4"), mount_options=("noatime",))


@pytest.mark.parametrize(
    ("plan", "reason", "hint"),
    [
        ({"target": Target("device", "")}, "a scratch image, the other on a device", ""),
        ({"target": Target("image", "", 4 << 30)}, "2G and 4G", ""),
        ({"candidates": (make_candidate("xfs"),), "baseline": "xfs"}, "cannot be compared", ""),
        ({"candidates": (NOATIME,)}, "compared", "ext4: it was formatted or mounted in another way"),
    ],
)
def test_what_is_not_comparable_is_refused_with_the_reason(plan: dict[str, Any], reason: str, hint: str) -> None:
    with pytest.raises(UsageError, match=reason) as caught:
        compare(BEFORE, run((1.0, 1.0), **plan))
    assert caught.value.hint and hint in caught.value.hint


def test_a_workload_that_was_done_in_another_way_is_left_out_and_named() -> None:
    recipe = BEFORE.plan.recipe
    smaller = replace(WORKLOADS[0], job=FioJob("write", 4096, 1 << 20))
    comparison = compare(BEFORE, run((9.0, 9.0, 9.0), recipe=replace(recipe, workloads=(smaller, WORKLOADS[1]))))
    assert comparison.left_out == ("Write: it was done in another way in the second result.",)
    assert {found.workload for found in comparison.changes} == {"Delete"}


def test_discarded_rounds_do_not_count() -> None:
    after = replace(run((150.0, 9999.0, 151.0, 149.0)), discarded_rounds=(2,))
    assert change(after).after == 150.0


@pytest.mark.parametrize(
    ("after", "difference"),
    [
        (run((1.0, 1.0), drive=make_drive(serial="other")), "Disk: two of the model ST8000AS0002-1NA17Z."),
        (run((1.0, 1.0), drive=make_drive(model="WD40EFAX")), "Disk: ST8000AS0002-1NA17Z, then WD40EFAX."),
        (run((1.0, 1.0), drive=None), "Whether it was the same disk is unknown."),
        (replace(BEFORE, environment=replace(BEFORE.environment, kernel="6.8")), "Kernel: 6.1.0, then 6.8."),
        (replace(BEFORE, environment=replace(BEFORE.environment, tools={"fio": "3.36"})), "fio: not told, then 3.36."),
    ],
)
def test_what_else_differs_is_named(after: Result, difference: str) -> None:
    assert difference in compare(BEFORE, after).differences


def test_the_text_fits_80_columns_and_says_what_it_compares() -> None:
    text = render(compare(BEFORE, FASTER), "2025_quick", "2026_quick")
    assert max(map(cells, text.splitlines())) <= WIDTH
    row = next(line for line in text.splitlines() if line.startswith("Write "))
    assert row.split() == ["Write", "100", "B/s", "150", "B/s", "1.50", *row.split()[6:7], "▲", "faster"]


def test_the_command_compares_two_of_the_history(state: Path) -> None:
    directory = results.new_path(BEFORE.plan).parent
    results.write_result(directory / "2025.jsonl", BEFORE)
    results.write_result(directory / "2026.jsonl", FASTER)
    compared = fswizard("history", "--compare", "2025", "2026")
    document = json.loads(fswizard("history", "--compare", "2025", "2026", "--json").stdout)
    assert "1.50" in compared.stdout
    assert document["changes"][0]["ratio"]["verdict"]
    assert fswizard("history", "--compare", "2025").returncode == 2
