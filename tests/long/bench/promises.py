"""Whether the time that is promised is kept: whole runs on disks that take the time of real ones.

python -m tests.long.bench.promises [hdd|ssd|here] [quick|archive-disk]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Literal

from fswizard.model.events import RoundFinished, RunEnded, RunStarted, SampleTaken
from fswizard.model.metrics import FIRST_LOOK_RATE
from fswizard.model.run_state import RunState
from tests.long.simulated import real_time
from tests.recording import events_in

Disk = real_time.Model | Literal["here"]
DISKS: Mapping[Disk, str] = {"hdd": "a hard disk", "ssd": "a SATA SSD", "here": "this machine's disk"}
RECIPES = ("quick", "archive-disk")
DISK_BYTES = 12 << 30


def measure(chosen: Collection[str] = ()) -> Iterator[str]:
    """Lines of the table, of all disks and recipes or those that are `chosen`."""
    for disk in DISKS:
        for recipe in RECIPES:
            if {disk, recipe}.issuperset(chosen):
                yield kept(disk, recipe)


def kept(disk: Disk, recipe: str) -> str:
    """A run with nothing chosen but where."""
    with ExitStack() as undo:
        directory = place = Path(undo.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        if disk != "here":
            place = undo.enter_context(real_time.host(disk, DISK_BYTES, directory))
        result = directory / "result.jsonl"
        argv = (sys.executable, "-m", "fswizard", "run", recipe, "--target", f"image:@{place}", "--output", str(result))
        began_s = monotonic()
        subprocess.run(argv, check=True, capture_output=True)
        took_s = monotonic() - began_s
        events = list(events_in(result))
    started = events[0]
    assert isinstance(started, RunStarted)
    outlook = RunState.of(started.plan).outlook
    first: dict[str, float] = {}
    rounds_s = []
    answer = ""
    for event in events:
        match event:
            case SampleTaken(at_s, sample) if sample.primary or sample.metric == FIRST_LOOK_RATE.name:
                first.setdefault(sample.candidate, at_s)
            case RoundFinished(at_s):
                rounds_s.append(at_s)
            case RunEnded(verdict=verdict, text=text):
                answer = f"{verdict} {text}"
    first.pop("", None)  # the bare device
    keeps = "holds" if took_s <= outlook.most_s else f"misses by {took_s / outlook.most_s - 1:.0%}"
    rounds = (
        f"first figures {max(first.values()):.0f} s, first round {rounds_s[0]:.0f} s, {len(rounds_s)} rounds: {answer}"
    )
    promised = f"{outlook.least_s:.0f}–{outlook.most_s:.0f} s"
    return f"| `{recipe}` on {DISKS[disk]} | {promised} | {took_s:.0f} s | {keeps} | {rounds} |"


if __name__ == "__main__":
    for line in measure(sys.argv[1:]):
        print(line, flush=True)
