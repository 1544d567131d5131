"""How long people wait: until a command answers, the first picture, the answer to a key; and what watching costs."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import psutil

from fswizard.tui.screens.purpose import PurposeScreen
from tests.long.bench.figures import Line, Measure, at_most, in_turns, spread
from tests.loop.terminals import Terminal, on_a_terminal

TITLE = "Waiting and watching"
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
MOST_PERCENT = 3.0
"""Share of a processor that watching a run may take from the measurement."""


def measure() -> Iterator[Line]:
    with tempfile.TemporaryDirectory(prefix="fswizard-bench-") as folder:
        env = {f"XDG_{kind}_HOME": folder for kind in ("STATE", "CACHE", "CONFIG")}
        version = partial(_command, (*FSWIZARD, "--version"))
        plumbum = partial(_command, (*PYTHON, "import plumbum.cli"))
        yield _compared("`fswizard --version` / importing plumbum.cli", version, plumbum, 1.5)
        picture = partial(_first_picture, env)
        textual = partial(_command, (*PYTHON, "import textual.app"))
        yield _compared("First picture / importing textual.app", picture, textual, 2.5)
        with on_a_terminal(FSWIZARD, SCREEN, env) as screen:
            screen.await_text(PurposeScreen.QUESTION)
            _until_still(screen)
            waits = [_answer_s(screen, key) for _ in range(KEYS) for key in ("\x1b[B", "\x1b[A")]
        yield at_most("From a key to the last change on the screen", spread(waits), 0.1, "s")
        yield _watching(env)


def _compared(figure: str, ours: Measure, theirs: Measure, bound: float) -> Line:
    found = in_turns(PAIRS, ours, theirs)
    ratio = spread([mine / other for mine, other in found])
    return at_most(figure, ratio, bound, remark=f"{spread([mine for mine, _ in found]).median:.2f} s")


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


def _answer_s(screen: Terminal, key: str) -> float:
    began = time.perf_counter()
    screen.type(key)
    return _until_still(screen) - began


def _watching(env: Mapping[str, str]) -> Line:
    """The wizard while it replays a run at its own pace."""
    with on_a_terminal((*PYTHON, REPLAY), SCREEN, env) as screen:
        screen.await_text(" MB/s")
        process = psutil.Process(screen.process.pid)
        process.cpu_percent()  # the next call tells what was used since this one
        shares = []
        for _ in range(3):
            screen.read(WINDOW_S)
            shares.append(process.cpu_percent())
        resident = f"{process.memory_info().rss / 1e6:.0f} MB resident"
    return at_most(
        "Share of a processor of the wizard while a run goes on", spread(shares), MOST_PERCENT, "%", resident
    )
