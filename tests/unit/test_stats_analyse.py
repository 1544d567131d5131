"""What the figures of a run prove, who is dropped for it, and when the run has an answer."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.model.analysis import Analysis, Ratio
from fswizard.model.metrics import DURATION
from fswizard.model.plan import FIRST_LOOK
from fswizard.model.result import Failure, Result, Sample
from fswizard.stats import Decision, analyse, decide
from fswizard.stats.constants import PAIRED, PAIRED_FROM, UNPAIRED
from fswizard.stats.ratios import ROBUST_FROM, critical, verdict
from tests.builders import make_plan, make_result, make_samples, make_workload

FIGURES = st.floats(1.0, 1e9)


def the(analysis: Analysis, candidate: str, workload: str = "") -> Ratio:
    ratio = analysis.of(candidate, workload)
    assert ratio is not None
    return ratio


def two_workloads(
    write: Mapping[str, Sequence[float]], delete: Mapping[str, Sequence[float]], weights: tuple[float, float] = (1, 1)
) -> Result:
    """A run with a throughput and a duration."""
    workloads = [make_workload("write", weight=weights[0]), make_workload("delete", DURATION, weight=weights[1])]
    samples = make_samples(write) + make_samples(delete, "delete", DURATION)
    return make_result(plan=make_plan(tuple(write), workloads), samples=samples)


def run(write: Mapping[str, Sequence[float]], *failures: Failure, **fields: Any) -> Result:
    return make_result(write, failures=failures, **fields)


def failed(number: int, candidate: str, workload: str = "write", text: str = "It failed.") -> Failure:
    return Failure(number, candidate, workload, "EIO", text)


@st.composite
def results(draw: st.DrawFn) -> Result:
    names = ["ext4", "xfs", "btrfs", "f2fs"][: draw(st.integers(2, 4))]
    rounds = draw(st.integers(1, 6))
    return make_result({name: [draw(FIGURES) for _ in range(rounds)] for name in names})


def test_two_candidates_by_hand_and_of_four_the_noise_of_all_pairs() -> None:
    figures = {"ext4": (100.0, 100.0, 100.0), "xfs": tuple(100 * math.exp(x) for x in (0.1, 0.2, 0.3))}
    ratio = the(analyse(make_result(figures)), "xfs")
    # mean 0.2, variance 0.01 of each candidate by itself and of both together, constant 7.26 for three rounds
    assert ratio.ratio == pytest.approx(math.exp(0.2))
    assert ratio.low == pytest.approx(math.exp(0.2 - 7.26 * 0.1 / math.sqrt(3)))
    assert ratio.high == pytest.approx(math.exp(0.2 + 7.26 * 0.1 / math.sqrt(3)))
    assert (ratio.rounds, ratio.verdict, ratio.baseline) == (3, "undecided", "ext4")
    narrow = the(analyse(make_result({"ext4": (100.0,) * 12, "xfs": (110.0,) * 12})), "xfs")
    assert narrow.low == pytest.approx(1.1 * math.exp(-3.33 * 0.005 / math.sqrt(12)))
    assert narrow.verdict == "faster"

    analysis = analyse(make_result({"ext4": (100.0,), "xfs": (900.0,)}))
    assert [(r.low, r.high, r.verdict) for r in analysis.overall] == [(None, None, "undecided")] * 2
    assert analysis.leaders == ("xfs", "ext4")
    rng = random.Random(1)
    logs = {name: [rng.gauss(4.0, 0.1) for _ in range(5)] for name in ("ext4", "xfs", "btrfs", "f2fs")}
    ratio = the(analyse(make_result({name: [math.exp(x) for x in row] for name, row in logs.items()})), "btrfs")
    variance = {
        (a, b): statistics.variance([x - y for x, y in zip(logs[a], logs[b])]) for a, b in combinations(logs, 2)
    }
    unpaired = {name: statistics.variance(row) for name, row in logs.items()}
    half_width = min(
        4.61 * math.sqrt((4 * statistics.fmean(variance.values()) + 4 * variance["ext4", "btrfs"]) / 8 / 5),
        4.15 * math.sqrt((2 * statistics.fmean(unpaired.values()) + unpaired["ext4"] + unpaired["btrfs"]) / 2 / 5),
    )
    mean = statistics.fmean([x - y for x, y in zip(logs["btrfs"], logs["ext4"])])
    assert ratio.low == pytest.approx(math.exp(mean - half_width))


def test_durations_count_turned_round_and_no_bare_device_timed_out_figure_or_discarded_round() -> None:
    samples = make_samples({"ext4": (10.0, 10.0, 10.0), "xfs": (5.0, 5.0, 5.0)}, "write", DURATION)
    result = make_result(plan=make_plan(workloads=[make_workload("write", DURATION)]), samples=samples)
    assert the(analyse(result), "xfs").ratio == pytest.approx(2.0)
    assert the(analyse(result), "xfs", "write").verdict == "faster"
    extra = (
        Sample(0, "", "write", "throughput", 500.0, "B/s", "higher", primary=True),
        Sample(1, "xfs", "write", "worst_latency", 9.0, "s", "lower"),
    )
    result = make_result()
    assert analyse(replace(result, samples=result.samples + extra)) == analyse(result)
    late = Sample(3, "xfs", "write", "throughput", 5.0, "B/s", "higher", primary=True, status="timed-out")
    result = make_result({"ext4": (100.0,) * 3, "xfs": (120.0,) * 2})
    assert the(analyse(replace(result, samples=(*result.samples, late))), "xfs").text == "did not finish in time"
    result = run({"ext4": (100.0,) * 3, "xfs": (120.0,) * 3}, failed(4, "xfs"), discarded_rounds=(4,))
    assert the(analyse(result), "xfs").verdict == "faster"


@pytest.mark.parametrize(("weights", "overall"), [((3, 1), (2**3 / 8) ** (1 / 4)), ((1, 0), 2)])
def test_the_overall_ratio_is_the_weighted_geometric_mean_of_the_workloads(
    weights: tuple[float, float], overall: float
) -> None:
    write, delete = {"ext4": (100.0,) * 3, "xfs": (200.0,) * 3}, {"ext4": (10.0,) * 3, "xfs": (80.0,) * 3}
    analysis = analyse(two_workloads(write, delete, weights))
    assert the(analysis, "xfs", "write").ratio == pytest.approx(2)
    assert the(analysis, "xfs", "delete").ratio == pytest.approx(1 / 8)
    assert the(analysis, "xfs").ratio == pytest.approx(overall)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.01, 1.2, "faster"),
        (0.8, 0.99, "slower"),
        (0.96, 1.04, "tie"),
        (1.01, 1.04, "tie"),
        (0.9, 1.04, "undecided"),
        (1.0, 1.2, "undecided"),
        (1.01, 1.07, "undecided"),
        (0.93, 0.99, "undecided"),
        (1.03, 1.08, "faster"),
    ],
)
def test_verdicts(low: float, high: float, expected: str) -> None:
    assert verdict(low, high) == expected


def test_one_slow_round_cell_or_workload_does_not_hide_a_difference() -> None:
    calm = analyse(make_result({"ext4": (100.0, 101.0, 99.0, 100.0), "xfs": (120.0, 120.0, 121.0, 119.0)}))
    slow = analyse(make_result({"ext4": (100.0, 101.0, 33.0, 100.0), "xfs": (120.0, 120.0, 121.0 / 3, 119.0)}))
    assert the(slow, "xfs").verdict == the(calm, "xfs").verdict == "faster"
    assert the(slow, "xfs").ratio == pytest.approx(the(calm, "xfs").ratio)
    # A candidate is slow once in seven rounds, as when a disk collects garbage; before round 6 nobody can tell.
    steady = (100.0, 101.0, 99.0, 100.0, 102.0, 98.0, 100.0)
    once = (130.0, 132.0, 65.0, 129.0, 128.0, 131.0, 130.0)
    early = analyse(make_result({"ext4": steady[:5], "xfs": once[:5]}))
    late = analyse(make_result({"ext4": steady, "xfs": once}))
    assert the(early, "xfs").verdict == "undecided"
    assert the(late, "xfs").verdict == "faster"
    assert the(late, "xfs").ratio == pytest.approx(1.3, rel=0.03)
    up, down = (100.0, 120.0, 80.0, 110.0), (10.0, 12.0, 8.0, 11.0)  # faster writes, slower deletes, by as much
    analysis = analyse(two_workloads({"ext4": (100.0,) * 4, "xfs": up}, {"ext4": (10.0,) * 4, "xfs": down}))
    assert the(analysis, "xfs").verdict == "tie"
    assert the(analysis, "xfs", "write").verdict == "undecided"


def test_best_first_then_failures_and_the_baseline_or_who_takes_its_place_at_one() -> None:
    analysis = analyse(make_result({"ext4": (100.0,) * 3, "btrfs": (50.0,) * 3, "xfs": (200.0,) * 3}))
    assert [r.candidate for r in analysis.overall] == ["xfs", "ext4", "btrfs"]
    own = the(analysis, "ext4")
    assert (own.ratio, own.low, own.high, own.verdict) == (1.0, 1.0, 1.0, "tie")
    assert {r.candidate for r in analysis.by_workload} == {"xfs", "btrfs"}
    assert (analysis.leaders, analysis.dropped) == (("xfs",), ("ext4", "btrfs"))
    analysis = analyse(run({"ext4": (100.0,), "btrfs": (50.0,) * 3, "xfs": (100.0,) * 3}, failed(1, "ext4")))
    assert {r.baseline for r in analysis.overall} == {"xfs"}
    assert the(analysis, "btrfs").ratio == pytest.approx(0.5)
    assert the(analysis, "btrfs", "write").baseline == "xfs"
    figures = {"btrfs": (300.0,), "ext4": (100.0,) * 3, "xfs": (120.0,) * 3}
    failure = failed(1, "btrfs", text="The volume was full.")
    analysis = analyse(run(figures, failure, plan=make_plan(("ext4", "btrfs", "xfs"))))
    assert [r.candidate for r in analysis.overall] == ["xfs", "ext4", "btrfs"]
    ratio = the(analysis, "btrfs")
    assert (ratio.verdict, ratio.text, ratio.low) == ("failed", "The volume was full.", None)
    assert the(analysis, "btrfs", "write").verdict == "failed"
    assert "btrfs" not in analysis.leaders + analysis.dropped


def test_discarded_rounds_do_not_count_and_unfinished_ones_for_who_finished_them() -> None:
    figures = {"ext4": (100.0, 100.0, 100.0, 100.0), "xfs": (110.0, 9000.0, 110.0, 110.0)}
    analysis = analyse(make_result(figures, discarded_rounds=(2,)))
    assert the(analysis, "xfs").ratio == pytest.approx(1.1)
    assert (the(analysis, "xfs").rounds, analysis.rounds) == (3, 3)
    analysis = analyse(make_result({"ext4": (100.0,) * 4, "xfs": (120.0,) * 4, "btrfs": (50.0,) * 3}))
    assert (the(analysis, "xfs").rounds, the(analysis, "btrfs").rounds) == (4, 3)
    write, delete = {"ext4": (100.0,) * 4, "xfs": (120.0,) * 4}, {"ext4": (10.0,) * 4, "xfs": (10.0,) * 3}
    analysis = analyse(two_workloads(write, delete))
    assert (the(analysis, "xfs", "write").rounds, the(analysis, "xfs").rounds) == (4, 3)


def test_who_left_keeps_its_interval_and_still_steadies_the_others() -> None:
    rng = random.Random(3)
    figures = {name: [100 * math.exp(rng.gauss(0, 0.05)) for _ in range(8)] for name in ("ext4", "xfs", "btrfs")}
    figures["f2fs"] = [30.0, 31.0, 29.0, 30.0]
    early = {name: row[:4] for name, row in figures.items()}
    assert analyse(make_result(figures)).of("f2fs") == analyse(make_result(early)).of("f2fs")
    rng = random.Random(3)
    figures = {name: [100 * math.exp(rng.gauss(0, 0.05)) for _ in range(5)] for name in ("ext4", "xfs")}
    figures["f2fs"] = [30 * math.exp(rng.gauss(0, 0.5)) for _ in range(3)]
    with_calm = {**figures, "f2fs": [30.0, 30.0, 30.0]}
    wide, narrow = (the(analyse(make_result(f)), "xfs") for f in (figures, with_calm))
    assert wide.high is not None and narrow.high is not None
    assert wide.ratio == pytest.approx(narrow.ratio) and wide.high > narrow.high


def test_failures_of_every_workload_of_one_without_weight_and_of_everybody() -> None:
    result = two_workloads({"ext4": (1.0,), "xfs": ()}, {"ext4": (1.0,), "xfs": ()})
    result = replace(result, failures=(failed(1, "xfs", workload=""),))
    assert {r.workload for r in analyse(result).by_workload if r.verdict == "failed"} == {"write", "delete"}
    write, delete = {"ext4": (100.0,) * 3, "xfs": (120.0,) * 3}, {"ext4": (1.0,) * 3, "xfs": (1.0,) * 2}
    analysis = analyse(replace(two_workloads(write, delete, (1, 0)), failures=(failed(3, "xfs", "delete"),)))
    assert the(analysis, "xfs").verdict == "faster"
    assert the(analysis, "xfs", "delete").verdict == "failed"
    analysis = analyse(run({"ext4": (), "xfs": ()}, failed(1, "ext4"), failed(1, "xfs")))
    assert [r.verdict for r in analysis.overall] == ["failed", "failed"]
    assert (analysis.leaders, analysis.rounds) == ((), 0)
    analysis = analyse(make_result({"ext4": (100.0, 101.0, 99.0)}))
    assert (analysis.overall, analysis.by_workload, analysis.pairs) == ((), (), ())
    assert (analysis.leaders, analysis.rounds) == (("ext4",), 3)
    analysis = analyse(make_result({"ext4": (), "xfs": ()}))
    assert (analysis.overall, analysis.leaders, analysis.rounds) == ((), ("ext4", "xfs"), 0)


@pytest.mark.parametrize("useless", [0.0, -1.0, math.inf, math.nan])
def test_a_figure_of_which_no_ratio_can_be_made_is_left_out(useless: float) -> None:
    analysis = analyse(make_result({"ext4": (100.0,) * 4, "xfs": (110.0, useless, 110.0, 110.0)}))
    assert the(analysis, "xfs").rounds == 3
    assert the(analysis, "xfs").ratio == pytest.approx(1.1)


@given(results(), st.randoms(use_true_random=False))
def test_the_order_of_samples_does_not_matter(result: Result, rng: random.Random) -> None:
    shuffled = list(result.samples)
    rng.shuffle(shuffled)
    assert analyse(replace(result, samples=tuple(shuffled))) == analyse(result)


@given(results(), st.floats(0.001, 1000), st.integers(0, 6))
def test_the_unit_does_not_matter_nor_a_round_in_which_the_machine_was_slow_for_all(
    result: Result, scale: float, number: int
) -> None:
    """The unit is that of all rounds, which number 0 stands for. A slow round makes the unpaired intervals wider."""
    scaled = (replace(s, value=s.value * scale) if number in (0, s.round) else s for s in result.samples)
    before, after = analyse(result), analyse(replace(result, samples=tuple(scaled)))
    for ratio in before.overall:
        if number == 0 or ratio.rounds < ROBUST_FROM:
            assert the(after, ratio.candidate).ratio == pytest.approx(ratio.ratio)
        if number == 0:
            assert the(after, ratio.candidate).high == pytest.approx(ratio.high)


@given(results())
def test_swapping_the_baseline_inverts_the_ratio_which_lies_within_its_interval(result: Result) -> None:
    swapped = replace(result, plan=replace(result.plan, baseline="xfs"))
    one, other = the(analyse(result), "xfs"), the(analyse(swapped), "ext4")
    assert one.ratio * other.ratio == pytest.approx(1)
    if one.low is not None and other.high is not None:
        assert one.low * other.high == pytest.approx(1)
    assert {one.verdict, other.verdict} in ({"faster", "slower"}, {"tie"}, {"undecided"})
    analysis = analyse(result)
    for ratio in (*analysis.overall, *analysis.by_workload, *analysis.pairs):
        assert ratio.low is None or ratio.high is None or ratio.low <= ratio.ratio <= ratio.high
    assert analysis.leaders
    assert sorted(analysis.leaders + analysis.dropped) == sorted(c.name for c in result.plan.candidates)


def test_constants_stand_as_derived_and_go_on_beyond_the_table() -> None:
    assert (critical(2, 3), critical(2, 3, paired=True), critical(2, 2, paired=True)) == (7.26, 16.84, math.inf)
    assert critical(4, 12) == 3.78
    assert critical(12, 12) > critical(10, 12)
    assert (critical(6, 12, left=2), critical(6, 4, left=2), critical(6, 4, left=9)) == (3.33, 4.34, 4.60)
    assert critical(7, 12, left=2) == critical(7, 12)
    for rounds in (13, 40):
        assert critical(4, rounds) / math.sqrt(rounds) == pytest.approx(critical(4, 12) / math.sqrt(12))
    for rows, first in ((UNPAIRED, FIRST_LOOK), (PAIRED, PAIRED_FROM)):
        for row in rows.values():
            widths = [constant / math.sqrt(rounds) for rounds, constant in enumerate(row, first)]
            assert widths == sorted(widths, reverse=True)
    with pytest.raises(ValueError):
        critical(2, 1)


LOST = {"ext4": (100.0, 120.0, 90.0), "xfs": (101.0, 95.0, 119.0), "btrfs": (1.0, 1.0, 1.0)}
LOUD = {"ext4": (100.0, 120.0, 90.0, 80.0), "xfs": (101.0, 95.0, 119.0, 100.0)}
DECISIONS: dict[str, tuple[Result, Decision]] = {
    "before the minimum of rounds nobody is dropped and nothing stops": (
        run(figures := {"ext4": (100.0,) * 4, "xfs": (900.0,) * 4}, plan=make_plan(tuple(figures), minimum_rounds=5)),
        Decision(("xfs", "ext4"))),
    "one proven ahead of all others ends the run": (
        run({"ext4": (100.0,) * 3, "xfs": (900.0,) * 3}), Decision(("xfs",), "one-left")),
    "when all that are left tie the run ends": (
        run({"ext4": (100.0,) * 3, "xfs": (101.0,) * 3, "btrfs": (10.0,) * 3}), Decision(("xfs", "ext4"), "all-tie")),
    "an open race goes on without those who lost": (run(LOST), Decision(("xfs", "ext4"))),
    "the greatest number of rounds ends even an open race": (
        run(LOUD, plan=make_plan(maximum_rounds=4)), Decision(("xfs", "ext4"), "rounds")),
    "one round less does not": (run(LOUD, plan=make_plan(maximum_rounds=5)), Decision(("xfs", "ext4"))),
    "a candidate alone is not done before its minimum": (run({"ext4": (100.0,)}), Decision(("ext4",))),
    "a candidate alone gets its minimum": (run({"ext4": (100.0,) * 3}), Decision(("ext4",), "alone")),
    "when everybody failed there is nothing to go on with": (
        run({"ext4": (), "xfs": ()}, failed(1, "ext4"), failed(1, "xfs")), Decision((), "none-left")),
    "a failure in the first round leaves the minimum of rounds to the other": (
        run({"ext4": (100.0,), "xfs": ()}, failed(1, "xfs")), Decision(("ext4",))),
}  # fmt: skip


@pytest.mark.parametrize(("result", "decision"), DECISIONS.values(), ids=DECISIONS)
def test_who_goes_on_and_when_a_run_ends(result: Result, decision: Decision) -> None:
    assert decide(analyse(result), result.plan) == decision


def test_who_left_or_failed_keeps_nobody_waiting_or_out() -> None:
    result = run(LOST)
    assert decide(analyse(result), result.plan, {"ext4", "btrfs"}) == Decision(("ext4",), "one-left")
    figures = {"ext4": (100.0, 100.0, 100.0, 100.0), "xfs": (101.0, 95.0, 119.0), "btrfs": (900.0,) * 4}
    before, after = run(figures), run(figures, failed(5, "btrfs"))
    assert decide(analyse(before), before.plan).survivors == ("btrfs",)
    assert set(decide(analyse(after), after.plan).survivors) == {"ext4", "xfs"}


def test_what_two_rounds_in_noise_allow_has_bounds_and_can_be_read_back() -> None:
    analysis = analyse(run({"ext4": (1.0, 900.0), "xfs": (700.0, 2.0), "btrfs": (3.0, 5000.0)}))
    for ratio in (*analysis.overall, *analysis.pairs, *analysis.by_workload):
        assert ratio.low is not None and ratio.high is not None
        assert 1e-10 < ratio.low <= ratio.high < 1e10
        assert ratio.low == 1.0 or ratio.verdict == "undecided"
