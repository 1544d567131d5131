"""How long people wait: until a command answers, the first picture, the answer to a key; and what watching costs."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import psutil

from fswizard.tui.screens.purpose import PurposeScreen
from tests.loop.terminals import Terminal, on_a_terminal

FSWIZARD, PYTHON = (sys.executable, "-m", "fswizard"), (sys.executable, "-c")
REPLAY = """
from fswizard.demo import app, stories
from fswizard.tui import run_wizard
run_wizard(lambda **colours: app.DemoApp(next(iter(stories().values())), speed=1.0, **colours))
"""
SCREEN = (120, 36)
PAIRS, KEYS, WINDOW_S = 11, 10, 10.0
STILL_S = 0.3
"""Without output for so long, a screen counts as drawn."""


def measure() -> Iterator[str]:
    """Lines of the table."""
    with tempfile.TemporaryDirectory(prefix="fswizard-bench-") as folder:
        env = {f"XDG_{kind}_HOME": folder for kind in ("STATE", "CACHE", "CONFIG")}
        yield _compared("`fswizard --version`", lambda: _command((*FSWIZARD, "--version")), "plumbum.cli", 1.5)
        yield _compared("First picture", lambda: _first_picture(env), "textual.app", 2.5)
        with on_a_terminal(FSWIZARD, SCREEN, env) as screen:
            screen.await_text(PurposeScreen.QUESTION)
            _until_still(screen)
            waits = []
            for key in KEYS * ("\x1b[B", "\x1b[A"):
                began_s = time.perf_counter()
                screen.type(key)
                waits.append(_until_still(screen) - began_s)
        yield _line("From a key to the last change on the screen", waits, 0.1, " s")
        yield _watching(env)


def _compared(figure: str, ours: Callable[[], float], module: str, bound: float) -> str:
    """In turns with the import of a module, so that a busy machine hurts both alike."""
    mine, ratios = [], []
    for _ in range(PAIRS):
        mine.append(ours())
        ratios.append(mine[-1] / _command((*PYTHON, f"import {module}")))
    return _line(f"{figure} / importing {module}", ratios, bound, remark=f"{statistics.median(mine):.2f} s")


def _line(figure: str, values: Sequence[float], bound: float, unit: str = "", remark: str = "") -> str:
    median = statistics.median(values)
    verdict = "holds" if median <= bound else f"misses by {median / bound - 1:.1%}"
    measured = f"{median:.3g} ({min(values):.3g} – {max(values):.3g}, n = {len(values)}){unit}"
    return f"| {figure} | ≤ {bound:g}{unit} | {measured} | {verdict} | {remark} |"


def _command(argv: Sequence[str]) -> float:
    """A program from its start to its end."""
    began = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def _first_picture(env: Mapping[str, str]) -> float:
    """The wizard from its start until its first question stands on the terminal."""
    began = time.perf_counter()
    with on_a_terminal(FSWIZARD, SCREEN, env) as screen:
        screen.await_text(PurposeScreen.QUESTION)
        return time.perf_counter() - began


def _until_still(screen: Terminal) -> float:
    """When the last output came, by time.perf_counter()."""
    last = time.perf_counter()
    while time.perf_counter() - last < STILL_S:
        size = len(screen.shown)
        screen.take(STILL_S)
        if len(screen.shown) > size:
            last = time.perf_counter()
    return last


def _watching(env: Mapping[str, str]) -> str:
    """The wizard while it replays a run at its own pace; it may take 3 % of a processor from the measurement."""
    with on_a_terminal((*PYTHON, REPLAY), SCREEN, env) as screen:
        screen.await_text(" MB/s")
        process = psutil.Process(screen.process.pid)
        process.cpu_percent()  # the next call tells what was used since this one
        shares = []
        for _ in range(3):
            screen.read(WINDOW_S)
            shares.append(process.cpu_percent())
        resident = f"{process.memory_info().rss / 1e6:.0f} MB resident"
    return _line("Share of a processor of the wizard while a run goes on", shares, 3.0, " %", resident)
