from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from fswizard.model.metrics import DURATION
from fswizard.model.result import Result, Sample
from fswizard.stats import doubts, judge, summarise
from fswizard.stats.doubts import drift, residuals
from tests.builders import make_plan, make_result, make_workload


def codes(result: Result) -> list[str]:
    return [doubt.code for doubt in doubts(result, judge(result), summarise(result))]


def drifting(per_round: float, rounds: int = 8, random_writes: float = 0.01) -> Result:
    rng = random.Random(5)
    return make_result(
        {
            name: [level * math.exp(per_round * number + rng.gauss(0, random_writes)) for number in range(rounds)]
            for name, level in (("ext4", 100.0), ("xfs", 150.0), ("btrfs", 80.0))
        }
    )


def test_a_calm_run_raises_no_doubt() -> None:
    assert codes(drifting(0.0)) == []


def test_one_or_two_rounds_are_too_few() -> None:
    result = make_result({"ext4": (100.0, 101.0), "xfs": (120.0, 119.0)})
    (doubt,) = doubts(result, judge(result), summarise(result))
    assert doubt.code == "few-rounds"
    assert doubt.text.startswith("2 rounds: differences cannot be told from chance")


@pytest.mark.parametrize(("per_round", "said"), [(-0.03, "19% slower"), (0.03, "23% faster")])
def test_a_disk_that_becomes_slower_or_faster_is_reported(per_round: float, said: str) -> None:
    result = drifting(per_round)
    (doubt,) = doubts(result, judge(result), summarise(result))
    assert doubt.code == "drift"
    assert said in doubt.text


def test_a_drift_too_small_to_matter_is_passed_over() -> None:
    trend = drift(drifting(0.002, rounds=12, random_writes=0.001))
    assert trend is not None and trend.proven
    assert codes(drifting(0.002, rounds=12, random_writes=0.001)) == []


def test_noise_alone_seldom_looks_like_drift() -> None:
    proven = 0
    for seed in range(300):
        rng = random.Random(seed)
        result = make_result({name: [100 * math.exp(rng.gauss(0, 0.1)) for _ in range(6)] for name in ("ext4", "xfs")})
        trend = drift(result)
        proven += trend is not None and trend.proven
    assert proven <= 9  # 1 % expected


def test_residuals_are_what_a_round_had_in_common() -> None:
    left = residuals(make_result({"ext4": (100.0, 200.0, 100.0), "xfs": (10.0, 20.0, 10.0)}))
    assert left[2] - left[1] == pytest.approx(math.log(2))
    assert sum(left.values()) == pytest.approx(0)


def test_three_rounds_lie_on_any_line() -> None:
    assert drift(make_result()) is None


def test_figures_that_cannot_be_compared_are_told() -> None:
    result = make_result({"ext4": (100.0,) * 4, "xfs": (110.0, 0.0, 110.0, 110.0)})
    (doubt,) = doubts(result, judge(result), summarise(result))
    assert doubt.code == "figures-left-out"
    assert "1 figure was zero" in doubt.text and "xfs in write" in doubt.text


def test_a_workload_that_was_never_measured_is_told() -> None:
    plan = make_plan(workloads=[make_workload("write"), make_workload("delete", DURATION)])
    result = make_result(plan=plan)
    assert codes(result) == ["workloads-missing"]


def with_metric(metric: str, values: Mapping[str, Sequence[float]], *more: Sample) -> Result:
    result = make_result()
    samples = (
        Sample(number, name, "write", metric, value, "1", "higher")
        for name, figures in values.items()
        for number, value in enumerate(figures, 1)
    )
    return replace(result, samples=(*result.samples, *samples, *more))


def test_a_cache_that_runs_out_within_a_workload_is_told_of_the_candidate_that_shows_it_most() -> None:
    result = with_metric("late_rate", {"ext4": (0.9, 1.0, 0.95), "xfs": (0.5, 0.98, 0.4)})
    (doubt,) = doubts(result, judge(result), summarise(result))
    assert doubt.code == "cache-exhausted"
    assert "xfs wrote 50% slower at the end of “Write”" in doubt.text
    assert "A longer recipe shows the one that lasts" in doubt.text


def test_one_slow_end_among_rounds_is_no_cache() -> None:
    assert codes(with_metric("late_rate", {"ext4": (0.4, 0.9, 0.95), "xfs": (1.0, 1.1, 0.3)})) == []


@pytest.mark.parametrize(("reached", "said"), [(400.0, []), (600.0, ["harness-limited"])])
def test_a_workload_as_fast_as_in_memory_tells_little_about_the_disk(reached: float, said: list[str]) -> None:
    limit = Sample(0, "", "write", "rate_in_memory", 1000.0, "1/s", "higher")
    result = with_metric("operation_rate", {"ext4": (300.0,) * 3, "xfs": (reached,) * 3}, limit)
    assert codes(result) == said
    if said:
        (doubt,) = doubts(result, judge(result), summarise(result))
        assert "xfs did “Write” at 60% of its speed in memory" in doubt.text and "weight 0" in doubt.text
