"""From the text of a recipe to its workloads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import get_args

import tomli

from fswizard.errors import UsageError
from fswizard.model.estimates import SEQUENTIAL_BYTES_PER_S, expected_s, room, writes_bytes
from fswizard.model.metrics import ENGINE_METRICS, Metric
from fswizard.model.recipe import (
    BackupJob,
    FileServerJob,
    FioJob,
    Job,
    OverflowJob,
    Recipe,
    RsyncJob,
    SqliteJob,
    TreeJob,
    TreeOperation,
    TreeShape,
    Workload,
)
from fswizard.model.text import safe
from fswizard.model.units import size_text
from fswizard.recipes.keys import Keys

LONGEST_FILE_BYTES = 1 << 20
MIB = 1 << 20
GIB = 1 << 30
TIB = 1 << 40
DEEPEST = 64
"""Directories of a tree that lie within one another."""
MOST_DIRECTORIES = 1_000_000


def parse(text: str, source: str) -> Recipe:
    """The recipe that a TOML text describes; UsageError with file, key and what was expected otherwise."""
    source = safe(source)
    if len(text) > LONGEST_FILE_BYTES:
        raise UsageError(f"{source}: over 1 MB is no recipe.")
    try:
        table = tomli.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{source}: this is not TOML: {safe(str(error)) or 'nested too deeply'}.") from error
    keys = Keys(table, source)
    keys.integer("schema", 1, 1)
    name = keys.name("name")
    recipe = Recipe(
        name=name,
        title=keys.text("title", 60),
        why=keys.text("why", 500),
        minutes=keys.number("minutes", 0.1, 10_080),
        image_bytes=keys.size("image", 64 * MIB, 64 * TIB),
        candidates=keys.texts("candidates", 20, 200),
        array_candidates=keys.texts("array_candidates", 20, 200),
        workloads=tuple(_filling(_workloads(keys, _own_tree(keys)), keys.size("image", 64 * MIB, 64 * TIB))),
        source=source,
    )
    keys.end()
    _check_whole(recipe, keys)
    return recipe


def _own_tree(keys: Keys) -> TreeShape | None:
    """The table `tree`, which `fswizard recipes --from` writes."""
    table = keys.get("tree", "a table", lambda v: isinstance(v, dict), {})
    if not table:
        return None
    inner = keys.inner(table, "tree")
    shape = TreeShape(
        sizes=inner.integers("sizes", 2, 1025, TIB),
        files_at_depth=inner.integers("files_at_depth", 1, DEEPEST, 10_000_000),
        directories_at_depth=inner.integers("directories_at_depth", 1, DEEPEST, MOST_DIRECTORIES),
        random_share=inner.number("random_share", 0, 1),
    )
    inner.end()
    if list(shape.sizes) != sorted(shape.sizes):
        raise inner.error("sizes", "a list of sizes, the smallest first,")
    if sum(shape.directories_at_depth) > MOST_DIRECTORIES:
        raise inner.error("directories_at_depth", f"at most {MOST_DIRECTORIES:,} directories")
    if shape.directories_at_depth[0] != 1 or 0 in shape.directories_at_depth:
        raise inner.error("directories_at_depth", "1 and then, for each depth, 1 or more,")
    if len(shape.files_at_depth) != len(shape.directories_at_depth):
        raise inner.error("files_at_depth", "a number for each depth of 'directories_at_depth'")
    return shape


def _workloads(keys: Keys, own: TreeShape | None) -> Iterator[Workload]:
    prepared: set[Job] = set()
    for number, table in enumerate(keys.tables("workload", 50), 1):
        name = table.get("name")
        called = f" ({safe(name)[:40]})" if isinstance(name, str) else ""
        inner = keys.inner(table, f"workload {number}{called}")
        yield _workload(inner, prepared, own)
        inner.end()


def _filling(workloads: Iterator[Workload], image_bytes: int) -> Iterator[Workload]:
    """With what filling the image costs, where workloads do that; each goes on where the one before ended."""
    filled = 0
    for workload in workloads:
        percent = workload.job.fill_percent if isinstance(workload.job, FileServerJob) else 0
        fills_bytes = max(0, percent - filled) * image_bytes // 100
        filled = max(filled, percent)
        yield replace(
            workload,
            seconds=workload.seconds + fills_bytes / SEQUENTIAL_BYTES_PER_S,
            writes_bytes=workload.writes_bytes + fills_bytes,
        )


def _workload(keys: Keys, prepared: set[Job], own: TreeShape | None) -> Workload:
    name, title, why = keys.name("name"), keys.text("title", 60), keys.text("why", 500, "")
    engine = keys.choice("engine", tuple(_JOBS))
    metrics = {metric.name: metric for metric in ENGINE_METRICS[engine]}
    metric: Metric = metrics[keys.choice("metric", metrics)]
    weight = keys.number("weight", 0, 1000, 1.0)
    job = _JOBS[engine](keys)
    if isinstance(job, TreeJob) and job.shape == "own":
        if own is None:
            raise keys.error("shape", "a table [tree] that says what one's own files are like")
        if sum(own.files_at_depth) != job.files:
            raise keys.error("files", f"{sum(own.files_at_depth)}, the sum of 'files_at_depth',")
        job = replace(job, own=own)
    works_on = _works_on(job)
    prepares = works_on not in prepared
    prepared.add(works_on)
    return Workload(
        name=name,
        title=title,
        engine=engine,
        job=job,
        metric=metric,
        weight=weight,
        why=why,
        seconds=keys.number("expected_seconds", 0, 1e6, expected_s(job, prepares=prepares)),
        writes_bytes=writes_bytes(job, prepares=prepares),
    )


def _fio(keys: Keys) -> FioJob:
    size_bytes = keys.size("size", MIB, 16 * TIB)
    return FioJob(
        rw=keys.choice("rw", ("read", "write", "randread", "randwrite", "randrw")),
        block_bytes=keys.size("block", 512, min(64 * MIB, size_bytes)),
        size_bytes=size_bytes,
        seconds=keys.number("seconds", 0, 86_400, 0.0),
        jobs=keys.integer("jobs", 1, 256, 1),
        depth=keys.integer("depth", 1, 1024, 1),
        io_engine=keys.choice("io_engine", ("psync", "libaio", "io_uring"), "libaio"),
        direct=keys.flag("direct", True),
        fsync=keys.integer("fsync", 0, 1_000_000, 0),
    )


def _tree(keys: Keys) -> TreeJob:
    return TreeJob(
        operation=keys.choice("operation", get_args(TreeOperation)),
        shape=keys.choice("shape", ("small-files", "source", "mixed", "own")),
        files=keys.integer("files", 1, 10_000_000),
        total_bytes=keys.size("total", 1, 16 * TIB),
    )


def _file_server(keys: Keys) -> FileServerJob:
    threads = keys.integer("threads", 1, 256)
    return FileServerJob(
        threads=threads,
        files=keys.integer("files", 5 * threads, 10_000_000),  # each has four that exist, and one that does not
        mean_file_bytes=keys.size("mean_file", 1, GIB),
        mean_append_bytes=keys.size("mean_append", 1, GIB),
        seconds=keys.number("seconds", 0.1, 604_800),
        fill_percent=keys.integer("fill", 0, 99, 0),
    )


def _backup(keys: Keys) -> BackupJob:
    return BackupJob(
        archive=keys.choice("archive", ("first", "second")),
        files=keys.integer("files", 1, 10_000_000),
        total_bytes=keys.size("total", 1, 16 * TIB),
    )


def _rsync(keys: Keys) -> RsyncJob:
    return RsyncJob(
        direction=keys.choice("direction", ("onto", "from")),
        shape=keys.choice("shape", ("small-files", "mixed")),
        files=keys.integer("files", 1, 1_000_000),
        total_bytes=keys.size("total", 1, 16 * GIB),
    )


def _sqlite(keys: Keys) -> SqliteJob:
    return SqliteJob(
        journal=keys.choice("journal", ("wal", "delete")),
        transactions=keys.integer("transactions", 1, 1_000_000),
    )


def _overflow(keys: Keys) -> OverflowJob:
    return OverflowJob(
        working_set_bytes=keys.size("working_set", MIB, 16 * TIB),
        seconds=keys.number("seconds", 1, 604_800),
        block_bytes=keys.size("block", 512, MIB),
        depth=keys.integer("depth", 1, 1024, 32),
    )


_JOBS: Mapping[str, Callable[[Keys], Job]] = {
    "fio": _fio,
    "tree": _tree,
    "fileserver": _file_server,
    "backup": _backup,
    "rsync": _rsync,
    "sqlite": _sqlite,
    "overflow": _overflow,
}


def _works_on(job: Job) -> Job:
    """The same for all jobs that share what they work on."""
    if isinstance(job, OverflowJob):
        job = job.fio
    if isinstance(job, FioJob):
        return FioJob("read", 1, job.size_bytes)
    if isinstance(job, BackupJob):
        return replace(job, archive="first")
    if isinstance(job, TreeJob) and job.operation not in ("git-status", "install"):
        return replace(job, operation="copy")
    return job


def _check_whole(recipe: Recipe, keys: Keys) -> None:
    names = [workload.name for workload in recipe.workloads]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{recipe.source}: two workloads are called '{name}'.", "Give each a name of its own.")
    needed = room(workload.job for workload in recipe.workloads)
    if needed > recipe.image_bytes * 0.8:
        expected = f"at least {size_text(needed / 0.8)}, for the workloads leave {size_text(needed)} behind,"
        raise keys.error("image", expected)
