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
from fswizard.engines.tree import TreeJob, TreeOperation
from fswizard.model.recipe import Job
from tests.fakes.local_context import figures_of
from tests.loop.devices import run
from tests.loop.loop_context import LoopContext, loop_context

pytestmark = [pytest.mark.root, pytest.mark.loop]

MIB = 1 << 20
PAIRS_OF_TIMES = 25
CLOSE = (0.85, 1.18)
"""For the median of that many pairs, on an otherwise idle machine."""
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
    by_hand: Callable[[LoopContext], float]
    """In a directory where our own run has left what it works on, from cold caches."""
    before: Callable[[LoopContext], object] = lambda context: None
    """Makes room, or what is to be deleted."""
    metric: str = "duration"


TREE = f"small-files-2000-{8 * MIB}"
COPYING = ("cp", "-a", "--reflink=never", TREE, f"{TREE}-copy")
RANDOM = FioJob("randread", 4096, 64 * MIB, seconds=0.5, depth=16)
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


def tree(operation: TreeOperation) -> TreeJob:
    return TreeJob(operation, "small-files", 2000, 8 * MIB)


def doing(*argv: str) -> Callable[[LoopContext], float]:
    """A program in the directory, with the scratch directory in place of SCRATCH."""
    return lambda context: timed(context, *(word.replace("SCRATCH", context.scratch) for word in argv))


PAIRS = {
    "fio-read": Pair(RANDOM, fio_by_hand("randread"), metric="iops"),
    "fio-write": Pair(replace(RANDOM, rw="randwrite"), fio_by_hand("randwrite"), metric="iops"),
    "cp": Pair(tree("copy"), doing(*COPYING), removing(f"{TREE}-copy")),
    "untar": Pair(
        tree("untar"), doing("tar", "-xf", f"SCRATCH/{TREE}.tar", f"--one-top-level={TREE}-unpacked"),
        removing(f"{TREE}-unpacked"),
    ),
    "rm": Pair(tree("delete"), doing("rm", "-rf", f"{TREE}-copy"), doing(*COPYING)),
    "tar": Pair(
        tree("tar"), doing("tar", "-cf", f"{TREE}.tar", "-C", f"{TREE}-unpacked", "."), removing(f"{TREE}.tar")
    ),
    "rsync": Pair(
        RsyncJob("onto", "mixed", 500, 32 * MIB), doing("rsync", "-a", f"SCRATCH/{SYNCED}/", SYNCED), removing(SYNCED)
    ),
    "borg": Pair(
        BackupJob("first", 500, 32 * MIB),
        lambda context: borg(context, "create", f"{BACKUP}-repository::first", f"{context.scratch}/{BACKUP}-source"),
        borg_before,
    ),
}  # fmt: skip
NEEDED = {"fio-read": "fio", "fio-write": "fio", "rsync": "rsync", "borg": "borg"}
ALL = [pytest.param(name, marks=[getattr(pytest.mark, NEEDED[name])] if name in NEEDED else []) for name in PAIRS]


async def ours(pair: Pair, context: LoopContext) -> float:
    return (await figures_of(pair.job, context))[pair.metric]


async def theirs(pair: Pair, context: LoopContext) -> float:
    pair.before(context)
    await context.remount()
    return pair.by_hand(context)


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
