"""Each workload of each shipped recipe, made small, on each filesystem: its figures are all there, and they are sane.

By default one workload of each engine on each filesystem of the kernel; the whole product takes minutes.
"""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from fswizard import recipes
from fswizard.engines.backup import BackupJob
from fswizard.engines.fileserver import FileServerJob
from fswizard.engines.fio import FioJob
from fswizard.engines.fsync import FsyncJob
from fswizard.engines.overflow import OverflowJob
from fswizard.engines.rsync import RsyncJob
from fswizard.engines.shared.trees import TreeShape
from fswizard.engines.sqlite import SqliteJob
from fswizard.engines.tree import TreeJob
from fswizard.model.events import Event, RoundDiscarded, SampleTaken, StepFailed, StepSkipped
from fswizard.model.metrics import DURATION, IOPS, SYNCS
from fswizard.model.recipe import Job, Recipe, Workload
from tests.conftest import NEEDS
from tests.loop.runs import short_session, watch

pytestmark = [getattr(pytest.mark, name) for name in ("root", "loop", "fio", "borg", "dpkg", "git", "rsync", "sqlite3")]

MIB = 1 << 20
ENGINES_ALONE = "one of each engine"
IMAGE_BYTES = {"ext4": 128 * MIB, "xfs": 320 * MIB, "btrfs": 320 * MIB}


def case(filesystem: str, which: str, *marks: str) -> Any:
    own = (filesystem, *marks) if filesystem in NEEDS else marks
    group = pytest.mark.xdist_group("matrix")  # one after the other: they take room
    return pytest.param(filesystem, which, marks=[*(getattr(pytest.mark, name) for name in own), group])


CASES = [
    *(case(filesystem, ENGINES_ALONE) for filesystem in IMAGE_BYTES),
    *(case(filesystem, "all", "slow") for filesystem in IMAGE_BYTES),
]
BESIDE = ("device_written", "device_read", "used")
"""What is recorded of every workload, whatever carries it out."""
UNSHIPPED: dict[str, Job] = {
    "read-and-write": FioJob("randrw", 4096, 16 * MIB, seconds=0.1, depth=4),
    "fsync": FioJob("randwrite", 4096, 16 * MIB, seconds=0.1, direct=False, fsync=8),
    "own-files": TreeJob(
        "copy", "own", 100, 3 * MIB, TreeShape((0, 900, 90_000), (0.9, 0.4, 0.1), 10, (2, 20), (0, 1))
    ),
}
"""What a user's own recipe may ask for, and no shipped one does."""


def small(job: Job) -> Job:
    """The same work on a few megabytes, long enough for every operation to come about on a busy machine."""
    if isinstance(job, FioJob):
        return replace(job, size_bytes=16 * MIB, seconds=0.1 if job.seconds else 0.0)
    if isinstance(job, OverflowJob):
        return replace(job, working_set_bytes=16 * MIB, seconds=6.0)
    if isinstance(job, FileServerJob):
        return replace(job, files=6 * job.threads, mean_file_bytes=16_000, mean_append_bytes=2_000, seconds=1.0)
    if isinstance(job, SqliteJob):
        return replace(job, transactions=40)
    if isinstance(job, FsyncJob):
        job = replace(job, seconds=1.0)
    if isinstance(job, FsyncJob) or (isinstance(job, TreeJob) and job.files == 1):
        return replace(job, total_bytes=16 * MIB)
    assert isinstance(job, (TreeJob, RsyncJob, BackupJob)), f"say here what a small job of {job.engine} is"
    return replace(job, files=120, total_bytes=3 * MIB)


def all_workloads() -> Iterator[Workload]:
    """Those that come out the same stand once; those that fill the filesystem come last."""
    seen: set[Job] = set()
    shipped = [
        (recipe.name, workload)
        for recipe in recipes.available()
        if recipe.source == recipes.SHIPPED
        for workload in recipe.workloads
    ]
    for recipe_name, workload in sorted(shipped, key=lambda item: item[1].job.fill_percent):
        job = small(workload.job)
        if job not in seen:
            seen.add(job)
            yield replace(workload, name=f"{recipe_name}-{workload.name}", job=job, weight=1.0, every=1, box_s=0.0)
        if workload.name == "overflow":
            for name, unshipped in UNSHIPPED.items():
                metric = IOPS if isinstance(unshipped, FioJob) else DURATION
                yield Workload(name, name, unshipped.engine, unshipped, metric)


WORKLOADS = tuple(all_workloads())


def workloads_of(which: str) -> tuple[Workload, ...]:
    return WORKLOADS if which == "all" else tuple({type(w.job): w for w in reversed(WORKLOADS)}.values())


@dataclass
class Measured:
    """What was measured on one filesystem."""

    figures: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    """By workload and metric."""
    primary: list[tuple[str, str]] = field(default_factory=list)
    """Workloads and the metrics that they are judged by."""
    bare: set[str] = field(default_factory=set)
    """Workloads that were measured without a filesystem."""
    troubles: list[Event] = field(default_factory=list)
    """Where something failed, was skipped or tried again."""

    def take(self, event: Event) -> None:
        if isinstance(event, (StepFailed, StepSkipped, RoundDiscarded)):
            self.troubles.append(event)
        elif isinstance(event, SampleTaken) and event.sample.workload:
            sample = event.sample
            if not sample.candidate:
                self.bare.add(sample.workload)
                return
            self.figures[sample.workload][sample.metric] = sample.value
            if sample.primary:
                self.primary.append((sample.workload, sample.metric))


def measured(filesystem: str, which: str, directory: Path) -> Measured:
    workloads = tuple(replace(workload, seconds=1.0) for workload in workloads_of(which))
    recipe = Recipe("matrix", "Matrix", "For tests.", workloads, IMAGE_BYTES[filesystem], 60.0)
    found, session = Measured(), short_session(directory, filesystem, recipe)
    asyncio.run(watch(session, found.take))
    assert session.error is None, session.error
    return found


def writes_each_byte_once(job: Job) -> bool:
    if isinstance(job, FioJob):
        return not job.cost.prepare_bytes
    if isinstance(job, RsyncJob):
        return job.direction == "onto"
    return isinstance(job, BackupJob) or (isinstance(job, TreeJob) and job.does.writes)


@pytest.mark.parametrize(("filesystem", "which"), CASES)
def test_every_workload_of_every_recipe_yields_sane_figures(
    filesystem: str, which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fswizard.session.trial.LEAST_BARE_S", 0.01)
    run = measured(filesystem, which, tmp_path)
    assert run.troubles == []
    workloads = workloads_of(which)
    assert {w.name for w in workloads if w.job.runs_bare} <= run.bare
    assert sorted(run.primary) == sorted((w.name, w.metric.name) for w in workloads)
    for workload in workloads:
        figures = run.figures[workload.name]
        syncs = isinstance(workload.job, FioJob) and workload.job.synced
        expected = {metric.name for metric in workload.job.metrics if syncs or metric not in SYNCS}
        assert {*expected, *BESIDE} <= figures.keys(), workload.name
        assert figures[workload.metric.name] > 0, workload.name
        assert all(math.isfinite(value) and value >= 0 for value in figures.values()), workload.name
        _latencies_are_in_order(figures)
        if "returned" in figures:
            assert 0 < figures["returned"] <= figures["duration"], workload.name
        assert 0 < figures["used"] <= IMAGE_BYTES[filesystem], workload.name
        _bytes_are_sane(workload.job, figures)


def _latencies_are_in_order(figures: dict[str, float]) -> None:
    for prefix in {name.removesuffix("median_latency") for name in figures if name.endswith("median_latency")}:
        median, p99, worst = (figures[f"{prefix}{which}_latency"] for which in ("median", "p99", "worst"))
        assert 0 < median <= p99 <= worst, prefix


def _bytes_are_sane(job: Job, figures: dict[str, float]) -> None:
    written, on_device = figures["bytes_written"], figures["device_written"]
    if writes_each_byte_once(job):
        assert on_device >= written > 0, job
        assert figures["used"] >= written, job
        # What the preparation wrote does not count.
        assert on_device < 1.5 * written or written < 16 * MIB, job
    elif isinstance(job, FioJob) and job.rw in ("read", "randread"):
        assert written == 0, job
    elif isinstance(job, (FioJob, FileServerJob, OverflowJob, SqliteJob)):
        assert written > 0, job
    if isinstance(job, (FioJob, OverflowJob)) and written and job.direct:
        assert on_device >= 0.99 * written, job
