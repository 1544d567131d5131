"""The recipe `quick` by a shell script that shares no code with the program, and through `fswizard run`."""

from __future__ import annotations

import itertools
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fswizard import engines, results
from fswizard.model.events import RoundFinished, StepStarted
from fswizard.recipes import shipped_directory
from fswizard.stats.student import quantile
from tests.bench.table import Line, Size, not_measured, told
from tests.recording import events_in

TITLE = "The quick look, by hand and through us"
SCRIPT = Path(__file__).with_suffix(".sh")
SHAPES = Path(engines.__file__).with_name("shared") / "shapes.toml"
FILESYSTEMS = ("ext4", "xfs", "btrfs")
TURNS_ROUNDS_AND_SCALE: dict[Size, tuple[int, int, int]] = {"full": (4, 2, 1), "short": (2, 2, 1), "tiny": (1, 2, 20)}
Cells = dict[tuple[str, str], list[float]]
"""Seconds in each round, by filesystem and workload; the whole of a filesystem's round is its workload `cell`."""


def measure(size: Size) -> Iterator[Line]:
    turns, rounds, scale = TURNS_ROUNDS_AND_SCALE[size]
    needed = (*(f"mkfs.{name}" for name in FILESYSTEMS), "dpkg", "sqlite3")
    if os.geteuid() != 0 or not all(map(shutil.which, needed)):
        yield not_measured(TITLE, f"needs root, and {', '.join(needed)}")
        return
    sides: dict[str, Cells] = {"ours": {}, "by hand": {}}
    for turn in range(turns):
        for side in sorted(sides, reverse=turn % 2 == 0):
            with tempfile.TemporaryDirectory(prefix="fswizard-bench-", dir="/var/tmp") as folder:
                found = (_through_us if side == "ours" else _by_hand)(Path(folder), rounds, scale)
            for key, seconds in found.items():
                sides[side].setdefault(key, []).extend(seconds)
    for name, workload in itertools.product(FILESYSTEMS[1:], dict.fromkeys(w for _, w in sides["ours"])):
        ours, theirs = (_ratio(cells, workload, name) for cells in sides.values())
        apart, room = abs(ours[0] - theirs[0]), math.hypot(ours[1], theirs[1])
        verdict = "agree" if apart <= room else f"apart by {math.expm1(apart - room):.0%} more than chance"
        yield Line(f"{workload}, {name} / ext4", "", f"{_shown(ours)}, by hand {_shown(theirs)}", verdict)
    for name in FILESYSTEMS:
        whole = [statistics.median(cells[name, "cell"]) for cells in sides.values()]
        yield told(f"A round of {name}", f"{whole[0]:.1f} s, by hand {whole[1]:.1f} s")


def _ratio(cells: Cells, workload: str, name: str) -> tuple[float, float]:
    """Logarithm of how much faster than ext4, and half its interval of 95 %."""
    differences = [math.log(a / b) for a, b in zip(cells["ext4", workload], cells[name, workload])]
    spread = statistics.stdev(differences) / math.sqrt(len(differences))
    return statistics.mean(differences), quantile(0.05, len(differences) - 1) * spread


def _shown(ratio: tuple[float, float]) -> str:
    return f"{math.exp(ratio[0]):.2f} ({math.exp(ratio[0] - ratio[1]):.2f} – {math.exp(ratio[0] + ratio[1]):.2f})"


def _by_hand(folder: Path, rounds: int, scale: int) -> Cells:
    argv = ["unshare", "--mount", str(SCRIPT), str(folder), _image(scale), str(rounds), str(scale), str(SHAPES)]
    env = {**os.environ, "PYTHON": sys.executable}
    done = subprocess.run([*argv, " ".join(FILESYSTEMS)], check=True, stdout=subprocess.PIPE, text=True, env=env)
    cells: Cells = {}
    for line in done.stdout.splitlines():
        name, _, workload, returned_us, _ = line.split()
        cells.setdefault((name, workload), []).append(int(returned_us) / 1e6)
    return cells


def _image(scale: int) -> str:
    return "4G" if scale == 1 else "1G"


def _through_us(folder: Path, rounds: int, scale: int) -> Cells:
    """Without a memory limit, as nobody has one by hand."""
    recipe, log = folder / "quick.toml", folder / "result.jsonl"
    text = (shipped_directory() / "quick.toml").read_text("utf-8")
    numbers = r"((?:files|total|transactions) = \"?)(\d\d+)"
    text = re.sub(numbers, lambda found: f"{found[1]}{max(1, int(found[2]) // scale)}", text)
    recipe.write_text(text.replace('"4G"', f'"{_image(scale)}"'), "utf-8")
    argv = [sys.executable, "-m", "fswizard", "run", str(recipe), "--candidates", "; ".join(FILESYSTEMS)]
    argv += ["--rounds", f"{rounds}..{rounds}", "--memory-limit", "none", "--output", str(log)]
    argv += ["--target", f"image:{_image(scale)}@{folder}"]
    done = subprocess.run(argv, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    cells: Cells = {}
    for sample in results.load(log).samples:
        if (
            sample.round
            and sample.candidate
            and sample.metric == ("duration" if sample.workload == "sqlite" else "returned")
        ):
            cells.setdefault((sample.candidate, sample.workload), []).append(sample.value)
    moments = [event for event in events_in(log) if isinstance(event, (StepStarted, RoundFinished))]
    whole: dict[tuple[str, int], float] = {}
    for event, following in itertools.pairwise(moments):
        if isinstance(event, StepStarted) and event.step.candidate and event.step.round and event.step.stage != "wait":
            cell = event.step.candidate, event.step.round
            whole[cell] = whole.get(cell, 0.0) + following.at_s - event.at_s
    for (name, _), seconds in whole.items():
        cells.setdefault((name, "cell"), []).append(seconds)
    return cells
