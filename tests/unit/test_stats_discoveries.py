"""Marks of many workloads together: few of them are wrong, and those that are right stay."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from fswizard.model.analysis import Ratio
from fswizard.stats import analyse
from fswizard.stats.comparison import compare
from fswizard.stats.discoveries import AT_THE_END, ERROR, controlled
from fswizard.stats.ratios import verdict
from tests.bench.discoveries import Case, scores
from tests.builders import make_plan, make_result, make_samples, make_workload


def ratios(*halves: float, ratio: float = 1.2, rounds: int = 6) -> list[Ratio]:
    """One for each workload, 20 % faster, with half of its interval given."""
    ends = [(ratio * math.exp(-half), ratio * math.exp(half)) for half in halves]
    return [Ratio("xfs", "ext4", f"w{n}", ratio, *end, rounds, verdict(*end)) for n, end in enumerate(ends)]


def marks(table: Sequence[Ratio], each: float = ERROR) -> list[str]:
    return [ratio.verdict for ratio in controlled(table, lambda ratio: ratio.workload, each)]


def width(table: Sequence[Ratio]) -> float:
    """Of the interval of xfs at the first workload."""
    ratio = next(ratio for ratio in table if (ratio.candidate, ratio.workload) == ("xfs", "one"))
    assert ratio.low is not None and ratio.high is not None
    return math.log(ratio.high / ratio.low)


BARELY, CLEARLY, OPEN = 0.18, 0.05, 0.3


def test_a_workload_alone_keeps_its_interval() -> None:
    (alone,) = ratios(BARELY)
    assert controlled([alone], lambda ratio: ratio.workload, ERROR) == (alone,)


def test_what_barely_clears_1_among_many_is_undecided() -> None:
    assert [ratio.verdict for ratio in ratios(BARELY)] == ["faster"]
    assert marks(ratios(BARELY, *[OPEN] * 5)) == ["undecided"] * 6


def test_it_stays_where_most_others_differ_too() -> None:
    assert marks(ratios(BARELY, *[CLEARLY] * 5)) == ["faster"] * 6


def test_a_clear_difference_stays_whatever_the_others_are() -> None:
    assert marks(ratios(CLEARLY, *[OPEN] * 11)) == ["faster", *["undecided"] * 11]


def test_marks_follow_from_the_intervals_that_are_shown() -> None:
    table = controlled(ratios(BARELY, CLEARLY, OPEN), lambda ratio: ratio.workload, ERROR)
    for ratio in table:
        assert ratio.low is not None and ratio.high is not None
        assert ratio.verdict == verdict(ratio.low, ratio.high)


def test_an_interval_of_one_look_asks_for_more_than_that_of_a_stopped_run() -> None:
    assert marks(ratios(0.15, 0.15, OPEN, OPEN), AT_THE_END) == ["faster"] * 2 + ["undecided"] * 2
    assert marks(ratios(0.15, 0.15, OPEN, OPEN)) == ["undecided"] * 4


def test_without_intervals_nothing_changes() -> None:
    table = (Ratio("xfs", "ext4", "w0", 1.2, rounds=2), Ratio("xfs", "ext4", "w1", 0.0, verdict="failed"))
    assert controlled(table, lambda ratio: ratio.workload, ERROR) == table
    assert controlled((), lambda ratio: ratio.workload, ERROR) == ()


def test_a_judgement_and_a_comparison_of_results_widen_what_is_one_of_many() -> None:
    figures = {"ext4": [100.0, 104.0, 96.0, 101.0, 98.0], "xfs": [110.0, 105.0, 112.0, 108.0, 115.0]}
    level = {"ext4": [100.0, 104.0, 96.0, 101.0, 98.0], "xfs": [103.0, 97.0, 101.0, 99.0, 100.0]}
    workloads = [make_workload(name) for name in ("one", "two", "three", "four")]
    samples = [s for w in workloads for s in make_samples(figures if w.name == "one" else level, w.name)]
    result = make_result(plan=make_plan(("ext4", "xfs"), workloads), samples=tuple(samples))
    of_one = tuple(sample for sample in samples if sample.workload == "one")
    alone = make_result(samples=of_one, plan=make_plan(("ext4", "xfs"), workloads[:1]))
    assert width(analyse(result).by_workload) > 1.1 * width(analyse(alone).by_workload)
    both = ([change.ratio for change in compare(some, some).changes] for some in (result, alone))
    assert width(next(both)) > 1.1 * width(next(both))


@pytest.mark.parametrize("runs", [150, pytest.param(2000, marks=pytest.mark.slow)])
def test_where_nothing_differs_one_report_in_twenty_marks_a_workload_wrongly(runs: int) -> None:
    alone, together = scores(Case(2, 6, 0, 0.0, 0.08), runs)
    most = 0.05 + 3.1 * math.sqrt(0.05 * 0.95 / runs)
    assert together.wrong_tables / runs <= most
    assert together.wrong_tables < alone.wrong_tables


@pytest.mark.parametrize("runs", [120, pytest.param(1000, marks=pytest.mark.slow)])
def test_true_differences_are_still_found(runs: int) -> None:
    alone, together = scores(Case(2, 6, 3, 0.3, 0.08), runs)
    assert together.wrong_share / runs <= 0.05
    assert together.found >= 0.95 * alone.found
