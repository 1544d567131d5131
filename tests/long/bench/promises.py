"""Whether the time that is promised is kept: whole runs on disks that take the time of real ones.

python -m tests.long.bench.promises [hdd|ssd|fast|here] [quick|archive-disk]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import get_args

from fswizard.model.events import RoundFinished, RunEnded, RunStarted, SampleTaken
from fswizard.model.metrics import FIRST_LOOK_RATE
from fswizard.model.run_state import RunState
from fswizard.report.writes import budget_text
from tests.long.simulated import real_time
from tests.recording import events_in

DISKS = {"hdd": "a hard disk", "ssd": "a SATA SSD", "here": "this machine's disk"}
RECIPES = ("quick", "archive-disk")
MODELS: tuple[real_time.Model, ...] = get_args(real_time.Model)
DISK_BYTES = 12 << 30


def measure(chosen: Iterable[str] = DISKS, recipes: Iterable[str] = RECIPES) -> Iterator[str]:
    """Lines of the table."""
    for disk in chosen:
        for recipe in recipes:
            yield kept(disk, recipe)


def kept(disk: str, recipe: str) -> str:
    """A run with nothing chosen but where."""
    with ExitStack() as undo:
        directory = Path(undo.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        result, place = directory / "result.jsonl", directory
        for model in MODELS:
            if model == disk:
                place = undo.enter_context(real_time.host(model, DISK_BYTES, directory))
        argv = (sys.executable, "-m", "fswizard", "run", recipe, "--target", f"image:@{place}", "--output", str(result))
        began_s = monotonic()
        subprocess.run(argv, check=True, capture_output=True)
        took_s = monotonic() - began_s
        events = list(events_in(result))
    plan = next(event.plan for event in events if isinstance(event, RunStarted))
    most_s = RunState.of(plan).outlook.most_s
    first: dict[str, float] = {}
    for event in events:
        if isinstance(event, SampleTaken) and (event.sample.primary or event.sample.metric == FIRST_LOOK_RATE.name):
            first.setdefault(event.sample.candidate, event.at_s)
    seen_s = max(first[candidate.name] for candidate in plan.candidates)
    rounds_s = [event.at_s for event in events if isinstance(event, RoundFinished)]
    answer = next(f"{event.verdict} {event.text}" for event in events if isinstance(event, RunEnded))
    verdict = "holds" if took_s <= most_s else f"misses by {took_s / most_s - 1:.0%}"
    promised = f"≤ {most_s:.0f} s, {budget_text(plan).partition(' · ')[0]}"
    rounds = f"first figures {seen_s:.0f} s, first round {rounds_s[0]:.0f} s, {len(rounds_s)} rounds: {answer}"
    return f"| `{recipe}` on {DISKS.get(disk, disk)} | {promised} | {took_s:.0f} s | {verdict} | {rounds} |"


if __name__ == "__main__":
    words = sys.argv[1:]
    disks = [word for word in words if word in (*DISKS, "fast")]
    for line in measure(disks or DISKS, [word for word in words if word not in disks] or RECIPES):
        print(line, flush=True)
