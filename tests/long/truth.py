"""Whether what is measured briefly agrees with what is measured at length: each test of a recipe, at two amounts.

A run finds how much of each test fits into its box on the disk. Then each test is done in the same trial with that
amount, and with four times as much, by the program itself.
Prints units, seconds on the baseline, and ratios to it with their intervals; a test's direction has turned where the
long one is beyond 10 % and the brief one is on the other side of 1.

As root: python -m tests.long.truth hdd quick 8G
"""

from __future__ import annotations

import asyncio
import math
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from fswizard import recipes
from fswizard.engines.sqlite import SqliteJob
from fswizard.engines.tree import TreeJob
from fswizard.model.metrics import DURATION
from fswizard.model.recipe import Job, Recipe
from fswizard.model.result import Result
from fswizard.model.units import parse_size
from fswizard.stats import analyse
from tests.long.simulated import real_time
from tests.loop.runs import result_of, session_in, short_plan

TIMES = (1, 4)
ROUNDS = 4
TEN_HOURS_S = 36_000.0


def at_each_amount(recipe: Recipe) -> Recipe:
    """Each test that has a box, at these multiples of its amount, those of one multiple in turn."""
    workloads = tuple(
        replace(each, name=f"{each.name}-x{factor}", job=times_as_much(each.task, factor), box_s=0.0, amount=None)
        for factor in TIMES
        for each in recipe.workloads
        if each.box_s
    )
    return replace(recipe, workloads=workloads)


def times_as_much(job: Job, factor: int) -> Job:
    """The same work, `factor` times as much; for a single file, one that is `factor` times as large."""
    if isinstance(job, SqliteJob):
        return replace(job, transactions=factor * job.transactions)
    assert isinstance(job, TreeJob)
    files = job.files if job.files == 1 else factor * job.files
    return replace(job, files=files, total_bytes=factor * job.total_bytes)


def table(result: Result) -> Iterator[str]:
    """The ratios at each amount, and the overall one of each multiple."""
    weighted: dict[str, list[tuple[float, float]]] = {}
    for ratio in analyse(result).by_workload:
        if not ratio.ratio:
            continue
        workload = result.plan.recipe.workload(ratio.workload)
        wanted = DURATION.name, ratio.baseline, ratio.workload
        took_s = fmean(s.value for s in result.samples if (s.metric, s.candidate, s.workload) == wanted)
        figures = f"{took_s:6.2f} s {ratio.ratio:5.2f} ({ratio.interval()})"
        yield f"{ratio.candidate:16} {ratio.workload:20} {workload.task.units or 1:>5} {figures}"
        overall = f"{ratio.candidate:16} overall-x{ratio.workload.rpartition('-x')[2]}"
        weighted.setdefault(overall, []).append((workload.weight, math.log(ratio.ratio)))
    for overall, pairs in weighted.items():
        mean = sum(weight * log for weight, log in pairs) / sum(weight for weight, _ in pairs)
        yield f"{overall} {math.exp(mean):.3f}"


def main(model: real_time.Model, recipe: str, image: str) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name, real_time.host(model, 14 << 30, Path(name)) as at:
        found = _run(at, Path(name, "found"), recipes.find(recipe), 1).plan.recipe
        both = replace(at_each_amount(found), image_bytes=parse_size(image))
        print("\n".join(table(_run(at, Path(name, "both"), both, ROUNDS))))


def _run(host: Path, directory: Path, recipe: Recipe, rounds: int) -> Result:
    """Measure in an image on `host`; the result is kept in `directory`, on another disk."""
    directory.mkdir()
    plan = short_plan(host, "; ".join(recipe.candidates), recipe, rounds, time_limit_s=TEN_HOURS_S)
    return asyncio.run(result_of(session_in(directory, plan)))


if __name__ == "__main__":
    words: Any = sys.argv[1:]
    main(*words)
