"""Doubts that follow from the figures, and the summaries that stand in reports."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest

from fswizard.engines.fio import FioJob
from fswizard.model.analysis import Ratio, Summary
from fswizard.model.metrics import DURATION, Better
from fswizard.model.plan import Trial
from fswizard.model.result import Result, Sample
from fswizard.session.order import trial_order
from fswizard.stats import analyse, doubts, summarise
from fswizard.stats.doubts import drift, residuals
from fswizard.stats.sticky import MOST_KEPT, Stickiness, stickiness
from fswizard.stats.table import tables_of
from tests.bench.error_rates import NOISES
from tests.bench.many import Noise, sticky, widening
from tests.builders import make_plan, make_result, make_samples, make_workload


def told(result: Result) -> dict[str, str]:
    """The doubts of a result, the text of each by its code."""
    return {doubt.code: doubt.text for doubt in doubts(result, tables_of(result), analyse(result), summarise(result))}


def drifting(per_round: float, rounds: int = 8, random_writes: float = 0.01) -> Result:
    rng = random.Random(5)
    return make_result(
        {
            name: [level * math.exp(per_round * number + rng.gauss(0, random_writes)) for number in range(rounds)]
            for name, level in (("ext4", 100.0), ("xfs", 150.0), ("btrfs", 80.0))
        }
    )


def test_a_calm_run_raises_no_doubt_noise_seldom_looks_like_drift_and_one_round_is_too_few() -> None:
    assert told(drifting(0.0)) == {}
    ((code, _),) = told(make_result({"ext4": (100.0,), "xfs": (120.0,)})).items()
    assert code == "few-rounds"
    result = drifting(0.002, rounds=12, random_writes=0.001)
    trend = drift(tables_of(result).standing)
    assert trend is not None and trend.proven
    assert told(result) == {}
    assert drift(tables_of(make_result()).standing) is None
    left = residuals(tables_of(make_result({"ext4": (100.0, 200.0, 100.0), "xfs": (10.0, 20.0, 10.0)})).standing)
    assert left[2] - left[1] == pytest.approx(math.log(2))
    assert sum(left.values()) == pytest.approx(0)
    proven = 0
    for seed in range(300):
        rng = random.Random(seed)
        result = make_result({name: [100 * math.exp(rng.gauss(0, 0.1)) for _ in range(6)] for name in ("ext4", "xfs")})
        trend = drift(tables_of(result).standing)
        proven += trend is not None and trend.proven
    assert proven <= 9  # 1 % expected


@pytest.mark.parametrize(("per_round", "said"), [(-0.03, "19% slower"), (0.03, "23% faster")])
def test_a_disk_that_becomes_slower_or_faster_is_reported(per_round: float, said: str) -> None:
    ((code, text),) = told(drifting(per_round)).items()
    assert code == "drift" and said in text


def carried(slowed: float, lead: float, itself: bool = False, names: Sequence[str] = ("ext4", "xfs")) -> Result:
    """A run of twelve rounds in which `slowed` is what the first one adds to the logarithm of whatever follows it."""
    plan, rng, trials, samples = make_plan(tuple(names)), random.Random(5), list[Trial](), list[Sample]()
    for number in range(1, 13):
        for trial in trial_order(plan, number, names, trials, trials[-1].candidate if trials else ""):
            trials.append(trial)
            log = rng.gauss(0, 0.01) + (lead if trial.candidate == names[0] else 0.0)
            if trial.predecessor == names[0] and (itself or trial.candidate != names[0]):
                log += slowed
            figure = make_samples({trial.candidate: [100 * math.exp(log)]})[0]
            samples.append(replace(figure, round=number, predecessor=trial.predecessor))
    return make_result(plan=plan, samples=tuple(samples))


def test_a_lead_that_comes_from_slowing_down_the_next_one_is_doubted() -> None:
    text = told(carried(math.log(0.8), lead=0.06))["carry-over"]
    assert "26%" in text and "67%" in text
    assert analyse(carried(math.log(0.8), lead=0.0, itself=True)).leaders == ("ext4", "xfs")
    result = carried(math.log(0.8), lead=0.0)
    assert told(replace(result, samples=tuple(replace(s, predecessor="") for s in result.samples))) == {}


@pytest.mark.parametrize("names", [("ext4", "xfs"), ("ext4", "xfs", "btrfs")])
def test_a_lead_that_is_larger_than_what_is_carried_over_is_not_doubted(names: tuple[str, ...]) -> None:
    assert told(carried(-0.05, lead=0.3, names=names)) == {}
    assert told(carried(0.0, lead=0.1, names=names)) == {}


def test_figures_left_out_workloads_never_measured_and_those_as_fast_as_in_memory_are_told() -> None:
    ((code, text),) = told(make_result({"ext4": (100.0,) * 4, "xfs": (110.0, 0.0, 110.0, 110.0)})).items()
    assert code == "figures-left-out"
    assert "1 figure was zero" in text and "xfs in write" in text
    plan = make_plan(workloads=[make_workload("write"), make_workload("delete", DURATION)])
    assert list(told(make_result(plan=plan))) == ["workloads-missing"]
    limit = Sample(0, "", "write", "rate_in_memory", 1000.0, "1/s", "higher")
    assert told(with_metric("operation_rate", {"ext4": (300.0,) * 3, "xfs": (400.0,) * 3}, limit)) == {}
    ((code, text),) = told(with_metric("operation_rate", {"ext4": (300.0,) * 3, "xfs": (600.0,) * 3}, limit)).items()
    assert code == "harness-limited"
    assert "xfs did “Write” at 60% of its speed in memory" in text and "weight 0" in text


def with_metric(metric: str, values: Mapping[str, Sequence[float]], *more: Sample) -> Result:
    result = make_result()
    samples = (
        Sample(number, name, "write", metric, value, "1", "higher")
        for name, figures in values.items()
        for number, value in enumerate(figures, 1)
    )
    return replace(result, samples=(*result.samples, *samples, *more))


def test_a_cache_that_runs_out_is_told() -> None:
    ((code, text),) = told(with_metric("late_rate", {"ext4": (0.9, 1.0, 0.95), "xfs": (0.5, 0.98, 0.4)})).items()
    assert code == "cache-exhausted"
    assert "xfs wrote 50% slower at the end of “Write”" in text
    assert "between the speed of short bursts and the one that lasts" in text
    assert told(with_metric("late_rate", {"ext4": (0.4, 0.9, 0.95), "xfs": (1.0, 1.1, 0.3)})) == {}


def sample(number: int, metric: str, value: float, better: Better = "lower", **fields: str) -> Sample:
    return Sample(number, fields.get("candidate", "xfs"), fields.get("workload", "write"), metric, value, "s", better)


def summary(samples: tuple[Sample, ...], metric: str, discarded: tuple[int, ...] = ()) -> Summary:
    result = make_result(samples=samples, discarded_rounds=discarded)
    return next(s for s in summarise(result) if s.metric == metric and s.candidate == "xfs")


@pytest.mark.parametrize(
    ("written", "direct", "doubted"), [(310.0, True, True), (290.0, True, False), (900.0, False, False)]
)
def test_a_bare_disk_that_writes_much_faster_than_it_reads_has_a_cache_below(
    written: float, direct: bool, doubted: bool
) -> None:
    workloads = [
        make_workload(rw, job=FioJob(rw, 1 << 20, 64 << 20, seconds=2.0, direct=direct)) for rw in ("read", "write")
    ]
    result = make_result({"ext4": (100.0,) * 4, "xfs": (120.0,) * 4})
    bare = [
        Sample(number, "", name, "throughput", rate * (1 + 0.1 * number), "B/s", "higher")
        for name, rate in (("read", 200.0), ("write", written))
        for number in (1, 2, 3)
    ]
    with_bare = replace(result, plan=make_plan(workloads=workloads), samples=(*result.samples, *bare))
    assert ("cached-below" in told(with_bare)) is doubted


def test_summaries_have_median_and_worst_of_the_rounds_that_count() -> None:
    latency = tuple(sample(n, "worst_latency", value) for n, value in enumerate((0.2, 9.0, 0.3), 1))
    rate = tuple(sample(n, "iops", value, "higher") for n, value in enumerate((700.0, 90.0, 600.0), 1))
    stalls, rates = summary(latency, "worst_latency"), summary(rate, "iops")
    assert (stalls.median, stalls.worst, stalls.rounds) == (0.3, 9.0, 3)
    assert (rates.median, rates.worst) == (600.0, 90.0)
    written = enumerate(((100.0, 250.0), (100.0, 150.0), (0.0, 9.0)), 1)
    pairs = ((sample(n, "bytes_written", b), sample(n, "device_written", device)) for n, (b, device) in written)
    amplification = summary(tuple(chain(*pairs)), "write_amplification")
    assert (amplification.median, amplification.worst, amplification.rounds) == (2.0, 2.5, 2)
    failed = Sample(3, "xfs", "write", "worst_latency", 99.0, "s", "lower", status="failed")
    samples = (sample(1, "worst_latency", 0.2), sample(2, "worst_latency", 50.0), failed)
    stalls = summary(samples, "worst_latency", discarded=(2,))
    assert (stalls.worst, stalls.rounds) == (0.2, 1)
    assert summary((sample(1, "mkfs_time", 0.3, workload=""),), "mkfs_time").workload == ""


def test_figures_are_set_against_the_bare_device_within_rounds_where_it_was_measured_in_each() -> None:
    bare = Sample(0, "", "write", "throughput", 200.0, "B/s", "higher")
    share = summary((*make_result().samples, bare), "throughput").of_bare_device
    assert share == Ratio("xfs", "", "write", pytest.approx(0.6), rounds=3)
    assert summary(make_result().samples, "throughput").of_bare_device is None
    cells = tuple(Sample(n, "xfs", "write", "latency", 0.1, "s", "lower", primary=True) for n in (1, 2, 3))
    bare = Sample(0, "", "write", "latency", 0.2, "s", "lower")
    share = summary((*cells, bare), "latency").of_bare_device
    assert share is not None and share.ratio == pytest.approx(2.0)
    disk = (100.0, 200.0, 50.0, 100.0)
    reached = {"ext4": (0.5, 0.5, 0.5, 0.5), "xfs": (0.8, 0.81, 0.8, 0.79)}
    cells = make_samples({name: [x * y for x, y in zip(disk, shares)] for name, shares in reached.items()})
    bare = tuple(Sample(n, "", "write", "throughput", value, "B/s", "higher") for n, value in enumerate(disk, 1))
    each = summary((*cells, *bare), "throughput").of_bare_device
    assert each is not None and each.low is not None and each.high is not None
    assert (each.ratio, each.rounds) == (pytest.approx(0.8, rel=0.01), 4)
    assert 0.7 < each.low < 0.8 < each.high < 0.9
    later = summary((*cells, *bare[1:], replace(bare[0], round=0)), "throughput").of_bare_device
    assert later is not None and later.rounds == 3
    fewer = summary((*cells, *bare), "throughput", discarded=(4,)).of_bare_device
    assert fewer is not None and fewer.rounds == 3


# Noise that sticks to a candidate


WAVE = (0.03, 0.05, 0.08, 0.10, 0.12, 0.13, 0.11, 0.09, 0.06, 0.04)
"""Leads of one candidate, as slow waves bring them."""


def ahead(leads: Sequence[float]) -> Result:
    rng = random.Random(1)
    rounds = [rng.gauss(0, 0.1) for _ in leads]
    figures = {
        "ext4": [100 * math.exp(luck) for luck in rounds],
        "xfs": [100 * math.exp(luck + lead) for luck, lead in zip(rounds, leads)],
    }
    return make_result(figures)


def test_figures_prove_less_in_an_order_in_which_they_stick_to_one() -> None:
    mixed = [WAVE[i] for i in (0, 4, 8, 3, 9, 5, 1, 6, 2, 7)]
    in_waves, at_random = (analyse(result).of("xfs") for result in (ahead(WAVE), ahead(mixed)))
    assert in_waves is not None and at_random is not None
    assert at_random.verdict == "faster"
    assert in_waves.verdict == "undecided"
    assert in_waves.ratio == pytest.approx(at_random.ratio)
    assert "sticky-noise" not in told(ahead(mixed))
    assert "intervals are 4.0 times as wide" in told(ahead(WAVE))["sticky-noise"]
    assert stickiness({"a": dict.fromkeys(range(6), 1.0), "b": dict.fromkeys(range(6), 2.0)}, range(6)).widening == 1
    rng = random.Random(2)
    table = {f"c{i}": {n: 0.3 * n + rng.gauss(0, 0.01) for n in range(12)} for i in range(3)}
    assert not stickiness(table, range(12)).proven
    rng = random.Random(3)
    table = {f"c{i}": {n: rng.gauss(0, 0.1) for n in range(8)} for i in range(3)}
    left = {**table, "left": {n: float(n) for n in range(4)}}
    assert stickiness(left, range(8)) == stickiness(table, range(8))


@pytest.mark.parametrize(("candidates", "rounds"), [(1, 12), (3, 2)])
def test_of_one_candidate_or_two_rounds_nothing_is_said(candidates: int, rounds: int) -> None:
    table = {f"c{i}": {n: float(n * i) for n in range(rounds)} for i in range(candidates)}
    assert stickiness(table, range(rounds)) == Stickiness()


def shown(noise: Noise, candidates: int, rounds: int, runs: int = 2000) -> float:
    """Share of runs in which it is said that noise sticks."""
    figures = noise(np.random.default_rng(1), (runs, rounds, candidates))
    parts = figures if figures.ndim == 4 else figures[None]
    return float(widening(parts, np.ones((runs, candidates), bool))[1].mean())


@pytest.mark.parametrize("candidates", [2, 3, 6])
@pytest.mark.parametrize("rounds", [4, 6, 12])
@pytest.mark.parametrize("name", [name for name in NOISES if "sticks" not in name])
def test_where_nothing_sticks_it_is_seldom_said(name: str, rounds: int, candidates: int) -> None:
    assert shown(NOISES[name][0], candidates, rounds) < 0.045


@pytest.mark.parametrize(
    ("candidates", "rounds", "workloads", "least"), [(2, 12, 1, 0.5), (3, 12, 1, 0.8), (6, 6, 1, 0.6), (2, 8, 6, 0.6)]
)
def test_where_noise_sticks_it_is_said_after_some_rounds(
    candidates: int, rounds: int, workloads: int, least: float
) -> None:
    assert shown(sticky(0.03, 0.8, workloads), candidates, rounds) > least


@pytest.mark.parametrize("workloads", [1, 3])
@pytest.mark.parametrize("share", [0.0, 0.8])
def test_arrays_tell_it_as_the_program_does(share: float, workloads: int) -> None:
    parts = sticky(0.03, share, workloads)(np.random.default_rng(1), (30, 12, 3)).reshape(workloads, 30, 12, 3)
    wider = []
    for run in range(30):
        for rounds in (2, 3, 5, 12):
            tables = [{f"c{c}": dict(enumerate(part[run, :rounds, c].tolist())) for c in range(3)} for part in parts]
            table = {f"c{c}": dict(enumerate(parts.mean(axis=0)[run, :rounds, c].tolist())) for c in range(3)}
            found = stickiness(table, range(rounds), tables)
            widened, proven = widening(parts[:, run : run + 1, :rounds], np.ones((1, 3), bool))
            assert (found.widening, found.proven) == (pytest.approx(widened[0]), proven[0])
            wider.append(found.widening)
    assert max(wider) <= math.sqrt((1 + MOST_KEPT) / (1 - MOST_KEPT)) + 1e-9


def test_several_workloads_show_it_sooner_than_their_mean() -> None:
    names = ("write", "delete", "find", "unpack")
    plan = make_plan(workloads=[make_workload(name) for name in names])
    parts = sticky(0.03, 0.8, len(names))(np.random.default_rng(1), (20, 7, 2))
    by_workload = overall = 0
    for run in range(20):
        figures = [dict(zip(("ext4", "xfs"), np.exp(part[run].T).tolist())) for part in parts]
        samples = tuple(sample for name, one in zip(names, figures) for sample in make_samples(one, name))
        result = make_result(plan=plan, samples=samples)
        by_workload += "sticky-noise" in told(result)
        overall += stickiness(tables_of(result).standing, range(1, 8)).proven
    assert by_workload >= overall + 5
