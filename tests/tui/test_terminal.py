"""The program as users start it, in a real terminal: what is sent to it, and what hanging up does."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from fswizard.errors import ExitCode
from fswizard.results import load
from fswizard.session import ongoing
from fswizard.session.ongoing_runs import give_order
from tests.loop.machine_state import left_of_a_run, wait_until
from tests.loop.terminals import ENTER, on_a_terminal, start_quick_run, terminal
from tests.loop.tiny_run import FSWIZARD, LASTING, LIMIT_S

DOWN, CTRL_Q = "\x1b[B", "\x11"


@pytest.fixture(autouse=True)
def recorded_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not here: this machine is asked."""
    for kind in ("STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    (tmp_path / "cache").mkdir()
    recipes = tmp_path / "config/fswizard/recipes"
    recipes.mkdir(parents=True)
    (recipes / "quick.toml").write_text(LASTING.replace('name = "short"', 'name = "quick"', 1))


@pytest.mark.parametrize("kind", ["linux", "screen"])
def test_a_terminal_of_sixteen_colours_is_sent_these_alone_and_left_as_it_was(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    for name in ("COLORTERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    with terminal(env={"TERM": kind}) as shown:
        shown.await_text("What would you like to know?")
        shown.type(CTRL_Q)
        sent = shown.read()
        assert shown.process.wait(LIMIT_S) == ExitCode.OK
    assert "[34" in sent or ";34" in sent, "the colour of what is chosen"
    assert "38;2;" not in sent and "38;5;" not in sent
    assert "\x1b[?1049l" in sent, "the normal screen"


def test_the_wizard_ends_with_a_terminal_that_sends_it_no_signal() -> None:
    """The kernel signals no session but the one that the terminal controls. Seconds, as a wizard has to come up."""
    with on_a_terminal(["setsid", "-w", *FSWIZARD, "--demo"]) as shown:
        shown.await_text("Recorded runs, shown again")
        (wizard,) = psutil.Process(shown.process.pid).children()
        shown.cut()
        try:
            wizard.wait(LIMIT_S)
        finally:
            if wizard.is_running():
                wizard.kill()


@pytest.mark.root
@pytest.mark.loop
@pytest.mark.fio
@pytest.mark.parametrize("how", ["hang up", "KILL", "stop"])
def test_a_run_goes_on_when_the_terminal_or_the_wizard_goes_and_one_that_is_stopped_leaves_nothing(
    tmp_path: Path, how: str
) -> None:
    with on_a_terminal(FSWIZARD, (120, 36)) as shown:
        start_quick_run(shown)
        shown.await_text("writing blocks of 1M")
        (run,) = ongoing()
        if how == "stop":
            shown.type("x")
            shown.await_text("Keep watching")
            shown.type(DOWN + ENTER)
            wait_until(lambda: shown.take(0.1) and not ongoing(), LIMIT_S, "the end")
        elif how == "hang up":
            shown.cut()
            shown.process.wait(LIMIT_S)
    if how != "stop":
        give_order(run.path, "stop")
        wait_until(lambda: not ongoing(), LIMIT_S, "the end")
    assert not left_of_a_run(tmp_path)
    assert load(run.path).outcome == "stopped"
