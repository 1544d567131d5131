"""Whether what is measured briefly agrees with what is measured at length: each test of a recipe, at several amounts.

A run finds how much of each test fits into its box on the disk. Then each test is done in the same trial with that
amount, and with multiples of it, by the program itself.
Prints units, seconds on the baseline, and ratios to it with their intervals; a test's direction has turned where the
long one is beyond 10 % and the brief one is on the other side of 1.

As root: python -m tests.long.truth hdd quick --times 1,4 --rounds 4 --image 8G
"""

from __future__ import annotations

import argparse
import asyncio
import math
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import get_args

from fswizard import recipes
from fswizard.engines.sqlite import SqliteJob
from fswizard.engines.tree import TreeJob
from fswizard.model.analysis import Ratio
from fswizard.model.metrics import DURATION
from fswizard.model.recipe import Job, Recipe, Workload
from fswizard.model.result import Result
from fswizard.model.units import parse_size
from fswizard.stats import analyse
from tests.long.simulated import real_time
from tests.loop.runs import result_of, session_in, short_plan

TEN_HOURS_S = 36_000.0


def at_amounts(workloads: Iterable[Workload], times: Sequence[int]) -> tuple[Workload, ...]:
    """Each test that has a box, at these multiples of its amount, those of one multiple in turn."""
    boxed = [workload for workload in workloads if workload.box_s]
    return tuple(
        replace(each, name=f"{each.name}-x{factor}", job=times_as_much(each.task, factor), box_s=0.0, amount=None)
        for factor in times
        for each in boxed
    )


def times_as_much(job: Job, factor: int) -> Job:
    """The same work, so many times as much of it; of a single file, one so many times as large."""
    if isinstance(job, SqliteJob):
        return replace(job, transactions=factor * job.transactions)
    assert isinstance(job, TreeJob)
    files = job.files if job.files == 1 else factor * job.files
    return replace(job, files=files, total_bytes=factor * job.total_bytes)


def table(result: Result, times: Sequence[int]) -> str:
    """The ratios at each amount, and the overall one of each multiple."""
    ratios = [ratio for ratio in analyse(result).by_workload if ratio.ratio]
    lines = []
    for ratio in ratios:
        units = result.plan.recipe.workload(ratio.workload).task.units or 1
        figures = f"{_took_s(result, ratio):6.2f} s {ratio.ratio:5.2f} ({ratio.interval()})"
        lines.append(f"{ratio.candidate:16} {ratio.workload:20} {units:>5} {figures}")
    for candidate in dict.fromkeys(ratio.candidate for ratio in ratios):
        for factor in times:
            found = [r for r in ratios if r.candidate == candidate and r.workload.endswith(f"-x{factor}")]
            weights = [result.plan.recipe.workload(ratio.workload).weight for ratio in found]
            mean = sum(weight * math.log(ratio.ratio) for weight, ratio in zip(weights, found)) / sum(weights)
            lines.append(f"{candidate:16} overall-x{factor} {math.exp(mean):.3f}")
    return "\n".join(lines)


def _took_s(result: Result, ratio: Ratio) -> float:
    """On the baseline."""
    wanted = DURATION.name, ratio.baseline, ratio.workload
    return fmean(s.value for s in result.samples if (s.metric, s.candidate, s.workload) == wanted)


def main() -> None:
    parser = argparse.ArgumentParser(description="Brief and long work on one disk.")
    parser.add_argument("model", choices=get_args(real_time.Model))
    parser.add_argument("recipe")
    parser.add_argument("--times", default="1,4", help="multiples of the least amounts")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--image", default="8G", help="size of the scratch image")
    options = parser.parse_args()
    times, recipe = [int(word) for word in options.times.split(",")], recipes.find(options.recipe)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name, real_time.host(options.model, 14 << 30, Path(name)) as at:
        found = _run(Path(at), Path(name, "found"), recipe, 1).plan.recipe
        workloads = at_amounts(found.workloads, times)
        both = replace(found, workloads=workloads, image_bytes=parse_size(options.image))
        print(table(_run(Path(at), Path(name, "both"), both, options.rounds), times))


def _run(host: Path, directory: Path, recipe: Recipe, rounds: int) -> Result:
    """Measure in an image on `host`; the result is kept in `directory`, on another disk."""
    directory.mkdir()
    plan = short_plan(host, "; ".join(recipe.candidates), recipe, rounds, time_limit_s=TEN_HOURS_S)
    return asyncio.run(result_of(session_in(directory, plan)))


if __name__ == "__main__":
    main()
