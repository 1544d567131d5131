"""What watching a run costs: processor time beside the measurement, and memory over a long one."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil

from tests.long.bench.pairs import cpu_s, spread
from tests.long.bench.table import Line, Size, at_most
from tests.loop.terminals import on_a_terminal

TITLE = "While a run goes on"
RATES = {"wizard": (10, 4), "run": (10,)}
"""Events a second; programs tell of themselves four times a second."""
SIZES: dict[Size, tuple[int, float, float, int]] = {
    "full": (3, 4.0, 3.0, 10_000_000), "short": (3, 3.0, 2.0, 300_000), "tiny": (1, 0.5, 1.0, 20_000)
}  # fmt: skip
"""Windows in which processor time is looked at, their seconds, seconds before them, and events of a long run."""
MOST_PERCENT = 3.0
DRAWING = "each picture takes 3 to 4 ms, two thirds of them in Textual"
GROWTH = 1.02
"""Largest growth of memory after the first tenth of the events."""
SIZE = (120, 36)
WHO = {"wizard": "the wizard, 120 × 36", "run": "`fswizard run` on a terminal"}
PACED = (sys.executable, "-m", "tests.long.bench.paced")


def measure(size: Size) -> Iterator[Line]:
    windows, window_s, warm_s, events = SIZES[size]
    for what, rate in ((what, rate) for what, rates in RATES.items() for rate in rates):
        with on_a_terminal((*PACED, what, str(rate)), SIZE) as screen:
            process = psutil.Process(screen.process.pid)
            if what == "wizard":
                screen.await_text("Nothing has happened yet")
                screen.type("\r")
            screen.await_text(" MB/s")
            screen.read(warm_s)
            shares = []
            for _ in range(windows):
                before, began = cpu_s(process), time.monotonic()
                screen.read(window_s)
                shares.append((cpu_s(process) - before) / (time.monotonic() - began) * 100)
            resident = f"{process.memory_info().rss / 1e6:.0f} MB resident"
        figure = f"Share of a processor at {rate} events a second: {WHO[what]}"
        yield at_most(figure, spread(shares), MOST_PERCENT, "%", resident, why=DRAWING)
    yield from _growth(events)


def _growth(events: int) -> Iterator[Line]:
    """Both at the same time: it is their memory that is looked at, not their speed."""
    floods = {
        what: subprocess.Popen(
            [*PACED, what, "--flood", str(events)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        for what in WHO
    }
    for what, process in floods.items():
        output, _ = process.communicate()
        seen = json.loads(output)
        remark = ", ".join(f"{size / 1e6:.1f}" for size in seen) + " MB after 10, 25, 50, 75 and 100 %"
        grown = spread([seen[-1] / seen[0]])
        yield at_most(f"Memory after {events:,} events / after a tenth: {what}", grown, GROWTH, remark=remark)
