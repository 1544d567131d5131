"""Doubts that follow from the figures, and the summaries that stand in reports."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from fswizard.model.analysis import Ratio, Summary
from fswizard.model.metrics import DURATION
from fswizard.model.result import Result, Sample
from fswizard.stats import analyse, doubts, summarise
from fswizard.stats.doubts import UNEVEN, noisiest
from fswizard.stats.table import ALL, Table, tables_of
from tests.builders import make_plan, make_result, make_samples, make_workload


def codes_of(result: Result) -> list[str]:
    """The codes of the doubts about a result."""
    return [doubt.code for doubt in doubts(result, analyse(result), summarise(result))]


def overall(result: Result) -> Table:
    return tables_of(result).standing[ALL]


def test_a_calm_run_raises_no_doubt_and_one_round_is_too_few() -> None:
    assert codes_of(varying(8, 0.01, 0.01, 0.01)) == []
    assert codes_of(make_result({"ext4": (100.0,), "xfs": (120.0,)})) == ["few-rounds"]


def test_figures_left_out_and_workloads_never_measured_are_doubtful() -> None:
    assert codes_of(make_result({"ext4": (100.0,) * 4, "xfs": (110.0, 0.0, 110.0, 110.0)})) == ["figures-left-out"]
    plan = make_plan(workloads=[make_workload("write"), make_workload("delete", DURATION)])
    assert codes_of(make_result(plan=plan)) == ["figures-left-out"]


@pytest.mark.parametrize(
    ("xfs", "codes"), [((0.5, 0.98, 0.4), ["cache-exhausted"]), ((1.0, 1.1, 0.3), [])], ids=["mostly", "once"]
)
def test_a_cache_that_runs_out_is_doubtful(xfs: tuple[float, ...], codes: list[str]) -> None:
    late = [Sample(number, "xfs", "write", "late_rate", value, "1", "higher") for number, value in enumerate(xfs, 1)]
    result = make_result()
    assert codes_of(replace(result, samples=(*result.samples, *late))) == codes


def sample(number: int, metric: str, value: float) -> Sample:
    return Sample(number, "xfs", "write", metric, value, "s", "lower")


def summary(samples: tuple[Sample, ...], metric: str, discarded: tuple[int, ...] = ()) -> Summary:
    result = make_result(samples=samples, discarded_rounds=discarded)
    return next(s for s in summarise(result) if s.metric == metric and s.candidate == "xfs")


def test_summaries_have_median_and_worst_of_the_rounds_that_count() -> None:
    latency = tuple(sample(n, "worst_latency", value) for n, value in enumerate((0.2, 9.0, 0.3, 50.0), 1))
    stalls = summary(latency, "worst_latency", discarded=(4,))
    assert (stalls.median, stalls.worst, stalls.rounds) == (0.3, 9.0, 3)
    rates = summary(tuple(replace(each, metric="iops", better="higher") for each in latency), "iops")
    assert (rates.median, rates.worst) == (4.65, 0.2)


def share_of_bare(cells: tuple[Sample, ...], bare: Sequence[Sample]) -> Ratio:
    share = summary((*cells, *bare), "throughput").of_bare_device
    assert share is not None
    return share


def test_figures_are_set_against_the_bare_device_within_rounds_where_it_was_measured_in_each() -> None:
    disk = (100.0, 200.0, 50.0, 100.0)
    reached = {"ext4": (0.5, 0.5, 0.5, 0.5), "xfs": (0.8, 0.81, 0.8, 0.79)}
    cells = make_samples({name: [x * y for x, y in zip(disk, shares)] for name, shares in reached.items()})
    bare = [Sample(n, "", "write", "throughput", value, "B/s", "higher") for n, value in enumerate(disk, 1)]
    each = share_of_bare(cells, bare)
    assert each.low is not None and each.high is not None
    assert (each.ratio, each.rounds) == (pytest.approx(0.8, rel=0.01), 4)
    assert 0.7 < each.low < 0.8 < each.high < 0.9
    assert share_of_bare(cells, bare[1:]).rounds == 3
    assert summary(cells, "throughput").of_bare_device is None


# A candidate that is noisier than the others


def varying(rounds: int, *noise: float, seed: int = 1) -> Result:
    rng = random.Random(seed)
    figures = {}
    for name, one in zip(("ext4", "xfs", "btrfs", "f2fs"), noise):
        figures[name] = [100 * rng.lognormvariate(0, one) for _ in range(rounds)]
    return make_result(figures)


def test_one_that_varies_ten_times_as_much_is_doubtful() -> None:
    assert "uneven-noise" in codes_of(varying(8, 0.02, 0.2, 0.02))


@pytest.mark.parametrize(("rounds", "candidates", "known"), [(2, 3, False), (3, 3, True), (4, 2, False)])
def test_too_few_rounds_tell_nothing(rounds: int, candidates: int, known: bool) -> None:
    result = varying(rounds, *(0.5, 0.001, 0.001)[:candidates])
    assert (noisiest(overall(result))[1] > 0) is known


@pytest.mark.parametrize(("noise", "most"), [((0.03,) * 3, 0.03), ((0.03,) * 2, 0.02), ((0.03, 0.06, 0.03), 0.05)])
@pytest.mark.parametrize("rounds", [3, 6])
def test_where_noise_is_even_or_nearly_it_is_seldom_said(noise: tuple[float, ...], most: float, rounds: int) -> None:
    found = [noisiest(overall(varying(rounds, *noise, seed=seed))) for seed in range(400)]
    assert sum(times >= UNEVEN for _, times in found) <= 400 * most + 3.1 * math.sqrt(400 * most)


@pytest.mark.parametrize(("rounds", "candidates", "least"), [(3, 3, 0.7), (6, 3, 0.85), (6, 2, 0.85), (6, 4, 0.85)])
def test_ten_times_the_noise_is_mostly_seen(rounds: int, candidates: int, least: float) -> None:
    noise = (0.3, 0.03, 0.03, 0.03)[:candidates]
    found = [noisiest(overall(varying(rounds, *noise, seed=seed))) for seed in range(200)]
    assert sum(name == "ext4" and times >= UNEVEN for name, times in found) >= 200 * least
