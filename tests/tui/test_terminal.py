"""The program as users start it, in a real terminal: what stands on the screen, and what hanging up does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from fswizard.errors import ExitCode
from fswizard.results import load
from fswizard.session import ongoing
from fswizard.session.ongoing_runs import give_order
from tests.fakes.host import ROOMY
from tests.loop.machine_state import left_of_a_run, wait_until
from tests.recipe_texts import writing

pytestmark = pytest.mark.tmux

TIMEOUT_S = 120.0
"""The last resort."""
QUICK = writing("64M", "4M", 600.0, rw="write", candidates=("ext4", "ext4:noatime")) + "fsync = 64\n"
"""Measures until somebody ends it."""


@pytest.fixture
def recorded_machine() -> None:
    """Not here: this machine is asked."""


class Tmux:
    """A terminal of its own with the wizard in it, or with another program that starts it."""

    def __init__(self, directory: Path, width: int, height: int, program: str = "") -> None:
        self.name = f"fswizard-{uuid.uuid4().hex[:8]}"
        self.directory = directory
        variables = [f"XDG_{kind}_HOME={directory / kind.lower()}" for kind in ("STATE", "CACHE", "CONFIG")]
        (directory / "cache").mkdir()
        recipes = directory / "config" / "fswizard" / "recipes"
        recipes.mkdir(parents=True)
        (recipes / "quick.toml").write_text(QUICK.replace('name = "short"', 'name = "quick"', 1))
        start = directory / "start.py"
        start.write_text(f"{ROOMY}\nfrom fswizard.__main__ import main\nmain()\n")
        program = program or f"env {' '.join(variables)} {sys.executable} {start}"
        code = f"echo $$ > {directory}/pid; exec {program}"
        command = f"sh -c '{code}'; echo left with $? > {directory}/code"
        size = ["-x", str(width), "-y", str(height)]
        self._tmux("new-session", "-d", *size, "-s", self.name, command)

    @property
    def pid(self) -> int:
        return int((self.directory / "pid").read_text())

    @property
    def alive(self) -> bool:
        return Path(f"/proc/{self.pid}").exists()

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", "-t", self.name, *keys)

    def text(self) -> str:
        return self._tmux("capture-pane", "-t", self.name, "-p")

    def codes(self) -> str:
        """What stands on the screen, with the colours as the program asked for them."""
        return self._tmux("capture-pane", "-t", self.name, "-p", "-e")

    def shows(self, words: str, *, full_screen: bool | None = None, timeout_s: float = TIMEOUT_S) -> str:
        """Wait for words on the screen, the full one or the normal one where that matters, and return all of it."""
        deadline = time.monotonic() + timeout_s
        while words not in (found := self.text()) or full_screen not in (None, self.full_screen):
            assert time.monotonic() < deadline, f"in vain waited for “{words}”:\n{found}"
            time.sleep(0.05)
        return found

    @property
    def full_screen(self) -> bool:
        return self._tmux("display-message", "-p", "-t", self.name, "#{alternate_on}").strip() == "1"

    def ends(self) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while self.alive:
            assert time.monotonic() < deadline, f"the program goes on:\n{self.text()}"
            time.sleep(0.05)

    def hang_up(self) -> None:
        subprocess.run(["tmux", "-L", self.name, "kill-session", "-t", self.name], check=False, capture_output=True)

    def _tmux(self, *arguments: str) -> str:
        """With a server of its own, which is in the same mount namespace as the test."""
        argv = ["tmux", "-L", self.name, *arguments]
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def open_terminal(tmp_path: Path) -> Iterator[type[Tmux]]:
    opened: list[Tmux] = []

    def open_(width: int = 80, height: int = 24, program: str = "") -> Tmux:
        opened.append(Tmux(tmp_path, width, height, program))
        return opened[-1]

    yield open_  # type: ignore[misc]
    for terminal in opened:
        terminal.hang_up()
        terminal.ends()


def to_a_run(terminal: Tmux) -> None:
    """By Enter alone, with the quick recipe."""
    terminal.shows("What would you like to know?")
    terminal.press("End", "Up", "Up", "Enter")  # “My own choice” stands above two other questions
    terminal.shows("removed afterwards")
    terminal.press("Enter")
    terminal.shows("Choose filesystems to compare")
    terminal.press("Enter")
    terminal.shows("What do you use it for?")
    terminal.press("Enter")
    terminal.shows("starts the run")
    terminal.press("Enter")
    terminal.shows("x stop")
    terminal.shows("Round 1 of")


def test_quitting_leaves_the_terminal_as_it_was(open_terminal: type[Tmux], tmp_path: Path) -> None:
    terminal = open_terminal()
    terminal.shows("What would you like to know?")
    terminal.press("C-q")
    terminal.ends()
    wait_until((tmp_path / "code").exists, TIMEOUT_S, "its exit code")
    wait_until((tmp_path / "code").read_text, TIMEOUT_S, "its exit code, whole")
    assert (tmp_path / "code").read_text().strip() == f"left with {int(ExitCode.OK)}"


def test_real_disks_and_filesystems_are_shown_at_80_columns(open_terminal: type[Tmux]) -> None:
    terminal = open_terminal()
    terminal.shows("What would you like to know?")
    terminal.press("Enter")
    shown = terminal.shows("Measure on")
    assert all(len(line) <= 80 for line in shown.splitlines())
    terminal.shows("removed afterwards")
    terminal.press("Enter")
    terminal.shows("[✓]  ★ ext4:noatime")
    terminal.press("F1")
    terminal.shows("─ Help ")


@pytest.mark.parametrize("kind", ["linux", "xterm", "screen"])
def test_a_terminal_of_sixteen_colours_is_sent_these_alone(
    open_terminal: type[Tmux], tmp_path: Path, kind: str
) -> None:
    state = f"XDG_STATE_HOME={tmp_path}/state XDG_CACHE_HOME={tmp_path}/cache"
    terminal = open_terminal(program=f"env -u COLORTERM -u NO_COLOR TERM={kind} {state} {sys.executable} -m fswizard")
    terminal.shows("What would you like to know?")
    wait_until(lambda: "\x1b[100m" in terminal.codes(), TIMEOUT_S, "the colour of the cursor")
    codes = terminal.codes()
    assert "\x1b[34m" in codes, "the colour of what is chosen"
    assert "38;2;" not in codes
    assert "38;5;" not in codes


def test_the_wizard_ends_with_a_terminal_that_sends_it_no_signal(open_terminal: type[Tmux], tmp_path: Path) -> None:
    """The kernel signals no session but the one that the terminal controls. Seconds, as a wizard has to come up."""
    state = f"XDG_STATE_HOME={tmp_path}/state XDG_CACHE_HOME={tmp_path}/cache"
    terminal = open_terminal(program=f"setsid -w env {state} {sys.executable} -m fswizard --demo")
    terminal.shows("Recorded runs, shown again")
    terminal.hang_up()
    try:
        terminal.ends()
    finally:
        if terminal.alive:
            os.kill(terminal.pid, signal.SIGKILL)


@pytest.mark.root
@pytest.mark.loop
@pytest.mark.fio
@pytest.mark.parametrize("how", ["hang up", "KILL"])
def test_a_run_goes_on_when_the_terminal_goes_or_somebody_ends_the_wizard(
    open_terminal: type[Tmux], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    terminal = open_terminal(120, 36)
    to_a_run(terminal)
    if how == "hang up":
        terminal.hang_up()
    else:
        os.kill(terminal.pid, signal.SIGKILL)
    terminal.ends()
    (run,) = ongoing()
    result = run.path
    wait_until(lambda: '"stage":"workload"' in result.read_text(), TIMEOUT_S, "it measures")
    give_order(result, "stop")
    wait_until(lambda: not ongoing(), TIMEOUT_S, "the end")
    assert not left_of_a_run(tmp_path)
    assert load(result).outcome == "stopped"
