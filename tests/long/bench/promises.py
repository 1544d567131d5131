"""Whether the time that is promised is kept: whole runs on disks that take the time of real ones.

python -m tests.long.bench.promises [hdd|ssd|fast|here] [quick|archive-disk]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import get_args

from fswizard.model.events import RoundFinished, RunEnded, RunStarted, SampleTaken
from fswizard.model.metrics import FIRST_LOOK_RATE
from fswizard.model.run_state import RunState
from fswizard.report.writes import budget_text
from fswizard.results.reading import event_in
from tests.long.bench.figures import Line
from tests.long.simulated import real_time

TITLE = "Promised time"
DISKS = {"hdd": "hard disk", "ssd": "SATA SSD", "here": "this machine's disk"}
RECIPES = ("quick", "archive-disk")
MODELS: tuple[real_time.Model, ...] = get_args(real_time.Model)
DISK_BYTES = 12 << 30
PROGRAM = (sys.executable, "-m", "fswizard", "run")


def measure() -> Iterator[Line]:
    for disk in DISKS:
        for name in RECIPES:
            yield kept(disk, name)


def kept(disk: str, recipe: str) -> Line:
    """A run with nothing chosen but where."""
    with ExitStack() as undo:
        directory = Path(undo.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        result, place = directory / "result.jsonl", directory
        for model in MODELS:
            if model == disk:
                place = undo.enter_context(real_time.host(model, DISK_BYTES, directory))
        target = ("--target", f"image:@{place}", "--output", str(result))
        began_s = monotonic()
        subprocess.run((*PROGRAM, recipe, *target), check=True, capture_output=True)
        took_s = monotonic() - began_s
        return _line(disk, recipe, result, took_s)


def _line(disk: str, recipe: str, result: Path, took_s: float) -> Line:
    events = [event_in(line) for line in result.read_bytes().splitlines()[1:]]
    plan = next(event.plan for event in events if isinstance(event, RunStarted))
    promised = RunState.of(plan).outlook
    first: dict[str, float] = {}
    for event in events:
        if isinstance(event, SampleTaken) and (event.sample.primary or event.sample.metric == FIRST_LOOK_RATE.name):
            first.setdefault(event.sample.candidate, event.at_s)
    seen_s = max(first[candidate.name] for candidate in plan.candidates)
    rounds_s = [event.at_s for event in events if isinstance(event, RoundFinished)]
    answer = next(f"{event.verdict} {event.text}" for event in events if isinstance(event, RunEnded))
    return Line(
        f"`{recipe}` on a {DISKS.get(disk, disk)}",
        f"≤ {promised.most_s:.0f} s, {budget_text(plan).partition(' · ')[0]}",
        f"{took_s:.0f} s",
        "holds" if took_s <= promised.most_s else f"misses by {took_s / promised.most_s - 1:.0%}",
        f"first figures {seen_s:.0f} s, first round {rounds_s[0]:.0f} s, {len(rounds_s)} rounds: {answer}",
    )


if __name__ == "__main__":
    chosen = [word for word in sys.argv[1:] if word in (*DISKS, "fast")]
    for disk in chosen or DISKS:
        for recipe in [word for word in sys.argv[1:] if word not in chosen] or RECIPES:
            print(kept(disk, recipe), flush=True)
