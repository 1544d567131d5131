"""What the figures of a run prove, who is dropped for it, what a lead depends on, and when the run has an answer."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from fswizard.engines.tree import TreeJob
from fswizard.model.analysis import Analysis, Ratio
from fswizard.model.codec import from_json
from fswizard.model.metrics import DURATION
from fswizard.model.result import Failure, Result, Sample
from fswizard.stats import Decision, analyse, decide
from fswizard.stats.intervals import ALPHA, Contrast, contrasts
from tests.builders import make_plan, make_result, make_samples, make_workload

NOISE = (1.0, 1.01, 0.99, 1.005)


def the(analysis: Analysis, candidate: str, workload: str = "") -> Ratio:
    ratio = analysis.of(candidate, workload)
    assert ratio is not None
    return ratio


def run(write: Mapping[str, Sequence[float]], *failures: Failure, **fields: Any) -> Result:
    return make_result(write, failures=failures, **fields)


def two_workloads(
    write: Mapping[str, Sequence[float]], delete: Mapping[str, Sequence[float]], weights: tuple[float, float] = (1, 1)
) -> Result:
    """A run with a throughput and a duration."""
    workloads = [make_workload("write", weight=weights[0]), make_workload("delete", DURATION, weight=weights[1])]
    samples = make_samples(write) + make_samples(delete, "delete", DURATION)
    return make_result(plan=make_plan(tuple(write), workloads), samples=samples)


def failed(number: int, candidate: str, workload: str = "write") -> Failure:
    return Failure(number, candidate, workload, "EIO", "It failed.")


def noisy(rounds: int, deviation: float, *levels: float, seed: int = 1) -> dict[str, list[float]]:
    rng = random.Random(seed)
    names = ("ext4", "xfs", "btrfs", "f2fs")
    return {name: [at * rng.lognormvariate(0, deviation) for _ in range(rounds)] for name, at in zip(names, levels)}


# The formula


def contrast(rounds: int, between: float, within: float) -> Contrast:
    return Contrast(("xfs", "ext4"), 0.0, rounds, 2, between, within, 1 / ALPHA)


def test_evidence_is_that_of_the_formula() -> None:
    # n = 1.5, t2 = 1.5 · 0.04 / 0.01 = 6, nu = 4 and 2, 1 + n·g = 61
    between = -0.5 * math.log(61) + 2.5 * (math.log(1 + 6 / 4) - math.log(1 + 6 / (4 * 61)))
    within = -0.5 * math.log(61) + 1.5 * (math.log(1 + 12 / 2) - math.log(1 + 12 / (2 * 61)))
    found = contrast(3, 0.01, 0.005)
    assert found.evidence(0.2) == found.evidence(-0.2) == pytest.approx((math.exp(between) + math.exp(within)) / 2)
    assert contrast(2, 4.0, 4.0).half_width(12.5) == math.inf


def test_no_noise_at_all_proves_no_difference_below_half_a_percent() -> None:
    near, far = (the(analyse(make_result({"ext4": (100.0,) * 3, "xfs": (at,) * 3})), "xfs") for at in (100.3, 130.0))
    assert near.low is not None and near.low < 1 and near.verdict == "alike"
    assert far.verdict == "faster"


# Figures that are missing


def test_a_missing_figure_leaves_as_many_pairs_in_the_race() -> None:
    table = {name: {n: 0.01 * ((n * k) % 3) for n in range(1, 7)} for k, name in enumerate(("a", "b", "c"), 1)}
    table["c"].pop(3)
    both, gap = contrasts(table, [("a", "b"), ("a", "c")])
    assert both.threshold == gap.threshold == 3 / ALPHA
    assert (both.candidates, gap.candidates, gap.rounds) == (2, 3, 5)
    table["c"] = {n: table["c"][n] for n in (1, 2)}
    assert [each.threshold for each in contrasts(table, [("a", "b"), ("a", "c")])] == [1 / ALPHA, 3 / ALPHA]


def test_rounds_that_not_all_went_through_do_not_count() -> None:
    figures = {"ext4": (100.0, 101.0, 99.0, 100.0), "xfs": (110.0, 111.0, 109.0, 900.0), "btrfs": (50.0, 51.0, 50.0)}
    done = analyse(make_result(figures, finished_rounds=3))
    assert done == analyse(make_result({name: row[:3] for name, row in figures.items()}, finished_rounds=3))
    figures = {"ext4": (100.0,) * 4, "xfs": (110.0, 9000.0, 110.0, 110.0)}
    xfs = the(analyse(make_result(figures, discarded_rounds=(2,))), "xfs")
    assert (xfs.ratio, xfs.rounds) == (pytest.approx(1.1), 3)
    write, delete = {"ext4": (100.0,) * 4, "xfs": (120.0,) * 4}, {"ext4": (10.0,) * 4, "xfs": (10.0,) * 3}
    analysis = analyse(two_workloads(write, delete))
    assert (the(analysis, "xfs", "write").rounds, the(analysis, "xfs").rounds) == (4, 3)


@pytest.mark.parametrize("useless", [0.0, math.nan, 1e300])
def test_a_figure_of_which_no_ratio_can_be_made_is_left_out(useless: float) -> None:
    analysis = analyse(make_result({"ext4": (100.0,) * 4, "xfs": (110.0, useless, 110.0, 110.0)}))
    assert (the(analysis, "xfs").ratio, the(analysis, "xfs").rounds) == (pytest.approx(1.1), 3)


def test_one_round_and_no_round_prove_nothing() -> None:
    analysis = analyse(make_result({"ext4": (100.0,), "xfs": (900.0,)}))
    assert [(r.low, r.high, r.verdict) for r in analysis.overall] == [(None, None, "open")] * 2
    assert analysis.leaders == ("xfs", "ext4")
    for figures in ({"ext4": (), "xfs": ()}, {"ext4": (100.0, 101.0, 99.0)}):
        analysis = analyse(make_result(figures))
        assert (analysis.overall, analysis.leaders) == ((), tuple(figures))


def test_who_is_out_stays_out_when_one_fails_that_was_measured_with_it() -> None:
    """Its last comparison is not made again without the figures of the other, which steadied it."""
    early, later = noisy(2, 0.05, 100, 101, 70, 100, seed=9), noisy(5, 0.05, 100, 101, 70, 100, seed=3)
    out = analyse(make_result(early))
    assert out.dropped == ("btrfs",)
    figures = {name: [*early[name], *later[name]] for name in ("ext4", "xfs")}
    figures |= {"btrfs": early["btrfs"], "f2fs": [*early["f2fs"], later["f2fs"][0]]}
    after = analyse(run(figures, failed(4, "f2fs")))
    assert after.pair("btrfs", "ext4") == out.pair("btrfs", "ext4")
    assert after.dropped == ("btrfs",)


# Ratios


def test_durations_count_inverted_and_no_bare_device_nor_other_metric() -> None:
    samples = make_samples({"ext4": (10.0, 10.0, 10.0), "xfs": (5.0, 5.0, 5.0)}, "write", DURATION)
    result = make_result(plan=make_plan(workloads=[make_workload("write", DURATION)]), samples=samples)
    assert the(analyse(result), "xfs").ratio == pytest.approx(2.0)
    extra = (
        Sample(0, "", "write", "duration", 500.0, "s", "lower", primary=True),
        Sample(1, "xfs", "write", "worst_latency", 9.0, "s", "lower"),
    )
    assert analyse(replace(result, samples=result.samples + extra)) == analyse(result)


@pytest.mark.parametrize(("weights", "overall"), [((3, 1), (2**3 / 8) ** (1 / 4)), ((1, 0), 2)])
def test_the_overall_ratio_is_the_weighted_geometric_mean_of_the_workloads(
    weights: tuple[float, float], overall: float
) -> None:
    write, delete = {"ext4": (100.0,) * 3, "xfs": (200.0,) * 3}, {"ext4": (10.0,) * 3, "xfs": (80.0,) * 3}
    analysis = analyse(two_workloads(write, delete, weights))
    assert the(analysis, "xfs", "write").ratio == pytest.approx(2)
    assert the(analysis, "xfs", "delete").ratio == pytest.approx(1 / 8)
    assert the(analysis, "xfs").ratio == pytest.approx(overall)


def test_the_best_comes_first_and_the_baseline_or_its_substitute_is_at_one() -> None:
    analysis = analyse(make_result({"ext4": (100.0,) * 3, "btrfs": (50.0,) * 3, "xfs": (200.0,) * 3}))
    assert [r.candidate for r in analysis.overall] == ["xfs", "ext4", "btrfs"]
    baseline = the(analysis, "ext4")
    assert (baseline.ratio, baseline.low, baseline.high, baseline.verdict) == (1.0, 1.0, 1.0, "alike")
    assert [r.verdict for r in analysis.standing] == ["faster", "behind", "slower"]
    assert (analysis.leaders, analysis.dropped) == (("xfs",), ("ext4", "btrfs"))
    analysis = analyse(run({"ext4": (100.0,), "btrfs": (50.0,) * 3, "xfs": (100.0,) * 3}, failed(1, "ext4")))
    assert {r.baseline for r in (*analysis.overall, the(analysis, "btrfs", "write"))} == {"xfs"}


def test_who_failed_is_compared_no_more_and_makes_no_pair() -> None:
    figures = {"ext4": (100.0, 101.0, 99.0), "btrfs": (300.0,), "xfs": (104.0, 105.0, 106.0)}
    analysis = analyse(run(figures, failed(1, "btrfs")))
    assert the(analysis, "btrfs").verdict == the(analysis, "btrfs", "write").verdict == "failed"
    assert "btrfs" not in analysis.leaders + analysis.dropped
    two = analyse(run({name: figures[name] for name in ("ext4", "xfs")}))
    assert the(analysis, "xfs") == the(two, "xfs") and analysis.pairs == two.pairs


def test_failures_of_every_workload_of_one_without_weight_and_in_a_discarded_round() -> None:
    write, delete = {"ext4": (100.0,) * 3, "xfs": (120.0,) * 3}, {"ext4": (1.0,) * 3, "xfs": (1.0,) * 2}
    result = replace(two_workloads(write, delete), failures=(failed(1, "xfs", workload=""),))
    assert {r.workload for r in analyse(result).by_workload if r.verdict == "failed"} == {"write", "delete"}
    analysis = analyse(replace(two_workloads(write, delete, (1, 0)), failures=(failed(3, "xfs", "delete"),)))
    assert (the(analysis, "xfs").verdict, the(analysis, "xfs", "delete").verdict) == ("faster", "failed")
    assert the(analyse(run(write, failed(4, "xfs"), discarded_rounds=(4,))), "xfs").verdict == "faster"


# What a lead depends on


def leads_at(leads: Mapping[str, float]) -> Result:
    """XFS and ext4 at one test for each lead; a name such as `find home` is an operation on a shape of tree."""
    workloads, samples = [], []
    for position, (name, lead) in enumerate(leads.items()):
        operation, _, shape = name.partition(" ")
        tree = {"operation": operation, "shape": shape, "files": 100, "total_bytes": 1 << 20}
        kind = {"engine": "tree", "job": from_json(TreeJob, tree)} if shape else {}
        workloads.append(make_workload(name, DURATION, **kind))
        mixed = [*NOISE[position % 4 :], *NOISE[: position % 4]]
        figures = {"ext4": NOISE, "xfs": [factor / lead for factor in mixed]}
        samples += make_samples(figures, name, DURATION)
    return make_result(plan=make_plan(("ext4", "xfs"), workloads), samples=tuple(samples))


def test_a_lead_that_one_test_makes_depends_on_it_and_beats_nobody() -> None:
    analysis = analyse(leads_at({"search": 3.2, "copy": 1.0, "unpack": 1.01, "save": 0.99}))
    (dependence,) = analysis.dependences
    assert (dependence.tests, dependence.rest.verdict) == (("search",), "alike")
    assert the(analysis, "xfs").verdict == "faster" and analysis.unbeaten(("ext4", "xfs")) == ("ext4", "xfs")
    assert analysis.leaders == ("xfs", "ext4") and analysis.dropped == ()
    (dependence,) = analyse(leads_at({"search": 3.2, "copy": 0.8, "save": 0.8})).dependences
    assert dependence.rest.verdict == "slower"
    assert analyse(leads_at({"search": 1.3, "copy": 1.25, "save": 1.3})).leaders == ("xfs",)
    assert analyse(leads_at({"search": 3.2})).dependences == (), "one test alone is what was asked"


def test_shapes_of_one_activity_are_one_test() -> None:
    (dependence,) = analyse(leads_at({"find home": 2.4, "find mail": 2.0, "copy": 1.0, "save": 1.0})).dependences
    assert dependence.tests == ("find home", "find mail")
    assert analyse(leads_at({"find home": 2.4, "find mail": 2.0})).dependences == ()


# When a run ends

LOST = {"ext4": (100.0, 120.0, 90.0), "xfs": (101.0, 95.0, 119.0), "btrfs": (1.0, 1.0, 1.0)}
LOUD = {"ext4": (100.0, 120.0, 90.0, 80.0), "xfs": (101.0, 95.0, 119.0, 100.0)}
DECISIONS: dict[str, tuple[Result, Decision]] = {
    "before the minimum of rounds nobody is dropped and nothing stops": (
        run(figures := {"ext4": (100.0,) * 4, "xfs": (900.0,) * 4}, plan=make_plan(tuple(figures), minimum_rounds=5)),
        Decision(("xfs", "ext4"))),
    "one proven ahead of all others ends the run": (
        run({"ext4": (100.0,) * 3, "xfs": (900.0,) * 3}), Decision(("xfs",), "one-left")),
    "when all that are left are alike the run ends": (
        run({"ext4": (100.0,) * 3, "xfs": (101.0,) * 3, "btrfs": (10.0,) * 3}), Decision(("xfs", "ext4"), "all-alike")),
    "an open race goes on without those who lost": (run(LOST), Decision(("xfs", "ext4"))),
    "a race goes on whose lead depends on one test": (
        leads_at({"search": 3.2, "copy": 1.0, "save": 1.0}), Decision(("xfs", "ext4"))),
    "the greatest number of rounds ends even an open race": (
        run(LOUD, plan=make_plan(maximum_rounds=4)), Decision(("xfs", "ext4"), "rounds")),
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


# Marks of single tests


def test_marks_need_more_evidence_the_more_tests_there_are_and_clear_ones_help_one_another() -> None:
    def marks(*seeds: int) -> list[str]:
        samples: tuple[Sample, ...] = ()
        for number, seed in enumerate(seeds):
            samples += make_samples(noisy(6, 0.1, 100, 135 if seed == 4 else 100, seed=seed), str(number))
        plan = make_plan(workloads=[make_workload(str(number)) for number, _ in enumerate(seeds)])
        return [ratio.verdict for ratio in analyse(make_result(plan=plan, samples=samples)).by_workload]

    assert marks(4, 9) == ["faster", "open"]
    assert set(marks(4, *[9] * 1000)) == {"open"}
    assert marks(*[4] * 1000) == ["faster"] * 1000
