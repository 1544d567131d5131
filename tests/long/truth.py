"""Whether what is measured briefly agrees with what is measured at length: each test of a recipe, at several amounts.

A run finds how much of each test fits into its box on the disk. Then each test is done in the same trial with that
amount, and with multiples of it, by the program itself.
Ratios of candidates to the baseline, geometric means over the rounds; a test's direction has turned where the long one
is beyond 10 % and the brief one is on the other side of 1.

As root: python -m tests.long.truth hdd quick --times 1,4 --rounds 4 --image 8G
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, get_args

from fswizard import recipes, results
from fswizard.engines.sqlite import SqliteJob
from fswizard.engines.tree import TreeJob
from fswizard.model.keys import key_of
from fswizard.model.recipe import Job, Recipe
from fswizard.model.result import Result
from tests.long.simulated import real_time

BEYOND = 0.10
"""From here on a long test has a direction."""


def at_amounts(recipe: Recipe, times: Sequence[int], image: str) -> str:
    """A recipe file with each test that has a box, at these multiples of its amount, those of one multiple in turn."""
    lines = ["schema = 1", 'name = "truth"', 'title = "Truth"', 'why = "Brief and long"', "minutes = 600"]
    lines.append(f'image = "{image}"')
    for factor in times:
        for workload in recipe.workloads:
            if not workload.box_s:
                continue
            name, job = f"{workload.name}-x{factor}", times_as_much(workload.task, factor)
            table = {
                "name": name, "title": name, "engine": workload.engine, "metric": workload.metric.name,
                "weight": workload.weight, **{key_of(field.name): getattr(job, field.name) for field in fields(job)},
            }  # fmt: skip
            table.pop("own", None)
            lines += ["[[workload]]", *(f"{key} = {_toml(value)}" for key, value in table.items())]
    return "\n".join(lines)


def times_as_much(job: Job, factor: int) -> Job:
    """The same work, so many times as much of it; of a single file, one so many times as large."""
    if isinstance(job, SqliteJob):
        return replace(job, transactions=factor * job.transactions)
    assert isinstance(job, TreeJob)
    files = job.files if job.files == 1 else factor * job.files
    return replace(job, files=files, total_bytes=factor * job.total_bytes)


def _toml(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def logs(result: Result, workload: str, candidate: str) -> list[float]:
    """The logarithm of a candidate's ratio to the baseline, round by round; above 0 is better."""
    found: dict[tuple[int, str], float] = {}
    sign = 1.0
    for sample in result.samples:
        if sample.primary and sample.workload == workload and sample.round not in result.discarded_rounds:
            found[sample.round, sample.candidate] = sample.value
            sign = 1.0 if sample.better == "higher" else -1.0
    base = result.plan.baseline
    return [
        sign * math.log(value / found[number, base])
        for (number, name), value in found.items()
        if name == candidate and (number, base) in found
    ]


def table(recipe: Recipe, result: Result, times: Sequence[int]) -> str:
    """The ratios at each amount, and where a direction turns."""
    base = result.plan.baseline
    lines = []
    for candidate in (each.name for each in result.plan.candidates if each.name != base):
        overall: dict[int, list[float]] = {factor: [] for factor in times}
        lines.append(f"\n{candidate} to {base}")
        for workload in (each for each in recipe.workloads if each.box_s):
            cells, means = [], []
            for factor in times:
                values = logs(result, f"{workload.name}-x{factor}", candidate)
                took = [s.value for s in result.samples if s.metric == "duration" and s.candidate == base
                        and s.workload == f"{workload.name}-x{factor}"]  # fmt: skip
                if not values:
                    continue
                spread = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
                means.append(fmean(values))
                overall[factor].append(workload.weight * fmean(values))
                amount = factor * (workload.task.units or 1)
                seconds = f"{fmean(took):.2f} s" if took else ""
                cells.append(f"{amount:>5} {seconds:>8} {math.exp(means[-1]):5.2f} ±{100 * spread:2.0f} %")
            turned = len(means) > 1 and abs(means[-1]) > BEYOND and means[0] * means[-1] < 0
            lines.append(f"{workload.name:18} {' | '.join(cells)}{'  TURNED' if turned else ''}")
        weight = sum(each.weight for each in recipe.workloads if each.box_s)
        ratios = [f"x{factor} {math.exp(sum(values) / weight):.3f}" for factor, values in overall.items()]
        lines.append(f"{'overall':18} {'  '.join(ratios)}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Brief and long work on one disk.")
    parser.add_argument("model", choices=(*get_args(real_time.Model), "here"))
    parser.add_argument("recipe")
    parser.add_argument("--times", default="1,4", help="multiples of the least amounts")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--image", default="", help="size of the scratch image")
    parser.add_argument("--keep", default="", help="where the result file goes")
    options = parser.parse_args()
    times = [int(word) for word in options.times.split(",")]
    recipe = recipes.find(options.recipe)
    with ExitStack() as undo:
        directory = Path(undo.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        place = directory
        if options.model != "here":
            place = undo.enter_context(real_time.host(options.model, 14 << 30, directory))
        found = _run(recipe.name, directory / "found.jsonl", f"image:@{place}", recipe.candidates, 1)
        recipe = found.plan.recipe
        path = directory / "truth.toml"
        size = options.image or f"{recipe.image_bytes >> 20}M"
        path.write_text(at_amounts(recipe, times, size))
        result = Path(options.keep) if options.keep else directory / "truth.jsonl"
        told = _run(str(path), result, f"image:{size}@{place}", recipe.candidates, options.rounds)
        print(table(recipe, told, times))
    return 0


def _run(recipe: str, result: Path, target: str, candidates: Sequence[str], rounds: int) -> Result:
    command = [
        sys.executable, "-m", "fswizard", "run", recipe, "--rounds", f"{rounds}..{rounds}", "--time", "10h",
        "--candidates", "; ".join(candidates), "--target", target, "--output", str(result),
    ]  # fmt: skip
    subprocess.run(command, check=True)
    return results.load(result)


if __name__ == "__main__":
    sys.exit(main())
