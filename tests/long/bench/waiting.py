"""How long people wait: until a command answers, the first picture, the answer to a key; and what watching costs."""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

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
        version = partial(_command, (*FSWIZARD, "--version"))
        plumbum = partial(_command, (*PYTHON, "import plumbum.cli"))
        yield _compared("`fswizard --version` / importing plumbum.cli", version, plumbum, 1.5)
        textual = partial(_command, (*PYTHON, "import textual.app"))
        yield _compared("First picture / importing textual.app", partial(_first_picture, env), textual, 2.5)
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


def _compared(figure: str, ours: Callable[[], float], theirs: Callable[[], float], bound: float) -> str:
    """Both in turns; who begins changes, so that a busy machine hurts both alike."""
    pairs = []
    for number in range(PAIRS):
        first = theirs() if number % 2 else 0.0
        mine = ours()
        pairs.append((mine, first or theirs()))
    remark = f"{statistics.median(mine for mine, _ in pairs):.2f} s"
    return _line(figure, [mine / other for mine, other in pairs], bound, remark=remark)


def _line(figure: str, values: Sequence[float], bound: float, unit: str = "", remark: str = "") -> str:
    """The median, and its interval by the sign test, which asks for no distribution."""
    ordered = sorted(values)
    count, outside = len(ordered), 0
    while 40 * sum(math.comb(count, k) for k in range(outside + 1)) <= 2**count:  # both sides together 5 %
        outside += 1
    cut = max(0, outside - 1)
    median, low, high = statistics.median(ordered), ordered[cut], ordered[count - 1 - cut]
    verdict = "holds"
    if median > bound:
        verdict = f"misses by {median / bound - 1:.1%}{', within the spread' if low <= bound else ''}"
    measured = f"{median:.3g} ({low:.3g} – {high:.3g}, n = {count}){unit}"
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
