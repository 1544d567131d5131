"""The same work by hand on the same filesystem: what we measure is what a user would, within the noise.

Ours and theirs are measured in turn, and their order changes from pair to pair. How many pairs are measured is
chosen beforehand: nobody looks whether they agree, and goes on until they do.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fswizard.engines.fio import FioJob
from fswizard.engines.tree import TreeJob
from fswizard.model.recipe import Job
from tests.fakes.local_context import figures_of
from tests.loop.devices import run
from tests.loop.loop_context import LoopContext, loop_context

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

MIB = 1 << 20
PAIRS_OF_TIMES = 25
CLOSE = (0.85, 1.18)
"""For the median of that many pairs, on an otherwise idle machine."""
FILESYSTEMS = ["ext4", pytest.param("btrfs", marks=pytest.mark.btrfs)]


@pytest.fixture
def context(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LoopContext]:
    with loop_context(tmp_path, request.param, 512 * MIB) as opened:
        yield opened


@dataclass(frozen=True)
class Pair:
    """A job, the figure of it that is compared, and the same as a user would do it."""

    job: Job
    by_hand: Callable[[LoopContext], float]
    """In a directory where our own run has left what it works on, from cold caches."""
    before: Callable[[LoopContext], object] = lambda context: None
    """Makes room."""
    metric: str = "duration"


TREE = f"small-files-2000-{8 * MIB}"


def fio(context: LoopContext) -> float:
    argv = ["fio", "--name=x", f"--filename={context.directory}/fio-64M", "--rw=randwrite", "--bs=4k", "--direct=1"]
    argv += ["--size=64M", "--ioengine=libaio", "--iodepth=16", "--time_based", "--runtime=500ms", "--end_fsync=1"]
    (job,) = json.loads(run(*argv, "--output-format=json"))["jobs"]
    return float(job["write"]["iops"])


def removed(context: LoopContext) -> object:
    """Room for what is copied by hand: under the same name as ours, for ext4 places directories by their names."""
    return run("rm", "-rf", f"{context.directory}/{TREE}-copy")


def copying(context: LoopContext) -> float:
    """Seconds until a copy is on the disk."""
    began = time.perf_counter()
    argv = ("cp", "-a", "--reflink=never", TREE, f"{TREE}-copy")
    subprocess.run(argv, check=True, capture_output=True, cwd=context.directory)
    run("sync", "--file-system", context.directory)
    return time.perf_counter() - began


PAIRS = {
    "fio": Pair(FioJob("randwrite", 4096, 64 * MIB, seconds=0.5, depth=16), fio, metric="iops"),
    "cp": Pair(TreeJob("copy", "small-files", 2000, 8 * MIB), copying, removed),
}


async def ours(pair: Pair, context: LoopContext) -> float:
    return (await figures_of(pair.job, context))[pair.metric]


async def theirs(pair: Pair, context: LoopContext) -> float:
    pair.before(context)
    await context.remount()
    return pair.by_hand(context)


@pytest.mark.slow
@pytest.mark.parametrize("context", FILESYSTEMS, indirect=True)
@pytest.mark.parametrize("name", PAIRS)
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
