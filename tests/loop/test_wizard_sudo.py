"""The wizard for somebody whose sudo asks for a password: it is asked for on the normal screen, when the run starts."""

from __future__ import annotations

import contextlib
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.host import ROOMY
from tests.loop.machine_state import wait_until
from tests.loop.people import PASSWORD, User, user
from tests.loop.tiny_run import LASTING
from tests.tui.test_terminal import Tmux

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.sudo, pytest.mark.fio, pytest.mark.tmux]

WIZARD = """
import os
os.environ["TERM"] = "xterm-256color"
sys.path.insert(1, {packages!r})
{roomy}
from fswizard.__main__ import main
main()
"""
PROMPT = "password for"
TIMEOUT_S = 120.0


@pytest.fixture
def asked() -> Iterator[User]:
    with user("Defaults:USER passwd_tries=1\nUSER ALL=(ALL) ALL") as made:
        quick = made.home / "recipes" / "quick.toml"
        quick.write_text(LASTING.replace('name = "short"', 'name = "quick"'))
        yield made


@pytest.fixture
def terminal(asked: User, tmp_path: Path) -> Iterator[Tmux]:
    """The wizard, started as that user on a terminal of its own."""
    start = tmp_path / "start"
    command = asked.command(WIZARD.format(packages=str(asked.home / "packages"), roomy=ROOMY))
    start.write_text(f"cd {asked.home} && exec {shlex.join(command)}\n")
    opened = Tmux(tmp_path, 100, 32, f"sh {start}")
    yield opened
    opened.hang_up()
    opened.ends()


def to_the_review(terminal: Tmux) -> None:
    terminal.shows("What would you like to know?", timeout_s=TIMEOUT_S)
    terminal.press("End", "Up", "Up", "Enter")  # “My own choice” stands above two other questions
    terminal.shows("removed afterwards", timeout_s=TIMEOUT_S)
    for words in ("Choose filesystems to compare", "What do you use it for?", "sudo asks for your password"):
        terminal.press("Enter")
        terminal.shows(words, timeout_s=TIMEOUT_S)


def answer(terminal: Tmux, number: int, *keys: str) -> None:
    """Begin, and answer sudo's question of that number, which comes on the normal screen below those before."""

    def asked() -> bool:
        return not terminal.full_screen and terminal.text().count(PROMPT) == number

    terminal.press("Enter")
    wait_until(asked, TIMEOUT_S, "sudo asks for the password")
    terminal.press(*keys)


def test_a_wrong_password_leads_back_and_the_right_one_to_the_run(terminal: Tmux, asked: User) -> None:
    to_the_review(terminal)
    answer(terminal, 1, "wrong", "Enter")
    shown = terminal.shows("sudo refused", full_screen=True, timeout_s=TIMEOUT_S)
    assert "Ready to measure" in shown
    terminal.press("Escape")
    terminal.shows("What do you use it for?", timeout_s=TIMEOUT_S)
    terminal.press("Enter")
    terminal.shows("Nothing has happened yet", timeout_s=TIMEOUT_S)
    answer(terminal, 2, PASSWORD, "Enter")
    shown = terminal.shows("x stop", full_screen=True, timeout_s=TIMEOUT_S)
    assert PASSWORD not in shown
    terminal.press("C-q")
    terminal.shows("Stop and show the results so far", timeout_s=TIMEOUT_S)
    terminal.press("Down", "Down", "Enter")
    terminal.shows("The run has ended", timeout_s=TIMEOUT_S)
    wait_until(lambda: _has_left(terminal), TIMEOUT_S, "the wizard ends")
    assert not list(asked.home.rglob("fswizard-*"))


def _has_left(terminal: Tmux) -> bool:
    """Whether the wizard has ended; asks it to, as the moment in which a run ends takes a key without an answer."""
    with contextlib.suppress(subprocess.CalledProcessError):  # it has ended between both
        if terminal.alive:
            terminal.press("C-q")
    return not terminal.alive
