"""A comparison of three filesystems by a shell script, and the same one through `fswizard run`."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fswizard import recipes
from fswizard.engines.fio import FioJob
from fswizard.engines.shared import tree_worker
from fswizard.engines.tree import TreeJob
from fswizard.model.events import CommandFinished, RoundFinished, StepStarted
from fswizard.model.recipe import Recipe
from fswizard.model.units import binary_size_text
from tests.bench.pairs import Pairs, spread
from tests.bench.table import Line, Size, at_most, not_measured, told
from tests.recording import events_in

TITLE = "The same comparison, by hand and through us"
SCRIPT = Path(__file__).with_suffix(".sh")
WORKER = Path(tree_worker.__file__)
FILESYSTEMS = ("ext4", "xfs", "btrfs")
PAIRS_ROUNDS_AND_IMAGE: dict[Size, tuple[int, int, str]] = {
    "full": (2, 2, "3G"), "short": (1, 1, "3G"), "tiny": (1, 1, "512M")
}  # fmt: skip
STARTS = "each program is started in a namespace of its own, which takes some 5 ms, and a remount takes twice as long"
BESIDE = f"{STARTS}; the program and its helper start, and the machine is watched for 0.25 s before each round"
TINY = {'"256M"': '"16M"', "5000": "50", '"20M"': '"1M"', '"2G"': '"512M"', "seconds = 0.": "seconds = 0.1"}
"""In the recipe, for a trial of the bench itself."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All times in seconds. The wait for a machine that is busy is left out: nobody waits by hand."""

    whole_s: float
    cells_s: dict[tuple[str, int], float]
    """By filesystem and round."""
    outside_s: float
    """For each cell: what was no workload's program."""


def measure(size: Size) -> Iterator[Line]:
    pairs, rounds, image = PAIRS_ROUNDS_AND_IMAGE[size]
    names = FILESYSTEMS[: 1 if size == "tiny" else None]
    if os.geteuid() != 0 or not all(shutil.which(f"mkfs.{name}") for name in names):
        yield not_measured(TITLE, f"needs root, and mkfs for {', '.join(names)}")
        return
    taken, by_cell = Pairs(pairs), Pairs(pairs * rounds * len(names))
    for side in taken.turns():
        with tempfile.TemporaryDirectory(prefix="fswizard-bench-", dir="/var/tmp") as folder:
            recipe = _recipe(Path(folder), TINY if size == "tiny" else {})
            done = (_through_us if side == "ours" else _by_hand)(Path(folder), recipe, rounds, image, names)
        taken.add(side, {"whole": done.whole_s, "outside": done.outside_s})
        for cell in sorted(done.cells_s):
            by_cell.add(side, {"cell": done.cells_s[cell]})
    whole = ", ".join(f"{value:.1f} s" for value in taken.values("theirs", "whole"))
    what = f"{', '.join(names)}, {rounds} rounds on {image}"
    yield at_most(f"Whole run: {what}", taken.ratio("whole"), 1.03, remark=f"by hand: {whole}", why=BESIDE)
    cell_s = spread(by_cell.values("theirs", "cell")).median
    yield at_most("A cell", by_cell.ratio("cell"), 1.03, remark=f"by hand: {cell_s:.2f} s", why=STARTS)
    yield at_most("Time of a cell outside its workloads' programs", spread(taken.values("ours", "outside")), 1.7, "s")
    yield told("The same by hand", f"{spread(taken.values('theirs', 'outside'))} s")


def _recipe(folder: Path, changes: Mapping[str, str]) -> Path:
    text = Path(__file__).with_suffix(".toml").read_text("utf-8")
    for old, new in changes.items():
        text = text.replace(old, new)
    path = folder / "by-hand.toml"
    path.write_text(text, "utf-8")
    return path


def _by_hand(folder: Path, recipe: Path, rounds: int, image: str, names: tuple[str, ...]) -> Comparison:
    began = time.monotonic()
    argv = [
        "unshare",
        "--mount",
        str(SCRIPT),
        str(folder),
        image,
        str(rounds),
        str(WORKER),
        *_sizes(recipes.find(str(recipe))),
    ]
    done = subprocess.run([*argv, " ".join(names)], check=True, stdout=subprocess.PIPE, text=True)
    whole_s = time.monotonic() - began
    cells_s, outside_s = {}, 0.0
    for number, line in enumerate(done.stdout.splitlines()):
        name, cell_us, outside_us = line.split()
        cells_s[name, number // len(names) + 1] = int(cell_us) / 1e6
        outside_s += int(outside_us) / 1e6
    return Comparison(whole_s, cells_s, outside_s / len(cells_s))


def _sizes(recipe: Recipe) -> list[str]:
    """Size of the file, number and bytes of the small ones, and how long fio works each time."""
    jobs = [workload.job for workload in recipe.workloads]
    fio = [job for job in jobs if isinstance(job, FioJob)]
    trees = [job for job in jobs if isinstance(job, TreeJob)]
    times = " ".join(f"{round(job.seconds * 1000)}ms" for job in fio)
    return [binary_size_text(fio[0].size_bytes), str(trees[0].files), str(trees[0].total_bytes), times]


def _through_us(folder: Path, recipe: Path, rounds: int, image: str, names: tuple[str, ...]) -> Comparison:
    log = folder / "result.jsonl"
    argv = [sys.executable, "-m", "fswizard", "run", str(recipe)]
    argv += ["--candidates", "; ".join(names), "--rounds", f"{rounds}..{rounds}"]
    argv += ["--time", "1m"] if len(names) == 1 else []  # it waits a tenth of its time for a busy machine
    argv += ["--target", f"image:{image}@{folder}", "--output", str(log)]
    began = time.monotonic()
    with (folder / "narration").open("w") as narration:
        done = subprocess.run(argv, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=narration)
    assert done.returncode == 0, (folder / "narration").read_text()
    whole_s = time.monotonic() - began
    told = list(events_in(log))
    moments = [event for event in told if isinstance(event, (StepStarted, RoundFinished))]
    waited_s = 0.0
    cells_s: dict[tuple[str, int], float] = {}
    working = set()
    for event, following in itertools.pairwise(moments):
        if not isinstance(event, StepStarted):
            continue
        step, lasted_s = event.step, following.at_s - event.at_s
        if step.stage == "wait":
            waited_s += lasted_s
        elif step.candidate:
            cell = step.candidate, step.round
            cells_s[cell] = cells_s.get(cell, 0.0) + lasted_s
        if step.stage == "workload":
            working.add(step.number)
    programs_s = sum(event.seconds for event in told if isinstance(event, CommandFinished) and event.step in working)
    return Comparison(whole_s - waited_s, cells_s, (sum(cells_s.values()) - programs_s) / len(cells_s))
