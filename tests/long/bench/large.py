"""Results as large as they get. Processor time, as nothing here waits for a disk."""

from __future__ import annotations

import itertools
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

from fswizard import results
from fswizard.advice import conclude
from fswizard.model.metrics import BYTES_WRITTEN, CPU, IOPS, LATENCIES, THROUGHPUT, Metric
from fswizard.model.result import Result, Sample
from fswizard.report import render
from tests.builders import make_plan, make_result, make_workload, write_result
from tests.long.bench.pairs import Spread, spread
from tests.long.bench.table import Line, Size, at_most

TITLE = "Large results"
SIZES: dict[Size, tuple[int, int, int, int]] = {
    "full": (12, 15, 9, 1000), "short": (12, 15, 3, 1000), "tiny": (3, 2, 1, 20)
}  # fmt: skip
"""Rounds, workloads, repetitions, and results in the history."""
OBJECTS = "each of the figures becomes an object, which is looked at twice"
NAMES = ("ext4", "xfs", "btrfs", "f2fs", "jfs", "ext4:noatime", "xfs:noatime", "btrfs:noatime", "ext2", "ext3")
FURTHER = (IOPS, *LATENCIES, BYTES_WRITTEN, CPU, *(Metric(n, "B", "lower") for n in ("device_written", "device_read",
                                                                                   "used")))  # fmt: skip


def measure(size: Size) -> Iterator[Line]:
    rounds, workloads, repeats, history = SIZES[size]
    result = large_result(rounds, workloads)
    what = f"{rounds} rounds × {len(NAMES)} candidates × {workloads} workloads, {len(result.samples):,} figures"
    with tempfile.TemporaryDirectory(prefix="fswizard-bench-") as folder:
        path = Path(folder, "large.jsonl")
        write_result(path, result)
        whole = _timed(lambda: render(conclude(results.load(path)), "text"), repeats)
        read = _timed(lambda: results.load(path), repeats).median
        yield at_most(f"Loading and reporting {what}", whole, 0.3, "s", f"of it loading {read:.3f} s", why=OBJECTS)
        weights = itertools.count(2)
        again = _timed(lambda: conclude(result, weights={"work-1": float(next(weights))}), repeats)
        yield at_most("Ranking it anew with other weights", again, 0.05, "s", why=OBJECTS)
    with tempfile.TemporaryDirectory(prefix="fswizard-bench-") as folder:
        with mock.patch.dict(os.environ, {"XDG_STATE_HOME": folder}):
            results.results_directory().mkdir(parents=True)
            for number in range(history):
                write_result(results.results_directory() / f"{number}.jsonl", make_result())
            listed = _timed(results.all_results, repeats)
            assert len(results.all_results()) == history
        yield at_most(f"Listing {history:,} results", listed, 0.5, "s")


def large_result(rounds: int, workloads: int) -> Result:
    """Every figure that a run notes, with 3 % of noise."""
    chance = random.Random(1)
    plan = make_plan(NAMES, [make_workload(f"work-{number}") for number in range(workloads)])
    samples = []
    for number, (level, name) in itertools.product(range(1, rounds + 1), enumerate(NAMES)):
        samples.append(Sample(number, name, "", "mkfs_time", chance.random(), "s", "lower"))
        for workload in plan.recipe.workloads:
            value = 1e8 * (1 + 0.1 * level) * chance.lognormvariate(0, 0.03)
            metric = THROUGHPUT
            samples.append(Sample(number, name, workload.name, metric.name, value, metric.unit, metric.better, True))
            for metric in FURTHER:
                value = 1 + chance.random()
                samples.append(Sample(number, name, workload.name, metric.name, value, metric.unit, metric.better))
    return replace(make_result(), plan=plan, samples=tuple(samples))


def _timed(work: Callable[[], object], repeats: int) -> Spread:
    work()
    taken = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return spread(taken)
