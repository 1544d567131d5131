"""The same work by hand on the same filesystem: what we measure is what a user would, within the noise.

Ours and theirs are measured in turn, and their order changes from pair to pair. How many pairs are measured is
chosen beforehand: nobody looks whether they agree, and goes on until they do.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from fswizard.engines.backup import BackupJob
from fswizard.engines.fio import FioJob
from fswizard.engines.rsync import RsyncJob
from fswizard.engines.sqlite import SqliteJob
from fswizard.engines.tree import TreeJob
from fswizard.model.recipe import Job
from fswizard.system import block_stats
from tests.fakes.local_context import figures_of
from tests.loop.devices import run
from tests.loop.loop_context import LoopContext, loop_context

pytestmark = [pytest.mark.root, pytest.mark.loop]

MIB = 1 << 20
PAIRS_OF_TIMES = 25
CLOSE = (0.85, 1.18)
"""For the median of that many pairs, on an otherwise idle machine."""
SAME_BYTES = (0.7, 1.4)
"""For what reaches the device once: ours has its journal write down what it removed before, too."""
FILESYSTEMS = ["ext4", pytest.param("xfs", marks=pytest.mark.xfs), pytest.param("btrfs", marks=pytest.mark.btrfs)]


@pytest.fixture
def context(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LoopContext]:
    size_bytes = 512 * MIB if request.node.get_closest_marker("slow") else 96 * MIB
    with loop_context(tmp_path, getattr(request, "param", "ext4"), size_bytes) as opened:
        yield opened


def timed(context: LoopContext, *argv: str, **how: Any) -> float:
    """Seconds that a program takes until its work is on the disk."""
    began = time.perf_counter()
    subprocess.run(argv, check=True, capture_output=True, cwd=context.directory, **how)
    subprocess.run(["sync", "--file-system", context.directory], check=True)
    return time.perf_counter() - began


@dataclass(frozen=True)
class Pair:
    """A job, the figure of it that is compared, and the same as a user would do it."""

    job: Job
    metric: str
    by_hand: Callable[[LoopContext], float]
    """In a directory where our own run has left what it works on, from cold caches."""
    before: Callable[[LoopContext], object] = lambda context: None
    """Makes room, or what is to be deleted."""


TREE = f"small-files-2000-{8 * MIB}"
RANDOM = FioJob("randread", 4096, 64 * MIB, seconds=0.5, depth=16)
ARCHIVED = BackupJob("first", 500, 32 * MIB)
BACKUP = f"backup-500-{32 * MIB}"
SYNCED = f"rsync-mixed-500-{32 * MIB}"


def fio_by_hand(rw: str) -> Callable[[LoopContext], float]:
    def by_hand(context: LoopContext) -> float:
        argv = ["fio", "--name=x", f"--filename={context.directory}/fio-64M", f"--rw={rw}", "--bs=4k", "--direct=1"]
        argv += ["--size=64M", "--ioengine=libaio", "--iodepth=16", "--time_based", "--runtime=500ms", "--end_fsync=1"]
        job = json.loads(run(*argv, "--output-format=json"))["jobs"][0]
        return float(job["read"]["iops"] + job["write"]["iops"])

    return by_hand


def borg(context: LoopContext, *arguments: str) -> float:
    return timed(context, "borg", *arguments, env={**os.environ, "BORG_BASE_DIR": f"{context.scratch}/by-hand"})


def removing(name: str) -> Callable[[LoopContext], object]:
    """Room for what is made by hand: under the same name as ours, for ext4 places directories by their names."""
    return lambda context: run("rm", "-rf", f"{context.directory}/{name}")


def borg_before(context: LoopContext) -> None:
    run("rm", "-rf", f"{context.directory}/{BACKUP}-repository", f"{context.scratch}/by-hand")
    borg(context, "init", "--encryption=none", f"{BACKUP}-repository")


def sqlite_before(context: LoopContext) -> None:
    removing("sqlite-wal-200")(context)
    run("mkdir", f"{context.directory}/sqlite-wal-200")
    database, script = f"{context.directory}/sqlite-wal-200/database", f"{context.scratch}/sqlite-wal-200-first.sql"
    run("sqlite3", database, f".read {script}")


PAIRS = {
    "fio-read": Pair(RANDOM, "iops", fio_by_hand("randread")),
    "fio-write": Pair(replace(RANDOM, rw="randwrite"), "iops", fio_by_hand("randwrite")),
    "cp": Pair(
        TreeJob("copy", "small-files", 2000, 8 * MIB),
        "duration",
        lambda context: timed(context, "cp", "-a", "--reflink=never", TREE, f"{TREE}-copy"),
        removing(f"{TREE}-copy"),
    ),
    "cp-onto": Pair(
        TreeJob("copy-onto", "small-files", 2000, 8 * MIB),
        "duration",
        lambda context: timed(context, "cp", "-a", f"{context.scratch}/{TREE}", f"{TREE}-onto"),
        removing(f"{TREE}-onto"),
    ),
    "untar": Pair(
        TreeJob("untar", "small-files", 2000, 8 * MIB),
        "duration",
        lambda context: timed(
            context, "tar", "-xf", f"{context.scratch}/{TREE}.tar", f"--one-top-level={TREE}-unpacked"
        ),
        removing(f"{TREE}-unpacked"),
    ),
    "rm": Pair(
        TreeJob("delete", "small-files", 2000, 8 * MIB),
        "duration",
        lambda context: timed(context, "rm", "-rf", f"{TREE}-copy"),
        lambda context: run(
            "cp", "-a", "--reflink=never", f"{context.directory}/{TREE}", f"{context.directory}/{TREE}-copy"
        ),
    ),
    "tar": Pair(
        TreeJob("tar", "small-files", 2000, 8 * MIB),
        "duration",
        lambda context: timed(context, "tar", "-cf", f"{TREE}.tar", "-C", f"{TREE}-unpacked", "."),
        removing(f"{TREE}.tar"),
    ),
    "rsync": Pair(
        RsyncJob("onto", "mixed", 500, 32 * MIB),
        "duration",
        lambda context: timed(context, "rsync", "-a", f"{context.scratch}/{SYNCED}/", SYNCED),
        removing(SYNCED),
    ),
    "borg": Pair(
        ARCHIVED,
        "duration",
        lambda context: borg(context, "create", f"{BACKUP}-repository::first", f"{context.scratch}/{BACKUP}-source"),
        borg_before,
    ),
    "sqlite3": Pair(
        SqliteJob("wal", 200),
        "duration",
        lambda context: timed(
            context, "sqlite3", "sqlite-wal-200/database", f".read {context.scratch}/sqlite-wal-200-then.sql"
        ),
        sqlite_before,
    ),
}
NEEDED = {"fio-read": "fio", "fio-write": "fio", "rsync": "rsync", "borg": "borg", "sqlite3": "sqlite3"}
COUNTED = ["cp", "cp-onto", "tar", "untar", pytest.param("rsync", marks=pytest.mark.rsync)]
ALL = [pytest.param(name, marks=[getattr(pytest.mark, NEEDED[name])] if name in NEEDED else []) for name in PAIRS]


async def ours(pair: Pair, context: LoopContext) -> float:
    return (await figures_of(pair.job, context))[pair.metric]


async def theirs(pair: Pair, context: LoopContext) -> float:
    pair.before(context)
    await context.remount()
    return pair.by_hand(context)


def written_bytes(context: LoopContext) -> int:
    run("sync", "--file-system", context.directory)
    counted = block_stats.counters(*context.devices)
    assert counted
    return counted.written_bytes


@pytest.mark.parametrize("name", COUNTED)
async def test_work_done_by_hand_writes_as_much(name: str, context: LoopContext) -> None:
    await ours(PAIRS[name], context)  # lays out what both work on
    written = []
    for work in (ours, theirs):
        before = written_bytes(context)
        await work(PAIRS[name], context)
        written.append(written_bytes(context) - before)
    assert SAME_BYTES[0] < written[0] / written[1] < SAME_BYTES[1]


@pytest.mark.slow
@pytest.mark.parametrize("context", FILESYSTEMS, indirect=True)
@pytest.mark.parametrize("name", ALL)
async def test_work_done_by_hand_takes_as_long(name: str, context: LoopContext) -> None:
    pair, ratios = PAIRS[name], list[float]()
    await ours(pair, context)  # lays out what both work on
    for number in range(PAIRS_OF_TIMES):
        if number % 2:
            one = await ours(pair, context)
            other = await theirs(pair, context)
        else:
            other = await theirs(pair, context)
            one = await ours(pair, context)
        ratios.append(one / other)
    found = statistics.median(ratios)
    print(f"{context.filesystem}: ours over theirs {found:.3f} in {len(ratios)} pairs")
    assert CLOSE[0] < found < CLOSE[1]
