"""How long people wait before anything happens."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import psutil

from fswizard.tui.screens.purpose import PurposeScreen
from tests.long.bench.pairs import Pairs, Side, cpu_s, measured, spread
from tests.long.bench.running import SIZE
from tests.long.bench.table import Line, Size, at_least, at_most
from tests.loop.terminals import on_a_terminal

TITLE = "Start-up"
COUNTS: dict[Size, tuple[int, int, int]] = {"full": (21, 11, 5000), "short": (9, 5, 5000), "tiny": (1, 1, 100)}
"""Pairs of starts, pairs of first pictures, and dumps."""
RECORDED = Path(__file__).parents[2] / "recorded" / "smartctl"
FSWIZARD, PYTHON = (sys.executable, "-m", "fswizard"), (sys.executable, "-c")


def measure(size: Size) -> Iterator[Line]:
    pairs, pictures, dumps = COUNTS[size]
    with tempfile.TemporaryDirectory(prefix="fswizard-bench-") as folder:
        env = {f"XDG_{kind}_HOME": folder for kind in ("STATE", "CACHE", "CONFIG")}
        version, plumbum, textual = (
            partial(_start, argv)
            for argv in ((*FSWIZARD, "--version"), (*PYTHON, "import plumbum.cli"), (*PYTHON, "import textual.app"))
        )
        yield _line("`fswizard --version` / importing plumbum.cli", measured(pairs, version, plumbum), 1.5)
        yield _line("First picture / importing textual.app", measured(pictures, partial(_picture, env), textual), 2.5)
        yield _dumps(Path(folder), dumps)


def _line(figure: str, taken: Pairs, bound: float) -> Line:
    def told(side: Side) -> str:
        wall, cpu = (1000 * spread(taken.values(side, name)).median for name in ("wall", "cpu"))
        return f"{wall:.0f} ms ({cpu:.0f} ms of processor time)"

    remark = f"{told('ours')} over {told('theirs')}; ratio of processor times {taken.ratio('cpu')}"
    return at_most(figure, taken.ratio("wall"), bound, remark=remark)


def _start(argv: Sequence[str]) -> Mapping[str, float]:
    """A program from its start to its end."""
    began = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    _, code, usage = os.wait4(process.pid, 0)
    process.returncode = code
    assert code == 0, argv
    return {"wall": time.perf_counter() - began, "cpu": usage.ru_utime + usage.ru_stime}


def _picture(env: Mapping[str, str]) -> Mapping[str, float]:
    """The wizard from its start until its first question stands on the terminal."""
    began = time.perf_counter()
    with on_a_terminal(FSWIZARD, SIZE, env) as screen:
        screen.await_text(PurposeScreen.QUESTION)
        return {"wall": time.perf_counter() - began, "cpu": cpu_s(psutil.Process(screen.process.pid))}


def _dumps(folder: Path, count: int) -> Line:
    """Saved outputs of smartctl, from the start of the program to its end."""
    files = []
    for number, source in enumerate(islice(cycle(sorted(RECORDED.glob("*.txt"))), count)):
        files.append(folder / f"{number}.txt")
        files[-1].write_bytes(source.read_bytes())
    runs = [_start((*FSWIZARD, "smr", "--json", *map(str, files))) for _ in range(3)]
    cpu = spread([count / run["cpu"] for run in runs])
    remark = f"start-up included; by processor time {cpu}"
    return at_least(
        f"`fswizard smr` on {count:,} dumps, a second", spread([count / r["wall"] for r in runs]), 2000, remark
    )
