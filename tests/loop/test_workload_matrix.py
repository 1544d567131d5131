"""Each workload of each shipped recipe, made small, on each filesystem: its figures are all there, and they are sane.

By default one workload of each engine and operation on ext4; the whole product takes minutes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fswizard import recipes
from fswizard.engines.fileserver import FileServerJob
from fswizard.engines.fio import FioJob
from fswizard.engines.tree import TreeJob
from fswizard.model.recipe import Job, Recipe, Workload
from tests.conftest import MARKERS
from tests.loop.runs import result_of, short_session

pytestmark = [getattr(pytest.mark, name) for name in ("root", "loop", "fio", "borg", "dpkg", "rsync", "sqlite3")]

MIB = 1 << 20
IMAGE_BYTES = {"ext4": 128 * MIB, "xfs": 320 * MIB, "btrfs": 320 * MIB}
BESIDE = ("device_written", "used")
"""What is recorded of every workload, whatever carries it out."""


def case(filesystem: str, *marks: str) -> Any:
    """One after the other: they take room."""
    own = [getattr(pytest.mark, name) for name in (*{filesystem}.intersection(MARKERS), *marks)]
    return pytest.param(filesystem, bool(marks), marks=[*own, pytest.mark.xdist_group("matrix")])


CASES = [case("ext4"), *(case(filesystem, "slow") for filesystem in IMAGE_BYTES)]
"""A filesystem, and whether all workloads are tried on it or one of each engine and operation."""


SMALL: Mapping[str, Mapping[str, Any]] = {
    "fio": {"size_bytes": 16 * MIB},
    "fileserver": {"mean_file_bytes": 16_000, "mean_append_bytes": 2_000, "seconds": 1.0},
    "sqlite": {"transactions": 40},
    "fsync": {"total_bytes": 16 * MIB, "seconds": 1.0},
    "tree": {"files": 120, "total_bytes": 3 * MIB},
}
"""The same work by engine on a few megabytes, long enough for every operation to come about on a busy machine."""


def small(job: Job) -> Job:
    changes = dict(SMALL[job.engine])
    if isinstance(job, FioJob) and job.seconds:
        changes["seconds"] = 6.0 if job.cliff else 0.1
    if isinstance(job, FileServerJob):
        changes["files"] = 6 * job.threads
    if isinstance(job, TreeJob) and job.files == 1:
        changes = {"total_bytes": 16 * MIB}
    return replace(job, **changes)


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
            name = f"{recipe_name}-{workload.name}"
            yield replace(workload, name=name, job=job, weight=1.0, every=1, box_s=0.0, seconds=1.0)


MOST_OF_A_RECIPE = 50
"""Workloads; more are refused where a recipe or a result is read."""


@pytest.mark.parametrize(("filesystem", "whole"), CASES)
async def test_every_workload_of_every_recipe_yields_sane_figures(
    filesystem: str, whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fswizard.session.trial.LEAST_BARE_S", 0.01)
    workloads = tuple(all_workloads())
    if not whole:
        chosen = {(each.job.engine, getattr(each.job, "operation", "")): each for each in reversed(workloads)}
        workloads = tuple(chosen.values())
    for first in range(0, len(workloads), MOST_OF_A_RECIPE):
        await _sane(workloads[first : first + MOST_OF_A_RECIPE], filesystem, tmp_path / str(first))


async def _sane(workloads: tuple[Workload, ...], filesystem: str, directory: Path) -> None:
    directory.mkdir()
    session = short_session(
        directory, filesystem, Recipe("matrix", "Matrix", "For tests.", workloads, IMAGE_BYTES[filesystem], 60.0)
    )
    result = await result_of(session)
    assert session.error is None, session.error
    assert (result.failures, result.discarded_rounds) == ((), ())
    bare = {sample.workload for sample in result.samples if not sample.candidate}
    assert {workload.name for workload in workloads if workload.job.runs_bare} <= bare
    for workload in workloads:
        samples = [s for s in result.samples if s.candidate and s.workload == workload.name]
        figures = {sample.metric: sample.value for sample in samples}
        assert {*(metric.name for metric in workload.job.yielded), *BESIDE} <= figures.keys(), workload.name
        assert [sample.metric for sample in samples if sample.primary] == [workload.metric.name]
        assert figures[workload.metric.name] > 0, workload.name
        assert all(math.isfinite(value) and value >= 0 for value in figures.values()), workload.name
        assert 0 < figures["used"] <= IMAGE_BYTES[filesystem], workload.name
        _bytes_are_sane(workload.job, figures["bytes_written"], figures["device_written"])


def _bytes_are_sane(job: Job, written: float, on_device: float) -> None:
    if isinstance(job, FioJob) and not job.writes:
        assert written == 0, job
    elif job.engine != "tree":
        assert written > 0, job
    if job.direct:
        assert on_device >= 0.99 * written, job
