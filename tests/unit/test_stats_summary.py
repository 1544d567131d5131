from __future__ import annotations

from fswizard.model.judgement import Summary
from fswizard.model.metrics import Better
from fswizard.model.result import Sample
from fswizard.stats import summarise
from tests.builders import make_result


def sample(number: int, metric: str, value: float, better: Better = "lower", **fields: str) -> Sample:
    return Sample(number, fields.get("candidate", "xfs"), fields.get("workload", "write"), metric, value, "s", better)


def summary(samples: tuple[Sample, ...], metric: str, discarded: tuple[int, ...] = ()) -> Summary:
    result = make_result(samples=samples, discarded_rounds=discarded)
    return next(s for s in summarise(result) if s.metric == metric and s.candidate == "xfs")


def test_the_worst_of_latencies_is_the_longest_and_of_rates_the_lowest() -> None:
    latency = tuple(sample(n, "worst_latency", value) for n, value in enumerate((0.2, 9.0, 0.3), 1))
    rate = tuple(sample(n, "iops", value, "higher") for n, value in enumerate((700.0, 90.0, 600.0), 1))
    stalls, rates = summary(latency, "worst_latency"), summary(rate, "iops")
    assert (stalls.median, stalls.worst, stalls.rounds) == (0.3, 9.0, 3)
    assert (rates.median, rates.worst) == (600.0, 90.0)


def test_primary_figures_are_set_against_the_bare_device() -> None:
    bare = Sample(0, "", "write", "throughput", 200.0, "B/s", "higher")
    share = summary((*make_result().samples, bare), "throughput").of_bare_device
    assert share == 0.6


def test_a_latency_at_half_the_bare_devices_is_twice_as_good() -> None:
    cells = tuple(Sample(n, "xfs", "write", "latency", 0.1, "s", "lower", primary=True) for n in (1, 2, 3))
    bare = Sample(0, "", "write", "latency", 0.2, "s", "lower")
    assert summary((*cells, bare), "latency").of_bare_device == 2.0


def test_without_the_bare_device_there_is_no_share() -> None:
    assert summary(make_result().samples, "throughput").of_bare_device is None


def test_write_amplification_is_what_the_device_wrote_for_what_the_program_wrote() -> None:
    samples = (
        sample(1, "bytes_written", 100.0),
        sample(1, "device_written", 250.0),
        sample(2, "bytes_written", 100.0),
        sample(2, "device_written", 150.0),
        sample(3, "bytes_written", 0.0),
        sample(3, "device_written", 9.0),
    )
    amplification = summary(samples, "write_amplification")
    assert (amplification.median, amplification.worst, amplification.rounds) == (2.0, 2.5, 2)


def test_discarded_rounds_and_failed_figures_are_left_out() -> None:
    failed = Sample(3, "xfs", "write", "worst_latency", 99.0, "s", "lower", status="failed")
    samples = (sample(1, "worst_latency", 0.2), sample(2, "worst_latency", 50.0), failed)
    stalls = summary(samples, "worst_latency", discarded=(2,))
    assert (stalls.worst, stalls.rounds) == (0.2, 1)


def test_figures_of_the_whole_cell_have_no_workload() -> None:
    assert summary((sample(1, "mkfs_time", 0.3, workload=""),), "mkfs_time").workload == ""
